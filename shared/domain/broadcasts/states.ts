// From one state to the next. Whether its mail goes on stands beside the record and changes with it: the lane asks there before
// every call to the provider.
import { now } from "../../clock.ts";
import { absent, all, type Condition, oneOf } from "../../conditions.ts";
import { claim, get } from "../../doors/table.ts";
import { off } from "../../keys.ts";
import { handedOver } from "../campaigns/stats.ts";
import * as sources from "../sending/sources.ts";
import {
  addressOf,
  type Broadcast,
  changing,
  dueSoon,
  type Key,
  type Kind,
  kick,
  type Status,
  sourceOf,
  type Watched,
} from "./broadcast.ts";

interface Move {
  from: Status[];
  to: Status;
  /** Of its mail; absent where none is on its way. */
  state?: sources.State;
  set?: object;
  remove?: string[];
  also?: Condition;
}

/** False when it is in no such state any more. */
async function move(broadcast: Broadcast, { from, to, state, set = {}, remove = [], also }: Move): Promise<boolean> {
  const rule = oneOf("status", from);
  const change = changing(broadcast, { set: { status: to, ...set }, add: { revision: 1 }, remove }, { if: also ? all(rule, also) : rule });
  return claim(change, ...(state ? [sources.setting(broadcast.orgId, sourceOf(broadcast), state)] : []));
}

const unstarted: Status[] = ["draft", "scheduled", "held"];
const started: Status[] = ["sending", "paused"];

/** Nothing more of it goes. What had been handed over stays as it is. False when it was over before. */
export async function cancel(broadcast: Broadcast, reason?: string): Promise<boolean> {
  const words = reason ? { set: { statusReason: reason } } : { remove: ["statusReason"] };
  if (unstarted.includes(broadcast.status)) return move(broadcast, ending("cancelled", unstarted, words));
  const stopped = await move(broadcast, {
    from: started,
    to: "cancelled",
    state: "cancelled",
    ...words,
    set: { ...words.set, ...dueSoon(broadcast.id) },
  });
  if (stopped) await kick(broadcast);
  return stopped;
}

const ending = (to: Status, from: Status[], { set = {}, remove = [] }: Pick<Move, "set" | "remove"> = {}): Move => ({
  from,
  to,
  set: { finishedAt: now().toISOString(), ...set },
  remove: [...off("due"), ...remove],
});

/** What it ends as when it cannot go on. */
const failure: Record<Kind, Status> = { campaign: "failed", holiday: "cancelled" };

export async function failBecause(broadcast: Broadcast, statusReason: string): Promise<void> {
  const to = failure[broadcast.kind];
  if (unstarted.includes(broadcast.status)) await move(broadcast, ending(to, unstarted, { set: { statusReason } }));
  else if (await move(broadcast, { from: started, to, state: "cancelled", set: { statusReason, ...dueSoon(broadcast.id) } }))
    await kick(broadcast);
}

/** Mail that is with the provider goes; the rest is held back until it is resumed. */
export const pause = (broadcast: Broadcast, statusReason?: string): Promise<boolean> =>
  move(broadcast, {
    from: ["sending"],
    to: "paused",
    state: "paused",
    ...(statusReason ? { set: { statusReason } } : {}),
    remove: [...off("due"), ...(statusReason ? [] : ["statusReason"])],
  });

/** A holiday knows no pause: nobody would resume it in time. */
export async function pauseBecause(broadcast: Broadcast, reason: string): Promise<void> {
  if (broadcast.kind === "holiday") await cancel(broadcast, reason);
  else await pause(broadcast, reason);
}

/** It is watched anew from here on: what bounced before is known. */
export async function resume(broadcast: Broadcast): Promise<boolean> {
  const { all: numbers } = await sources.numbers(broadcast.orgId, sourceOf(broadcast));
  const set = { watchedFrom: watched(numbers), ...dueSoon(broadcast.id) };
  const going = await move(broadcast, { from: ["paused"], to: "sending", state: "going", set, remove: ["statusReason", "nudged"] });
  if (going) await kick(broadcast);
  return going;
}

export const watched = (numbers: sources.Numbers): Watched => ({
  handedOver: handedOver(numbers),
  bounced: (numbers.events.bouncedHard ?? 0) + (numbers.events.bouncedSoft ?? 0),
  complained: numbers.events.complained ?? 0,
});

export const hold = (broadcast: Broadcast, statusReason: string): Promise<boolean> =>
  move(broadcast, { from: ["scheduled"], to: "held", set: { statusReason }, remove: off("due") });

/** All of it is out. */
export const finish = (broadcast: Broadcast): Promise<boolean> => move(broadcast, ending("sent", ["sending"]));

/** What was stopped has come to its end. */
export const settle = (broadcast: Broadcast): Promise<boolean> =>
  move(broadcast, { ...ending(broadcast.status, [broadcast.status]), also: absent("finishedAt") });

export const read = (key: Key): Promise<Broadcast | undefined> => get<Broadcast>(addressOf(key));
