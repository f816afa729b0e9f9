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

/** `imap`: a bounce mailbox. Its mail comes as it is, too. */
export const inboundMailSources = [...inboundMailProviders, "imap"] as const;
export type InboundMailSource = (typeof inboundMailSources)[number];
