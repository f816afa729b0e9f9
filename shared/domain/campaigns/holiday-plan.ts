// When the mail of a holiday is sent, with which content and through which sending config.
import { get } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { instantOf } from "../../kernel/time-zones.ts";
import { keys } from "../../keys.ts";
import * as topics from "../audience/topics/topics.ts";
import { activeIds } from "../automation/sequence-schema.ts";
import { pinBrand } from "../content/mail-brand.ts";
import { pinForMail } from "../content/mail-snippets.ts";
import * as templates from "../content/templates.ts";
import type { Organization } from "../identity/organizations.ts";
import * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { requireMarketingSender } from "../sending/rendering/marketing-mail.ts";
import type { BroadcastPlan } from "./engine/broadcast-plan.ts";
import type { StoredHoliday } from "./holiday-schema.ts";

/** In the morning, when people read their mail. */
const startHour = 9;

/**
 * When sending starts on a date such as 2026-12-24, and when that day ends, in the organization's
 * timezone.
 */
export async function getHolidayTimes(
  orgId: number,
  date: string,
): Promise<{ startsAt: Date; endsAt: Date }> {
  const organization = await get<Organization>(keys.organization(orgId));
  const timezone = organization?.timezone ?? "UTC";
  return { startsAt: instantOf(date, startHour, timezone), endsAt: instantOf(date, 24, timezone) };
}

/** The audience is every contact in an active sequence of the site. Throws 400 and 404. */
export async function buildHolidayPlan({
  orgId,
  siteId,
  templateId,
  sendingConfigId,
  replyTo,
  topicId,
}: StoredHoliday): Promise<BroadcastPlan> {
  const who = { orgId };
  const [template, config, sequenceIds, topic, site] = await Promise.all([
    templates.findMeta(who, templateId),
    sendingConfigId === null ? findDefault(orgId) : sendingConfigs.find(who, sendingConfigId),
    activeIds(orgId, siteId),
    topicId ? topics.findOfSite(who, { id: topicId, siteId }) : null,
    findSite(orgId, siteId),
  ]);
  const snippets = await pinForMail(orgId, siteId, { template });
  const brand = pinBrand(site, { template, snippets });
  return {
    siteId,
    configId: config.id,
    sender: { replyTo },
    audience: { enrolled: true, sequenceIds },
    ...(topic && { topic: topics.toMailTopic(topic) }),
    parts: [
      {
        weight: 1,
        template: templates.pinTemplate(template),
        ...(snippets && { snippets }),
        ...(brand && { brand }),
      },
    ],
    at: now().toISOString(),
  };
}

/** Throws 400 `physical_address_missing`. */
async function findSite(orgId: number, siteId: number): Promise<sites.Site> {
  const site = await sites.find({ orgId }, siteId);
  await requireMarketingSender(orgId, site);
  return site;
}
