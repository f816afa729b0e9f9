/** The ways in which received mail comes. `mime`: a program posts the mail as it is. */
export const inboundMailProviders = ["postmark", "sendgrid", "mailgun", "mime"] as const;
export type InboundMailProvider = (typeof inboundMailProviders)[number];
