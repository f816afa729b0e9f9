// Finds what uses a list, tag, topic, segment, template or sending config.
import {
  all,
  allEqual,
  any,
  type Condition,
  equals,
  greaterThan,
  not,
  oneOf,
  present,
} from "../../adapters/dynamodb/conditions.ts";
import { get, type QueryPage, query } from "../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../clock.ts";
import type { ProblemDetail } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys, type RecordKind, ranges } from "../../keys.ts";
import type {
  ImportProgress,
  ImportRecord as StoredImport,
} from "../audience/imports/import-record.ts";
import type { ScoringRule } from "../audience/scoring/scoring-rules.ts";
import { parseField } from "../audience/segments/segment-fields.ts";
import {
  isRules,
  type SegmentCondition as RuleCondition,
  type SegmentRules,
} from "../audience/segments/segment-rules.ts";
import type { Segment } from "../audience/segments/segments.ts";
import { goalRulesOf, rulesOf } from "../automation/sequence-references.ts";
import type { SequenceItem } from "../automation/sequence-schema.ts";
import * as sequences from "../automation/sequences.ts";
import type { StepGraph } from "../automation/step-graph.ts";
import * as stepGraphStore from "../automation/step-graph-store.ts";
import type { FormItem } from "../forms/form-schema.ts";
import * as forms from "../forms/forms.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { labelOf } from "../senders/sending-configs.ts";
import { campaignField, refersTo, type UsageTarget, type UsedKind } from "./campaign-uses.ts";
import * as broadcastPlan from "./engine/broadcast-plan.ts";
import * as fanOutCursors from "./engine/fan-out-cursors.ts";
import * as transitions from "./engine/transitions.ts";
import type { StoredHoliday } from "./holiday-schema.ts";
import * as series from "./series/series.ts";
import type { StoredSeries } from "./series/series-schema.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

/** A record that uses the target. */
export interface Use extends ProblemDetail {
  /** The record itself. Absent for email that waits. */
  usedBy?: UsedBy;
  /** Prepares the record for the deletion of the target. Absent if it can stay as it is. */
  release?: ((statusReason: string) => Promise<unknown>) | undefined;
}

export async function* usersOf(target: UsageTarget): AsyncGenerator<Use> {
  yield* sequencesWith(target);
  yield* campaignsWith(target);
  yield* seriesWith(target);
  yield* formsWith(target);
  yield* segmentsWith(target);
  yield* scoringRulesWith(target);
  yield* holidaysWith(target);
  yield* importsWith(target);
  yield* reportsWith(target);
  yield* configsWith(target);
  yield* waitingEmailWith(target);
}

interface Named {
  id: number;
  name: string;
  status?: string;
}

export interface UsedBy extends Named {
  /** As paths of the API name it: `sequences`. */
  collection: string;
}

export const use = (collection: string, { id, name, status }: Named, how: string): Use => {
  const kind = collection
    .replace(/s$/, "")
    .replace(/([A-Z])/g, " $1")
    .toLowerCase();
  return {
    path: `${collection}.${id}`,
    message: `${kind} ${id} "${name.slice(0, 100)}" ${how}`,
    usedBy: { collection, id, name, ...(status !== undefined && { status }) },
  };
};

/** Records of the target's site, newest first. */
export async function* recordsOf<T>(
  { orgId, siteId }: Pick<UsageTarget, "orgId" | "siteId">,
  kind: RecordKind,
  condition?: Condition,
): AsyncGenerator<T> {
  const conditions = [allEqual({ siteId }), condition].filter((one) => one !== undefined);
  const filter = conditions.length ? all(...conditions) : undefined;
  let last: string | undefined;
  do {
    const page: QueryPage<T> = await query<T>(ranges.records(orgId, kind), {
      newestFirst: true,
      limit: 1000,
      after: last,
      filter,
    });
    yield* page.items;
    last = page.next;
  } while (last !== undefined);
}

const flowsAtOnce = 16;

async function* sequencesWith(target: UsageTarget): AsyncGenerator<Use> {
  let some: SequenceItem[] = [];
  for await (const sequence of recordsOf<SequenceItem>(
    target,
    "SEQUENCE",
    not(equals("status", "archived")),
  )) {
    some.push(sequence);
    if (some.length < flowsAtOnce) continue;
    yield* await usesOfSequences(target, some);
    some = [];
  }
  yield* await usesOfSequences(target, some);
}

