// Loads the message of each part of a campaign or holiday for staging.

import * as sites from "../../identity/sites.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import type { MarketingMessage } from "../../sending/accept/stage-chunks.ts";
import { findVariantHtml } from "../variant-html.ts";
import { type BroadcastRef, sourceOf } from "./broadcast.ts";
import type { BroadcastPart, BroadcastPlan } from "./broadcast-plan.ts";

/**
 * Without a part, the message is for those who wait for the winner of the A/B test and has the
 * content of the first part for now.
 * Throws 404 when site or config are deleted.
 */
export async function createPartMessageBuilder(
  key: BroadcastRef,
  plan: BroadcastPlan,
): Promise<(part: BroadcastPart | undefined) => Promise<MarketingMessage>> {
  const { orgId } = key;
  const [site, config] = await Promise.all([
    sites.find({ orgId }, plan.siteId),
    sendingConfigs.find({ orgId }, plan.configId),
  ]);
  const htmlByVariant = new Map<number, Promise<string>>();
  const loadHtml = (id: number, version: number) => {
    const known = htmlByVariant.get(id) ?? findVariantHtml(orgId, id, version);
    htmlByVariant.set(id, known);
    return known;
  };
  return async (part) => {
    const { template, subject, htmlVersion, snippets, brand, id, utm, previewText } =
      part ?? plan.parts[0]!;
    return {
      orgId,
      site,
      config,
      sender: plan.sender,
      headers: plan.headers,
      attachments: plan.attachments,
      variables: plan.variables,
      feed: plan.feed,
      source: { ...sourceOf(key), ...(part?.id !== undefined && { part: part.id }) },
      topic: plan.topic,
      isNotice: plan.isNotice,
      template,
      subject,
      snippets,
      brand,
      utm,
      previewText,
      ...(htmlVersion && { html: await loadHtml(id!, htmlVersion) }),
      startedAt: new Date(plan.at),
      // Liquid writes times in UTC, so this is the date and time on the clock of each recipient.
      ...(plan.localTime && { liquidNow: new Date(`${plan.localTime.time}Z`) }),
    };
  };
}
