// Builds the plan of a campaign: content, audience and sending config. Scheduling builds it as a
// check; the start builds and stores it.

import { get } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { invalid, Problem } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import { keys } from "../../keys.ts";
import { commonFlaw } from "../../providers/limits.ts";
import { traitsOf } from "../../providers/traits.ts";
import { ruleReferences } from "../audience/segments/group-ids.ts";
import type { SegmentRules } from "../audience/segments/segment-rules.ts";
import * as segments from "../audience/segments/segments.ts";
import * as topics from "../audience/topics/topics.ts";
import { pinBrand } from "../content/mail-brand.ts";
import { loadSnippets, pinForMail } from "../content/mail-snippets.ts";
import * as templates from "../content/templates.ts";
import * as organizations from "../identity/organizations.ts";
import type { Site } from "../identity/sites.ts";
import * as sites from "../identity/sites.ts";
import { findConfigOfSender, fromOf, toMailSender } from "../senders/mail-sender.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import {
  buildMarketingHeaders,
  buildUnsubscribeHeaders,
  requireMarketingSender,
} from "../sending/rendering/marketing-mail.ts";
import { toMarketingUtm } from "../sending/rendering/utm.ts";
import { copyToMail } from "./campaign-attachments.ts";
import { storeFeedOfPlan } from "./campaign-feed.ts";
import type { CampaignAudience } from "./campaign-schema.ts";
import type {
  AudiencePlan,
  BroadcastAudience,
  BroadcastPart,
  BroadcastPlan,
} from "./engine/broadcast-plan.ts";
import { isNotice } from "./notices.ts";
import type { StoredCampaign, StoredVariant } from "./stored-campaign.ts";
import { findVariantHtml } from "./variant-html.ts";

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
  if (abTest?.metric === "conversion_rate" && !campaign.conversion)
    throw invalidField(
      "abTest.metric",
      "conversion_rate needs conversion: name the event that counts, or choose another metric",
    );
  if (abTest && localTime)
    throw invalidField(
      "abTest",
      "A campaign at the local time of its contacts cannot have an A/B test, because its winner " +
        "is picked before the last of them get the email: set abTest to null, or schedule the " +
        "campaign with scheduledAt",
    );
  const readSite = findSiteOfSender(who, siteId);
  const [audiencePlan, parts, timezone, config, site] = await Promise.all([
    buildAudiencePlan(campaign, at),
    buildParts(campaign, readSite),
    localTime ? organizations.getTimezone(orgId) : undefined,
    requireReference("sendingConfigId", findConfigOfSender(who, sendingConfigId, campaign)),
    readSite,
  ]);
  requireAcceptedMail(campaign, site, config);
  const { headers = {}, attachments = [], variables = {}, feedUrl, feed } = campaign;
  return {
    ...audiencePlan,
    configId: sendingConfigId,
    sender: toMailSender(campaign),
    ...(hasEntries(headers) && { headers }),
    ...(attachments.length && { attachments }),
    ...(hasEntries(variables) && { variables }),
    ...(feedUrl && { feedUrl }),
    ...(feed && !feedUrl && { feed }),
    parts,
    ...(abTest && { test: abTest }),
    ...(campaign.conversion && { conversion: campaign.conversion }),
    ...(localTime && timezone && { localTime: { time: localTime, timezone } }),
  };
}

async function findSiteOfSender({ orgId }: CallerScope, siteId: number): Promise<Site> {
  const site = await sites.find({ orgId }, siteId);
  await requireMarketingSender(orgId, site);
  return site;
}

/** Throws 400 if the provider would refuse the headers or the attachments. */
function requireAcceptedMail(
  { orgId, id, headers, attachments = [], ...sender }: StoredCampaign,
  site: Site,
  config: SendingConfig,
): void {
  const flaw = commonFlaw(traitsOf(config.provider), {
    from: fromOf(sender, config),
    headers: {
      ...headers,
      ...buildMarketingHeaders({ orgId, site, config, source: { kind: "campaign", id } }),
      ...buildUnsubscribeHeaders({ oneClickUnsubscribe: "" }),
    },
    attachments,
  });
  if (flaw) throw invalidField(flaw.path, `${flaw.path}: ${flaw.message}`);
}

const hasEntries = (record: object): boolean => Object.keys(record).length > 0;

/**
 * Stores what the plan needs later, because the campaign can be changed or deleted. Throws 400
 * `feed_unavailable`.
 */
export async function completePlan(
  { orgId, attachments = [] }: StoredCampaign,
  plan: BroadcastPlan,
): Promise<BroadcastPlan> {
  const [files, feed] = await Promise.all([
    copyToMail(orgId, attachments),
    storeFeedOfPlan(orgId, plan),
  ]);
  return {
    ...plan,
    ...(files.length && { attachments: files }),
    ...(feed && { feed }),
  };
}

