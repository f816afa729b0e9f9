// Mailgun webhooks (documentation.mailgun.com, webhook payloads and securing webhooks): one event per call. The signature covers a
// time and a token, not the event: whoever saw one unused token could put any event beside it, so each token is good for one use.
import { createHmac } from "node:crypto";
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, json, text, time } from "./reading.ts";
import { same } from "./signatures.ts";

export const mailgun: Inbound = {
  proof: "signature",
  genuine({ rawBody }, secret, now) {
    const { timestamp, token, given } = signatureOf(fields(json(rawBody)));
    if (!secret || !token || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > windowSeconds) return false;
    const expected = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex");
    return given.some((one) => same(one, expected));
  },
  read({ rawBody }) {
    const body = fields(json(rawBody));
    const { token, timestamp } = signatureOf(body);
    return token ? { events: eventOf(fields(body["event-data"]), token, timestamp), onceToken: token } : { events: [] };
  },
  // 406 is the one answer that ends the repeats.
  statuses: { forged: 406, busy: 503 },
};

/** Repeats go on for 8 hours and carry the first signature. */
const windowSeconds = 24 * 3600;

function signatureOf(body: Fields) {
  const { timestamp, token, signature, "parent-signature": parent } = fields(body.signature);
  return {
    timestamp: typeof timestamp === "string" || typeof timestamp === "number" ? String(timestamp) : "",
    token: typeof token === "string" && /^[\w-]{1,200}$/.test(token) ? token : undefined,
    // A subaccount's events are signed with its own key and, as the parent, with the account's.
    given: [signature, parent].filter((one) => typeof one === "string"),
  };
}

function eventOf(row: Fields, token: string, signedAt: string): ProviderEvent[] {
  const happening = entry(kinds, row.event)?.(row);
  if (!happening) return [];
  const headers = fields(fields(row.message).headers);
  return event({
    ...happening,
    email: row.recipient ?? headers.to,
    sendId: fields(row["user-variables"]).sendId,
    messageId: text(headers["message-id"])?.replace(/^<|>$/g, ""),
    eventId: token,
    at: time(row.timestamp) ?? time(signedAt),
  });
}

function client(row: Fields) {
  const { "user-agent": userAgent, bot } = fields(row["client-info"]);
  return { userAgent, ip: row.ip, automated: text(bot) !== undefined };
}

const rejected = (row: Fields): Happening => ({ type: "dropped", reason: firstText(fields(row.reject).reason, reasonOf(row)) });

const kinds: Record<string, (row: Fields) => Happening> = {
  delivered: () => ({ type: "delivered" }),
  failed: (row) => ({ ...(row.severity === "permanent" ? failure(row) : { type: "deferred" }), reason: reasonOf(row) }),
  rejected,
  blocked: rejected,
  opened: (row) => ({ type: "open", ...client(row) }),
  clicked: (row) => ({ type: "click", url: row.url, ...client(row) }),
  unsubscribed: (row) => ({ type: "unsubscribe", ...client(row) }),
  complained: () => ({ type: "spam_report" }),
};

function reasonOf(row: Fields): string | undefined {
  const { message, description } = fields(row["delivery-status"]);
  return firstText(message, description, row.reason);
}

/** Permanent failures that never left Mailgun, since the address is on one of its lists. */
const listed = new Set<unknown>(["suppress-bounce", "suppress-unsubscribe", "suppress-complaint"]);
const listedCodes = new Set([605, 606, 607, 625]);
const noSuchMailbox = /^(?:5\d\d[ -])?5\.(?:1\.\d|2\.1(?!\d)|4\.4(?!\d))/;
const bounceTypes: Record<string, "hard" | "soft"> = { hard: "hard", soft: "soft" };

function failure(row: Fields): Happening {
  const status = fields(row["delivery-status"]);
  const code = Number(status.code);
  if (listed.has(row.reason) || listedCodes.has(code)) return { type: "dropped" };
  const told = entry(bounceTypes, status["bounce-type"]);
  if (told) return { type: "bounce", bounceType: told };
  // Retries used up: the mailbox may well exist.
  if (row.reason === "old" || code === 602) return { type: "bounce", bounceType: "soft" };
  const unknown = [status["enhanced-code"], status.message].some((value) => noSuchMailbox.test(text(value) ?? ""));
  const hard = unknown || row.reason === "bounce" || fields(row.flags)["is-delayed-bounce"] === true;
  return { type: "bounce", bounceType: hard ? "hard" : "soft" };
}
