// Builds the plan of a campaign: content, audience and sending config. Scheduling builds it as a
// check; the start builds and stores it.

import { get, put, remove, type Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { invalid, missing, Problem } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { keys } from "../../keys.ts";
import type { SegmentRules } from "../audience/segments/segment-rules.ts";
import * as segments from "../audience/segments/segments.ts";
import * as topics from "../audience/topics/topics.ts";
import * as templates from "../content/templates.ts";
import * as organizations from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { requireMarketingSender } from "../sending/rendering/marketing-mail.ts";
import { toMarketingUtm } from "../sending/rendering/utm.ts";
import type { CampaignAudience, StoredCampaign, StoredVariant } from "./campaign-schema.ts";
import type {
  AudiencePlan,
  BroadcastAudience,
  BroadcastPart,
  BroadcastPlan,
} from "./engine/broadcast-plan.ts";

/** Throws 400 that names what is missing. */
export async function buildCampaignPlan(
  campaign: StoredCampaign,
  at = now(),
): Promise<BroadcastPlan> {
  const { orgId, siteId, sendingConfigId, abTest, variants, localTime } = campaign;
  const who = { orgId };
  if (sendingConfigId === null)
    throw invalidField("sendingConfigId", "sendingConfigId is required to send a campaign");
  requireOneAudience(campaign);
  if (abTest && variants.length < 2)
    throw invalidField(
      "abTest",
      "An A/B test needs at least two variants: add them with POST /campaigns/:id/variants, " +
        "or set abTest to null",
    );
  if (abTest && localTime)
    throw invalidField(
      "abTest",
      "A campaign at the local time of its contacts cannot have an A/B test, because its winner " +
        "is picked before the last of them get the email: set abTest to null, or schedule the " +
        "campaign with scheduledAt",
    );
  const [audiencePlan, parts, timezone] = await Promise.all([
    buildAudiencePlan(campaign, at),
    buildParts(campaign),
    localTime ? organizations.getTimezone(orgId) : undefined,
    requireReference("sendingConfigId", sendingConfigs.find(who, sendingConfigId)),
    sites.find(who, siteId).then((site) => requireMarketingSender(orgId, site)),
  ]);
  return {
    ...audiencePlan,
    configId: sendingConfigId,
    parts,
    ...(abTest && { test: abTest }),
    ...(localTime && timezone && { localTime: { time: localTime, timezone } }),
  };
}

/** Throws 400 if the audience or the topic is missing. Content and sender may be. */
export async function buildAudiencePlan(
  campaign: StoredCampaign,
  at = now(),
): Promise<AudiencePlan> {
  const { orgId, siteId, topicId } = campaign;
  requireOneAudience(campaign);
  const [audience, topic] = await Promise.all([
    findAudience(campaign),
    topicId
      ? requireReference("topicId", topics.findOfSite({ orgId }, { id: topicId, siteId }))
      : null,
  ]);
  return {
    siteId,
    audience,
    ...(topic && { topic: topics.toMailTopic(topic) }),
    at: at.toISOString(),
  };
}

function requireOneAudience(campaign: StoredCampaign): void {
  const { listId, tagId, segmentId, audience = null, resendOf } = campaign;
  const named = Object.entries({ listId, tagId, segmentId, audience }).filter(
    ([, given]) => given !== null,
  );
  if (resendOf || named.length === 1) return;
  const has = named.length ? `, not ${named.map(([name]) => name).join(" and ")} together` : "";
  throw invalidField(
    "listId",
    `A campaign needs exactly one of listId, tagId, segmentId and audience to be sent${has}`,
  );
}

async function findAudience({
  orgId,
  siteId,
  listId,
  tagId,
  segmentId,
  audience = null,
  resendOf,
}: StoredCampaign): Promise<BroadcastAudience> {
  if (resendOf) {
    const { campaignId, to } = resendOf;
    const first = await get<StoredCampaign>(keys.record(orgId, "CAMPAIGN", campaignId));
    if (!first) throw invalidField("resendOf", "The campaign to send again no longer exists");
    return { resendOf: campaignId, to };
  }
  const who = { orgId };
  if (audience) return { siteId, rules: await buildAudienceRules(who, audience) };
  if (listId !== null)
    return { listId: (await requireGroup(orgId, { kind: "LIST", id: listId, path: "listId" })).id };
  if (tagId !== null)
    return { tagId: (await requireGroup(orgId, { kind: "TAG", id: tagId, path: "tagId" })).id };
  const { rules } = await requireReference("segmentId", segments.find(who, segmentId!));
  return { siteId, rules };
}

async function requireGroup(
  orgId: number,
  { kind, id, path }: { kind: "LIST" | "TAG"; id: number; path: string },
): Promise<{ id: number }> {
  const group = await get<{ id: number }>(keys.record(orgId, kind, id));
  if (!group) throw invalidField(path, `${path} refers to something that no longer exists`);
  return group;
}

/** The audience as rules of a segment, so that everything that reads segments reads it too. */
async function buildAudienceRules(
  who: CallerScope,
  { match, exclude, ...included }: CampaignAudience,
): Promise<SegmentRules> {
  const [conditions, excluded] = await Promise.all([
    listConditions(who, included, "audience"),
    listConditions(who, exclude, "audience.exclude"),
  ]);
  const includes: SegmentRules = { match, conditions };
  if (!excluded.length) return includes;
  return { match: "all", conditions: [includes, { match: "none", conditions: excluded }] };
}

async function listConditions(
  who: CallerScope,
  { lists, tags, segments: segmentIds }: CampaignAudience["exclude"],
  path: string,
): Promise<SegmentRules["conditions"]> {
  const requireGroups = (kind: "LIST" | "TAG", ids: number[], field: "list" | "tag") =>
    Promise.all(
      ids.map(async (id) => {
        const group = await requireGroup(who.orgId, { kind, id, path: `${path}.${field}s` });
        return { field, operator: "equals" as const, value: group.id };
      }),
    );
  const conditions = await Promise.all([
    requireGroups("LIST", lists, "list"),
    requireGroups("TAG", tags, "tag"),
    Promise.all(
      segmentIds.map(
        async (id) => (await requireReference(`${path}.segments`, segments.find(who, id))).rules,
      ),
    ),
  ]);
  return conditions.flat();
}

/** One part for each variant, or a single one. */
async function buildParts(campaign: StoredCampaign): Promise<BroadcastPart[]> {
  const { variants } = campaign;
  if (!variants.length) return [await buildPart(campaign, undefined)];
  return Promise.all(variants.map((variant) => buildPart(campaign, variant)));
}

async function buildPart(
  campaign: StoredCampaign,
  variant: StoredVariant | undefined,
): Promise<BroadcastPart> {
  const ofVariant = variant ? ` of variant ${variant.id}` : "";
  const subject = variant?.subject ?? campaign.subject ?? undefined;
  const shared = {
    id: variant?.id,
    weight: variant?.weight ?? 1,
    subject,
    utm: toMarketingUtm(campaign.utm, { campaign: campaign.name, content: variant?.name }),
    previewText: variant?.previewText ?? campaign.previewText ?? undefined,
  };
  if (variant?.htmlVersion) {
    if (!subject)
      throw invalidField(
        "subject",
        `The html${ofVariant} needs a subject: set one on the variant or on the campaign`,
      );
    return { ...shared, htmlVersion: variant.htmlVersion };
  }
  const templateId = variant?.templateId ?? campaign.templateId;
  if (templateId === null)
    throw invalidField(
      "templateId",
      "A campaign needs a templateId to be sent, or variants with a templateId or " +
        `html${ofVariant && `: the content${ofVariant} is missing`}`,
    );
  const { version, subject: templateSubject } = await requireReference(
    "templateId",
    templates.findMeta({ orgId: campaign.orgId }, templateId),
  );
  return { ...shared, template: { id: templateId, version, subject: templateSubject } };
}

async function requireReference<T>(path: string, lookup: Promise<T>): Promise<T> {
  try {
    return await lookup;
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing")
      throw invalidField(path, `${path} refers to something that no longer exists`);
    throw error;
  }
}

const invalidField = (path: string, message: string): Problem =>
  invalid(message, { details: [{ path, message }] });

// The html of a variant is an item of its own, so that the list of campaigns reads small records.
const variantHtmlKey = (orgId: number, variantId: number, version: number) =>
  keys.recordBody(orgId, "CAMPAIGN", { id: variantId, version });

export async function storeHtmlWrite(
  orgId: number,
  { variantId, version }: { variantId: number; version: number },
  html: string,
): Promise<Write> {
  const key = variantHtmlKey(orgId, variantId, version);
  return put(key, await compress(key, { html }, "templates"));
}

export const deleteHtmlWrites = (
  orgId: number,
  { id, htmlVersion }: Pick<StoredVariant, "id" | "htmlVersion">,
): Write[] => (htmlVersion ? [remove(variantHtmlKey(orgId, id, htmlVersion))] : []);

export async function findVariantHtml(
  orgId: number,
  variantId: number,
  version: number,
): Promise<string> {
  const item = await get<CompressedValue>(variantHtmlKey(orgId, variantId, version));
  if (!item) throw missing("The html of this variant is no longer stored");
  return (await decompress<{ html: string }>(item)).html;
}
