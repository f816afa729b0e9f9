// Classifies bounces and refusals into a few reasons: by the enhanced status code of RFC 3463 if
// the server sends one, otherwise by usual phrases. An event is classified once, when it is
// counted.

export const bounceReasons = [
  "authentication",
  "blocked",
  "mailbox_full",
  "too_large",
  "content",
  "unknown_domain",
  "inactive_mailbox",
  "unknown_mailbox",
  "temporary",
  "other",
] as const;
export type BounceReason = (typeof bounceReasons)[number];

export const bounceReasonTexts: Record<BounceReason, string> = {
  authentication: "The sender failed SPF, DKIM or DMARC authentication",
  blocked: "The recipient's server rejected the mail as spam, by a blocklist or by a rule",
  mailbox_full: "The mailbox is full",
  too_large: "The mail is too large",
  content: "The content or an attachment was refused",
  unknown_domain: "The domain does not exist or does not accept mail",
  inactive_mailbox: "The mailbox is disabled",
  unknown_mailbox: "The mailbox does not exist",
  temporary: "The server was busy, slow or unreachable",
  other: "The server gave another reason, or none",
};

/** Reasons that concern the sender and not the mailbox. */
export const blockReasons: ReadonlySet<BounceReason> = new Set(["authentication", "blocked"]);

// The first match counts: a text about blocking may contain a code that also stands for an unknown
// mailbox.
const patterns: [BounceReason, ...RegExp[]][] = [
  ["temporary", /gr[ae]y-?list/i],
  // Microsoft 365, of an address that its customer does not have.
  ["unknown_mailbox", /recipient address(es)? rejected ?: access denied/i],
  [
    "authentication",
    /\b5\.7\.(2[0-9]|3[0-1])\b|dmarc|\bspf\b|\bdkim\b/i,
    /unauthenticated|authentication (failed|required)/i,
  ],
  [
    "blocked",
    /\b[45]\.7\.\d+\b|\bspam|block(ed|list| list)|black ?list|deny ?list|reputation/i,
    /unsolicited|policy|\babuse|spamhaus|barracuda|proofpoint|not authorized|access denied|banned/i,
  ],
  [
    "mailbox_full",
    /\b[45]\.2\.2\b|(mail)?box (is )?full|over ?quota|quota (is )?exceeded/i,
    /exceeded .*(quota|storage)|out of storage/i,
  ],
  ["too_large", /\b5\.(2\.3|3\.4)\b|too (large|big)|size (limit|exceed)|exceeds? .*size/i],
  [
    "unknown_domain",
    /\b[45]\.(1\.2|4\.4|4\.310)\b|(domain|host)( name)?( was)? (not found|unknown|does not exist)/i,
    /unknown (domain|host)|no mx|nxdomain|unrouteable|bad destination/i,
  ],
  ["inactive_mailbox", /\b[45]\.2\.1\b|inactive|disabled|suspended|deactivated|account .*closed/i],
  [
    "unknown_mailbox",
    /\b5\.1\.(0|1|3|6|10)\b/,
    /(user|recipient|mailbox|address|account)( is| was)? (unknown|not found|unavailable)/i,
    /(user|recipient|mailbox|address|account)( is| was)? (invalid|rejected)/i,
    /(unknown|invalid|no such|bad) (user|recipient|mailbox|address|account|person)/i,
    /(does not|doesn't|do not) (exist|have an account)|no mailbox/i,
  ],
  [
    "temporary",
    /\b4\.\d\.\d+\b|\b4[25]\d\b|try again|later|time[d ]*out|connection|temporar|throttl/i,
    /too many|rate limit|unreachable/i,
  ],
];

// Servers' texts are short. Longer ones are not read to the end.
const maxTextLength = 1000;

export function classifyBounce(text: string | undefined): BounceReason {
  const read = (text ?? "").slice(0, maxTextLength);
  return (
    patterns.find(([, ...texts]) => texts.some((pattern) => pattern.test(read)))?.[0] ?? "other"
  );
}

/**
 * The counter of a bounce. Hard and soft bounces have separate counters that add up to all bounces.
 * Refused mails were dropped because of the message or its sender.
 */
export type ReasonCounter = `reason.${"hard" | "soft" | "refused"}.${BounceReason}`;
export const bounceCounterOf = (
  bounceType: string | undefined,
  text: string | undefined,
): ReasonCounter => `reason.${bounceType === "hard" ? "hard" : "soft"}.${classifyBounce(text)}`;

export function refusalCounterOf(
  cause: "message" | "sender",
  text: string | undefined,
): ReasonCounter {
  const read = classifyBounce(text);
  if (cause === "message") return `reason.refused.${read === "too_large" ? read : "content"}`;
  return `reason.refused.${blockReasons.has(read) ? read : "blocked"}`;
}
