// Actions on a campaign: send now, schedule, pause, resume and cancel.

import { all, equals, oneOf } from "../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, transact } from "../../adapters/dynamodb/table.ts";
import { maxDelaySeconds } from "../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { getQuota, requireAffordable } from "../billing/quota.ts";
import * as campaignPlan from "./campaign-plan.ts";
import type { Campaign, CampaignSchedule, CampaignStart } from "./campaign-schema.ts";
import { requireDifferentVariants, requireVariables } from "./campaign-warnings.ts";
import * as campaigns from "./campaigns.ts";
import * as broadcast from "./engine/broadcast.ts";
import { getLocalTimeSpan } from "./engine/local-time.ts";
import { startBroadcast } from "./engine/start-broadcast.ts";
import * as transitions from "./engine/transitions.ts";
import { type NoticeCaller, requireNoticeConfirmed } from "./notices.ts";
import { requireStatus, type StoredCampaign, toApi } from "./stored-campaign.ts";

/**
 * Throws 400 that names what is missing, 402 when quota and credits do not cover one mail, and 409
 * when it was already started.
 */
export async function sendNow(
  who: NoticeCaller,
  id: number,
  { confirm }: CampaignStart = {},
): Promise<Campaign> {
  const startRequestId = await ids.nextId("START");
  return changeStatus(who, id, async (current) => {
    // An earlier try of this request started it.
    if (current.start === startRequestId) return true;
    requireStatus(current, campaigns.startableStatuses, "sent");
    requireNoticeConfirmed(who, current, confirm);
    requireDifferentVariants(current);
    const [plan, quota] = await Promise.all([
      campaignPlan.buildCampaignPlan({ ...current, localTime: null }),
      getQuota(who.orgId),
    ]);
    await requireVariables(current, plan);
    await requireAffordable(who.orgId, 1, quota);
    const complete = await campaignPlan.completePlan(current, plan);
    return startBroadcast(current, complete, startRequestId);
  });
}

const maxScheduleAheadDays = 365;
// Allows for the duration of the request and for clocks that differ.
const pastToleranceSeconds = 60;

/** When sending starts. Throws 400. */
function getStartTime({ scheduledAt, localTime }: CampaignSchedule): Date {
  const given = localTime === undefined ? "scheduledAt" : "localTime";
  const refuse = (message: string) =>
    invalid(`${given} ${message}`, { details: [{ path: given, message }] });
  const { first, last } =
    localTime === undefined
      ? { first: new Date(scheduledAt!), last: new Date(scheduledAt!) }
      : getLocalTimeSpan(localTime);
  if (last < addSeconds(-pastToleranceSeconds))
    throw refuse("must not be in the past: to send now, use POST /campaigns/:id/send");
  if (first > addSeconds(maxScheduleAheadDays * 24 * 3600))
    throw refuse(`may be at most ${maxScheduleAheadDays} days ahead`);
  // A time that has passed means now and does not count as late.
  return first > now() ? first : now();
}

/** Also reschedules a scheduled or held campaign. */
export async function schedule(
  who: NoticeCaller,
  id: number,
  given: CampaignSchedule,
): Promise<Campaign> {
  const at = getStartTime(given);
  const waitSeconds = (at.getTime() - now().getTime()) / 1000;
  const { localTime = null, sendLate } = given;
  return changeStatus(who, id, async (current) => {
    requireStatus(current, campaigns.startableStatuses, "scheduled");
    requireNoticeConfirmed(who, current, given.confirm);
    requireDifferentVariants(current);
    await requireVariables(
      current,
      await campaignPlan.buildCampaignPlan({ ...current, localTime }),
    );
    const fitsMessageDelay = waitSeconds <= maxDelaySeconds;
    const due = broadcast.broadcastDueAttributes(
      id,
      new Date(at.getTime() + (fitsMessageDelay ? broadcast.graceSeconds * 1000 : 0)),
    );
    const set = {
      status: "scheduled",
      scheduledAt: at.toISOString(),
      localTime,
      sendLate,
      revision: current.revision + 1,
      ...due,
    };
    const rule = {
      if: all(equals("revision", current.revision), oneOf("status", campaigns.startableStatuses)),
    };
    const done = await transact(
      broadcast.updateWrite(current, { set, remove: ["statusReason", "failedStarts"] }, rule),
    );
    if (done && fitsMessageDelay) await broadcast.enqueuePoll(current, waitSeconds);
    return done;
  });
}

/** A scheduled campaign is a draft again. A repeated request succeeds. */
export const unschedule = (who: CallerScope, id: number): Promise<Campaign> =>
  changeStatus(who, id, async (current) => {
    if (current.status === "draft") return true;
    requireStatus(current, ["scheduled", "held"], "made a draft again");
    return transitions.returnToDraft(current);
  });

/** While it is sending, the hand-over stops within seconds. A repeated cancel succeeds. */
export const cancel = (who: CallerScope, id: number): Promise<Campaign> =>
  changeStatus(who, id, async (current) => {
    if (current.status === "cancelled") return true;
    requireStatus(current, ["draft", "scheduled", "held", "sending", "paused"], "cancelled");
    return transitions.cancel(current);
  });

export const pause = (who: CallerScope, id: number): Promise<Campaign> =>
  changeStatus(who, id, async (current) => {
    requireStatus(current, ["sending"], "paused");
    return transitions.pause(current);
  });

export const resume = (who: CallerScope, id: number): Promise<Campaign> =>
  changeStatus(who, id, async (current) => {
    requireStatus(current, ["paused"], "resumed");
    return transitions.resume(current);
  });

/**
 * Reads the campaign and makes the attempt; does both again when another request changed the
 * campaign in between.
 */
const changeStatus = (
  who: CallerScope,
  id: number,
  attempt: (current: StoredCampaign) => Promise<boolean>,
): Promise<Campaign> =>
  retryOnConflict("The campaign", async () => {
    if (!(await attempt(await campaigns.findStored(who, id)))) throw new ConditionFailed(0);
    return toApi(await campaigns.findStored(who, id));
  });
