// Variants of a campaign: part of its record, so that they change with it and start with it.
import { now } from "../../clock.ts";
import { conflict, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import * as liquid from "../../liquid.ts";
import * as campaigns from "../campaigns.ts";
import { rate } from "../insight/figures.ts";
import * as records from "../records.ts";
import * as sources from "../sending/sources.ts";
import { maxVariants, type NewVariant, type StoredCampaign, type StoredVariant, type Variant, type VariantChanges } from "./campaign.ts";
import * as plans from "./plan.ts";

type Who = campaigns.Who;

/** In order of age, with the numbers of each. */
export async function list(who: Who, campaignId: number): Promise<Variant[]> {
  const campaign = await campaigns.item(who, campaignId);
  const { parts } = await numbersOf(campaign);
  return campaign.variants.map((variant) => told(campaign, variant, parts.get(variant.id)));
}

const numbersOf = ({
  orgId,
  id,
  startedAt,
}: StoredCampaign): ReturnType<typeof sources.numbers> | { parts: Map<number, sources.Numbers> } =>
  startedAt ? sources.numbers(orgId, { kind: "campaign", id }) : { parts: new Map() };

export async function find(who: Who, campaignId: number, variantId: number): Promise<Variant> {
  const campaign = await campaigns.item(who, campaignId);
  const variant = of(campaign, variantId);
  const [{ parts }, html] = await Promise.all([
    numbersOf(campaign),
    variant.htmlVersion ? plans.htmlOf(who.orgId, variantId, variant.htmlVersion) : null,
  ]);
  return { ...told(campaign, variant, parts.get(variantId)), html };
}

/** 409 past 10, and unless the campaign is a draft or scheduled. */
export async function create(who: Who, campaignId: number, { html, ...given }: NewVariant): Promise<Variant> {
  parses({ html, ...given });
  const id = await ids.take("VARIANT");
  const at = now().toISOString();
  const campaign = await campaigns.edited(who, campaignId, async ({ siteId, variants }) => {
    // The same request, made again after it died.
    if (variants.some((one) => one.id === id)) return {};
    if (variants.length >= maxVariants)
      throw conflict(`A campaign may have at most ${maxVariants} variants`, { code: "too_many_variants" });
    await checkTemplate(who, siteId, given.templateId);
    const name = given.name ?? nextName(variants);
    const variant: StoredVariant = { id, ...given, name, ...(html !== null && { htmlVersion: 1 }), createdAt: at, updatedAt: at };
    return { set: { variants: [...variants, variant] }, further: html === null ? [] : [await plans.storing(who.orgId, id, 1, html)] };
  });
  return { ...told(campaign, of(campaign, id), undefined), html };
}

const nextName = (variants: StoredVariant[]): string => {
  const names = new Set(variants.map(({ name }) => name));
  return [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !names.has(letter))!;
};

/** A template given takes the place of html, and html that of a template. */
export async function change(who: Who, campaignId: number, variantId: number, { html, ...given }: VariantChanges): Promise<Variant> {
  parses({ html, ...given });
  await campaigns.edited(who, campaignId, async (campaign) => {
    const current = of(campaign, variantId);
    await checkTemplate(who, campaign.siteId, given.templateId);
    const replaced = html !== undefined || Boolean(given.templateId);
    const { htmlVersion, ...rest } = current;
    const next: StoredVariant = {
      ...rest,
      ...(given as Partial<StoredVariant>),
      ...(html && { templateId: null }),
      ...(html ? { htmlVersion: (htmlVersion ?? campaign.revision) + 1 } : !replaced && htmlVersion ? { htmlVersion } : {}),
      updatedAt: now().toISOString(),
    };
    return {
      set: { variants: campaign.variants.map((one) => (one.id === variantId ? next : one)) },
      further: [
        ...(replaced ? plans.forgetting(who.orgId, current) : []),
        ...(html ? [await plans.storing(who.orgId, variantId, next.htmlVersion!, html)] : []),
      ],
    };
  });
  return find(who, campaignId, variantId);
}

/** With the last one the A/B test goes too. */
export async function remove(who: Who, campaignId: number, variantId: number): Promise<void> {
  await campaigns.edited(who, campaignId, async (campaign) => {
    const variants = campaign.variants.filter(({ id }) => id !== variantId);
    const gone = of(campaign, variantId);
    return { set: { variants, ...(!variants.length && { abTest: null }) }, further: plans.forgetting(who.orgId, gone) };
  });
}

function of({ variants }: StoredCampaign, variantId: number): StoredVariant {
  const variant = variants.find(({ id }) => id === variantId);
  if (!variant) throw missing("There is no such variant of this campaign");
  return variant;
}

function parses({ subject, html }: { subject?: string | null | undefined; html?: string | null | undefined }): void {
  if (subject) liquid.compile(subject, { escape: false, field: "subject" });
  if (html) liquid.compile(html, { escape: true, field: "html" });
}

async function checkTemplate(who: Who, siteId: number, templateId: number | null | undefined): Promise<void> {
  if (templateId) await records.ofSite("TEMPLATE", who, templateId, siteId, "templateId");
}

export function told(
  { id: campaignId, winner }: StoredCampaign,
  { htmlVersion, ...variant }: StoredVariant,
  numbers: sources.Numbers | undefined,
): Variant {
  const { delivered = 0, uniqueOpened: opened = 0, uniqueClicked: clicked = 0 } = numbers?.events ?? {};
  return {
    ...variant,
    campaignId,
    hasHtml: htmlVersion !== undefined,
    recipients: numbers?.accepted ?? 0,
    delivered,
    opened,
    clicked,
    openRate: rate(opened, delivered),
    clickRate: rate(clicked, delivered),
    isWinner: winner?.variantId === variant.id,
  };
}