/** Throws 400 if the audience or the topic is missing. Content and sender may be. */
export async function buildAudiencePlan(
  campaign: StoredCampaign,
  at = now(),
): Promise<AudiencePlan> {
  const { orgId, siteId, id, holdOutPercent } = campaign;
  if (holdOutPercent && isNotice(campaign))
    throw invalidField("holdOutPercent", "A notice goes to everyone: set holdOutPercent to null");
  const topicId = isNotice(campaign) ? null : campaign.topicId;
  requireOneAudience(campaign);
  const [audience, topic] = await Promise.all([
    findAudience(campaign),
    topicId
      ? requireReference("topicId", topics.findOfSite({ orgId }, { id: topicId, siteId }))
      : null,
  ]);
  if ("rules" in audience) await requireGroupsOfRules(campaign, audience.rules);
  return {
    siteId,
    audience,
    ...(topic && { topic: topics.toMailTopic(topic) }),
    ...(isNotice(campaign) && { isNotice: true as const }),
    ...(holdOutPercent && { holdOut: { campaignId: id, percent: holdOutPercent } }),
    at: at.toISOString(),
  };
}

/** Without a list that they name, rules could match contacts who are to be left out. */
async function requireGroupsOfRules(
  { orgId, segmentId }: StoredCampaign,
  rules: SegmentRules,
): Promise<void> {
  const [missing] = await records.listMissing({ orgId }, ruleReferences(rules, "rules"));
  if (missing)
    throw invalidField(
      segmentId === null ? "audience" : "segmentId",
      `The audience names a deleted record: ${missing.message}`,
    );
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
  { match, exclude, lists, tags, segments: segmentIds }: CampaignAudience,
): Promise<SegmentRules> {
  const [conditions, excluded] = await Promise.all([
    listConditions(who, { lists, tags, segments: segmentIds }, "audience"),
    listConditions(who, exclude, "audience.exclude"),
  ]);
  // With `all` there are no conditions, and rules without conditions match every contact.
  const includes: SegmentRules = { match: conditions.length ? match : "all", conditions };
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
async function buildParts(
  campaign: StoredCampaign,
  readSite: Promise<Site>,
): Promise<BroadcastPart[]> {
  const { variants } = campaign;
  if (!variants.length) return [await buildPart(campaign, undefined, readSite)];
  return Promise.all(variants.map((variant) => buildPart(campaign, variant, readSite)));
}

async function buildPart(
  campaign: StoredCampaign,
  variant: StoredVariant | undefined,
  readSite: Promise<Site>,
): Promise<BroadcastPart> {
  const ofVariant = variant ? ` of variant ${variant.id}` : "";
  const { orgId, siteId } = campaign;
  const subject = variant?.subject ?? campaign.subject ?? undefined;
  const shared = {
    id: variant?.id,
    weight: variant?.weight ?? 1,
    subject,
    utm: toMarketingUtm(campaign.utm, { campaign: campaign.name, content: variant?.name }),
    previewText: variant?.previewText ?? campaign.previewText ?? undefined,
  };
  const lines = [shared.subject, shared.previewText];
  if (variant?.htmlVersion) {
    if (!subject)
      throw invalidField(
        "subject",
        `The html${ofVariant} needs a subject: set one on the variant or on the campaign`,
      );
    const html = await findVariantHtml(orgId, variant.id, variant.htmlVersion);
    const snippets = await pinForMail(orgId, siteId, { html });
    // A snippet can be deleted between the change of the variant and the start.
    if (snippets)
      liquid.compile(html, {
        ...{ escape: true, field: "html" },
        snippets: await loadSnippets(orgId, snippets),
      });
    const brand = pinBrand(await readSite, { snippets, sources: [...lines, html] });
    return {
      ...shared,
      htmlVersion: variant.htmlVersion,
      ...(snippets && { snippets }),
      ...(brand && { brand }),
    };
  }
  const templateId = variant?.templateId ?? campaign.templateId;
  if (templateId === null)
    throw invalidField(
      "templateId",
      "A campaign needs a templateId to be sent, or variants with a templateId or " +
        `html${ofVariant && `: the content${ofVariant} is missing`}`,
    );
  const template = await requireReference("templateId", templates.findMeta({ orgId }, templateId));
  const snippets = await pinForMail(orgId, siteId, { template });
  const brand = pinBrand(await readSite, { template, snippets, sources: lines });
  return {
    ...shared,
    template: templates.pinTemplate(template),
    ...(snippets && { snippets }),
    ...(brand && { brand }),
  };
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
