// The three kinds of failed deliveries. The address is bad: a hard bounce. The mailbox is unwell
// (full, greylisted, temporarily off): a soft bounce. The message or its sender was refused:
// dropped, which says nothing about the address. An adapter decides by its provider's own words,
// and by the code of the mail server (RFC 3463) where these do not tell.
import { asText, type EventDetails } from "./normalize.ts";

export const addressBad = { type: "bounce", bounceType: "hard" } as const;
export const mailboxUnwell = { type: "bounce", bounceType: "soft" } as const;
/** Content, size or attachment. */
export const messageRefused = { type: "dropped", cause: "message" } as const;
/** Reputation, authentication, quota or a blocklist. */
export const senderRefused = { type: "dropped", cause: "sender" } as const;
/** The provider has the address on its own suppression list. */
export const listedByProvider = { type: "dropped", cause: "suppressed" } as const;
export const autoReply = { type: "deferred", cause: "auto_reply" } as const;

export type FailureDetails = Pick<EventDetails, "type" | "bounceType" | "cause">;

/**
 * What the first telling status code (RFC 3463) or reply code (RFC 5321) in the texts says, else
 * usual words of mail servers, else a vague status code. Undefined if nothing tells.
 */
export function readReply(...texts: unknown[]): FailureDetails | undefined {
  const text = texts.flatMap((one) => asText(one) ?? []).join(" ");
  if (greylisted.test(text)) return mailboxUnwell;
  const words = withoutAddresses(text);
  const codes = [...text.matchAll(statusCode)].flatMap(([, severity, subject, detail]) => {
    const code = { isFinal: severity === "5", detail: detail!, words };
    const details = bySubject[subject!]?.(code);
    return details ? [{ details, isVague: vagueDetails.has(`${subject}.${detail}`) }] : [];
  });
  const telling = codes.find(({ isVague }) => !isVague);
  if (telling) return telling.details;
  return readReplyCode(text, words) ?? codes[0]?.details;
}

function readReplyCode(text: string, words: string): FailureDetails | undefined {
  if (/\b552\b/.test(text))
    return readWords(words) ?? (/mailbox|storage/i.test(text) ? mailboxUnwell : messageRefused);
  return /\b(421|45[0-2])\b/.test(text) ? mailboxUnwell : readWords(words);
}

/** A bounce that the provider calls soft: the server's code may say that it refused the message. */
export function readSoftBounce(...texts: unknown[]): FailureDetails {
  const read = readReply(...texts);
  return read?.type === "dropped" ? read : mailboxUnwell;
}

const unknownRecipient = [
  /(no such|unknown|invalid) (user|recipient|mailbox|address|account)|no mailbox/i,
  /(user|recipient|mailbox|address|account) (is )?(unknown|invalid|not found)/i,
  // Microsoft 365, of an address that its customer does not have.
  /recipient address(es)? rejected ?: access denied/i,
];

