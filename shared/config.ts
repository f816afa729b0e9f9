// Settings, read from the environment on use and never on import: a function needs only the settings it touches.
const need = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The setting ${name} is missing`);
  return value;
};
const optional = (name: string): string | undefined => process.env[name] || undefined;
const constant = (name: string): string => name.toUpperCase().replaceAll("-", "_");

export const config = {
  get table() {
    return need("TABLE_NAME");
  },
  get bucket() {
    return need("BUCKET_NAME");
  },
  get kmsKey() {
    return need("KMS_KEY_ID");
  },
  /** Where callers reach us, without a trailing slash: https://mail.example.com */
  get publicUrl() {
    return need("PUBLIC_URL").replace(/\/+$/, "");
  },
  /** Whether callers reach us by https: then by nothing else. */
  get isSecure() {
    return optional("PUBLIC_URL")?.startsWith("https://") ?? false;
  },
  get allowedOrigins() {
    return (optional("ALLOWED_ORIGINS") ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter(Boolean);
  },
  /** Where the line "Sent with Pennymail" leads. */
  get brandingUrl() {
    return optional("BRANDING_URL") ?? this.publicUrl;
  },
  /** Name of a secret with both of Stripe's as JSON: `{"secretKey", "webhookSecret"}`. Instead of the two settings that follow. */
  get stripeSecret() {
    return optional("STRIPE_SECRET");
  },
  get stripeSecretKey() {
    return optional("STRIPE_SECRET_KEY");
  },
  get stripeWebhookSecret() {
    return optional("STRIPE_WEBHOOK_SECRET");
  },
  /** Replaces the origin of Stripe's API. */
  get stripeUrl() {
    return optional("STRIPE_URL");
  },
  get defaultPlan() {
    return optional("DEFAULT_PLAN") ?? "free";
  },
  /** Who may sign up: everyone, only the first organization, nobody. */
  get signup() {
    return optional("SIGNUP") ?? "first";
  },
  /** Who mails our own users: a sending config id, or `<provider>:<from address>` with credentials in the secret that SYSTEM_SENDER_SECRET names. */
  get systemSender() {
    return optional("SYSTEM_SENDER");
  },
  get systemSenderSecret() {
    return need("SYSTEM_SENDER_SECRET");
  },
  /** Further links on the page at `/`, as `Words=/path` with commas between: the local runner names its own. */
  get homeLinks() {
    return (optional("HOME_LINKS") ?? "").split(",").flatMap((link) => {
      const [, words, to] = /^([^=]+)=(.+)$/.exec(link.trim()) ?? [];
      return words && to ? [{ words, to }] : [];
    });
  },
  /** Where accounts to try with are given out: the reference then shows how one is taken from there. */
  get sandboxUrl() {
    return optional("SANDBOX_URL");
  },
  /** Requests per minute from one client address to one public route. */
  get addressLimit() {
    return Number(optional("ADDRESS_LIMIT_PER_MINUTE") ?? 60);
  },
  /** Failed logins from one client address in 15 minutes. */
  get loginFailuresPerAddress() {
    return Number(optional("LOGIN_FAILURES_PER_ADDRESS") ?? 50);
  },
  queueUrl: (name: string) => need(`QUEUE_URL_${constant(name)}`),
  /** Replaces the origin of Amazon SNS, for its certificates and subscription confirmations. */
  get snsUrl() {
    return optional("SNS_URL");
  },
  /** Where the age of domains is asked for: an RDAP service, without a trailing slash. */
  get rdapUrl() {
    return (optional("RDAP_URL") ?? "https://rdap.org").replace(/\/+$/, "");
  },
  /** Key of the account at Pexels, for stock photos. */
  get pexelsApiKey() {
    return optional("PEXELS_API_KEY");
  },
  /** Replaces the origin of Pexels: of its API, and of the host that has its images. */
  get pexelsUrl() {
    return optional("PEXELS_URL")?.replace(/\/+$/, "");
  },
  /** DNS servers to ask, each an address with or without a port; none: those of the system. */
  get dnsServers() {
    return (optional("DNS_SERVERS") ?? "")
      .split(",")
      .map((server) => server.trim())
      .filter(Boolean);
  },
  /** Whether webhooks may go to this machine, over http and to any port: for the local runner. */
  get allowLoopbackWebhooks() {
    return optional("ALLOW_LOOPBACK_WEBHOOKS") === "on";
  },
  /** How long an endpoint of a customer may take to answer. */
  get webhookTimeoutSeconds() {
    return Number(optional("WEBHOOK_TIMEOUT_SECONDS") ?? 15);
  },
  /** Replaces the origin of a provider's API; its paths stay. */
  providerUrl: (key: string) => optional(`PROVIDER_URL_${constant(key)}`),
  get logLevel() {
    return optional("LOG_LEVEL") ?? "INFO";
  },
};
