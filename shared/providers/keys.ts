/** Keys of the ten, in the order of the contract; the first is the default. Apart from them, for those who only name them. */
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