/** Many servers explain a 550 or 554 only in words. The first match counts. */
const phrases: [RegExp, FailureDetails][] = [
  [/(unroutable|unknown|invalid) sender|\bhelo\b/i, senderRefused],
  [/sender( address| domain)? (is )?(rejected|refused|denied|invalid|unknown|not)/i, senderRefused],
  [/\bptr\b|reverse dns|\br-?dns\b/i, senderRefused],
  ...unknownRecipient.map((pattern): [RegExp, FailureDetails] => [pattern, addressBad]),
  [/(does not|doesn't|do not) (exist|have an? \S* ?account)/i, addressBad],
  [/nxdomain|unrouteable|no such domain|(host|domain)( name)? (unknown|not found)/i, addressBad],
  [/(mail)?box (is )?full|over ?quota|quota (is )?exceeded|out of storage/i, mailboxUnwell],
  [/(black|block|deny) ?-?list|blocked (by|using|due to|for|because)|banned/i, senderRefused],
  [/spamhaus|spamcop|barracuda|dnsbl|reputation|\bdmarc\b|\bspf\b|\bdkim\b/i, senderRefused],
  [/unauthenticated|(too many|rate limit).*(messages|mails|connections)/i, senderRefused],
  [/\bspam\b|unsolicited|virus|malware|phish|content (was )?(reject|refus|block)/i, messageRefused],
  [/(message|mail|attachment)( content)?( was)? (rejected|refused|blocked)/i, messageRefused],
  [/(message|mail) (is )?too (large|big)|(message )?size (limit|exceed)/i, messageRefused],
  // T-Online asks to do so when it does not know the server.
  [/ask your postmaster|not accepting connections|frequency limited/i, senderRefused],
  [/open relay|relay(ing)? (access )?(is )?(denied|not)|not allowed to send/i, senderRefused],
  [/polic(y|ies)\b|access denied|(host|network|message) not allowed/i, senderRefused],
  [/time[d ]*out|connection (refused|reset|lost)|requests to connect|hop count/i, mailboxUnwell],
  [/temporar|try (again|later)|unreachable|service (is )?(un|not )available/i, mailboxUnwell],
];

const readWords = (words: string): FailureDetails | undefined =>
  phrases.find(([pattern]) => pattern.test(words))?.[1];

/** Addresses can contain any word. Cisco's servers put `Unknown address error` before any reply. */
const withoutAddresses = (text: string): string =>
  text
    .replace(/unknown address error/gi, "")
    .split(" ")
    .filter((word) => !word.includes("@"))
    .join(" ");

const greylisted = /gr[ae]y-?list/i;
const aboutContent = /content|spam|virus|malware|attachment|phish|\burls?\b|\blinks?\b/i;
/** Not a part of an IP address. */
const statusCode = /(?<![\d.])([45])\.(\d{1,3})\.(\d{1,3})(?!\d|\.\d)/g;

interface StatusCode {
  isFinal: boolean;
  /** The third number. */
  detail: string;
  /** What the server says, without addresses. */
  words: string;
}
type SubjectReader = (code: StatusCode) => FailureDetails | undefined;

/** Codes that some servers use for anything. */
const vagueDetails = new Set(["1.0", "2.0"]);
/** .90 is a daily limit of Microsoft 365. */
const badSenderAddress = new Set(["7", "8", "90"]);
/** The domain has no server, .310 by the words of Microsoft 365. */
const badRoute = new Set(["4", "310"]);

/** By the second number of the code. 0 says nothing, and protocol errors (5) are used for all. */
const bySubject: Record<string, SubjectReader> = {
  // Address
  "1": ({ isFinal, detail }) => {
    if (badSenderAddress.has(detail)) return senderRefused;
    return isFinal ? addressBad : mailboxUnwell;
  },
  // Mailbox: .1 disabled, .2 full, .3 the message is too long
  "2": ({ isFinal, detail, words }) => {
    if (detail === "3") return messageRefused;
    const isBusy = /at a rate|too quickly/i.test(words);
    return isFinal && detail === "1" && !isBusy ? addressBad : mailboxUnwell;
  },
  // Mail system: .3 cannot take this kind of message, .4 it is too big
  "3": ({ detail }) => (detail === "3" || detail === "4" ? messageRefused : mailboxUnwell),
  // Network
  "4": ({ isFinal, detail, words }) =>
    isFinal && (badRoute.has(detail) || isAboutRecipient(words)) ? addressBad : mailboxUnwell,
  // Content
  "6": () => messageRefused,
  // Security and policy
  "7": ({ isFinal, words }) => {
    if (isFinal && isAboutRecipient(words)) return addressBad;
    return aboutContent.test(words) ? messageRefused : senderRefused;
  },
};

const isAboutRecipient = (words: string): boolean =>
  !/sender/i.test(words) && unknownRecipient.some((pattern) => pattern.test(words));
