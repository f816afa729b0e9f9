// What people do to a campaign: send it now, schedule it, stop it for a while or for good.
import { now } from "../../clock.ts";
import { all, equals, oneOf } from "../../conditions.ts";
import { claim } from "../../doors/table.ts";
import { conflict, invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import * as allowance from "../allowance.ts";
import { begin } from "../broadcasts/begin.ts";
import * as broadcasts from "../broadcasts/broadcast.ts";
import * as states from "../broadcasts/states.ts";
import * as campaigns from "../campaigns.ts";
import { type Campaign, type CampaignStatus, type Schedule, type StoredCampaign, told } from "./campaign.ts";
import * as plans from "./plan.ts";

type Who = campaigns.Who;
const startable: CampaignStatus[] = ["draft", "scheduled", "held"];

/** Throws 400 that names what is missing, 402 when not a single mail is left, 409 when it is on its way already. */
export async function send(who: Who, id: number): Promise<Campaign> {
  const start = await ids.take("START");
  return settled(who, id, async (current) => {
    // The same request, made again after it died.
    if (current.start === start) return true;
    campaigns.refuseUnless(current, startable, "sent");
    const [plan, standing] = await Promise.all([plans.planOf(current), allowance.standing(who.orgId)]);
    await allowance.afford(who.orgId, 1, standing);
    return begin(current, plan, start);
  });
}

const furthestDays = 365;
const longestDelaySeconds = 900;
// What it takes to ask, by clocks that go differently.
const overdueSeconds = 60;

const unfit = (message: string) => invalid(`scheduledAt ${message}`, { details: [{ path: "scheduledAt", message }] });

/** Also anew, and where it was held. */
export async function schedule(who: Who, id: number, { scheduledAt, sendLate }: Schedule): Promise<Campaign> {
  const time = new Date(scheduledAt);
  const aheadSeconds = (time.getTime() - now().getTime()) / 1000;
  if (aheadSeconds < -overdueSeconds) throw unfit("must not lie in the past: send the campaign now with POST /campaigns/:id/send");
  const waitSeconds = Math.max(0, aheadSeconds);
  if (waitSeconds > furthestDays * 24 * 3600) throw unfit(`may be at most ${furthestDays} days ahead`);
  // One that lies a moment behind means now: it is not late.
  const at = waitSeconds > 0 ? time : now();
  return settled(who, id, async (current) => {
    campaigns.refuseUnless(current, startable, "scheduled");
    await plans.planOf(current);
    const soon = waitSeconds <= longestDelaySeconds;
    const due = broadcasts.dueAt(id, new Date(at.getTime() + (soon ? broadcasts.graceSeconds * 1000 : 0)));
    const set = { status: "scheduled", scheduledAt: at.toISOString(), sendLate, revision: current.revision + 1, ...due };
    const rule = { if: all(equals("revision", current.revision), oneOf("status", startable)) };
    const done = await claim(broadcasts.changing(current, { set, remove: ["statusReason"] }, rule));
    if (done && soon) await broadcasts.kick(current, waitSeconds);
    return done;
  });
}

/** Also while it is sending: within seconds nothing more is handed over. Repeated, it is cancelled still. */
export const cancel = (who: Who, id: number): Promise<Campaign> =>
  settled(who, id, async (current) => {
    if (current.status === "cancelled") return true;
    campaigns.refuseUnless(current, ["draft", "scheduled", "held", "sending", "paused"], "cancelled");
    return states.cancel(current);
  });

export const pause = (who: Who, id: number): Promise<Campaign> =>
  settled(who, id, async (current) => {
    if (current.status === "paused") return true;
    campaigns.refuseUnless(current, ["sending"], "paused");
    return states.pause(current);
  });

export const resume = (who: Who, id: number): Promise<Campaign> =>
  settled(who, id, async (current) => {
    if (current.status === "sending") return true;
    campaigns.refuseUnless(current, ["paused"], "resumed");
    return states.resume(current);
  });

/** Reads anew when somebody else came in between. */
async function settled(who: Who, id: number, attempt: (current: StoredCampaign) => Promise<boolean>): Promise<Campaign> {
  for (let tries = 1; tries <= 10; tries++) if (await attempt(await campaigns.item(who, id))) return told(await campaigns.item(who, id));
  throw conflict("The campaign is being changed by others at the same time");
}
