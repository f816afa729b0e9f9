// Mandrill webhooks (mailchimp.com/developer/transactional/docs/webhooks): a form whose one field is an array of events, signed
// with HMAC-SHA1 over the URL as it was entered there and the form's fields. No time is signed and events have no ids.
import { createHmac } from "node:crypto";
import type { Inbound, Notice, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, hashed, json, list, rows, time } from "./reading.ts";
import { same } from "./signatures.ts";

export const mandrill: Inbound = {
  proof: "signature",
  genuine({ headers, rawBody, url }, secret) {
    const form = formOf(rawBody);
    const given = headers["x-mandrill-signature"];
    if (!secret || !given) return false;
    // While a webhook is being added it has no key yet.
    return same(given, signature(secret, url, form)) || (isEmpty(form) && same(given, signature("test-webhook", url, form)));
  },
  read: ({ rawBody }) => ({ events: rows(json(formOf(rawBody).get("mandrill_events"))).flatMap(eventOf) }),
  probe: isProbe,
  statuses: { forged: 401, busy: 503 },
};

/** No body at all (Mandrill tries a URL with HEAD, formerly GET), or no events in it. */
function isProbe({ rawBody }: Notice): boolean {
  return rawBody.length === 0 || (rawBody.length < 100 && isEmpty(formOf(rawBody)));
}

const formOf = (rawBody: Buffer): URLSearchParams => new URLSearchParams(rawBody.toString());

const isEmpty = (form: URLSearchParams): boolean => form.size === 1 && form.get("mandrill_events")?.trim() === "[]";

/** Sorted by name, name and decoded value run together. */
function signature(key: string, url: string, form: URLSearchParams): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).flat();
  return createHmac("sha1", key)
    .update(url + fields.join(""))
    .digest("base64");
}

function eventOf(row: Fields): ProviderEvent[] {
  const msg = fields(row.msg);
  const happening = entry(kinds, row.event)?.(msg, row);
  if (!happening) return [];
  const id = row._id ?? msg._id;
  return event({
    ...happening,
    email: msg.email,
    sendId: fields(msg.metadata).sendId,
    messageId: id,
    eventId: hashed(row.event, id, row.ts, row.url, row.ip),
    // Not msg.ts: that is when the mail was sent.
    at: time(row.ts),
  });
}

const client = ({ user_agent: userAgent, ip }: Fields) => ({ userAgent, ip });
const reason = ({ diag, bounce_description: description }: Fields) => ({ reason: firstText(diag, description) });

// `send` is not among them: it says that Mandrill took the mail, which its answer to the call said already.
const kinds: Record<string, (msg: Fields, row: Fields) => Happening> = {
  delivered: () => ({ type: "delivered" }),
  deferral: (msg) => ({ type: "deferred", reason: firstText(rows(list(msg.smtp_events)).at(-1)?.diag, msg.diag) }),
  hard_bounce: (msg) => ({ type: "bounce", bounceType: "hard", ...reason(msg) }),
  soft_bounce: (msg) => ({ type: "bounce", bounceType: "soft", ...reason(msg) }),
  open: (_, row) => ({ type: "open", ...client(row) }),
  click: (_, row) => ({ type: "click", url: row.url, ...client(row) }),
  spam: () => ({ type: "spam_report" }),
  unsub: (_, row) => ({ type: "unsubscribe", ...client(row) }),
  reject: (msg) => ({ type: "dropped", reason: firstText(fields(msg.reject).reason, msg.diag, msg.bounce_description) }),
};
