// Mailjet's Event API (dev.mailjet.com/email/guides/webhooks): one event per call, or an array where they are grouped; no signature
// and no event ids. Anything but 200 is repeated for a day.
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, hashed, json, rows, time } from "./reading.ts";
import { secretInUrl } from "./signatures.ts";

export const mailjet: Inbound = {
  proof: "secret",
  genuine: secretInUrl,
  read: ({ rawBody }) => ({ events: rows(json(rawBody)).flatMap(eventOf) }),
  statuses: { forged: 401, busy: 503 },
};

function eventOf(row: Fields): ProviderEvent[] {
  const happening = entry(kinds, row.event)?.(row);
  if (!happening) return [];
  return event({
    ...happening,
    email: row.email,
    sendId: fields(json(row.Payload)).sendId ?? row.CustomID,
    // MessageID is a number with more digits than JSON.parse keeps.
    messageId: row.Message_GUID,
    // Our own word too: a greylisting and the bounce after it have one `event`, perhaps in one second.
    eventId: hashed(row.event, happening.type, row.Message_GUID, row.email, row.time, row.url, row.ip),
    at: time(row.time),
  });
}

const client = ({ agent, ip }: Fields) => ({ userAgent: agent, ip });

const kinds: Record<string, (row: Fields) => Happening> = {
  sent: () => ({ type: "delivered" }),
  open: (row) => ({ type: "open", ...client(row) }),
  click: (row) => ({ type: "click", url: row.url, ...client(row) }),
  bounce: ({ hard_bounce: hard, error, comment, error_related_to: related }) => ({
    // Greylisted mail is tried again by Mailjet.
    ...(error === "greylisted" && hard !== true ? { type: "deferred" } : { type: "bounce", bounceType: hard === true ? "hard" : "soft" }),
    reason: firstText(comment, error, related),
  }),
  blocked: ({ error, error_related_to: related }) => ({ type: "dropped", reason: firstText(error, related) }),
  spam: () => ({ type: "spam_report" }),
  unsub: (row) => ({ type: "unsubscribe", ...client(row) }),
};
