// Finds the records that use a list, tag, topic, segment, template or sending config, so that it is
// not deleted while a sequence or campaign needs it.

import {
  all,
  allEqual,
  type Condition,
  equals,
  greaterThan,
  not,
  oneOf,
} from "../../adapters/dynamodb/conditions.ts";
import { get, type QueryPage, query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, type ProblemDetail } from "../../errors.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as records from "../../kernel/records.ts";
import { type GroupKind, keys, type RecordKind, ranges } from "../../keys.ts";
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
import type { SequenceItem } from "../automation/sequence-schema.ts";
import type { StepGraph } from "../automation/step-graph.ts";
import * as flows from "../automation/step-graph-store.ts";
import type { FormItem } from "../forms/form-schema.ts";
import { labelOf, type SendingConfig } from "../senders/sending-configs.ts";
import type { StoredCampaign } from "./campaign-schema.ts";
import type { StoredHoliday } from "./holiday-schema.ts";

type Kind = GroupKind | "TOPIC" | "SEGMENT" | "TEMPLATE" | "CONFIG";

interface Target {
  orgId: number;
  kind: Kind;
  id: number;
  /** Absent for a sending config, which belongs to the whole organization. */
  siteId?: number | undefined;
  name: string;
}

const words: Record<Kind, string> = {
  LIST: "list",
  TAG: "tag",
  TOPIC: "topic",
  SEGMENT: "segment",
  TEMPLATE: "template",
  CONFIG: "sending config",
};
const mostShown = 20;

/** 409 `in_use` with up to 20 users of the record in `details`; 404 and 403 as `find` has them. */
export async function refuseUsed(who: CallerScope, kind: Kind, id: number): Promise<void> {
  const record = await records.find<records.StoredRecord & { name: string }>(kind, who, id);
  const target: Target = {
    orgId: who.orgId,
    kind,
    id,
    siteId: record.siteId ?? undefined,
    name: record.name,
  };
  const found: ProblemDetail[] = [];
  for await (const user of usersOf(target)) {
    found.push(user);
    if (found.length > mostShown) break;
  }
  if (!found.length) return;
  const details = found.slice(0, mostShown);
  const many = found.length > mostShown ? `more than ${mostShown}` : String(found.length);
  const fact = `The ${words[kind]} is in use (${many})`;
  const remedy = "change what uses it, or delete it with force=true";
  throw conflict(`${fact}: ${remedy}`, { code: "in_use", details });
}

async function* usersOf(target: Target): AsyncGenerator<ProblemDetail> {
  yield* sequencesWith(target);
  yield* campaignsWith(target);
  yield* formsWith(target);
  yield* segmentsWith(target);
  yield* scoringRulesWith(target);
  yield* holidaysWith(target);
  yield* importsWith(target);
  yield* systemMailWith(target);
  yield* configsWith(target);
}

interface Named {
  id: number;
  name: string;
}

const use = (path: string, { id, name }: Named, how: string): ProblemDetail => {
  const kind = path
    .replace(/s$/, "")
    .replace(/([A-Z])/g, " $1")
    .toLowerCase();
  return { path: `${path}.${id}`, message: `${kind} ${id} "${name.slice(0, 100)}" ${how}` };
};

/** Records of the target's site, newest first. */
export async function* recordsOf<T>(
  { orgId, siteId }: Pick<Target, "orgId" | "siteId">,
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

async function* sequencesWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind === "SEGMENT") return;
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

async function usesOfSequences(target: Target, some: SequenceItem[]): Promise<ProblemDetail[]> {
  const uses = await inParallel(flowsAtOnce, some, async (sequence) => {
    const how =
      howRecordUses(target, sequence) ?? howStepsUse(target, await stepsOf(target, sequence));
    return how ? [use("sequences", sequence, how)] : [];
  });
  return uses.flat();
}

function howRecordUses({ kind, id, name }: Target, sequence: SequenceItem): string | undefined {
  if (kind === "CONFIG") return sequence.sendingConfigId === id ? "sends through it" : undefined;
  if (kind === "TOPIC") return sequence.topicId === id ? "is on it" : undefined;
  const { tagId, tagName, listId } = sequence.triggerConfig ?? {};
  const isTag = kind === "TAG" && (tagId === id || sameName(tagName, name));
  const isTrigger = isTag || (kind === "LIST" && listId === id);
  return isTrigger ? "is started by it" : undefined;
}

const stepsOf = async (
  { orgId, kind }: Target,
  sequence: SequenceItem,
): Promise<StepGraph["steps"]> =>
  kind === "CONFIG" ? [] : (await flows.getGraph(orgId, sequence)).steps;

