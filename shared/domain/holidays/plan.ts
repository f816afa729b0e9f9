// What a holiday mail is to say and by whom it goes, as of now.
import { now } from "../../clock.ts";
import type { Plan } from "../broadcasts/plan.ts";
import { marketingOf } from "../sending/marketing.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as sites from "../sites.ts";
import * as templates from "../templates.ts";
import type { StoredHoliday } from "./holiday.ts";

/** To everybody who is active in a sequence of the site. Throws 400 and 404. */
export async function planOf({ orgId, siteId, templateId, sendingConfigId }: StoredHoliday): Promise<Plan> {
  const who = { orgId };
  const [template, config] = await Promise.all([
    templates.findMeta(who, templateId),
    sendingConfigId === null ? sendingConfigs.defaultConfig(orgId) : sendingConfigs.find(who, sendingConfigId),
    sites.find(who, siteId).then((site) => marketingOf(orgId, site)),
  ]);
  const { id, version, subject } = template;
  return {
    siteId,
    configId: config.id,
    audience: { enrolled: true },
    parts: [{ weight: 1, template: { id, version, subject } }],
    at: now().toISOString(),
  };
}
