/** The ways in which received mail comes. `mime`: a program posts the mail as it is. */
export const inboundMailProviders = [
  "sendgrid",
  "ses",
  "postmark",
  "mailgun",
  "sparkpost",
  "brevo",
  "mailjet",
  "mandrill",
  "resend",
  "mime",
] as const;
export type InboundMailProvider = (typeof inboundMailProviders)[number];
