// The machine that moves a campaign or holiday: it looks at the state and does the next thing. While there is something to wait for
// it sends itself a message; one such chain at a time (its beat), and the due index brings it back when the chain breaks.
import { after, now } from "../../clock.ts";
import { absent, all, type Condition, equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, update, updateReturning } from "../../doors/table.ts";
import { Problem } from "../../errors.ts";
import { off } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { isSettled } from "../campaigns/stats.ts";
import * as held from "../sending/held.ts";
import * as sources from "../sending/sources.ts";
import { begin } from "./begin.ts";
import { addressOf, type Broadcast, dueAt, graceSeconds, type Key, kick, reach, type Status, sourceOf } from "./broadcast.ts";
import * as cursors from "./cursors.ts";
import { kinds } from "./kinds.ts";
import * as plans from "./plan.ts";
import * as remains from "./remains.ts";
import { dealing } from "./rest.ts";
import * as states from "./states.ts";
import { alarm } from "./watch.ts";
import * as winners from "./winner.ts";

/** `beat`: of the chain's message; whoever comes with an old one was overtaken. */
export async function step(key: Key, beat?: number): Promise<void> {
  const broadcast = await states.read(key);
  if (!broadcast) return remains.clear(key);
  if (beat !== undefined && broadcast.beat !== beat) return;
  await steps[broadcast.status](broadcast);
}

const rest = async (broadcast: Broadcast): Promise<void> => {
  await claim(update(addressOf(broadcast), { remove: off("due") }, { if: equals("status", broadcast.status) }));
};

const steps: Record<Status, (broadcast: Broadcast) => Promise<void>> = {
  draft: rest,
  scheduled: start,
  held: rest,
  sending: goOn,
  paused: rest,
  sent: rest,
  cancelled: windDown,
  failed: windDown,
};

// What a message can carry is in time; a tick may be a minute late.
const longestDelaySeconds = 900;

async function start(broadcast: Broadcast): Promise<void> {
  const { startsAt, missed, plan } = kinds[broadcast.kind];
  const at = await startsAt(broadcast);
  const waitSeconds = (at.getTime() - now().getTime()) / 1000;
  if (waitSeconds > 0) return wait(broadcast, at, waitSeconds <= longestDelaySeconds);
  const instead = await missed(broadcast, at);
  if (instead) return void (await instead());
  try {
    // Who changed it meanwhile has told us.
    await begin(broadcast, await plan(broadcast));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await states.failBecause(broadcast, error.message);
  }
}

/** Nothing to do until then. */
async function wait(broadcast: Broadcast, until: Date, soon: boolean): Promise<void> {
  const waiting = update(
    addressOf(broadcast),
    { set: dueAt(broadcast.id, after(soon ? graceSeconds : 0, until)) },
    { if: asSeen(broadcast) },
  );
  if ((await claim(waiting)) && soon) await kick(broadcast, (until.getTime() - now().getTime()) / 1000);
}

const asSeen = ({ revision, status }: Broadcast): Condition => all(equals("revision", revision), equals("status", status));

/** This chain goes on, and all others end. Undefined when it is in another state by now. */
const beaten = (broadcast: Broadcast, delaySeconds: number): Promise<Broadcast | undefined> =>
  updateReturning<Broadcast>(
    update(
      addressOf(broadcast),
      { add: { beat: 1 }, set: dueAt(broadcast.id, after(delaySeconds + graceSeconds)) },
      { if: all(equals("status", broadcast.status), broadcast.beat === undefined ? absent("beat") : equals("beat", broadcast.beat)) },
    ),
  );

/** Looks more seldom the longer it takes. */
async function again(broadcast: Broadcast, since: string, mostSeconds: number): Promise<void> {
  const aged = (now().getTime() - Date.parse(since)) / 1000;
  const delaySeconds = Math.round(Math.min(mostSeconds, Math.max(10, aged / 20)));
  const next = await beaten(broadcast, delaySeconds);
  const { orgId, kind, id } = broadcast;
  if (next) await enqueue(queues.campaigns, [{ orgId, kind, id, beat: next.beat }], { group: orgId, delaySeconds });
}

async function goOn(broadcast: Broadcast): Promise<void> {
  const { orgId } = broadcast;
  const [plan, progress] = await Promise.all([plans.read(broadcast), cursors.list(broadcast)]);
  const reached = progress.every(({ done }) => done);
  if (!reached) await nudge(broadcast, progress);
  await held.release(orgId, sourceOf(broadcast), plan.configId, dealing(broadcast, plan));
  const { all: numbers, parts } = await sources.numbers(orgId, sourceOf(broadcast));
  const why = alarm(states.watched(numbers), broadcast.watchedFrom);
  if (why) return states.pauseBecause(broadcast, why);
  if (reached && isSettled(numbers)) return void (await states.finish(broadcast));
  const tested = plan.test && !broadcast.winner && reached && plan.parts.every(({ id }) => isSettled(parts.get(id!) ?? none));
  if (tested) return judge(broadcast, plan, parts);
  await again(broadcast, broadcast.startedAt!, 60);
}

const none = { accepted: 0, sent: 0, delivered: 0, failed: 0, uncertain: 0, cancelled: 0 } as sources.Numbers;

/** Collections that nobody works on may be waiting in the queue: they are told of again once a minute. */
const nudgeSeconds = 60;

async function nudge(broadcast: Broadcast, progress: cursors.Cursor[]): Promise<void> {
  const others = progress.filter(({ shard }) => shard !== cursors.late);
  const what = others.every(({ done }) => done) ? "late" : "all";
  const free = progress.filter((cursor) => cursors.isFree(cursor) && (what === "late" || cursor.shard !== cursors.late));
  const { nudged } = broadcast;
  if (!free.length || (nudged?.what === what && nudged.at > after(-nudgeSeconds).toISOString())) return;
  await claim(update(addressOf(broadcast), { set: { nudged: { what, at: now().toISOString() } } }, { if: equals("status", "sending") }));
  await reach(
    broadcast,
    free.map(({ shard }) => shard),
  );
}

/** The test is out: when its time is over the best variant wins. */
async function judge(broadcast: Broadcast, plan: plans.Plan, parts: Map<number, sources.Numbers>): Promise<void> {
  const testedAt = broadcast.testedAt ?? now().toISOString();
  const decidesAt = after(plan.test!.durationMinutes * 60, new Date(testedAt));
  const set = (changes: Partial<Broadcast>, rule: Condition) =>
    claim(update(addressOf(broadcast), { set: { ...changes } }, { if: all(asSeen(broadcast), rule) }));
  if (!broadcast.testedAt) await set({ testedAt }, absent("testedAt"));
  if (now() < decidesAt) return wait(broadcast, decidesAt, decidesAt.getTime() - now().getTime() <= longestDelaySeconds * 1000);
  await set({ winner: winners.pick(plan.parts, parts, plan.test!.metric) }, absent("winner"));
  const decided = await states.read(broadcast);
  if (decided?.status === "sending") await goOn(decided);
}

/** Nobody further is reached, what waits is cancelled, and what is with the provider comes to its end. */
async function windDown(broadcast: Broadcast): Promise<void> {
  if (broadcast.finishedAt) return rest(broadcast);
  const { configId } = await plans.read(broadcast);
  await cursors.stop(broadcast);
  await held.discard(broadcast.orgId, sourceOf(broadcast), configId);
  const { all: numbers } = await sources.numbers(broadcast.orgId, sourceOf(broadcast));
  if (isSettled(numbers)) return void (await states.settle(broadcast));
  await again(broadcast, broadcast.updatedAt, 300);
}
