// The keys of the providers in the order of the API. This file loads no adapter.

/** The providers with an API, which post delivery events to a webhook. The first is the default. */
export const webhookProviderKeys = [
  "sendgrid",
  "ses",
  "postmark",
  "mailgun",
  "sparkpost",
  "brevo",
  "mailjet",
  "mandrill",
  "resend",
  "smtp2go",
] as const;
export type WebhookProviderKey = (typeof webhookProviderKeys)[number];

/** An SMTP server reports bounces by email only. */
export const providerKeys = [...webhookProviderKeys, "smtp"] as const;
/** Whether the provider reports events. */
export const hasWebhooks = (key: string): boolean =>
  (webhookProviderKeys as readonly string[]).includes(key);

export type ProviderKey = (typeof providerKeys)[number];
