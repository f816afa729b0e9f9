// Registers the triggers of active sequences. The record of a list or tag names the sequences it
// triggers; code that adds a contact reads that record anyway. All other triggers of a site are in
// one item, which each process caches for a few seconds.

import { absent, all, any, exists, sizeBelow } from "../../adapters/dynamodb/conditions.ts";
import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { conflict } from "../../errors.ts";
import {
  dueShardOf,
  type GroupKind,
  indexAttributes,
  indexes,
  type Key,
  keys,
} from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { SequenceTriggerConfig, SequenceTriggerType } from "./trigger-schema.ts";

/** Active sequences that share a trigger. */
const maxPerTrigger = 20;
const tooMany = () =>
  conflict(`At most ${maxPerTrigger} active sequences can share a trigger`, {
    code: "too_many_sequences",
  });

export interface SiteTrigger extends Pick<SequenceItem, "triggerType" | "triggerConfig"> {
  sequenceId: number;
  /** Since when it watches contacts (ISO 8601). */
  since?: string;
  /** Every contact was looked at since. */
  isReady?: boolean;
}

const groupKindByTrigger: Partial<Record<SequenceTriggerType, GroupKind>> = {
  tag_add: "TAG",
  list_join: "LIST",
};
/** Sequences with another trigger are registered in the item of their site. */
const otherwiseStarted = new Set<SequenceTriggerType>([
  "manual",
  "webhook",
  "tag_add",
  "list_join",
]);
const watchedTypes: SequenceTriggerType[] = ["segment_enter", "segment_leave", "date"];
export const isWatched = ({ triggerType }: Pick<SequenceItem, "triggerType">): boolean =>
  watchedTypes.includes(triggerType);

/** The job that looks at every contact once. */
export interface WatchStartItem extends Key {
  orgId: number;
  siteId: number;
  sequenceId: number;
  since: string;
  places?: Record<string, string>;
}
// By then, every process knows the trigger.
const watchStartSeconds = 10;
export const watchStartDue = (sequenceId: number, at: Date) =>
  indexAttributes(indexes.due("WATCH", dueShardOf(sequenceId)), at.toISOString());
export const enqueueWatchStart = (
  orgId: number,
  sequenceId: number,
  delaySeconds = 0,
): Promise<void> =>
  enqueue(queues.advance, [{ work: "watch", orgId, sequenceId }], { group: orgId, delaySeconds });
/** For a sequence that was just activated. The due index finds the job as well. */
export const enqueueNewWatch = (orgId: number, sequenceId: number): Promise<void> =>
  enqueueWatchStart(orgId, sequenceId, watchStartSeconds);

function watchStartWrites(
  orgId: number,
  { id: sequenceId, siteId }: Pick<SequenceItem, "id" | "siteId">,
  since: string,
): Write[] {
  const due = watchStartDue(sequenceId, addSeconds(watchStartSeconds));
  return [put(keys.watchStart(orgId, sequenceId), { orgId, siteId, sequenceId, since, ...due })];
}

/** The rules of a segment change: triggers look at every contact again, and start none. */
export async function segmentChangeWrites(
  orgId: number,
  siteId: number,
  segmentId: number,
): Promise<Write[]> {
  const watching = (await readSiteTriggers(orgId, siteId)).filter(
    ({ triggerConfig }) => triggerConfig?.segmentId === segmentId,
  );
  if (!watching.length) return [];
  const since = now().toISOString();
  const set = Object.fromEntries(
    watching.map(({ isReady: _, ...trigger }) => [`q${trigger.sequenceId}`, { ...trigger, since }]),
  );
  return [
    update(keys.siteTriggers(orgId, siteId), { set }),
    ...watching.flatMap(({ sequenceId: id }) => watchStartWrites(orgId, { id, siteId }, since)),
  ];
}

export interface TriggerGroup {
  starts?: Set<number>;
}

/**
 * Moves the registration of a trigger. `before` is undefined for a new sequence, `after` for a
 * deleted one.
 */
export async function triggerWrites(
  orgId: number,
  before: SequenceItem | undefined,
  after: SequenceItem | undefined,
): Promise<Write[]> {
  const [from, to] = [registrationOf(before), registrationOf(after)];
  const moved = from?.name !== to?.name;
  return [
    ...(from && moved ? await unregisterWrites(orgId, before!) : []),
    ...(to && (moved || to.name === "site") ? await registerWrites(orgId, after!, !moved) : []),
  ];
}

function registrationOf(sequence: SequenceItem | undefined): { name: string } | undefined {
  if (sequence?.status !== "active") return undefined;
  if (sequence.waitsAt) return { name: `${sequence.waitsAt.kind}/${sequence.waitsAt.id}` };
  return otherwiseStarted.has(sequence.triggerType) ? undefined : { name: "site" };
}

