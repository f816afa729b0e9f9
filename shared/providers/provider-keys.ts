/** The providers in the order of the API; the first is the default. This file loads no adapter. */
export const providerKeys = [
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
export type ProviderKey = (typeof providerKeys)[number];
