// Resend webhooks (resend.com/docs/dashboard/webhooks): one event per call, signed by Svix (docs.svix.com, verifying payloads
// manually): HMAC-SHA256 over id, time and raw body. The id is the same on every try, time and signature are not.
import { createHmac } from "node:crypto";
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, headerIn, json, list, text, time } from "./reading.ts";
import { same } from "./signatures.ts";

export const resend: Inbound = {
  proof: "signature",
  genuine({ headers, rawBody }, secret, now) {
    const { "svix-id": id, "svix-timestamp": timestamp = "", "svix-signature": signatures = "" } = headers;
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (!id || key.length === 0 || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > windowSeconds) return false;
    const expected = `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest("base64")}`;
    // Several while the secret is being changed, and perhaps of other versions.
    return signatures.split(" ", maxSignatures).some((given) => same(given, expected));
  },
  read: ({ headers, rawBody }) => ({ events: eventOf(fields(json(rawBody)), headers["svix-id"]) }),
  statuses: { forged: 401, busy: 503 },
};

const windowSeconds = 300;
const maxSignatures = 20;

function eventOf(row: Fields, id: string | undefined): ProviderEvent[] {
  const data = fields(row.data);
  const happening = entry(kinds, row.type)?.(data);
  if (!happening) return [];
  return event({
    ...happening,
    email: list(data.to)[0] ?? data.to,
    sendId: fields(data.tags).send_id ?? headerIn(data.headers, "x-send-id"),
    messageId: data.email_id,
    eventId: text(id),
    // Not data.created_at: that is when the mail was made.
    at: time(row.created_at),
  });
}

const deferred = (): Happening => ({ type: "deferred" });

const kinds: Record<string, (data: Fields) => Happening> = {
  "email.delivered": () => ({ type: "delivered" }),
  "email.delivery_delayed": deferred,
  // As Resend's documentation once spelled it.
  "email.delivered_delayed": deferred,
  "email.bounced": ({ bounce }) => bounced(fields(bounce)),
  "email.complained": () => ({ type: "spam_report" }),
  "email.opened": () => ({ type: "open" }),
  "email.clicked": ({ click }) => {
    const { link, userAgent, ipAddress } = fields(click);
    return { type: "click", url: link, userAgent, ip: ipAddress };
  },
  "email.failed": ({ failed }) => ({ type: "dropped", reason: fields(failed).reason }),
  "email.suppressed": ({ suppressed }) => {
    const { message, reason, type } = fields(suppressed);
    return { type: "dropped", reason: firstText(message, reason, type) };
  },
};

const listed = new Set<unknown>(["Suppressed", "OnAccountSuppressionList"]);

/** A suppressed address comes as a bounce of a mail that was never sent. Older bounces have a message and no type. */
function bounced({ type, subType, message, diagnosticCode }: Fields): Happening {
  const reason = firstText(list(diagnosticCode)[0], message);
  const words = text(message) ?? "";
  if (listed.has(subType) || words.includes("suppressed sending")) return { type: "dropped", reason };
  const hard = type === "Permanent" || (type === undefined && words.includes("hard bounce"));
  return { type: "bounce", bounceType: hard ? "hard" : "soft", reason };
}
