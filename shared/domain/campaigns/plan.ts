// What a campaign is to send, to whom and by whom, as it stands now: made, and so proven, when it is scheduled, and kept when it starts.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { now } from "../../clock.ts";
import { get, put, remove, type Write } from "../../doors/table.ts";
import { invalid, missing, Problem } from "../../errors.ts";
import { keys } from "../../keys.ts";
import type { Audience, Part, Plan } from "../broadcasts/plan.ts";
import * as segments from "../segments.ts";
import { marketingOf } from "../sending/marketing.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as sites from "../sites.ts";
import * as templates from "../templates.ts";
import type { StoredCampaign, StoredVariant } from "./campaign.ts";

/** Throws 400 that names what is missing. */
export async function planOf(campaign: StoredCampaign, at = now()): Promise<Plan> {
  const { orgId, siteId, sendingConfigId, abTest, variants } = campaign;
  const who = { orgId };
  if (sendingConfigId === null) throw lacking("sendingConfigId", "A campaign needs a sendingConfigId to be sent");
  if (abTest && variants.length < 2)
    throw lacking("abTest", "An A/B test needs at least two variants: add them with POST /campaigns/:id/variants, or set abTest to null");
  const [audience, parts] = await Promise.all([
    audienceOf(campaign),
    partsOf(campaign),
    present("sendingConfigId", sendingConfigs.find(who, sendingConfigId)),
    sites.find(who, siteId).then((site) => marketingOf(orgId, site)),
  ]);
  return { siteId, configId: sendingConfigId, audience, parts, at: at.toISOString(), ...(abTest && { test: abTest }) };
}

async function audienceOf({ orgId, siteId, listId, tagId, segmentId }: StoredCampaign): Promise<Audience> {
  const named = Object.entries({ listId, tagId, segmentId }).filter(([, id]) => id !== null);
  if (named.length !== 1) {
    const has = named.length ? `, not ${named.map(([name]) => name).join(" and ")} together` : "";
    throw lacking("listId", `A campaign needs exactly one of listId, tagId and segmentId to be sent${has}`);
  }
  const who = { orgId };
  if (listId !== null) return { listId: (await there("LIST", orgId, listId, "listId")).id };
  if (tagId !== null) return { tagId: (await there("TAG", orgId, tagId, "tagId")).id };
  const { rules } = await present("segmentId", segments.find(who, segmentId!));
  return { siteId, rules };
}

async function there(kind: "LIST" | "TAG", orgId: number, id: number, path: string): Promise<{ id: number }> {
  const group = await get<{ id: number }>(keys.record(orgId, kind, id));
  if (!group) throw lacking(path, `What ${path} names is not there any more`);
  return group;
}

/** What is said, to each part of the audience. */
async function partsOf(campaign: StoredCampaign): Promise<Part[]> {
  const { variants } = campaign;
  if (!variants.length) return [await partOf(campaign, undefined)];
  return Promise.all(variants.map((variant) => partOf(campaign, variant)));
}

async function partOf(campaign: StoredCampaign, variant: StoredVariant | undefined): Promise<Part> {
  const of = variant ? ` of variant ${variant.id}` : "";
  const subject = variant?.subject ?? campaign.subject ?? undefined;
  const shared = { id: variant?.id, weight: variant?.weight ?? 1, subject };
  if (variant?.htmlVersion) {
    if (!subject) throw lacking("subject", `The html${of} needs a subject, of its own or of the campaign`);
    return { ...shared, htmlVersion: variant.htmlVersion };
  }
  const templateId = variant?.templateId ?? campaign.templateId;
  if (templateId === null)
    throw lacking(
      "templateId",
      `A campaign needs a templateId to be sent, or variants with a templateId or html${of && `: there is none for it${of}`}`,
    );
  const { version, subject: own } = await present("templateId", templates.findMeta({ orgId: campaign.orgId }, templateId));
  return { ...shared, template: { id: templateId, version, subject: own } };
}

async function present<T>(path: string, finding: Promise<T>): Promise<T> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof Problem && error.kind === "missing") throw lacking(path, `What ${path} names is not there any more`);
    throw error;
  }
}

const lacking = (path: string, message: string): Problem => invalid(message, { details: [{ path, message }] });

// Beside the record: what the list of campaigns reads stays short.
const htmlAt = (orgId: number, variantId: number, version: number) => keys.body(orgId, "CAMPAIGN", variantId, version);

export async function storing(orgId: number, variantId: number, version: number, html: string): Promise<Write> {
  const address = htmlAt(orgId, variantId, version);
  return put(address, await packed(address, { html }, "templates"));
}

export const forgetting = (orgId: number, { id, htmlVersion }: Pick<StoredVariant, "id" | "htmlVersion">): Write[] =>
  htmlVersion ? [remove(htmlAt(orgId, id, htmlVersion))] : [];

/** Of a variant that has its own. */
export async function htmlOf(orgId: number, variantId: number, version: number): Promise<string> {
  const item = await get<Packed>(htmlAt(orgId, variantId, version));
  if (!item) throw missing("The html of this variant is gone");
  return (await unpacked<{ html: string }>(item)).html;
}