async function usesOfSequences(target: UsageTarget, some: SequenceItem[]): Promise<Use[]> {
  const uses = await inParallel(flowsAtOnce, some, async (sequence) => {
    const steps = await stepsOf(target, sequence);
    const how = howRecordUses(target, sequence) ?? howStepsUse(target, steps);
    const release = (reason: string) =>
      sequences.pauseForDeletion(target.orgId, sequence.id, reason);
    if (how) return [{ ...use("sequences", sequence, how), release }];
    // An action that is not possible is skipped, so the sequence can stay as it is.
    return isInAction(target, steps) ? [use("sequences", sequence, "has an action with it")] : [];
  });
  return uses.flat();
}

function howRecordUses(target: UsageTarget, sequence: SequenceItem): string | undefined {
  const { kind, id, name } = target;
  if (kind === "CONFIG") return sequence.sendingConfigId === id ? "sends through it" : undefined;
  if (kind === "TOPIC" && sequence.topicId === id) return "is on it";
  const { tagId, tagName, listId, segmentId, filter } = sequence.triggerConfig ?? {};
  if (kind === "SEGMENT") return segmentId === id ? "is started by it" : undefined;
  const isTag = kind === "TAG" && (tagId === id || sameName(tagName, name));
  const isTrigger = isTag || (kind === "LIST" && listId === id);
  if (isTrigger) return "is started by it";
  if (filter && names(target, filter)) return "asks for it in the filter of its trigger";
  return goalRulesOf(sequence).some(({ rules }) => names(target, rules))
    ? "asks for it in a goal or an exit"
    : undefined;
}

const actionFields: Partial<Record<UsedKind, "tagId" | "listId" | "topicId">> = {
  TAG: "tagId",
  LIST: "listId",
  TOPIC: "topicId",
};

function isInAction({ kind, id }: UsageTarget, steps: StepGraph["steps"]): boolean {
  const field = actionFields[kind];
  return field !== undefined && steps.some(({ actionConfig }) => actionConfig?.[field] === id);
}

const stepsOf = async (
  { orgId, kind }: UsageTarget,
  sequence: SequenceItem,
): Promise<StepGraph["steps"]> =>
  kind === "CONFIG" || kind === "SEGMENT"
    ? []
    : (await stepGraphStore.getGraph(orgId, sequence)).steps;

function howStepsUse(target: UsageTarget, steps: StepGraph["steps"]): string | undefined {
  const mails =
    target.kind === "TEMPLATE" && steps.some(({ templateId }) => templateId === target.id);
  if (mails) return "mails it";
  return steps.some((step) => rulesOf(step).some(({ rules }) => names(target, rules)))
    ? "asks for it in a condition"
    : undefined;
}

const sameName = (given: string | undefined, name: string): boolean =>
  given !== undefined && given.trim().toLowerCase() === name.toLowerCase();

/** Whether rules name the list or tag, by id or name, or the topic by its id. */
function names(target: UsageTarget, node: RuleCondition | SegmentRules): boolean {
  if (isRules(node)) return node.conditions.some((one) => names(target, one));
  const { field, value } = node;
  if (target.kind === "TOPIC") return parseField(field)?.topicId === target.id;
  if (value === undefined || parseField(field)?.group !== target.kind) return false;
  return [value]
    .flat()
    .some((one) => (typeof one === "string" ? sameName(one, target.name) : one === target.id));
}

export const stillToSend = oneOf("status", ["draft", "scheduled", "held", "sending", "paused"]);
async function* campaignsWith(target: UsageTarget): AsyncGenerator<Use> {
  for await (const campaign of recordsOf<StoredCampaign>(target, "CAMPAIGN", stillToSend)) {
    const isReading = await readsAudience(target, campaign);
    if (!isReading && !refersTo(target, campaign)) continue;
    const release = releaseCampaign(campaign, isReading || target.kind === "CONFIG");
    yield { ...use("campaigns", campaign, `(${campaign.status}) uses it`), release };
  }
}

/** A campaign that has started goes on, unless it needs the record. */
function releaseCampaign(campaign: StoredCampaign, isNeeded: boolean): Use["release"] {
  if (campaign.startedAt)
    return isNeeded ? (reason) => transitions.failBroadcast(campaign, reason) : undefined;
  return (reason) => transitions.returnToDraft(campaign, reason);
}

/**
 * Whether the campaign is still reading who is on the list or has the tag. Without them, it would
 * leave out contacts, or mail those who are to be left out.
 */
async function readsAudience(target: UsageTarget, campaign: StoredCampaign): Promise<boolean> {
  if (!campaign.startedAt || !groupFields[target.kind]) return false;
  if ((await fanOutCursors.listCursors(campaign)).every(({ done }) => done)) return false;
  const { audience } = await broadcastPlan.getPlan(campaign);
  if ("rules" in audience) return names(target, audience.rules);
  return (audience as Record<string, unknown>)[groupFields[target.kind]!] === target.id;
}

