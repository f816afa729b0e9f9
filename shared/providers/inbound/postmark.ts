// Postmark webhooks (postmarkapp.com/developer/webhooks): one event per request, no
// signature. Test requests carry the secret too.
import {
  addressBad,
  autoReply,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
import {
  type InboundAdapter,
  megabyte,
  type ParsedRequest,
  type ProviderEvent,
} from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObject,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { hasUrlSecret } from "./signatures.ts";

export const postmark: InboundAdapter = {
  verify: hasUrlSecret,
  readEvents: ({ rawBody }): ParsedRequest => ({ events: toEvents(asObject(parseJson(rawBody))) }),
  // Any 4xx except 408 and 429 is final.
  statuses: { rejected: 401, retryLater: 503 },
  // One event.
  maxBodyBytes: megabyte,
};

/**
 * X-PM-Webhook-Trace-Id differs per webhook: two sending configs of one account would get an event
 * under two ids.
 */
function toEvents(row: UntrustedJson): ProviderEvent[] {
  const kind = ownValue(kindsByType, row.RecordType);
  const details = kind?.details(row);
  if (!kind || !details) return [];
  const [email, at] = [row[kind.email], row[kind.time]];
  return toProviderEvents({
    ...details,
    email,
    sendId: asObject(row.Metadata).sendId,
    messageId: row.MessageID,
    eventId: [row.RecordType, row.MessageID, email, at, details.url],
    at: asIsoTime(at),
  });
}

interface PostmarkKind {
  /** Names of the payload's fields. */
  email: string;
  time: string;
  details(row: UntrustedJson): EventDetails | undefined;
}

const client = ({ UserAgent, Geo }: UntrustedJson) => ({
  userAgent: UserAgent,
  ip: asObject(Geo).IP,
});

const kindsByType: Record<string, PostmarkKind> = {
  Delivery: { email: "Recipient", time: "DeliveredAt", details: () => ({ type: "delivered" }) },
  Open: {
    email: "Recipient",
    time: "ReceivedAt",
    details: (row) => ({ type: "open", ...client(row) }),
  },
  Click: {
    email: "Recipient",
    time: "ReceivedAt",
    details: (row) => ({ type: "click", url: row.OriginalLink, ...client(row) }),
  },
  Bounce: { email: "Email", time: "BouncedAt", details: bounce },
  SpamComplaint: { email: "Email", time: "BouncedAt", details: () => ({ type: "spam_report" }) },
  // Postmark reports other reasons by a Bounce or SpamComplaint event.
  SubscriptionChange: {
    email: "Recipient",
    time: "ChangedAt",
    details: ({ SuppressSending, SuppressionReason }) =>
      SuppressSending === true && SuppressionReason === "ManualSuppression"
        ? { type: "unsubscribe" }
        : undefined,
  },
};

const deferred: FailureDetails = { type: "deferred" };

/**
 * By `Type` (postmarkapp.com/developer/api/bounce-api, "Bounce types"); null is ignored. Postmark's
 * own pages disagree about the numbers of `TypeCode`.
 */
const bounceDetails: Record<string, FailureDetails | null> = {
  HardBounce: addressBad,
  BadEmailAddress: addressBad,
  SoftBounce: mailboxUnwell,
  Unknown: mailboxUnwell,
  VirusNotification: messageRefused,
  SpamNotification: messageRefused,
  Blocked: senderRefused,
  DMARCPolicy: senderRefused,
  Transient: deferred,
  DnsError: deferred,
  OpenRelayTest: deferred,
  SpamComplaint: { type: "spam_report" },
  Unsubscribe: { type: "unsubscribe" },
  ManuallyDeactivated: listedByProvider,
  Unconfirmed: listedByProvider,
  SMTPApiError: messageRefused,
  TemplateRenderingFailed: messageRefused,
  AutoResponder: autoReply,
  ChallengeVerification: autoReply,
  Subscribe: null,
  AddressChange: null,
  InboundError: null,
};

const typesWithReason = new Set(["bounce", "deferred", "dropped"]);

function bounce({ Type, Inactive, Details, Description }: UntrustedJson): EventDetails | undefined {
  const known = ownValue(bounceDetails, Type);
  if (known === null) return undefined;
  const named = known ?? (Inactive === true ? addressBad : mailboxUnwell);
  // The types of soft bounces do not tell what the server refused; its code may.
  const details = named === mailboxUnwell ? readSoftBounce(Details) : named;
  return typesWithReason.has(details.type)
    ? { ...details, reason: firstText(Details, Description) }
    : details;
}
