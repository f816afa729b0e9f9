// Campaigns as records: made, changed while nothing has gone out, listed, deleted. What sets them going is in campaigns/state.ts.
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { all, any, type Condition, equals, oneOf, where } from "../conditions.ts";
import { get, Unmet, type Write, write } from "../doors/table.ts";
import { conflict } from "../errors.ts";
import { keys } from "../keys.ts";
import * as liquid from "../liquid.ts";
import type { PageRequest } from "../paging.ts";
import * as broadcasts from "./broadcasts/broadcast.ts";
import * as remains from "./broadcasts/remains.ts";
import {
  type Campaign,
  type CampaignChanges,
  type CampaignStatus,
  type NewCampaign,
  type StoredCampaign,
  told,
} from "./campaigns/campaign.ts";
import * as plans from "./campaigns/plan.ts";
import * as groups from "./contacts/groups.ts";
import * as records from "./records.ts";
import * as sendingConfigs from "./sending-configs.ts";
import * as sites from "./sites.ts";

export type Who = Pick<Caller, "orgId" | "siteId">;

/** In these nothing has gone out, and it may be changed. */
const editable: CampaignStatus[] = ["draft", "scheduled"];

export async function create(who: Who, { siteId: given, ...campaign }: NewCampaign): Promise<Campaign> {
  const siteId = await sites.resolve(who, given);
  await check(who, siteId, campaign);
  const { orgId } = who;
  const base = { ...(await records.stamp("CAMPAIGN")), orgId, kind: "campaign" as const, siteId, revision: 1 };
  return told(await records.insert<StoredCampaign>("CAMPAIGN", who, { ...base, ...campaign, status: "draft", variants: [] }));
}

export const item = (who: Who, id: number): Promise<StoredCampaign> => records.find<StoredCampaign>("CAMPAIGN", who, id);

/** Newest first. */
export async function list(
  who: Who,
  request: PageRequest,
  { siteId, status }: { siteId?: number | undefined; status?: CampaignStatus | undefined },
) {
  const filter = where({ siteId: await sites.only(who, siteId), status });
  const { items, pagination } = await records.list<StoredCampaign>("CAMPAIGN", who, request, filter);
  return { campaigns: items.map(told), pagination };
}

/** 409 unless it is a draft or scheduled; a scheduled one must stay fit to be sent. */
export async function change(who: Who, id: number, changes: CampaignChanges): Promise<Campaign> {
  const changed = await edited(who, id, async (current) => {
    await check(who, current.siteId, changes);
    return { set: changes as Partial<StoredCampaign> };
  });
  return told(changed);
}

/** 409 while mail of it is on its way. Its sends stay. */
export async function remove(who: Who, id: number): Promise<void> {
  const { siteId: _, ...campaign } = await item(who, id);
  const key: broadcasts.Key = { orgId: who.orgId, kind: "campaign", id };
  const resting: Condition = any(
    oneOf("status", ["draft", "scheduled", "held", "sent"]),
    all(oneOf("status", ["cancelled", "failed"]), finished),
  );
  const busy = conflict("Mail of the campaign is on its way: cancel it first, and wait until all of it is accounted for", {
    code: "campaign_running",
  });
  await write(
    ...records.removing("CAMPAIGN", who, id, { if: resting, otherwise: busy }),
    ...campaign.variants.flatMap((variant) => plans.forgetting(who.orgId, variant)),
    ...(campaign.startedAt ? [remains.leaving(key)] : []),
  );
  if (campaign.startedAt) await broadcasts.kick(key);
}

const finished: Condition = (bind) => `attribute_exists(${bind.name("finishedAt")})`;

export interface Edit {
  set?: Partial<StoredCampaign>;
  /** What belongs to it and lies apart. */
  further?: Write[];
}

/** Changes a campaign as it was read, however often others come in between. */
export async function edited(who: Who, id: number, edit: (current: StoredCampaign) => Promise<Edit>): Promise<StoredCampaign> {
  for (let tries = 1; tries <= 10; tries++) {
    const current = await item(who, id);
    refuseUnless(current, editable, "changed");
    const { set: given, further = [] } = await edit(current);
    const set = { ...given, revision: current.revision + 1, updatedAt: now().toISOString() };
    const next: StoredCampaign = { ...current, ...set };
    if (current.status === "scheduled") await plans.planOf(next);
    const asRead = all(equals("revision", current.revision), oneOf("status", editable));
    try {
      await write(broadcasts.changing(current, { set }, { if: asRead }), ...further);
      return next;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
    }
  }
  throw conflict("The campaign is being changed by others at the same time");
}

export function refuseUnless({ status }: Pick<StoredCampaign, "status">, allowed: CampaignStatus[], what: string): void {
  if (allowed.includes(status)) return;
  const states = allowed.join(", ").replace(/, (\w+)$/, " or $1");
  throw conflict(`The campaign is ${status}: it can be ${what} only while it is ${states}`, { code: "campaign_status" });
}

/** All that is named is there, of the same site, and can be read as Liquid. */
async function check(who: Who, siteId: number, given: CampaignChanges): Promise<void> {
  if (given.subject) liquid.compile(given.subject, { escape: false, field: "subject" });
  await Promise.all([
    given.listId && groups.ofSite("LIST", who, given.listId, siteId),
    given.tagId && groups.ofSite("TAG", who, given.tagId, siteId),
    given.segmentId && records.ofSite("SEGMENT", who, given.segmentId, siteId, "segmentId"),
    given.templateId && records.ofSite("TEMPLATE", who, given.templateId, siteId, "templateId"),
    given.sendingConfigId && sendingConfigs.find(who, given.sendingConfigId),
  ]);
}

/** Name and address of the sender; null when there is none. */
export async function sendingConfigLabel({ orgId }: Who, configId: number | null): Promise<string | null> {
  if (configId === null) return null;
  const config = await get<sendingConfigs.SendingConfig>(keys.record(orgId, "CONFIG", configId), { consistent: false });
  if (!config) return null;
  return config.fromName ? `${config.fromName} <${config.fromEmail}>` : config.fromEmail;
}