function howStepsUse(target: Target, steps: StepGraph["steps"]): string | undefined {
  const mails =
    target.kind === "TEMPLATE" && steps.some(({ templateId }) => templateId === target.id);
  if (mails) return "mails it";
  return steps.some(({ conditionConfig }) => conditionConfig && names(target, conditionConfig))
    ? "asks for it in a condition"
    : undefined;
}

const sameName = (given: string | undefined, name: string): boolean =>
  given !== undefined && given.trim().toLowerCase() === name.toLowerCase();

/** Whether rules name the list or tag, by id or name, or the topic by its id. */
function names(target: Target, node: RuleCondition | SegmentRules): boolean {
  if (isRules(node)) return node.conditions.some((one) => names(target, one));
  const { field, value } = node;
  if (target.kind === "TOPIC") return parseField(field)?.topicId === target.id;
  if (value === undefined || parseField(field)?.group !== target.kind) return false;
  return [value]
    .flat()
    .some((one) => (typeof one === "string" ? sameName(one, target.name) : one === target.id));
}

export const stillToSend = oneOf("status", ["draft", "scheduled", "held", "sending", "paused"]);
const campaignField: Record<
  Kind,
  "listId" | "tagId" | "topicId" | "segmentId" | "templateId" | "sendingConfigId"
> = {
  LIST: "listId",
  TAG: "tagId",
  TOPIC: "topicId",
  SEGMENT: "segmentId",
  TEMPLATE: "templateId",
  CONFIG: "sendingConfigId",
};

async function* campaignsWith(target: Target): AsyncGenerator<ProblemDetail> {
  for await (const campaign of recordsOf<StoredCampaign>(target, "CAMPAIGN", stillToSend)) {
    const inVariant =
      target.kind === "TEMPLATE" &&
      campaign.variants.some(({ templateId }) => templateId === target.id);
    const used = campaign[campaignField[target.kind]] === target.id;
    if (used || inVariant || isInAudience(target, campaign))
      yield use("campaigns", campaign, `(${campaign.status}) uses it`);
  }
}

function isInAudience({ kind, id }: Target, { audience }: StoredCampaign): boolean {
  const field = audienceFields[kind];
  if (!audience || !field) return false;
  return audience[field].includes(id) || audience.exclude[field].includes(id);
}

const audienceFields: Partial<Record<Kind, "lists" | "tags" | "segments">> = {
  LIST: "lists",
  TAG: "tags",
  SEGMENT: "segments",
};

async function* formsWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "LIST" && target.kind !== "TAG" && target.kind !== "TOPIC") return;
  for await (const form of recordsOf<FormItem>(target, "FORM")) {
    if (target.kind === "LIST" && form.listId === target.id)
      yield use("forms", form, "puts contacts on it");
    if (target.kind === "TAG" && form.tags.some((tag) => sameName(tag, target.name)))
      yield use("forms", form, "applies it");
    if (target.kind === "TOPIC" && form.topicIds?.includes(target.id))
      yield use("forms", form, "joins it");
  }
}

async function* segmentsWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "LIST" && target.kind !== "TAG" && target.kind !== "TOPIC") return;
  for await (const segment of recordsOf<Segment>(target, "SEGMENT"))
    if (names(target, segment.rules)) yield use("segments", segment, "asks for it in its rules");
}

async function* scoringRulesWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "TAG") return;
  for await (const rule of recordsOf<ScoringRule>(target, "RULE"))
    if (rule.match?.tagId === target.id || sameName(rule.match?.tagName, target.name))
      yield use("scoringRules", rule, "gives points for it");
}

async function* holidaysWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "TEMPLATE" && target.kind !== "CONFIG" && target.kind !== "TOPIC") return;
  const field = campaignField[target.kind];
  const uses = all(oneOf("status", ["scheduled", "sending"]), equals(field, target.id));
  for await (const holiday of recordsOf<StoredHoliday>(target, "HOLIDAY", uses))
    yield use("holidays", holiday, "uses it");
}

async function* importsWith(target: Target): AsyncGenerator<ProblemDetail> {
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

async function* configsWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "CONFIG") return;
  const uses = equals("fallbackConfigId", target.id);
  for await (const { id, provider, ...one } of recordsOf<SendingConfig>(target, "CONFIG", uses))
    yield use("sendingConfigs", { id, name: labelOf(one) ?? provider }, "has it as its fallback");
}

/** Mail to users of the installation, and reports, which go through the only verified config. */
async function* systemMailWith(target: Target): AsyncGenerator<ProblemDetail> {
  if (target.kind !== "CONFIG") return;
  if (config.systemSender === String(target.id))
    yield {
      path: "systemSender",
      message: "the setting SYSTEM_SENDER names it: mail to our own users goes through it",
    };
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
