// Brevo transactional webhooks (developers.brevo.com/docs/transactional-webhooks): one event per
// request, or an array if batching is on. No signature, no event ids, no data about the recipient's
// client.
import {
  addressBad,
  listedByProvider,
  messageRefused,
  readSoftBounce,
} from "./failed-deliveries.ts";
import { type InboundAdapter, megabyte, type ProviderEvent } from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObject,
  asObjects,
  asText,
  type EventDetails,
  ownValue,
  parseJson,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { hasUrlSecret } from "./signatures.ts";

export const brevo: InboundAdapter = {
  verify: hasUrlSecret,
  readEvents: ({ rawBody }) => ({ events: asObjects(parseJson(rawBody)).flatMap(toEvents) }),
  // Brevo retries only after a timeout or 429; even a 5xx is final.
  statuses: { rejected: 401, retryLater: 429 },
  // At most 500 events.
  maxBodyBytes: 2 * megabyte,
};

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const details = ownValue(detailsByKind, row.event)?.(row);
  if (!details) return [];
  const { email, link, "message-id": messageId } = row;
  return toProviderEvents({
    ...details,
    email,
    sendId: asObject(parseJson(row["X-Mailin-custom"])).sendId,
    messageId,
    eventId: [row.event, messageId, email, row.ts_epoch ?? row.ts_event, link],
    // `date` is in the time zone of the account, so it is not used.
    at: [row.ts_epoch, row.s_epoch, row.ts_event, row.ts].map(asIsoTime).find(Boolean),
  });
}

const opened = (): EventDetails => ({ type: "open" });
/** The proxy of a mail program, such as Apple's, fetched the tracking pixel. */
const prefetched = (): EventDetails => ({ type: "open", automated: true });
const complained = (): EventDetails => ({ type: "spam_report" });
const unsubscribed = (): EventDetails => ({ type: "unsubscribe" });

const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  opened,
  unique_opened: opened,
  proxy_open: prefetched,
  unique_proxy_open: prefetched,
  click: ({ link }) => ({ type: "click", url: link }),
  hard_bounce: ({ reason }) => ({ ...addressBad, reason }),
  // Brevo has one word for all of them, so the code of the mail server decides.
  soft_bounce: ({ reason }) => ({ ...readSoftBounce(reason), reason }),
  deferred: ({ reason }) => ({ type: "deferred", reason }),
  // Brevo blocks recipients that bounced, complained or unsubscribed before.
  blocked: ({ reason }) => ({
    ...(/unsubscribed|blocklist|blacklist|bounce|complain/i.test(asText(reason) ?? "")
      ? listedByProvider
      : { type: "dropped" }),
    reason,
  }),
  invalid_email: ({ reason }) => ({ type: "dropped", reason }),
  error: ({ reason }) => ({ ...messageRefused, reason }),
  spam: complained,
  complaint: complained,
  unsubscribed,
  unsubscribe: unsubscribed,
};
