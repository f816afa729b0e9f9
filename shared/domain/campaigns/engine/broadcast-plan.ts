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
import { getExclusionReason, type MailLimits } from "../../sending/eligibility.ts";
import type { ExclusionReason } from "../../sending/mail-sources.ts";
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
  holdOut?: HoldOut | undefined;
  /** The start (ISO 8601). */
  at: string;
}

/** The part of the audience that gets no email, for comparison. */
export interface HoldOut {
  campaignId: number;
  percent: number;
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
const isWithin = (number: number, percent: number): boolean =>
  number % hashSteps < (percent * hashSteps) / 100;

/**
 * Three numbers for a contact, by a hash of broadcast and contact: deterministic, and different for
 * each campaign. They do not depend on each other.
 */
function drawNumbers({ kind, id }: Pick<BroadcastRef, "kind" | "id">, contactId: number) {
  const digest = sha256(`${kind}/${id}/${contactId}`);
  const numberAt = (start: number) => Number.parseInt(digest.slice(start, start + 8), 16);
  return { ofTest: numberAt(0), ofPart: numberAt(8), ofHoldOut: numberAt(16) };
}

export function isHeldOut({ holdOut }: Pick<AudiencePlan, "holdOut">, contactId: number): boolean {
  if (!holdOut) return false;
  const { ofHoldOut } = drawNumbers({ kind: "campaign", id: holdOut.campaignId }, contactId);
  return isWithin(ofHoldOut, holdOut.percent);
}

/** Like `getExclusionReason`. Only contacts who may get the email can be held out. */
export const getAudienceExclusion = (
  contact: ContactItem | undefined,
  suppressed: Set<string>,
  { holdOut, ...limits }: MailLimits & Pick<AudiencePlan, "holdOut">,
): ExclusionReason | undefined =>
  getExclusionReason(contact, suppressed, limits) ??
  (contact && isHeldOut({ holdOut }, contact.id) ? "heldOut" : undefined);

/**
 * Assigns a contact to a part of the audience. Undefined for those who wait for the winner of the
 * A/B test.
 */
export function assignPart(
  ref: Pick<BroadcastRef, "kind" | "id">,
  { parts, test }: Pick<BroadcastPlan, "parts" | "test">,
  contactId: number,
): BroadcastPart | undefined {
  const { ofTest, ofPart } = drawNumbers(ref, contactId);
  if (test && !isWithin(ofTest, test.testPercent)) return undefined;
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let remainingWeight = ofPart % total;
  for (const part of parts) {
    remainingWeight -= part.weight;
    if (remainingWeight < 0) return part;
  }
  return parts.at(-1);
}
