/** The ten mail providers in the order of the contract, the default first. */
export const providerKeysInOrder = [
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
];
