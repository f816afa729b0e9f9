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
 * What the first status code (RFC 3463) or reply code (RFC 5321) in the texts says, else usual
 * words of mail servers. Undefined if neither tells that it is not the address.
 */
export function readReply(...texts: unknown[]): FailureDetails | undefined {
  const all = texts.flatMap((text) => asText(text) ?? []).join(" ");
  if (greylisted.test(all)) return mailboxUnwell;
  const [, severity, subject, detail] = statusCode.exec(all) ?? [];
  const known = severity && bySubject[subject!]?.({ isFinal: severity === "5", detail: detail! });
  if (known) return known === senderRefused && aboutContent.test(all) ? messageRefused : known;
  if (/\b552\b/.test(all)) return /mailbox|quota/i.test(all) ? mailboxUnwell : messageRefused;
  return /\b(421|45[0-2])\b/.test(all) ? mailboxUnwell : readWords(all);
}

/** A bounce that the provider calls soft: the server's code may say that it refused the message. */
export function readSoftBounce(...texts: unknown[]): FailureDetails {
  const read = readReply(...texts);
  return read?.type === "dropped" ? read : mailboxUnwell;
}

/** Many servers explain a 550 or 554 only in words. The first match counts. */
const phrases: [RegExp, FailureDetails | undefined][] = [
  [/(no such|unknown|invalid) (user|recipient|mailbox|address|account)|no mailbox/i, undefined],
  [/(user|recipient|mailbox|address|account) (is )?(unknown|invalid|not found)/i, undefined],
  [/(does not|doesn't|do not) (exist|have an? \S* ?account)/i, undefined],
  [/(mail)?box (is )?full|over ?quota|quota (is )?exceeded|out of storage/i, mailboxUnwell],
  [/(black|block|deny) ?-?list|blocked (by|using|due to|for|because)|banned/i, senderRefused],
  [/spamhaus|spamcop|barracuda|reputation|\bdmarc\b|\bspf\b|\bdkim\b/i, senderRefused],
  [/unauthenticated|(too many|rate limit).*(messages|mails|connections)/i, senderRefused],
  [/\bspam\b|unsolicited|virus|malware|phish|content (was )?(reject|refus|block)/i, messageRefused],
  [/(message|mail|attachment)( content)?( was)? (rejected|refused|blocked)/i, messageRefused],
  [/(message|mail) (is )?too (large|big)|(message )?size (limit|exceed)/i, messageRefused],
  [/time[d ]*out|connection (refused|reset|lost)|temporar|try again|unreachable/i, mailboxUnwell],
];

/** Addresses in the text can contain any word. */
function readWords(text: string): FailureDetails | undefined {
  const words = text
    .split(" ")
    .filter((word) => !word.includes("@"))
    .join(" ");
  return phrases.find(([pattern]) => pattern.test(words))?.[1];
}

const greylisted = /gr[ae]y-?list/i;
const aboutContent = /content|spam|virus|malware|attachment|phish|\burls?\b|\blinks?\b/i;
const statusCode = /(?<![\d.])([45])\.(\d{1,3})\.(\d{1,3})(?![\d.]\d)/;

interface CodeDetail {
  isFinal: boolean;
  detail: string;
}
type SubjectReader = (code: CodeDetail) => FailureDetails | undefined;

const badSenderAddress = new Set(["7", "8"]);

/** By the second number of the code. Protocol errors (5) are used for anything. */
const bySubject: Record<string, SubjectReader> = {
  // Address
  "1": ({ isFinal, detail }) => {
    if (badSenderAddress.has(detail)) return senderRefused;
    return isFinal ? addressBad : mailboxUnwell;
  },
  // Mailbox: .1 disabled, .2 full, .3 the message is too long
  "2": ({ isFinal, detail }) => {
    if (detail === "3") return messageRefused;
    return isFinal && detail === "1" ? addressBad : mailboxUnwell;
  },
  // Mail system: .3 cannot take this kind of message, .4 it is too big
  "3": ({ detail }) => (detail === "3" || detail === "4" ? messageRefused : mailboxUnwell),
  // Network: .4 there is no route to the domain
  "4": ({ isFinal, detail }) => (isFinal && detail === "4" ? addressBad : mailboxUnwell),
  // Content
  "6": () => messageRefused,
  // Security and policy
  "7": () => senderRefused,
};
