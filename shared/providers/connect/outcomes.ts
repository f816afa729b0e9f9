// How the steps of connecting a provider end. Each code has one state and one message.

export const connectStates = ["done", "created", "waiting", "manual", "failed"] as const;
type ConnectState = (typeof connectStates)[number];

export const connectSteps = [
  "account",
  "webhook",
  "domain",
  "dns",
  "events",
  "suppressions",
] as const;
export type ConnectStep = (typeof connectSteps)[number];

interface OutcomeMeaning {
  state: ConnectState;
  /** `{provider}` and `{detail}` are replaced. */
  message: string;
}

const meanings = {
  account_active: { state: "done", message: "The account at {provider} can send" },
  account_known: {
    state: "done",
    message: "{provider} knows the key, and tells no more about the account",
  },
  login_accepted: { state: "done", message: "The SMTP server accepts the login" },
  account_restricted: {
    state: "manual",
    message: "The account at {provider} is restricted: {detail}",
  },
  account_paused: { state: "manual", message: "The account at {provider} cannot send: {detail}" },
  account_used_up: { state: "waiting", message: "The quota at {provider} is used up: {detail}" },
  key_refused: { state: "failed", message: "{provider} does not know the key: {detail}" },
  webhook_exists: { state: "done", message: "{provider} reports events to this service" },
  webhook_created: { state: "created", message: "The webhook at {provider} was created" },
  webhook_updated: { state: "created", message: "The webhook at {provider} was corrected" },
  webhook_unconfirmed: {
    state: "waiting",
    message: "The subscription is not confirmed yet: check again in a minute",
  },
  webhook_taken: {
    state: "manual",
    message: "{provider} already reports to another address, which is kept: {detail}",
  },
  not_public: {
    state: "manual",
    message:
      "{provider} cannot reach {detail}: set PUBLIC_URL to the https address of the service, " +
      "or enter the webhook by hand once it has one",
  },
  no_webhooks: {
    state: "manual",
    message:
      "An SMTP server reports bounces by email only: set up a bounce mailbox, or forward bounces " +
      "to an inbound URL of the site",
  },
  bounces_read: { state: "done", message: "Bounces are read from the bounce mailbox" },
  bounces_failing: { state: "failed", message: "The bounce mailbox cannot be read: {detail}" },
  domain_verified: { state: "done", message: "{provider} has verified the domain" },
  domain_added: {
    state: "created",
    message: "The domain was added at {provider}: publish its DNS records",
  },
  domain_unverified: {
    state: "waiting",
    message: "{provider} waits for the DNS records of the domain",
  },
  domain_by_hand: {
    state: "manual",
    message: "Add {detail} in the account at {provider}: this key cannot do it",
  },
  domain_listed: { state: "done", message: "The domain is listed; an SMTP server needs no more" },
  domain_not_added: { state: "failed", message: "The domain cannot be used: {detail}" },
  no_sender: { state: "manual", message: "Set fromEmail, so that its domain can be set up" },
  dns_found: { state: "done", message: "All DNS records are there" },
  dns_missing: { state: "waiting", message: "DNS records that are not there yet: {detail}" },
  events_received: { state: "done", message: "{provider} has reported events" },
  events_missing: {
    state: "waiting",
    message: "{provider} has reported nothing yet: send a test email",
  },
  suppressions_pulled: {
    state: "done",
    message: "The suppression list of {provider} is read every day, the last time at {detail}",
  },
  suppressions_pending: {
    state: "waiting",
    message: "The suppression list of {provider} is read within a few minutes, then every day",
  },
  not_permitted: {
    state: "manual",
    message: "The key may not do this. Allow it, or do it by hand: {detail}",
  },
  provider_failed: { state: "failed", message: "{provider} refused: {detail}" },
  rate_limited: {
    state: "waiting",
    message: "{provider} asks for a pause, check again in a minute: {detail}",
  },
  no_answer: { state: "failed", message: "{provider} did not answer in time: check again" },
} as const satisfies Record<string, OutcomeMeaning>;

export type OutcomeCode = keyof typeof meanings;
export const outcomeCodes = Object.keys(meanings) as [OutcomeCode, ...OutcomeCode[]];

export interface StepOutcome {
  code: OutcomeCode;
  /** A value of the message, or the provider's own words. */
  detail?: string | undefined;
}

export const stateOf = ({ code }: StepOutcome): ConnectState => meanings[code].state;

export const messageOf = ({ code, detail = "" }: StepOutcome, provider: string): string =>
  meanings[code].message.replace("{provider}", provider).replace("{detail}", () => detail);
