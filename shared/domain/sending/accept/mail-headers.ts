// Email headers that a request may set, and those that it may not.
import * as z from "zod";
import { singleLineText } from "../../../kernel/email-fields.ts";

// Headers that the service or the provider sets, or that would change the recipients.
const reservedHeaders = new Set(
  (
    "from to cc bcc subject reply-to sender return-path date message-id mime-version " +
    "content-type content-transfer-encoding dkim-signature received"
  ).split(" "),
);
// Headers with options for a provider. Some return our send id in events.
const providerHeaders = [
  /^x-(send-id|smtpapi|mailgun-|mailin-|mailjet-|mj-|mc-|mandrill-|pm-|postmark-)/i,
  /^x-(msys-|ses-|sib-|smtp2go-|resend-)/i,
];
// Headers that misstate the route, the recipients or the format of a mail.
const mailServerHeaders = [
  /^(resent-|arc-|content-|dkim-|domainkey-|received|original-|x-envelope-)/i,
  /^(authentication-results|x-failed-recipients)$/i,
  /^(delivered|errors|apparently|envelope|x-original|x-rcpt)-to$/i,
];
const matchesAny = (patterns: RegExp[], name: string): boolean =>
  patterns.some((pattern) => pattern.test(name));

/** Headers that are left out of a mail that came from another server. */
export const isSetByServers = (name: string): boolean =>
  reservedHeaders.has(name.toLowerCase()) || matchesAny(mailServerHeaders, name);

const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!-9;-~]+$/, "must be a header name")
  .refine(
    (name) => !reservedHeaders.has(name.toLowerCase()),
    "is set automatically and cannot be given",
  )
  .refine((name) => !matchesAny(mailServerHeaders, name), "is a header that only mail servers set")
  .refine(
    (name) => !matchesAny(providerHeaders, name),
    "controls a mail provider and cannot be given",
  );

export const Headers = z
  .record(HeaderName, singleLineText(998))
  .refine((headers) => Object.keys(headers).length <= 20, "must have at most 20 headers");

// Headers that the service sets in marketing email.
const marketingHeaders = new Set(
  "list-unsubscribe list-unsubscribe-post feedback-id precedence x-auto-response-suppress".split(
    " ",
  ),
);

/** Headers of marketing email that its source may set. */
export const MarketingHeaders = z
  .record(
    HeaderName.refine(
      (name) => !marketingHeaders.has(name.toLowerCase()),
      "is set automatically in marketing email and cannot be given",
    ),
    singleLineText(998),
  )
  .refine((headers) => Object.keys(headers).length <= 20, "must have at most 20 headers");
