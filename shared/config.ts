// Settings. They are read from the environment on use and never on import, so a function needs only
// the settings that it uses.
const need = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The setting ${name} is missing`);
  return value;
};
const optional = (name: string): string | undefined => process.env[name] || undefined;
/** The environment variable part for a queue or provider name: `fan-out` becomes `FAN_OUT`. */
const toEnvName = (name: string): string => name.toUpperCase().replaceAll("-", "_");

export const config = {
  get table() {
    return need("TABLE_NAME");
  },
  get bucket() {
    return need("BUCKET_NAME");
  },
  /** Whether the bucket is at another host than AWS. The SDK reads the address itself. */
  get usesOwnS3() {
    return optional("AWS_ENDPOINT_URL_S3") !== undefined;
  },
  get kmsKey() {
    return need("KMS_KEY_ID");
  },
  /** The public origin of the service, without a trailing slash: https://mail.example.com */
  get publicUrl() {
    return need("PUBLIC_URL").replace(/(?<!\/)\/+$/, "");
  },
  /** URL of the API reference. A path if the public URL is missing. */
  get docsUrl() {
    return `${optional("PUBLIC_URL") ? this.publicUrl : ""}/api/v1/docs`;
  },
  /**
   * The origin at which the service calls its own API. Set by the local runner, because a machine
   * may not reach its public address.
   */
  get apiOrigin() {
    return optional("API_ORIGIN") ?? this.publicUrl;
  },
  /** True if the public URL uses https. Responses then forbid http (HSTS). */
  get usesHttps() {
    return optional("PUBLIC_URL")?.startsWith("https://") ?? false;
  },
  get allowedOrigins() {
    return (optional("ALLOWED_ORIGINS") ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter(Boolean);
  },
  /** Link target of "Sent with Pennymail". */
  get brandingUrl() {
    return optional("BRANDING_URL") ?? this.publicUrl;
  },
  /**
   * Name of a secret in Secrets Manager with both Stripe secrets as JSON: `{"secretKey",
   * "webhookSecret"}`. Replaces the two settings below.
   */
  get stripeSecret() {
    return optional("STRIPE_SECRET");
  },
  get stripeSecretKey() {
    return optional("STRIPE_SECRET_KEY");
  },
  get stripeWebhookSecret() {
    return optional("STRIPE_WEBHOOK_SECRET");
  },
  /** Whether plans and credits can be bought. */
  get sells() {
    return Boolean(this.stripeSecret || this.stripeSecretKey);
  },
  /** Replaces the origin of the Stripe API. */
  get stripeUrl() {
    return optional("STRIPE_URL");
  },
  /**
   * Plan of new organizations. Unlimited if only the first organization can sign up and nothing is
   * sold.
   */
  get defaultPlan() {
    return (
      optional("DEFAULT_PLAN") ??
      (this.signupMode === "first" && !this.sells ? "unlimited" : "free")
    );
  },
  /** `open`: everyone can sign up; `first`: only the first organization; `off`: nobody. */
  get signupMode() {
    return optional("SIGNUP") ?? "first";
  },
  /** Addresses of the users who operate the service. Undefined: the setting is missing. */
  get operators() {
    return optional("OPERATORS")
      ?.toLowerCase()
      .split(",")
      .map((address) => address.trim());
  },
  /**
   * The sender of system mails: `<provider>:<from address>`, with credentials in the secret that
   * SYSTEM_SENDER_SECRET names.
   */
  get systemSender() {
    return optional("SYSTEM_SENDER");
  },
  /**
   * Whether a new account must verify its address before it can send. Default: where everybody can
   * sign up and the service can mail the link.
   */
  get requiresVerifiedEmail() {
    const setting = optional("EMAIL_VERIFICATION");
    if (setting) return setting === "on";
    return this.signupMode === "open" && this.systemSender !== undefined;
  },
  get systemSenderSecret() {
    return need("SYSTEM_SENDER_SECRET");
  },
  /**
   * More links on the page at `/`, as `Label=/path`, separated by commas. Set by the local runner.
   */
  get homeLinks() {
    return (optional("HOME_LINKS") ?? "").split(",").flatMap((link) => {
      const [, label, href] = /^([^=]+)=(.+)$/.exec(link.trim()) ?? [];
      return label && href ? [{ label, href }] : [];
    });
  },
  /** Folder with the files of the console. Undefined: this installation has none. */
  get consoleFolder() {
    // Lambda sets the folder of the unpacked bundle.
    const bundleFolder = optional("LAMBDA_TASK_ROOT");
    return optional("CONSOLE_FOLDER") ?? (bundleFolder && `${bundleFolder}/console`);
  },
  /** URL of the provider sandbox. The API reference then shows how to get a test account there. */
  get sandboxUrl() {
    return optional("SANDBOX_URL");
  },
  /** Requests per minute from one client IP address to one public route. */
  get addressLimitPerMinute() {
    return Number(optional("ADDRESS_LIMIT_PER_MINUTE") ?? 60);
  },
  /** Failed logins from one client IP address in 15 minutes. */
  get loginFailuresPerAddress() {
    return Number(optional("LOGIN_FAILURES_PER_ADDRESS") ?? 50);
  },
  /** Whether the engine needs commas between the changes of a PartiQL UPDATE. */
  get usesPartiqlCommas(): boolean {
    return optional("PARTIQL_COMMAS") !== undefined;
  },
  /** URLs of further engines that read the table's data. */
  get dynamoDbReaders(): string[] {
    return (optional("DYNAMODB_READERS") ?? "").split(" ").filter(Boolean);
  },
  queueUrl: (name: string) => need(`QUEUE_URL_${toEnvName(name)}`),
  /** Replaces the origin of Amazon SNS, for its certificates and subscription confirmations. */
  get snsUrl() {
    return optional("SNS_URL");
  },
  /** The RDAP service that returns the age of a domain, without a trailing slash. */
  get rdapUrl() {
    return (optional("RDAP_URL") ?? "https://rdap.org").replace(/(?<!\/)\/+$/, "");
  },
  /** Replaces the origins of CAPTCHA providers; the name of the provider follows in the path. */
  get captchaUrl() {
    return optional("CAPTCHA_URL")?.replace(/(?<!\/)\/+$/, "");
  },
  /** Pexels API key, for stock photos. */
  get pexelsApiKey() {
    return optional("PEXELS_API_KEY");
  },
  /** Replaces the origin of the Pexels API and of its image host. */
  get pexelsUrl() {
    return optional("PEXELS_URL")?.replace(/(?<!\/)\/+$/, "");
  },
  /** DNS servers, each an IP address with an optional port. Empty: the servers of the system. */
  get dnsServers() {
    return (optional("DNS_SERVERS") ?? "")
      .split(",")
      .map((server) => server.trim())
      .filter(Boolean);
  },
  /** Allows webhook URLs on this machine, with http and any port. For the local runner. */
  get allowLoopbackWebhooks() {
    return optional("ALLOW_LOOPBACK_WEBHOOKS") === "on";
  },
  /** IP ranges, other than public ones, in which SMTP and IMAP servers of customers may be. */
  get smtpPrivateNetworks() {
    return (optional("SMTP_PRIVATE_NETWORKS") ?? "")
      .split(",")
      .map((range) => range.trim())
      .filter(Boolean);
  },
  /** Name of the EventBridge bus that gets all events. Undefined: there is none. */
  get eventBus() {
    return optional("EVENT_BUS_NAME");
  },
  /** The bucket with event files. */
  get eventFilesBucket() {
    return optional("EVENT_FILES_BUCKET");
  },
  /** The folder with event files, in place of a bucket. Set by the local runner. */
  get eventFilesFolder() {
    return optional("EVENT_FILES_FOLDER");
  },
  get writesEventFiles() {
    return Boolean(this.eventFilesBucket ?? this.eventFilesFolder);
  },
  /** Time limit for a response of a customer's webhook endpoint. */
  get webhookTimeoutSeconds() {
    return Number(optional("WEBHOOK_TIMEOUT_SECONDS") ?? 15);
  },
  /** Replaces the origin of a provider's API. The paths stay. */
  providerUrl: (key: string) => optional(`PROVIDER_URL_${toEnvName(key)}`),
  get logLevel() {
    return optional("LOG_LEVEL") ?? "INFO";
  },
};
