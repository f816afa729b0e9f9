// Decides which sequences a trigger starts for a contact: by the filter and the reentry of the
// trigger. The finished enrollments in the log of the contact tell when it entered a sequence.
import { type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import { getMany, queryPages } from "../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys, ranges } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import type { SequenceChain, SequenceEntrant } from "../audience/contacts/reactions.ts";
import { withEventProperties } from "../audience/segments/segment-fields.ts";
import * as segments from "../audience/segments/segments.ts";
import {
  blockingStatus,
  enterableSequences,
  type FinishedEnrollmentItem,
  logPrefix,
} from "./enrollment-schema.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { Reentry, SequenceTriggerType } from "./trigger-schema.ts";

export interface SequenceStart {
  sequenceId: number;
  /** Sort key of the event that starts it. */
  startedBy?: string | undefined;
}

interface StartDecision {
  starts: SequenceStart[];
  /** Conditions on the contact in the transaction that starts them. */
  conditions: Condition[];
}

export async function decideStarts(candidate: SequenceEntrant): Promise<StartDecision> {
  const { contact, oncePerDay = false } = candidate;
  const wantedIds = enterableSequences(contact, [...new Set(candidate.sequenceIds)]);
  const rules = await getStartRules(contact, wantedIds);
  const sequenceIds = wantedIds.filter((id) => {
    const triggerType = rules.get(id)?.triggerType;
    return triggerType !== undefined && !blockingStatus(contact, triggerType);
  });
  if (!sequenceIds.length) return { starts: [], conditions: [] };
  const minAgeOf = (id: number) => minAgeSeconds(rules.get(id)?.reentry, oncePerDay);
  const maxAge = Math.max(...sequenceIds.map(minAgeOf));
  const entries = maxAge > 0 ? await getLatestEntries(contact, maxAge) : undefined;
  const allowed = sequenceIds.filter((id) => {
    const enteredAt = entries?.get(id);
    return enteredAt === undefined || enteredAt <= timeBefore(minAgeOf(id));
  });
  const starts = await Promise.all(
    allowed.map((sequenceId) => toStart(candidate, sequenceId, rules.get(sequenceId))),
  );
  const found = starts.flatMap((start) => start ?? []);
  const kept = withoutRefused(
    found.map(({ sequenceId }) => sequenceId),
    candidate.chain,
  );
  return {
    starts: found.filter(({ sequenceId }) => kept.includes(sequenceId)),
    // The contact may have entered and finished a sequence since its log was read.
    conditions: entries ? [equals("v", contact.v)] : [],
  };
}

/** How often actions of sequences can start a sequence in a row. */
export const maxChainDepth = 10;

/** The sequences that may start. If the chain is too long, notes all of them as refused. */
export function withoutRefused(sequenceIds: number[], chain: SequenceChain | undefined): number[] {
  if (!chain || chain.depth <= maxChainDepth) return sequenceIds;
  for (const id of sequenceIds) chain.refusedIds.add(id);
  return [];
}

/** Undefined when the filter of the trigger does not match the contact, with any of the events. */
async function toStart(
  { contact, after = contact, events }: SequenceEntrant,
  sequenceId: number,
  rules: StartRules | undefined,
): Promise<SequenceStart | undefined> {
  const ownEvents = events?.get(sequenceId) ?? [];
  for (const event of ownEvents.length ? ownEvents : [undefined]) {
    const subject = withEventProperties(after, event?.properties);
    if (!rules?.matches || (await rules.matches(subject)))
      return { sequenceId, startedBy: event?.sortKey };
  }
  return undefined;
}

const daySeconds = 24 * 3600;

/** How long ago the contact must have entered the sequence, to enter it again. */
function minAgeSeconds(reentry: Reentry = "always", oncePerDay: boolean): number {
  const seconds = typeof reentry === "object" ? reentry.afterDays * daySeconds : 0;
  if (reentry === "once") return Number.POSITIVE_INFINITY;
  return oncePerDay ? Math.max(daySeconds, seconds) : seconds;
}

const timeBefore = (seconds: number): string =>
  Number.isFinite(seconds) ? addSeconds(-seconds).toISOString() : "";

/** When the contact last entered sequences that it left within the time, by sequence. */
async function getLatestEntries(
  { orgId, id, v }: ContactItem,
  seconds: number,
): Promise<Map<number, string>> {
  const entries = new Map<number, string>();
  // A contact that is being created was in no sequence.
  if (v === 1) return entries;
  const log = ranges.contactLog(orgId, id, logPrefix);
  const after = `${logPrefix}${timeBefore(seconds)}`;
  const options = { after, limit: 1000, consistent: true };
  for await (const { items } of queryPages<FinishedEnrollmentItem>(log, options))
    for (const { sequenceId, createdAt } of items)
      if (createdAt > (entries.get(sequenceId) ?? "")) entries.set(sequenceId, createdAt);
  return entries;
}

interface StartRules {
  /** Undefined when the sequence was deleted. */
  triggerType: SequenceTriggerType | undefined;
  reentry: Reentry | undefined;
  matches?: (contact: ContactItem) => Promise<boolean>;
}

// A change takes effect in every process within this time.
const cacheMs = 3000;
const maxCached = 1000;
const rulesCache = createLruCache<{ rules: StartRules; readAt: number }>(maxCached);
const cacheKeyOf = (orgId: number, sequenceId: number): string => `${orgId}/${sequenceId}`;
export const clearStartRules = (orgId: number, sequenceId: number): void =>
  rulesCache.delete(cacheKeyOf(orgId, sequenceId));

/** Cached for a few seconds. */
async function getStartRules(
  { orgId, siteId }: ContactItem,
  sequenceIds: number[],
): Promise<Map<number, StartRules>> {
  const found = new Map<number, StartRules>();
  const time = now().getTime();
  for (const id of sequenceIds) {
    const cached = rulesCache.get(cacheKeyOf(orgId, id));
    if (cached && Math.abs(time - cached.readAt) < cacheMs) found.set(id, cached.rules);
  }
  const unknown = sequenceIds.filter((id) => !found.has(id));
  const read = await getMany<SequenceItem>(
    unknown.map((id) => keys.record(orgId, "SEQUENCE", id)),
    { consistent: true },
  );
  for (const [i, id] of unknown.entries()) {
    const rules = toStartRules({ orgId, siteId }, read[i]);
    rulesCache.set(cacheKeyOf(orgId, id), { rules, readAt: time }, 1);
    found.set(id, rules);
  }
  return found;
}

function toStartRules(site: SiteRef, sequence: SequenceItem | undefined): StartRules {
  const { filter, reentry } = sequence?.triggerConfig ?? {};
  const triggerType = sequence?.triggerType;
  if (!filter) return { triggerType, reentry };
  let matcher: ReturnType<typeof segments.createMatcher> | undefined;
  return {
    triggerType,
    reentry,
    matches: async (contact) => {
      matcher ??= segments.createMatcher(site.orgId, site.siteId, filter);
      return (await matcher)(contact);
    },
  };
}
