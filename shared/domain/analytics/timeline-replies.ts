// What a contact wrote by email, as events of its timeline.
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { listInboundFrom } from "../inbound/list-inbound.ts";
import type { TimelineEvent } from "./timeline-event.ts";

/** A reply, which the log of the contact has as a custom event. */
export function toReplyEvent({
  sk,
  at,
  properties = "{}",
}: {
  sk: string;
  at: string;
  properties?: string | undefined;
}): TimelineEvent {
  const { inboundEmailId, subject } = JSON.parse(properties) as {
    inboundEmailId?: number;
    subject?: string;
  };
  return {
    type: "email_replied",
    at,
    key: sk,
    details: { ...(subject && { subject }), ...(inboundEmailId && { inboundEmailId }) },
  };
}

/** Email of the last 60 days from its address that is no reply. */
export async function readReceivedEmails({
  orgId,
  siteId,
  sk: email,
}: ContactItem): Promise<TimelineEvent[]> {
  const mails = await listInboundFrom({ orgId, siteIds: [siteId] }, email);
  return mails
    .filter(({ kind, contactId }) =>
      kind === "reply" ? contactId === undefined : kind !== "report",
    )
    .map(({ id, kind, subject, receivedAt }) => ({
      type: "email_received",
      at: receivedAt,
      key: `inbound${id}`,
      details: {
        inboundEmailId: id,
        ...(subject && { subject }),
        ...(kind === "auto_reply" && { automated: true }),
      },
    }));
}
