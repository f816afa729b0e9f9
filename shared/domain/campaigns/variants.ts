// Variants of a campaign. They are stored in its record, so that they change and start together
// with it.
import type { Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { conflict, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { loadUsedSnippets } from "../content/mail-snippets.ts";
import { findChosenTemplate } from "../content/own-content.ts";
import * as mailSources from "../sending/mail-sources.ts";
import * as campaigns from "./campaigns.ts";
import { type StoredCampaign, type StoredVariant, toApiVariant } from "./stored-campaign.ts";
import * as variantHtml from "./variant-html.ts";
import {
  type CampaignVariant,
  maxVariants,
  type NewVariant,
  type VariantChanges,
} from "./variant-schema.ts";

/** Oldest first, with the statistics of each. */
export async function list(who: CallerScope, campaignId: number): Promise<CampaignVariant[]> {
  const campaign = await campaigns.findStored(who, campaignId);
  const { parts } = await getVariantTotals(campaign);
  return campaign.variants.map((variant) => toApiVariant(campaign, variant, parts.get(variant.id)));
}

const getVariantTotals = ({
  orgId,
  id,
  startedAt,
}: StoredCampaign):
  | ReturnType<typeof mailSources.getSourceTotals>
  | { parts: Map<number, mailSources.SourceTotals> } =>
  startedAt ? mailSources.getSourceTotals(orgId, { kind: "campaign", id }) : { parts: new Map() };

export async function find(
  who: CallerScope,
  campaignId: number,
  variantId: number,
): Promise<CampaignVariant> {
  const campaign = await campaigns.findStored(who, campaignId);
  const variant = findVariant(campaign, variantId);
  const [{ parts }, html] = await Promise.all([
    getVariantTotals(campaign),
    variant.htmlVersion
      ? variantHtml.findVariantHtml(who.orgId, variantId, variant.htmlVersion)
      : null,
  ]);
  return { ...toApiVariant(campaign, variant, parts.get(variantId)), html };
}

/** Throws 409 when the campaign has 10 variants, or is neither a draft nor scheduled. */
export async function create(
  who: CallerScope,
  campaignId: number,
  { html, ...fields }: NewVariant,
): Promise<CampaignVariant> {
  const id = await ids.nextId("VARIANT");
  const at = now().toISOString();
  const campaign = await campaigns.updateStored(who, campaignId, async ({ siteId, variants }) => {
    // An earlier try of this request added it.
    if (variants.some((one) => one.id === id)) return {};
    if (variants.length >= maxVariants)
      throw conflict(`A campaign can have at most ${maxVariants} variants`, {
        code: "too_many_variants",
      });
    const [used] = await Promise.all([
      requireValidLiquid(who.orgId, siteId, { html, ...fields }),
      checkTemplate(who, { id: campaignId, siteId }, fields.templateId),
    ]);
    const name = fields.name ?? nextName(variants);
    const variant: StoredVariant = {
      id,
      ...fields,
      name,
      ...(html !== null && { htmlVersion: 1, ...used.names }),
      createdAt: at,
      updatedAt: at,
    };
    return {
      set: { variants: [...variants, variant] },
      extraWrites:
        html === null
          ? []
          : [
              await variantHtml.storeHtmlWrite(who.orgId, { variantId: id, version: 1 }, html),
              ...used.checks,
            ],
    };
  });
  return { ...toApiVariant(campaign, findVariant(campaign, id), undefined), html };
}

const nextName = (variants: StoredVariant[]): string => {
  const names = new Set(variants.map(({ name }) => name));
  return [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !names.has(letter))!;
};

/** A new template replaces the html, and new html replaces the template. */
export async function updateVariant(
  who: CallerScope,
  { campaignId, variantId }: { campaignId: number; variantId: number },
  { html, ...fields }: VariantChanges,
): Promise<CampaignVariant> {
  await campaigns.updateStored(who, campaignId, async (campaign) => {
    const current = findVariant(campaign, variantId);
    const [used] = await Promise.all([
      requireValidLiquid(who.orgId, campaign.siteId, { html, ...fields }),
      checkTemplate(who, campaign, fields.templateId),
    ]);
    const replaced = html !== undefined || Boolean(fields.templateId);
    const { htmlVersion, snippets, ...rest } = current;
    const next: StoredVariant = {
      ...rest,
      ...(fields as Partial<StoredVariant>),
      ...(html && { templateId: null }),
      ...(html && { htmlVersion: (htmlVersion ?? campaign.revision) + 1, ...used.names }),
      ...(!replaced && htmlVersion && { htmlVersion, ...(snippets && { snippets }) }),
      updatedAt: now().toISOString(),
    };
    return {
      set: { variants: campaign.variants.map((one) => (one.id === variantId ? next : one)) },
      extraWrites: [
        ...(replaced ? variantHtml.deleteHtmlWrites(who.orgId, current) : []),
        ...(html
          ? [
              await variantHtml.storeHtmlWrite(
                who.orgId,
                { variantId, version: next.htmlVersion! },
                html,
              ),
              ...used.checks,
            ]
          : []),
      ],
    };
  });
  return find(who, campaignId, variantId);
}

/** Deleting the last variant removes the A/B test too. */
export async function remove(
  who: CallerScope,
  campaignId: number,
  variantId: number,
): Promise<void> {
  await campaigns.updateStored(who, campaignId, async (campaign) => {
    const variants = campaign.variants.filter(({ id }) => id !== variantId);
    const removed = findVariant(campaign, variantId);
    return {
      set: { variants, ...(!variants.length && { abTest: null }) },
      extraWrites: variantHtml.deleteHtmlWrites(who.orgId, removed),
    };
  });
}

function findVariant({ variants }: StoredCampaign, variantId: number): StoredVariant {
  const variant = variants.find(({ id }) => id === variantId);
  if (!variant) throw missing("The variant does not exist");
  return variant;
}

interface LiquidFields {
  subject?: string | null | undefined;
  html?: string | null | undefined;
  previewText?: string | null | undefined;
}

/** The snippets that the html uses, as stored with the variant, and the checks that they exist. */
async function requireValidLiquid(
  orgId: number,
  siteId: number,
  { subject, html, previewText }: LiquidFields,
): Promise<{ names: Pick<StoredVariant, "snippets">; checks: Write[] }> {
  if (subject) liquid.compile(subject, { escape: false, field: "subject" });
  if (previewText) liquid.compile(previewText, { escape: true, field: "previewText" });
  if (!html) return { names: {}, checks: [] };
  const { snippets, snippetChecks } = await loadUsedSnippets(orgId, siteId, { html });
  const compiled = liquid.compile(html, { escape: true, field: "html", snippets });
  const used = liquid.snippetNames(compiled);
  return { names: used.length ? { snippets: used } : {}, checks: snippetChecks };
}

async function checkTemplate(
  who: CallerScope,
  { id: campaignId, siteId }: Pick<StoredCampaign, "id" | "siteId">,
  templateId: number | null | undefined,
): Promise<void> {
  if (templateId)
    await findChosenTemplate(who, { id: templateId, siteId, path: "templateId", campaignId });
}
