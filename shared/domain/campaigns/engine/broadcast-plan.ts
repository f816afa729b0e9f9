// The plan of a campaign or holiday: what it sends, to whom and through which config. It is fixed
// at the start, whatever is changed or deleted later.

import { contains, present } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, type Write } from "../../../adapters/dynamodb/table.ts";
import type { UtmTags } from "../../../email/link-tags.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { keys, sha256 } from "../../../keys.ts";
import type * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import type { SegmentRules } from "../../audience/segments/segment-rules.ts";
import * as segments from "../../audience/segments/segments.ts";
import type { MailTopic } from "../../audience/topics/topic-subscription.ts";
import type { PinnedBrand } from "../../content/mail-brand.ts";
import type { PinnedSnippets } from "../../content/mail-snippets.ts";
import type { PinnedTemplate } from "../../content/template-translations.ts";
import type { MailSender } from "../../senders/mail-sender.ts";
import type { StoredAttachment } from "../../sending/accept/attachments.ts";
import type { AbTest } from "../ab-test-schema.ts";
import type { CampaignConversion } from "../conversions/conversion-schema.ts";
import type { BroadcastRef } from "./broadcast.ts";
import type { ResendAudience } from "./resend-audience.ts";

export interface BroadcastPlan extends AudiencePlan {
  configId: number;
  /** Absent in plans that earlier versions of the service stored. */
  sender?: MailSender;
  headers?: Record<string, string>;
  attachments?: StoredAttachment[];
  /** Values of the Liquid variables that all recipients share. */
  variables?: Record<string, unknown>;
  feedUrl?: string;
  /** The S3 key of the feed, which the start has fetched. */
  feed?: string;
  /** At least one. */
  parts: BroadcastPart[];
  test?: AbTest;
  /** The event that counts as a conversion. */
  conversion?: CampaignConversion;
  /** Each contact gets the mail at this time in its own time zone. */
  localTime?: LocalTime;
}

/** Whom it is sent to. */
export interface AudiencePlan {
  siteId: number;
  audience: BroadcastAudience;
  topic?: MailTopic;
  /** It also goes to contacts who unsubscribed, and has neither cap nor topic. */
  isNotice?: true;
  /** The start (ISO 8601). */
  at: string;
}

export interface LocalTime {
  /** Without an offset, such as 2027-03-20T09:00. */
  time: string;
  /** IANA time zone of contacts that have none. */
  timezone: string;
}

/**
 * The members of a list or tag, contacts that match rules, recipients of an earlier campaign, or
 * contacts in a sequence that was active at the start.
 */
export type BroadcastAudience =
  | { listId: number }
  | { tagId: number }
  | { siteId: number; rules: SegmentRules }
  | ResendAudience
  /** Old stored plans do not name the sequences. */
  | { enrolled: true; sequenceIds?: number[] };

/** The content for one part of the audience. */
export interface BroadcastPart {
  /** Id of the variant, if there are variants. */
  id?: number | undefined;
  weight: number;
  /** Replaces the subject of the template. */
  subject?: string | undefined;
  template?: PinnedTemplate | undefined;
  /** The version of the variant's html, instead of a template. */
  htmlVersion?: number | undefined;
  /** The versions of the snippets that it uses. */
  snippets?: PinnedSnippets | undefined;
  /** That of the site at the start, if the mail reads it. */
  brand?: PinnedBrand | undefined;
  utm?: UtmTags | undefined;
  previewText?: string | undefined;
}

const planKey = (ref: BroadcastRef) => keys.fanOutPlan(ref.orgId, ref);

export async function storePlanWrite(ref: BroadcastRef, plan: BroadcastPlan): Promise<Write> {
  const key = planKey(ref);
  return put(key, await compress(key, plan));
}

export async function getPlan(ref: BroadcastRef): Promise<BroadcastPlan> {
  const item = await get<CompressedValue>(planKey(ref), { consistent: false });
  return decompress<BroadcastPlan>(item ?? (await get<CompressedValue>(planKey(ref))) ?? {});
}

/**
 * The contacts of the audience. Relative times in rules are relative to the start. The query does
 * not select recipients of an earlier campaign: resend-audience.ts reads them.
 */
export async function buildContactQuery(
  orgId: number,
  { siteId, audience, at }: Pick<BroadcastPlan, "siteId" | "audience" | "at">,
): Promise<contactReader.ContactQuery> {
  if ("listId" in audience) return { filter: contains("lists", audience.listId) };
  if ("tagId" in audience) return { filter: contains("tags", audience.tagId) };
  if ("rules" in audience)
    return segments.queryForRules({ orgId, siteId }, audience.rules, new Date(at));
  if ("resendOf" in audience) return {};
  const { sequenceIds } = audience;
  const isInside = ({ sequences }: ContactItem): boolean =>
    !sequenceIds || sequenceIds.some((id) => sequences?.has(id));
  return { filter: present("sequences"), test: isInside, attributes: ["sequences"] };
}

const hashSteps = 10_000;

/**
 * Assigns a contact to a part of the audience, by a hash of broadcast and contact: deterministic,
 * and different for each campaign.
 * Undefined for the hold-out, which waits for the winner of the A/B test.
 */
export function assignPart(
  { kind, id }: Pick<BroadcastRef, "kind" | "id">,
  { parts, test }: Pick<BroadcastPlan, "parts" | "test">,
  contactId: number,
): BroadcastPart | undefined {
  const digest = sha256(`${kind}/${id}/${contactId}`);
  const testShare = Number.parseInt(digest.slice(0, 8), 16) % hashSteps;
  if (test && testShare >= (test.testPercent * hashSteps) / 100) return undefined;
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let remainingWeight = Number.parseInt(digest.slice(8, 16), 16) % total;
  for (const part of parts) {
    remainingWeight -= part.weight;
    if (remainingWeight < 0) return part;
  }
  return parts.at(-1);
}
