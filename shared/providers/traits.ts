// The name and limits of each provider. A function that accepts mail needs only this table, so it
// does not load the adapters.

import type { ProviderAdapter } from "./provider-adapter.ts";
import type { providerKeys } from "./provider-keys.ts";

export type Traits = Pick<
  ProviderAdapter,
  "name" | "maxAttachmentBytes" | "limits" | "setsFeedbackId"
>;

// Brevo has no field for the type of a file; its extension decides.
const brevoEndings = new Set(
  (
    "xlsx xls ods docx docm doc csv pdf txt gif jpg jpeg png tif tiff rtf bmp cgm css " +
    "shtml html htm zip xml ppt pptx tar ez ics mobi " +
    "msg pub eps odt mp3 m4a m4v wma ogg flac wav aif aifc aiff mp4 mov avi mkv mpeg mpg " +
    "wmv pkpass xlsm"
  ).split(" "),
);

const mailjetHeaders = new Set(
  (
    "return-path delivered-to dkim-signature domainkey-status received received-spf " +
    "authentication-results date message-id list-id " +
    "user-agent x-mailer x-feedback-id x-csa-complaints"
  ).split(" "),
);

export const traits: Record<(typeof providerKeys)[number], Traits> = {
  sendgrid: {
    name: "SendGrid",
    setsFeedbackId: true,
    // A request may have 30 MB. Base64 adds a third, and the content needs room too.
    maxAttachmentBytes: 20_000_000,
    limits: { forbiddenHeaders: new Set(["x-sg-id", "x-sg-eid"]) },
  },
  ses: {
    name: "Amazon SES",
    setsFeedbackId: true,
    // 40 MB per mail in base64: more than our own limit.
    maxAttachmentBytes: 25 * 1024 * 1024,
    limits: { headers: 15, headerCharacters: 995 },
  },
  postmark: {
    name: "Postmark",
    setsFeedbackId: true,
    // 10 MB per mail in base64.
    maxAttachmentBytes: 7_000_000,
    limits: { fromCharacters: 255 },
  },
  mailgun: {
    name: "Mailgun",
    // 25 MB per mail in base64.
    maxAttachmentBytes: 18_000_000,
    // 16 kB for options, headers and variables together.
    limits: { headerBytes: 14_000 },
  },
  sparkpost: {
    name: "SparkPost",
    // 20 MB for all content in base64.
    maxAttachmentBytes: 14_000_000,
    limits: { replyTos: 1, filenameBytes: 255 },
  },
  brevo: {
    name: "Brevo",
    setsFeedbackId: true,
    // 20 MB per mail in base64.
    maxAttachmentBytes: 14_000_000,
    limits: {
      replyTos: 1,
      noInlineImages: true,
      asciiHeaders: true,
      filenameEndings: brevoEndings,
    },
  },
  mailjet: {
    name: "Mailjet",
    setsFeedbackId: true,
    // 15 MB per mail in base64.
    maxAttachmentBytes: 11_000_000,
    limits: { replyTos: 1, subjectCharacters: 255, forbiddenHeaders: mailjetHeaders },
  },
  mandrill: {
    name: "Mandrill",
    setsFeedbackId: true,
    // 25 MB per mail in base64.
    maxAttachmentBytes: 18_000_000,
  },
  resend: {
    name: "Resend",
    setsFeedbackId: true,
    // 40 MB per mail in base64.
    maxAttachmentBytes: 28_000_000,
  },
  smtp2go: {
    name: "SMTP2GO",
    setsFeedbackId: true,
    // 50 MB for the whole request in base64.
    maxAttachmentBytes: 36_000_000,
  },
  smtp: {
    name: "SMTP server",
    // Our own limit. The server names its limit when the mail is handed over.
    maxAttachmentBytes: 25 * 1024 * 1024,
    // A line has at most 998 characters (RFC 5322), and a word in it cannot be folded.
    limits: { headerCharacters: 900 },
  },
};

export const traitsOf = (provider: string): Traits => traits[provider as keyof typeof traits];
