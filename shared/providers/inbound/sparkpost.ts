// SparkPost event webhooks (developers.sparkpost.com/api/webhooks): an array of events, nothing signed. The token comes in the
// header that webhooks of old have, in our own X-Webhook-Token as a custom header, or as the password of Basic authentication.
import type { Inbound, Notice, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, json, rows, text, time } from "./reading.ts";
import { same } from "./signatures.ts";

export const sparkpost: Inbound = {
  proof: "signature",
  genuine: ({ headers }, secret) =>
    [headers["x-messagesystems-webhook-token"], headers["x-webhook-token"], password(headers.authorization)].some((given) =>
      same(given, secret),
    ),
  read: ({ rawBody }) => ({ events: rows(json(rawBody)).flatMap(eventOf) }),
  probe: isPing,
  statuses: { forged: 401, busy: 503 },
};

function password(authorization: string | undefined): string | undefined {
  const [, base64] = /^Basic +([\w+/=-]+)$/i.exec(authorization ?? "") ?? [];
  const credentials = Buffer.from(base64 ?? "", "base64").toString();
  return credentials.includes(":") ? credentials.slice(credentials.indexOf(":") + 1) : undefined;
}

/** What is sent when a webhook is made or tested: an array of no events. */
function isPing({ rawBody }: Notice): boolean {
  if (rawBody.length > 100) return false;
  const body = json(rawBody);
  return Array.isArray(body) && rows(body).length === body.length && body.every((row) => JSON.stringify(row) === '{"msys":{}}');
}

/** The name of the class that wraps an event tells less than its `type`. */
function eventOf(row: Fields): ProviderEvent[] {
  const [told] = rows(Object.values(fields(row.msys)));
  const happening = told && entry(kinds, told.type)?.(told);
  if (!told || !happening) return [];
  return event({
    ...happening,
    email: text(told.raw_rcpt_to) ?? told.rcpt_to,
    sendId: fields(told.rcpt_meta).sendId,
    messageId: told.transmission_id,
    // SparkPost's own samples use one event_id for all types.
    eventId: typeof told.event_id === "string" ? `${told.event_id}|${told.type}` : undefined,
    at: time(told.timestamp),
  });
}

const reason = (told: Fields) => ({ reason: firstText(told.raw_reason, told.reason) });
const client = (told: Fields) => ({
  userAgent: told.user_agent,
  ip: told.ip_address,
  automated: fields(told.user_agent_parsed).is_prefetched === true,
});

const opened = (told: Fields): Happening => ({ type: "open", ...client(told) });
const clicked = (told: Fields): Happening => ({ type: "click", url: told.target_link_url, ...client(told) });
const dropped = (told: Fields): Happening => ({ type: "dropped", ...reason(told) });
const unsubscribed = (): Happening => ({ type: "unsubscribe" });

// initial_open is a second pixel in the same mail: every view that it tells of is told by `open` too.
const kinds: Record<string, (told: Fields) => Happening | undefined> = {
  delivery: () => ({ type: "delivered" }),
  delay: (told) => ({ type: "deferred", ...reason(told) }),
  bounce,
  out_of_band: bounce,
  policy_rejection: dropped,
  generation_rejection: dropped,
  generation_failure: dropped,
  spam_complaint: () => ({ type: "spam_report" }),
  open: opened,
  amp_open: opened,
  click: clicked,
  amp_click: clicked,
  list_unsubscribe: unsubscribed,
  link_unsubscribe: unsubscribed,
};

const hard = (told: Fields): Happening => ({ type: "bounce", bounceType: "hard", ...reason(told) });
const soft = (told: Fields): Happening => ({ type: "bounce", bounceType: "soft", ...reason(told) });
const ignored = () => undefined;

/** Bounce classification codes; all others are soft. */
const classes: Record<string, (told: Fields) => Happening | undefined> = {
  "10": hard,
  "30": hard,
  "25": dropped,
  "26": dropped,
  "90": unsubscribed,
  // Automatic replies, subscriptions, challenges
  "60": ignored,
  "80": ignored,
  "100": ignored,
};

function bounce(told: Fields): Happening | undefined {
  return (entry(classes, told.bounce_class) ?? soft)(told);
}
