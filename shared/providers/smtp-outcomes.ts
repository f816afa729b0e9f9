// What the reply of an SMTP server means for a mail (RFC 5321, enhanced codes of RFC 3463):
//   before the content    lost connection: not accepted, held
//   login                 5xx: refused, config; 4xx: held
//   sender                5xx: refused, config; 4xx: held
//   recipient             5xx: refused; 4xx: held for this recipient, and refused if the address
//                         itself is bad
//   content               2xx: accepted; 5xx: refused; 4xx: held; lost connection: uncertain
// A server that names a rate limit or a quota is asked again later, with 4xx and with 5xx.
import type { SmtpReply } from "../adapters/smtp/smtp-client.ts";
import type { CredentialCheck, HandOverOutcome } from "./provider-adapter.ts";
import { type FailureKind, outcomeOfFailure, sanitizeError } from "./provider-http.ts";

interface SentMail {
  messageId: string;
  /** To be removed from error texts. */
  secrets: string[];
}

export function toOutcome(reply: SmtpReply, { messageId, secrets }: SentMail): HandOverOutcome {
  const { step, code, newMessageId } = reply;
  if (step === "message" && code !== undefined && code < 400)
    return { status: "accepted", messageId: newMessageId ?? messageId };
  const error = sanitizeError(textOf(reply), secrets);
  // The other mails of the call took the time.
  if (step === "wait") return { status: "held", why: "pace", error, retryAfterSeconds: 0 };
  const failure = failureOf(reply);
  return failure === "fault" && step === "recipient" && code !== undefined
    ? { status: "held", why: "recipient", error }
    : outcomeOfFailure(failure, error, isQuota(reply) ? quotaSeconds : undefined);
}

/** What a failed login says about the credentials. */
export function toCredentialCheck(reply: SmtpReply, secrets: string[]): CredentialCheck {
  const outcome = toOutcome(reply, { messageId: "", secrets });
  return outcome.status === "refused"
    ? { status: "refused", error: outcome.error }
    : { status: "unknown" };
}

const textOf = ({ step, code, text }: SmtpReply): string => {
  if (code !== undefined || step === "host" || step === "wait") return text;
  return step === "message"
    ? `The connection was lost before the SMTP server confirmed the mail: ${text}`
    : `No mail could be handed over to the SMTP server: ${text}`;
};

function failureOf(reply: SmtpReply): FailureKind {
  const { step, code } = reply;
  if (step === "host") return "config";
  if (code === undefined) return step === "message" ? "uncertain" : "fault";
  if (isLimit(reply) || isQuota(reply)) return "pace";
  if (code < 500) return isBadAddress(reply) ? "refused" : "fault";
  if (isTooLarge(reply)) return "refused";
  return configSteps.has(step) || isAccountRefused(reply) ? "config" : "refused";
}

const configSteps = new Set<SmtpReply["step"]>(["connect", "login", "sender"]);

/** Postfix and others answer so for a domain that does not exist. */
const isBadAddress = ({ step, text }: SmtpReply): boolean =>
  step === "recipient" && /\b[45]\.1\.[1-3]\b/.test(text);

const isTooLarge = ({ code, text }: SmtpReply): boolean =>
  code === 552 || /\b5\.3\.4\b|size larger than allowed/i.test(text);

/**
 * The server does not know the client, or the client may not use the sender. Many servers refuse
 * both at a later step.
 */
const isAccountRefused = ({ code, text }: SmtpReply): boolean =>
  code === 530 || accountRefusals.some((pattern) => pattern.test(text));

const accountRefusals = [
  /\brelay(ing)? (access )?(is )?(denied|not (permitted|allowed))|unable to relay/i,
  // Postfix
  /\b(sender address|client host|helo command) rejected/i,
  // Microsoft 365
  /SendAsDenied|permissions? to send as|OutboundSpam|bad outbound sender/i,
  // Amazon SES and SendGrid
  /address is not verified|verified sender/i,
];

const isLimit = ({ code = 0, text }: SmtpReply): boolean =>
  code < 500 && /\b4\.7\.28\b|\b(rate|throttl\w*|too (many|fast)|limits?)\b/i.test(text);

const quotaSeconds = 3600;

/** 5.4.5 is the code of Gmail, 5.1.90 that of Microsoft 365. cPanel counts `emails per hour`. */
const isQuota = ({ code, text }: SmtpReply): boolean =>
  code !== undefined && quotas.some((pattern) => pattern.test(text));

const quotas = [
  /\b[45]\.(4\.5|1\.90)\b|SubmissionQuotaExceeded/i,
  /\b(daily|hourly|per (day|hour)|sending)\b.{0,30}\b(limit|quota)\b/i,
  /\bexceeded\b.{0,40}\bper (day|hour)\b/i,
];
