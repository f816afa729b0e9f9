// Resend webhooks (resend.com/docs/dashboard/webhooks): one event per request, signed by Svix
// (docs.svix.com, verifying payloads manually): HMAC-SHA256 over id, time and raw body. A retry has
// the same id, but a new time and signature.
import { createHmac } from "node:crypto";
import {
  addressBad,
  autoReply,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readReply,
  readSoftBounce,
  senderRefused,
} from "./failed-deliveries.ts";
import { type InboundAdapter, megabyte, type ProviderEvent } from "./inbound-adapter.ts";
import {
  asArray,
  asIsoTime,
  asObject,
  asText,
  type EventDetails,
  firstText,
  headerValue,
  ownValue,
  parseJson,
  toConfigIds,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { equalsSecret } from "./signatures.ts";

export const resend: InboundAdapter = {
  verify({ headers, rawBody }, secret, { now }) {
    const {
      "svix-id": id,
      "svix-timestamp": timestamp = "",
      "svix-signature": signatures = "",
    } = headers;
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (!id || key.length === 0 || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > windowSeconds) return false;
    const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody);
    const expected = `v1,${mac.digest("base64")}`;
    // The header has several signatures while the secret is rotated, perhaps of other versions.
    return signatures.split(" ", maxSignatures).some((given) => equalsSecret(given, expected));
  },
  claimedConfigIds: ({ rawBody }) =>
    toConfigIds([asObject(asObject(asObject(parseJson(rawBody)).data).tags).config_id]),
  readEvents: ({ headers, rawBody }) => ({
    events: asText(headers["svix-id"]) ? toEvents(asObject(parseJson(rawBody))) : [],
  }),
  statuses: { rejected: 401, retryLater: 503 },
  // One event.
  maxBodyBytes: megabyte,
};

const windowSeconds = 300;
const maxSignatures = 20;

function toEvents(row: UntrustedJson): ProviderEvent[] {
  const data = asObject(row.data);
  const details = ownValue(detailsByKind, row.type)?.(data);
  if (!details) return [];
  const email = asArray(data.to)[0] ?? data.to;
  const click = asObject(data.click);
  return toProviderEvents({
    ...details,
    email,
    sendId: asObject(data.tags).send_id ?? headerValue(data.headers, "x-send-id"),
    messageId: data.email_id,
    // svix-id differs per webhook: two sending configs of one account would get an event under two
    // ids.
    eventId: [
      row.type,
      details.type,
      data.email_id,
      email,
      row.created_at,
      click.link,
      click.timestamp,
      click.userAgent,
      click.ipAddress,
    ],
    // `data.created_at` is the time at which the mail was created.
    at: asIsoTime(row.created_at),
  });
}

const deferred = (): EventDetails => ({ type: "deferred" });

const detailsByKind: Record<string, (data: UntrustedJson) => EventDetails> = {
  "email.delivered": () => ({ type: "delivered" }),
  "email.delivery_delayed": deferred,
  // An older spelling in Resend's documentation.
  "email.delivered_delayed": deferred,
  "email.bounced": ({ bounce }) => bounceDetails(asObject(bounce)),
  "email.complained": () => ({ type: "spam_report" }),
  "email.opened": () => ({ type: "open" }),
  "email.clicked": ({ click }) => {
    const { link, userAgent, ipAddress } = asObject(click);
    return { type: "click", url: link, userAgent, ip: ipAddress };
  },
  // The quota is used up, or the domain or the API key does not allow the mail.
  "email.failed": ({ failed }) => ({ ...senderRefused, reason: asObject(failed).reason }),
  "email.suppressed": ({ suppressed }) => {
    const { message, reason, type } = asObject(suppressed);
    return { ...listedByProvider, reason: firstText(message, reason, type) };
  },
};

/** By `type` and `subType` (resend.com/docs/dashboard/emails/email-bounces). */
const bounceKinds: Record<string, (texts: unknown[]) => FailureDetails> = {
  "Permanent: Suppressed": () => listedByProvider,
  "Permanent: OnAccountSuppressionList": () => listedByProvider,
  "Transient: MailboxFull": () => mailboxUnwell,
  "Transient: MessageTooLarge": () => messageRefused,
  "Transient: ContentRejected": () => messageRefused,
  "Transient: AttachmentRejected": () => messageRefused,
  // Also what an automatic reply is reported as.
  "Transient: General": (texts) => readReply(...texts) ?? autoReply,
};

/** Resend reports a suppressed address as a bounce. Older bounces have a message and no type. */
function bounceDetails({ type, subType, message, diagnosticCode }: UntrustedJson): EventDetails {
  const texts = asArray(diagnosticCode).slice(0, 1);
  const reason = firstText(...texts, message);
  const words = asText(message) ?? "";
  if (words.includes("suppressed sending")) return { ...listedByProvider, reason };
  const known = ownValue(bounceKinds, `${asText(type)}: ${asText(subType)}`)?.(texts);
  if (known) return { ...known, reason };
  const hard = type === "Permanent" || (type === undefined && words.includes("hard bounce"));
  return { ...(hard ? addressBad : readSoftBounce(...texts)), reason };
}
