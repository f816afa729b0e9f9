// SMTP2GO webhooks (developers.smtp2go.com/docs/webhooks-overview): one event per request, as a
// form unless set to JSON. No signature. SMTP2GO returns our id only if the webhook includes the
// header X-Send-Id.
import { addressBad, listedByProvider, readSoftBounce } from "./failed-deliveries.ts";
import {
  type InboundAdapter,
  type InboundRequest,
  megabyte,
  type ProviderEvent,
} from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObjects,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { hasUrlSecret } from "./signatures.ts";

export const smtp2go: InboundAdapter = {
  verify: hasUrlSecret,
  readEvents: (request) => ({ events: parseBody(request).flatMap(toEvents) }),
  statuses: { rejected: 401, retryLater: 503 },
  // One event.
  maxBodyBytes: megabyte,
};

function parseBody({ headers, rawBody }: InboundRequest): UntrustedJson[] {
  const isForm =
    headers["content-type"]?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
  return isForm
    ? [Object.fromEntries(new URLSearchParams(rawBody.toString()))]
    : asObjects(parseJson(rawBody));
}

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const details = ownValue(detailsByKind, row.event)?.(row);
  if (!details) return [];
  return toProviderEvents({
    ...details,
    email: row.rcpt,
    sendId: Object.entries(row).find(([name]) => name.toLowerCase() === "x-send-id")?.[1],
    messageId: row.email_id,
    // SMTP2GO does not document whether a retry has the same `id`.
    eventId: [row.event, row.email_id, row.rcpt, row.time, row.url ?? row.click_url ?? row.link],
    at: asIsoTime(row.time),
  });
}

// For other events srchost is the host that submitted the mail.
const client = (row: UntrustedJson) => ({ userAgent: row["user-agent"], ip: row.srchost });
const reason = ({ message, context }: UntrustedJson) => ({ reason: firstText(message, context) });

const opened = (row: UntrustedJson): EventDetails => ({ type: "open", ...client(row) });
const clicked = (row: UntrustedJson): EventDetails => ({
  type: "click",
  url: firstText(row.url, row.click_url, row.link),
  ...client(row),
});
const complained = (): EventDetails => ({ type: "spam_report" });
const unsubscribed = (): EventDetails => ({ type: "unsubscribe" });
/** SMTP2GO did not send the mail: mostly because the address is on its suppression list. */
const dropped = (row: UntrustedJson): EventDetails => {
  const isListed = /suppress|unsubscribed|blocked/i.test(reason(row).reason ?? "");
  return { ...(isListed ? listedByProvider : { type: "dropped" }), ...reason(row) };
};

/** Names in the documentation and in real requests differ. */
const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  open: opened,
  opened,
  click: clicked,
  clicked,
  bounce: (row) => ({
    // SMTP2GO tells hard and soft apart, and quotes the mail server.
    ...(row.bounce === "hard" ? addressBad : readSoftBounce(row.message, row.context)),
    ...reason(row),
  }),
  spam: complained,
  spam_complaint: complained,
  unsubscribe: unsubscribed,
  unsubscribed,
  reject: dropped,
  rejected: dropped,
};
