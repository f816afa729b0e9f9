// Postmark webhooks (postmarkapp.com/developer/webhooks): one event per call, no signature. Its probes carry the secret as any call.
import type { Inbound, ProviderEvent, Reading } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, json, text, time } from "./reading.ts";
import { secretInUrl } from "./signatures.ts";

export const postmark: Inbound = {
  proof: "secret",
  genuine: secretInUrl,
  read: ({ headers, rawBody }): Reading => ({ events: eventsOf(fields(json(rawBody)), headers["x-pm-webhook-trace-id"]) }),
  // Any 4xx but 408 and 429 is final.
  statuses: { forged: 401, busy: 503 },
};

/** `trace` is the same on every try. */
function eventsOf(row: Fields, trace: string | undefined): ProviderEvent[] {
  const kind = entry(kinds, row.RecordType);
  const happening = kind?.happening(row);
  if (!kind || !happening) return [];
  const [email, at] = [row[kind.email], row[kind.time]];
  const parts = [row.RecordType, row.MessageID, email, at, ...(happening.url === undefined ? [] : [happening.url])];
  return event({
    ...happening,
    email,
    sendId: fields(row.Metadata).sendId,
    messageId: row.MessageID,
    eventId: text(trace) ?? parts.map((part) => (typeof part === "string" ? part : "")).join("|"),
    at: time(at),
  });
}

interface Kind {
  /** Names of the fields. */
  email: string;
  time: string;
  happening(row: Fields): Happening | undefined;
}

const client = ({ UserAgent, Geo }: Fields) => ({ userAgent: UserAgent, ip: fields(Geo).IP });

const kinds: Record<string, Kind> = {
  Delivery: { email: "Recipient", time: "DeliveredAt", happening: () => ({ type: "delivered" }) },
  Open: { email: "Recipient", time: "ReceivedAt", happening: (row) => ({ type: "open", ...client(row) }) },
  Click: { email: "Recipient", time: "ReceivedAt", happening: (row) => ({ type: "click", url: row.OriginalLink, ...client(row) }) },
  Bounce: { email: "Email", time: "BouncedAt", happening: bounce },
  SpamComplaint: { email: "Email", time: "BouncedAt", happening: () => ({ type: "spam_report" }) },
  // Other reasons are told by a Bounce or SpamComplaint of their own.
  SubscriptionChange: {
    email: "Recipient",
    time: "ChangedAt",
    happening: ({ SuppressSending, SuppressionReason }) =>
      SuppressSending === true && SuppressionReason === "ManualSuppression" ? { type: "unsubscribe" } : undefined,
  },
};

const hard: Happening = { type: "bounce", bounceType: "hard" };
const soft: Happening = { type: "bounce", bounceType: "soft" };
const deferred: Happening = { type: "deferred" };
const dropped: Happening = { type: "dropped" };

/** By `Type`; null is no event of ours. The numbers of `TypeCode` differ between Postmark's own pages. */
const bounces: Record<string, Happening | null> = {
  HardBounce: hard,
  BadEmailAddress: hard,
  SoftBounce: soft,
  Unknown: soft,
  VirusNotification: soft,
  SpamNotification: soft,
  Blocked: soft,
  Transient: deferred,
  DnsError: deferred,
  OpenRelayTest: deferred,
  SpamComplaint: { type: "spam_report" },
  Unsubscribe: { type: "unsubscribe" },
  ManuallyDeactivated: dropped,
  Unconfirmed: dropped,
  SMTPApiError: dropped,
  DMARCPolicy: dropped,
  TemplateRenderingFailed: dropped,
  Subscribe: null,
  AutoResponder: null,
  AddressChange: null,
  ChallengeVerification: null,
  InboundError: null,
};

const reasoned = new Set(["bounce", "deferred", "dropped"]);

function bounce({ Type, Inactive, Details, Description }: Fields): Happening | undefined {
  const known = entry(bounces, Type);
  if (known === null) return undefined;
  const happening = known ?? (Inactive === true ? hard : soft);
  return reasoned.has(happening.type) ? { ...happening, reason: firstText(Details, Description) } : happening;
}
