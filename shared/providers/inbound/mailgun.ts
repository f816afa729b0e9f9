// Mailgun webhooks (documentation.mailgun.com, webhook payloads and securing webhooks): one event
// per request. The signature covers a time and a token, not the event. A seen token could be sent
// with any event, so each token is valid for one body.
import { createHmac } from "node:crypto";
import {
  addressBad,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  readReply,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
import { type InboundAdapter, megabyte, type ProviderEvent } from "./inbound-adapter.ts";
import {
  asIsoTime,
  asObject,
  asText,
  type EventDetails,
  firstText,
  ownValue,
  parseJson,
  toConfigIds,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { equalsSecret } from "./signatures.ts";

export const mailgun: InboundAdapter = {
  verify({ rawBody }, secret, { now }) {
    const { timestamp, token, signatures } = signatureOf(asObject(parseJson(rawBody)));
    if (!secret || !token || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > windowSeconds) return false;
    const expected = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex");
    return signatures.some((signature) => equalsSecret(signature, expected));
  },
  claimedConfigIds({ rawBody }) {
    const event = asObject(asObject(parseJson(rawBody))["event-data"]);
    return toConfigIds([asObject(event["user-variables"]).configId]);
  },
  readEvents({ rawBody }) {
    const body = asObject(parseJson(rawBody));
    const { token, timestamp } = signatureOf(body);
    return token
      ? { events: toEvents(asObject(body["event-data"]), token, timestamp), nonce: token }
      : { events: [] };
  },
  // 406 is the only status that ends the retries.
  statuses: { rejected: 406, retryLater: 503 },
  // One event.
  maxBodyBytes: megabyte,
};

/** Retries continue for 8 hours and carry the first signature. */
const windowSeconds = 24 * 3600;

function signatureOf(body: UntrustedJson) {
  const { timestamp, token, signature, "parent-signature": parent } = asObject(body.signature);
  return {
    timestamp:
      typeof timestamp === "string" || typeof timestamp === "number" ? String(timestamp) : "",
    token: typeof token === "string" && /^[\w-]{1,200}$/.test(token) ? token : undefined,
    // Events of a subaccount are signed with its own key and with the key of the parent account.
    signatures: [signature, parent].filter((one) => typeof one === "string"),
  };
}

function toEvents(row: UntrustedJson, token: string, signedAt: string): ProviderEvent[] {
  const details = ownValue(detailsByKind, row.event)?.(row);
  if (!details) return [];
  const headers = asObject(asObject(row.message).headers);
  const at = asIsoTime(row.timestamp) ?? asIsoTime(signedAt);
  return toProviderEvents({
    ...details,
    email: row.recipient ?? headers.to,
    sendId: asObject(row["user-variables"]).sendId,
    messageId: asText(headers["message-id"])?.replace(/^<|>$/g, ""),
    // Mailgun's ids are unique within a day. The token is one per webhook, not per event.
    eventId: asText(row.id) ? [row.id, at?.slice(0, 10)] : [token],
    at,
  });
}

function client(row: UntrustedJson) {
  const { "user-agent": userAgent, bot } = asObject(row["client-info"]);
  return { userAgent, ip: row.ip, automated: asText(bot) !== undefined };
}

const rejected = (row: UntrustedJson): EventDetails => ({
  type: "dropped",
  reason: firstText(asObject(row.reject).reason, reasonOf(row)),
});

const detailsByKind: Record<string, (row: UntrustedJson) => EventDetails> = {
  delivered: () => ({ type: "delivered" }),
  failed: (row) => ({
    ...(row.severity === "permanent" ? failureDetails(row) : { type: "deferred" }),
    reason: reasonOf(row),
  }),
  rejected,
  blocked: rejected,
  opened: (row) => ({ type: "open", ...client(row) }),
  clicked: (row) => ({ type: "click", url: row.url, ...client(row) }),
  unsubscribed: (row) => ({ type: "unsubscribe", ...client(row) }),
  complained: () => ({ type: "spam_report" }),
};

function reasonOf(row: UntrustedJson): string | undefined {
  const { message, description } = asObject(row["delivery-status"]);
  return firstText(message, description, row.reason);
}

/** Permanent failures of addresses on a suppression list of Mailgun; the mails were never sent. */
const suppressedReasons = new Set<unknown>([
  "suppress-bounce",
  "suppress-unsubscribe",
  "suppress-complaint",
]);
const suppressedCodes = new Set([605, 606, 607, 625]);

/** By `reason`, bounce type and the server's code, in this order. */
function failureDetails(row: UntrustedJson): FailureDetails {
  const status = asObject(row["delivery-status"]);
  const code = Number(status.code);
  if (suppressedReasons.has(row.reason) || suppressedCodes.has(code)) return listedByProvider;
  const words = [status["enhanced-code"], status.message, status.description];
  // "The mailbox provider blocks the IP address or the domain of the sender."
  if (row.reason === "espblock") return senderRefused;
  if (status["bounce-type"] === "hard") return addressBad;
  if (status["bounce-type"] === "soft") return readSoftBounce(...words);
  // Mailgun gave up after its retries; the mailbox may exist.
  if (row.reason === "old" || code === 602) return mailboxUnwell;
  const isHard = row.reason === "bounce" || asObject(row.flags)["is-delayed-bounce"] === true;
  return readReply(...words) ?? (isHard ? addressBad : mailboxUnwell);
}
