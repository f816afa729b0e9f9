// Mandrill webhooks (mailchimp.com/developer/transactional/docs/webhooks): a form with one field,
// an array of events, signed with HMAC-SHA1 over the URL as entered at Mandrill and the form
// fields.
// The signature covers no time, and events have no ids.
import { createHmac } from "node:crypto";
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
  type InboundRequest,
  megabyte,
  type ProviderEvent,
} from "./inbound-adapter.ts";
import {
  asArray,
  asIsoTime,
  asObject,
  asObjects,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toConfigIds,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { equalsSecret } from "./signatures.ts";

export const mandrill: InboundAdapter = {
  verify({ headers, rawBody, url }, secret) {
    const form = formOf(rawBody);
    const given = headers["x-mandrill-signature"];
    if (!secret || !given) return false;
    // A webhook that is being added has no key yet.
    return (
      equalsSecret(given, signature(secret, url, form)) ||
      (isEmpty(form) && equalsSecret(given, signature("test-webhook", url, form)))
    );
  },
  claimedConfigIds: ({ rawBody }) =>
    toConfigIds(
      asObjects(parseJson(formOf(rawBody).get("mandrill_events"))).map(
        ({ msg }) => asObject(asObject(msg).metadata).configId,
      ),
    ),
  readEvents: ({ rawBody }) => ({
    events: asObjects(parseJson(formOf(rawBody).get("mandrill_events"))).flatMap(toEvents),
  }),
  isProbe: isProbe,
  statuses: { rejected: 401, retryLater: 503 },
  // At most 1,000 events.
  maxBodyBytes: 10 * megabyte,
};

/** A request without body (Mandrill tests a URL with HEAD, formerly GET) or without events. */
function isProbe({ rawBody }: InboundRequest): boolean {
  return rawBody.length === 0 || (rawBody.length < 100 && isEmpty(formOf(rawBody)));
}

const formOf = (rawBody: Buffer): URLSearchParams => new URLSearchParams(rawBody.toString());

const isEmpty = (form: URLSearchParams): boolean =>
  form.size === 1 && form.get("mandrill_events")?.trim() === "[]";

/** Concatenates names and decoded values, sorted by name. */
function signature(key: string, url: string, form: URLSearchParams): string {
  const fields = [...form].sort(([a], [b]) => Number(a > b) - Number(a < b)).flat();
  return createHmac("sha1", key)
    .update(url + fields.join(""))
    .digest("base64");
}

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const msg = asObject(row.msg);
  const details = ownValue(detailsByKind, row.event)?.(msg, row);
  if (!details) return [];
  const id = row._id ?? msg._id;
  return toProviderEvents({
    ...details,
    email: msg.email,
    sendId: asObject(msg.metadata).sendId,
    messageId: id,
    eventId: [row.event, id, row.ts, row.url, row.ip],
    // `msg.ts` is the time at which the mail was sent.
    at: asIsoTime(row.ts),
  });
}

const client = ({ user_agent: userAgent, ip }: UntrustedJson) => ({ userAgent, ip });
const reason = ({ diag, bounce_description: description }: UntrustedJson) => ({
  reason: firstText(diag, description),
});

// `send` is left out: the response to the call has already reported that Mandrill accepted the
// mail.
const detailsByKind: Record<string, (msg: UntrustedJson, row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  deferral: (msg) => ({
    type: "deferred",
    reason: firstText(asObjects(asArray(msg.smtp_events)).at(-1)?.diag, msg.diag),
  }),
  hard_bounce: (msg) => ({ ...(refusalOf(msg) ?? addressBad), ...reason(msg) }),
  soft_bounce: (msg) => ({
    ...(refusalOf(msg) ?? readSoftBounce(msg.diag)),
    ...reason(msg),
  }),
  open: (_, row) => ({ type: "open", ...client(row) }),
  click: (_, row) => ({ type: "click", url: row.url, ...client(row) }),
  spam: () => ({ type: "spam_report" }),
  unsub: (_, row) => ({ type: "unsubscribe", ...client(row) }),
  reject: (msg) => ({
    ...(ownValue(rejections, asObject(msg.reject).reason) ?? { type: "dropped" }),
    reason: firstText(asObject(msg.reject).reason, msg.diag, msg.bounce_description),
  }),
};

/**
 * Codes of `bgtools_code` (BoogieTools bounce categories, which Mandrill reports) that are not
 * about the address. All others follow the name of the event.
 */
const refusalByCode: Record<string, FailureDetails> = {
  "22": mailboxUnwell,
  "23": messageRefused,
  "50": senderRefused,
  "51": senderRefused,
  "52": messageRefused,
  "53": messageRefused,
  "54": senderRefused,
  "60": autoReply,
  "100": autoReply,
};
const refusalOf = ({ bgtools_code: code }: UntrustedJson): FailureDetails | undefined =>
  ownValue(refusalByCode, String(code));

/** Values of `reject.reason`, as in the response of messages/send. */
const rejections: Record<string, FailureDetails> = {
  "hard-bounce": listedByProvider,
  "soft-bounce": listedByProvider,
  spam: listedByProvider,
  unsub: listedByProvider,
  custom: listedByProvider,
  "invalid-sender": senderRefused,
  unsigned: senderRefused,
  "test-mode-limit": senderRefused,
  rule: messageRefused,
};
