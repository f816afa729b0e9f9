// SMTP2GO webhooks (developers.smtp2go.com/docs/webhooks-overview): one event per call, as a form unless set to JSON; no signature.
// Our id comes back only if the webhook is set to echo the header X-Send-Id.
import type { Inbound, Notice, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, firstText, type Happening, hashed, json, rows, time } from "./reading.ts";
import { secretInUrl } from "./signatures.ts";

export const smtp2go: Inbound = {
  proof: "secret",
  genuine: secretInUrl,
  read: (notice) => ({ events: bodyOf(notice).flatMap(eventOf) }),
  statuses: { forged: 401, busy: 503 },
};

function bodyOf({ headers, rawBody }: Notice): Fields[] {
  const isForm = headers["content-type"]?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
  return isForm ? [Object.fromEntries(new URLSearchParams(rawBody.toString()))] : rows(json(rawBody));
}

function eventOf(row: Fields): ProviderEvent[] {
  const happening = entry(kinds, row.event)?.(row);
  if (!happening) return [];
  return event({
    ...happening,
    email: row.rcpt,
    sendId: Object.entries(row).find(([name]) => name.toLowerCase() === "x-send-id")?.[1],
    messageId: row.email_id,
    // Whether `id` is one per event or one per try is not documented.
    eventId: hashed(row.event, row.email_id, row.rcpt, row.time, row.url ?? row.click_url ?? row.link),
    at: time(row.time),
  });
}

// On other events srchost is where the mail was handed in.
const client = (row: Fields) => ({ userAgent: row["user-agent"], ip: row.srchost });
const reason = ({ message, context }: Fields) => ({ reason: firstText(message, context) });

const opened = (row: Fields): Happening => ({ type: "open", ...client(row) });
const clicked = (row: Fields): Happening => ({ type: "click", url: firstText(row.url, row.click_url, row.link), ...client(row) });
const complained = (): Happening => ({ type: "spam_report" });
const unsubscribed = (): Happening => ({ type: "unsubscribe" });
const dropped = (row: Fields): Happening => ({ type: "dropped", ...reason(row) });

/** Documentation and calls differ in their names. */
const kinds: Record<string, (row: Fields) => Happening> = {
  delivered: () => ({ type: "delivered" }),
  open: opened,
  opened,
  click: clicked,
  clicked,
  bounce: (row) => ({ type: "bounce", bounceType: row.bounce === "hard" ? "hard" : "soft", ...reason(row) }),
  spam: complained,
  spam_complaint: complained,
  unsubscribe: unsubscribed,
  unsubscribed,
  reject: dropped,
  rejected: dropped,
};