async function unregisterWrites(
  orgId: number,
  { id, siteId, waitsAt }: SequenceItem,
): Promise<Write[]> {
  if (!waitsAt)
    return [
      update(keys.siteTriggers(orgId, siteId), {
        remove: [`q${id}`],
        deleteFromSet: { ids: new Set([id]) },
      }),
    ];
  const group = keys.record(orgId, waitsAt.kind, waitsAt.id);
  const stored = await get<TriggerGroup>(group);
  return stored?.starts?.has(id)
    ? [update(group, { deleteFromSet: { starts: new Set([id]) } }, { if: exists })]
    : [];
}

async function registerWrites(
  orgId: number,
  sequence: SequenceItem,
  isReplacement: boolean,
): Promise<Write[]> {
  const { id, siteId, waitsAt, triggerType, triggerConfig } = sequence;
  if (waitsAt) {
    const hasRoom = all(exists, any(absent("starts"), sizeBelow("starts", maxPerTrigger)));
    return [
      update(
        keys.record(orgId, waitsAt.kind, waitsAt.id),
        { add: { starts: new Set([id]) } },
        { if: hasRoom, orThrow: tooMany() },
      ),
    ];
  }
  const stored = await readSiteTriggers(orgId, siteId);
  const others = stored.filter(({ sequenceId }) => sequenceId !== id);
  // The filter can be large. The record of the sequence has it, and sequence-starts.ts reads it.
  const { filter: _, reentry: __, ...cause } = triggerConfig ?? {};
  const same = others.filter(
    (other) => other.triggerType === triggerType && isEqualConfig(other.triggerConfig, cause),
  );
  if (same.length >= maxPerTrigger || (!isReplacement && others.length >= maxPerSite))
    throw tooMany();
  const known = stored.find((one) => one.sequenceId === id && one.triggerType === triggerType);
  if (isReplacement && known && isEqualConfig(known.triggerConfig, cause)) return [];
  const since = now().toISOString();
  const trigger: SiteTrigger = {
    sequenceId: id,
    triggerType,
    triggerConfig: cause,
    ...(isWatched(sequence) && { since }),
  };
  return [
    ...(isWatched(sequence) ? watchStartWrites(orgId, sequence, since) : []),
    update(keys.siteTriggers(orgId, siteId), {
      set: { [`q${id}`]: trigger },
      add: { ids: new Set([id]) },
    }),
  ];
}

// Keeps the item far below the 400 KB of DynamoDB.
const maxPerSite = 500;
const isEqualConfig = (a: SequenceTriggerConfig | null, b: SequenceTriggerConfig): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

async function readSiteTriggers(orgId: number, siteId: number): Promise<SiteTrigger[]> {
  const item = (await get<Record<string, unknown>>(keys.siteTriggers(orgId, siteId))) ?? {};
  return Object.entries(item).flatMap(([name, value]) =>
    /^q\d+$/.test(name) ? [value as SiteTrigger] : [],
  );
}

// A change takes effect in every process within this time.
const cacheMs = 3000;
const siteTriggerCache = new Map<string, { triggers: SiteTrigger[]; until: number }>();
const cacheKeyOf = (orgId: number, siteId: number): string => `${orgId}/${siteId}`;
export const clearTriggerCache = (orgId: number, siteId: number): void =>
  void siteTriggerCache.delete(cacheKeyOf(orgId, siteId));

/** Cached for a few seconds. */
export async function getSiteTriggers(orgId: number, siteId: number): Promise<SiteTrigger[]> {
  const cached = siteTriggerCache.get(cacheKeyOf(orgId, siteId));
  if (cached && cached.until > performance.now()) return cached.triggers;
  const triggers = await readSiteTriggers(orgId, siteId);
  if (siteTriggerCache.size >= 1000) siteTriggerCache.clear();
  siteTriggerCache.set(cacheKeyOf(orgId, siteId), { triggers, until: performance.now() + cacheMs });
  return triggers;
}

/** The list or tag that triggers a sequence. `getOrCreateTag` resolves a tag given by name. */
export async function resolveTriggerGroup(
  { triggerType, triggerConfig }: Pick<SequenceItem, "triggerType" | "triggerConfig">,
  getOrCreateTag: (name: string) => Promise<number>,
): Promise<{ kind: GroupKind; id: number } | null> {
  const kind = groupKindByTrigger[triggerType];
  const { tagId, tagName, listId } = triggerConfig ?? {};
  if (!kind) return null;
  if (kind === "LIST") return listId === undefined ? null : { kind, id: listId };
  if (tagId !== undefined) return { kind, id: tagId };
  return tagName === undefined ? null : { kind, id: await getOrCreateTag(tagName) };
}
