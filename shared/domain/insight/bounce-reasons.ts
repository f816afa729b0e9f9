// Why mail bounced, in a handful of words: what servers say is read once, when it is counted. By the enhanced status codes of RFC
// 3463 where there is one, else by what people who run mail servers usually write.

export const bounceReasons = [
  "authentication",
  "blocked",
  "mailbox_full",
  "too_large",
  "unknown_domain",
  "inactive_mailbox",
  "unknown_mailbox",
  "temporary",
  "other",
] as const;
export type BounceReason = (typeof bounceReasons)[number];

export const described: Record<BounceReason, string> = {
  authentication: "SPF, DKIM or DMARC did not vouch for the sender",
  blocked: "Refused as spam, by a blocklist or by a rule of the recipient's server",
  mailbox_full: "The mailbox is full",
  too_large: "The mail is too large",
  unknown_domain: "The domain does not exist or takes no mail",
  inactive_mailbox: "The mailbox is disabled",
  unknown_mailbox: "There is no such mailbox",
  temporary: "The server was busy, slow or not there",
  other: "The server said something else, or nothing",
};

/** Refused for what the sender is or does, and not for the mailbox. */
export const blocking: ReadonlySet<BounceReason> = new Set(["authentication", "blocked"]);

// The first that fits: a text about blocking may well name a code that also stands for an unknown mailbox.
const patterns: [BounceReason, RegExp][] = [
  ["temporary", /gr[ae]y-?list/i],
  ["authentication", /\b5\.7\.(2[0-9]|3[0-1])\b|dmarc|\bspf\b|\bdkim\b|unauthenticated|authentication (failed|required)/i],
  [
    "blocked",
    /\b[45]\.7\.\d+\b|\bspam|block(ed|list| list)|black ?list|deny ?list|reputation|unsolicited|policy|\babuse|spamhaus|barracuda|proofpoint|not authorized|access denied|banned/i,
  ],
  ["mailbox_full", /\b[45]\.2\.2\b|(mail)?box (is )?full|over ?quota|quota (is )?exceeded|exceeded .*(quota|storage)|out of storage/i],
  ["too_large", /\b5\.(2\.3|3\.4)\b|too (large|big)|size (limit|exceed)|exceeds? .*size/i],
  [
    "unknown_domain",
    /\b[45]\.(1\.2|4\.4)\b|(domain|host)( name)?( was)? (not found|unknown|does not exist)|unknown (domain|host)|no mx|nxdomain|unrouteable|bad destination/i,
  ],
  ["inactive_mailbox", /\b[45]\.2\.1\b|inactive|disabled|suspended|deactivated|account .*closed/i],
  [
    "unknown_mailbox",
    /\b5\.1\.(0|1|3|6|10)\b|(user|recipient|mailbox|address|account)( is| was)? (unknown|not found|unavailable|invalid|rejected)|(unknown|invalid|no such|bad) (user|recipient|mailbox|address|account|person)|(does not|doesn't|do not) (exist|have an account)|no mailbox/i,
  ],
  ["temporary", /\b4\.\d\.\d+\b|\b4[25]\d\b|try again|later|time[d ]*out|connection|temporar|throttl|too many|rate limit|unreachable/i],
];

// What servers write is short; whoever writes pages is not read to the end.
const mostRead = 1000;

export function reasonOf(text: string | undefined): BounceReason {
  const read = (text ?? "").slice(0, mostRead);
  return patterns.find(([, pattern]) => pattern.test(read))?.[0] ?? "other";
}

/** Its counter. Those of hard and soft bounces are apart, so that all of them add up to the bounces. */
export type ReasonCounter = `reason.${"hard" | "soft"}.${BounceReason}`;
export const counterOf = (bounceType: string | undefined, text: string | undefined): ReasonCounter =>
  `reason.${bounceType === "hard" ? "hard" : "soft"}.${reasonOf(text)}`;
