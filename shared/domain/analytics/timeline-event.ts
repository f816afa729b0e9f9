// One thing that happened to a contact, as its sources give it.

import { eventTypes } from "../../providers/inbound/inbound-adapter.ts";
import type { ConsentItem } from "../audience/contacts/consent-log.ts";

const ofEmails = eventTypes.map((type) => `email_${type}` as const);
export const timelineTypes = [
  "created",
  "tag_added",
  "list_joined",
  "contact_merged",
  "consent_changed",
  "suppressed",
  "form_submitted",
  "form_confirmed",
  "custom_event",
  "page_view",
  "score_changed",
  "sequence_entered",
  "sequence_left",
  "email_accepted",
  "email_sent",
  "email_failed",
  "email_cancelled",
  "email_replied",
  "email_received",
  ...ofEmails,
] as const;
export type TimelineType = (typeof timelineTypes)[number];

export interface TimelineRecord {
  type: "tag" | "list" | "form" | "sequence" | "campaign" | "holiday" | "scoring_rule";
  id: number;
}

export interface TimelineDetails {
  name?: string;
  url?: string;
  reason?: string;
  source?: string;
  status?: string;
  points?: number;
  contactId?: number;
  email?: string;
  ipAddress?: string;
  snoozedUntil?: string;
  comment?: string;
  subject?: string;
  inboundEmailId?: number;
  automated?: boolean;
  topics?: { id: number; name: string; subscribed: boolean }[];
  properties?: Record<string, unknown>;
}

export const toConsentDetails = ({
  status,
  topics,
  snoozedUntil,
  leaving,
  ipAddress,
}: Pick<ConsentItem, "status" | "topics" | "snoozedUntil" | "leaving" | "ipAddress">) => ({
  ...(status && { status }),
  ...(topics?.length && { topics }),
  ...(snoozedUntil && { snoozedUntil }),
  ...(leaving && { reason: leaving.reason }),
  ...(leaving?.comment && { comment: leaving.comment }),
  ...(ipAddress && { ipAddress }),
});

export interface TimelineEvent {
  type: TimelineType;
  /** ISO 8601 with milliseconds. */
  at: string;
  /** Unique among the events of a contact at one time, and the same whenever it is read. */
  key: string;
  record?: TimelineRecord | undefined;
  send?: { id: number; subject: string; status: string } | undefined;
  details?: TimelineDetails;
}
