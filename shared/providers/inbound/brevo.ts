// Brevo transactional webhooks (developers.brevo.com/docs/transactional-webhooks): one event per call, or an array where batching
// is on; no signature, no event ids, and nothing of the recipient's client.
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, type Happening, hashed, json, rows, time } from "./reading.ts";
import { secretInUrl } from "./signatures.ts";

export const brevo: Inbound = {
  proof: "secret",
  genuine: secretInUrl,
  read: ({ rawBody }) => ({ events: rows(json(rawBody)).flatMap(eventOf) }),
  // 5xx is final here as well: only silence and 429 are followed by another try.
  statuses: { forged: 401, busy: 429 },
};

function eventOf(row: Fields): ProviderEvent[] {
  const happening = entry(kinds, row.event)?.(row);
  if (!happening) return [];
  const { email, link, "message-id": messageId } = row;
  return event({
    ...happening,
    email,
    sendId: fields(json(row["X-Mailin-custom"])).sendId,
    messageId,
    eventId: hashed(row.event, messageId, email, row.ts_epoch ?? row.ts_event, link),
    // Never `date`: it is in the time zone of the account.
    at: [row.ts_epoch, row.s_epoch, row.ts_event, row.ts].map(time).find(Boolean),
  });
}

const opened = (): Happening => ({ type: "open" });
/** A mail program's proxy (Apple's, for one) fetched the pixel. */
const prefetched = (): Happening => ({ type: "open", automated: true });
const complained = (): Happening => ({ type: "spam_report" });
const unsubscribed = (): Happening => ({ type: "unsubscribe" });
const dropped = ({ reason }: Fields): Happening => ({ type: "dropped", reason });

const kinds: Record<string, (row: Fields) => Happening> = {
  delivered: () => ({ type: "delivered" }),
  opened,
  unique_opened: opened,
  proxy_open: prefetched,
  unique_proxy_open: prefetched,
  click: ({ link }) => ({ type: "click", url: link }),
  hard_bounce: ({ reason }) => ({ type: "bounce", bounceType: "hard", reason }),
  soft_bounce: ({ reason }) => ({ type: "bounce", bounceType: "soft", reason }),
  deferred: ({ reason }) => ({ type: "deferred", reason }),
  blocked: dropped,
  invalid_email: dropped,
  error: dropped,
  spam: complained,
  complaint: complained,
  unsubscribed,
  unsubscribe: unsubscribed,
};