const groupFields: Partial<Record<UsedKind, "listId" | "tagId">> = { LIST: "listId", TAG: "tagId" };

async function* seriesWith(target: UsageTarget): AsyncGenerator<Use> {
  for await (const one of recordsOf<StoredSeries>(target, "SERIES")) {
    if (!refersTo(target, { ...one, variants: [] })) continue;
    const release = (reason: string) => series.pause({ orgId: target.orgId }, one.id, reason);
    yield { ...use("recurringCampaigns", one, `(${one.status}) uses it`), release };
  }
}

async function* formsWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "LIST" && target.kind !== "TAG" && target.kind !== "TOPIC") return;
  for await (const form of recordsOf<FormItem>(target, "FORM")) {
    if (target.kind === "LIST" && form.listId === target.id)
      yield use("forms", form, "puts contacts on it");
    const otherTags = form.tags.filter((tag) => !sameName(tag, target.name));
    if (target.kind === "TAG" && otherTags.length < form.tags.length)
      yield {
        ...use("forms", form, "applies it"),
        // A form creates the tags that it names.
        release: () => forms.change(target, form.id, { tags: otherTags }),
      };
    if (target.kind === "TOPIC" && form.topicIds.includes(target.id))
      yield use("forms", form, "joins it");
  }
}

async function* segmentsWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "LIST" && target.kind !== "TAG" && target.kind !== "TOPIC") return;
  for await (const segment of recordsOf<Segment>(target, "SEGMENT"))
    if (names(target, segment.rules)) yield use("segments", segment, "asks for it in its rules");
}

async function* scoringRulesWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "TAG") return;
  for await (const rule of recordsOf<ScoringRule>(target, "RULE"))
    if (rule.match?.tagId === target.id || sameName(rule.match?.tagName, target.name))
      yield use("scoringRules", rule, "gives points for it");
}

async function* holidaysWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "TEMPLATE" && target.kind !== "CONFIG" && target.kind !== "TOPIC") return;
  const field = campaignField[target.kind];
  const uses = all(oneOf("status", ["scheduled", "sending"]), equals(field, target.id));
  for await (const holiday of recordsOf<StoredHoliday>(target, "HOLIDAY", uses))
    yield {
      ...use("holidays", holiday, `(${holiday.status}) uses it`),
      release:
        target.kind === "CONFIG" && holiday.startedAt
          ? (reason) => transitions.failBroadcast(holiday, reason)
          : undefined,
    };
}

async function* importsWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "LIST") return;
  // An import reads its file, which is kept for a week.
  const recent = greaterThan("createdAt", addSeconds(-8 * 24 * 3600).toISOString());
  for await (const one of recordsOf<StoredImport>(target, "IMPORT", recent)) {
    if (!one.wish.lists.includes(target.id)) continue;
    const run = await get<ImportProgress>(keys.importRun(target.orgId, one.id));
    if (run?.status === "queued" || run?.status === "running")
      yield use("imports", { id: one.id, name: one.filename ?? "" }, "puts contacts on it");
  }
}

async function* configsWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "CONFIG") return;
  const uses = any(equals("fallbackConfigId", target.id), present("share"));
  for await (const { id, provider, ...one } of recordsOf<SendingConfig>(target, "CONFIG", uses)) {
    const record = { id, name: labelOf(one) ?? provider };
    if (one.fallbackConfigId === target.id)
      yield use("sendingConfigs", record, "has it as its fallback");
    if (one.share?.sendingConfigId === target.id)
      yield use("sendingConfigs", record, "shares email with it");
  }
}

/** Reports go through the only verified config. */
async function* reportsWith(target: UsageTarget): AsyncGenerator<Use> {
  if (target.kind !== "CONFIG") return;
  const verified: SendingConfig[] = [];
  for await (const one of recordsOf<SendingConfig>(target, "CONFIG", equals("verified", true)))
    verified.push(one);
  if (verified.length !== 1 || verified[0]!.id !== target.id) return;
  for await (const report of recordsOf<{ id: number; recipient: string }>(
    target,
    "REPORT",
    equals("active", true),
  ))
    yield use(
      "reports",
      { id: report.id, name: report.recipient },
      "has no other verified sending config",
    );
}

/** Fails when its turn comes, because the config is gone. */
async function* waitingEmailWith({ orgId, kind, id }: UsageTarget): AsyncGenerator<Use> {
  if (kind !== "CONFIG") return;
  const { items } = await query(ranges.queuedChunks(orgId, id), { limit: 1, consistent: true });
  if (items.length) yield { path: "waitingEmail", message: "email is waiting to be sent with it" };
}
