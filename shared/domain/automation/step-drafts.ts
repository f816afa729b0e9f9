// The draft of the steps of a sequence: a whole list of steps that somebody edits while contacts
// run through the current ones. It is one item beside the versions of the steps. Publishing puts it
// in place of them, as PUT /sequences/:id/steps does.
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, put, remove, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { Count, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { type Key, keys } from "../../keys.ts";
import * as enrollmentListing from "./enrollment-listing.ts";
import { findItem } from "./sequence-schema.ts";
import { currentStep, type StepGraph } from "./step-graph.ts";
import { isSameStep, replaceSteps } from "./step-graph-changes.ts";
import { missingParts } from "./step-graph-problems.ts";
import { getGraph } from "./step-graph-store.ts";
import {
  type GraphStep,
  ReplaceStepsRequest,
  SequenceStep,
  type SequenceSteps,
  StepsVersion,
} from "./step-schema.ts";
import * as steps from "./steps.ts";

const DraftVersion = Count.describe("Version of the draft: every PUT raises it.");

export const StepDraftRequest = z
  .object({
    draftVersion: z
      .int()
      .min(0)
      .describe(
        "Version of the draft that was edited, and 0 for a sequence without one. If somebody has " +
          "changed it since, the request fails with 409.",
      ),
    ...ReplaceStepsRequest.shape,
    steps: ReplaceStepsRequest.shape.steps.describe(
      "All steps of the draft, up to 500. They may be incomplete.",
    ),
    sendWindow: ReplaceStepsRequest.shape.sendWindow.describe(
      "Replaces the `sendWindow` of the sequence when the draft is published. If omitted, it " +
        "stays.",
    ),
  })
  .meta({
    examples: [
      {
        draftVersion: 0,
        stepsVersion: 0,
        steps: [{ stepOrder: 1, type: "delay", delayMinutes: 2880 }],
      },
    ],
  });
type StepDraftRequest = z.output<typeof StepDraftRequest>;

const StepEffect = z
  .object({
    stepId: RecordId.describe("Id of a current step that the draft deletes or changes."),
    stepOrder: Count.describe("Its current position."),
    effect: z
      .enum(["deleted", "changed"])
      .describe(
        "`deleted`: contacts at the step go on at `continuesAt`. `changed`: they stay at it, and " +
          "continue with its new content.",
      ),
    continuesAt: Count.nullable().describe(
      "`stepOrder` in the draft at which contacts that are at the step now continue. `null`: " +
        "they complete the sequence.",
    ),
    waiting: Count.describe("Contacts that are at the step now."),
  })
  .meta({ id: "StepEffect" });

export const StepDraft = z
  .object({
    draftVersion: DraftVersion,
    stepsVersion: StepsVersion.describe("Version of the steps that the draft was made from."),
    isStale: z
      .boolean()
      .describe("Whether somebody has changed the steps of the sequence since `stepsVersion`."),
    steps: z
      .array(
        SequenceStep.omit({ id: true, createdAt: true, updatedAt: true })
          .extend({
            id: RecordId.optional().describe("Id of a current step. A new step has none."),
          })
          .meta({ id: "DraftStep" }),
      )
      .describe("Steps of the draft, by `stepOrder`."),
    sendWindow: ReplaceStepsRequest.shape.sendWindow,
    problems: z
      .array(z.string())
      .describe("What is missing before the draft can be published in an active sequence."),
    effects: z
      .array(StepEffect)
      .describe("What publishing does to contacts that are at current steps."),
    updatedAt: UpdatedAt,
  })
  .meta({ id: "StepDraft" });
type StepDraft = z.output<typeof StepDraft>;

/** What a sequence says of its draft. */
export const StepDraftSummary = StepDraft.pick({
  draftVersion: true,
  stepsVersion: true,
  updatedAt: true,
}).meta({ id: "StepDraftSummary" });
type StepDraftSummary = z.output<typeof StepDraftSummary>;

export const PublishRequest = z
  .object({
    stepsVersion: z
      .int()
      .min(0)
      .optional()
      .describe(
        "Version of the current steps that the draft may replace. Defaults to the one that the " +
          "draft was made from.",
      ),
  })
  .meta({ examples: [{}] });
type PublishRequest = z.output<typeof PublishRequest>;

interface DraftItem extends Key, CompressedValue {
  draftVersion: number;
  stepsVersion: number;
  updatedAt: string;
}

/** What is compressed in the item. */
type DraftBody = Pick<StepDraftRequest, "steps" | "sendWindow">;

const draftKey = (orgId: number, id: number): Key =>
  keys.recordBody(orgId, "SEQUENCE", { id, version: "draft" });

/** For the transaction that deletes the sequence. */
export const removeDraftWrite = (orgId: number, id: number): Write => remove(draftKey(orgId, id));

async function findDraft(orgId: number, id: number): Promise<DraftItem & DraftBody> {
  const item = await get<DraftItem>(draftKey(orgId, id));
  if (!item) throw missing("The sequence has no draft");
  return { ...item, ...(await decompress<DraftBody>(item)) };
}

export async function readSummary(orgId: number, id: number): Promise<StepDraftSummary | null> {
  const item = await get<DraftItem>(draftKey(orgId, id));
  if (!item) return null;
  const { draftVersion, stepsVersion, updatedAt } = item;
  return { draftVersion, stepsVersion, updatedAt };
}

export async function find(caller: CallerScope, id: number): Promise<StepDraft> {
  const sequence = await findItem(caller, id);
  const [draft, graph, { steps: counts }] = await Promise.all([
    findDraft(caller.orgId, id),
    getGraph(caller.orgId, sequence),
    enrollmentListing.getCounts(caller.orgId, id),
  ]);
  const waitingAt = (stepId: number) => {
    const { reached, left } = counts.get(stepId) ?? enrollmentListing.noStepCounts;
    return reached - left;
  };
  const planned = planSteps(graph, draft.steps);
  return {
    draftVersion: draft.draftVersion,
    stepsVersion: draft.stepsVersion,
    isStale: draft.stepsVersion !== sequence.stepsVersion,
    steps: planned.steps.map(({ createdAt: _, updatedAt: __, ...step }) =>
      step.id > 0 ? step : { ...step, id: undefined },
    ),
    sendWindow: draft.sendWindow,
    problems: missingParts(planned, sequence.triggerType),
    effects: effectsOf(graph, planned).map((effect) => ({
      ...effect,
      waiting: waitingAt(effect.stepId),
    })),
    updatedAt: draft.updatedAt,
  };
}

/** A step that was deleted since the draft was saved becomes a new one. */
function withKnownIds({ steps }: StepGraph, input: GraphStep[]): GraphStep[] {
  const known = new Set(steps.map(({ id }) => id));
  return input.map((step) =>
    step.id !== undefined && known.has(step.id) ? step : { ...step, id: undefined },
  );
}

/** The steps as they would be. New ones have the ids -1, -2 and so on. */
function planSteps(graph: StepGraph, input: GraphStep[]): StepGraph {
  const kept = withKnownIds(graph, input);
  const at = now().toISOString();
  const stamps = kept
    .filter(({ id }) => id === undefined)
    .map((_, i) => ({ id: -1 - i, createdAt: at, updatedAt: at }));
  return replaceSteps(graph, { input: kept, stamps, updatedAt: at, mustBeComplete: false });
}

function effectsOf(
  current: StepGraph,
  next: StepGraph,
): Omit<StepDraft["effects"][0], "waiting">[] {
  const kept = new Map(next.steps.map((step) => [step.id, step]));
  return current.steps.flatMap((step) => {
    const { id: stepId, stepOrder } = step;
    const after = kept.get(stepId);
    if (after && isSameStep(step, after)) return [];
    const continuesAt = currentStep(next, { stepId, order: 0 })?.stepOrder ?? null;
    return [{ stepId, stepOrder, effect: after ? "changed" : "deleted", continuesAt }];
  });
}

/** 409 if somebody has stored another draft since `draftVersion`. */
export async function save(
  caller: CallerScope,
  id: number,
  { draftVersion, stepsVersion, ...body }: StepDraftRequest,
): Promise<StepDraft> {
  const { orgId } = caller;
  const sequence = await findItem(caller, id);
  if (stepsVersion > sequence.stepsVersion)
    throw invalid("stepsVersion is later than the steps of the sequence", {
      details: [{ path: "stepsVersion", message: "the sequence has no such version" }],
    });
  const [graph, resolved] = await Promise.all([
    getGraph(orgId, sequence),
    steps.withReferences({ orgId, sequence }, body.steps, (i) => `steps.${i}.`),
  ]);
  // Throws if the steps are not valid.
  planSteps(graph, resolved);
  const key = draftKey(orgId, id);
  const stored: DraftBody = { ...body, steps: resolved };
  const item = {
    draftVersion: draftVersion + 1,
    stepsVersion,
    updatedAt: now().toISOString(),
    ...(await compress(key, stored, "templates")),
  };
  const isUnchanged = draftVersion === 0 ? isNew : equals("draftVersion", draftVersion);
  await retryOnConflict("The draft", async () => {
    const current = await get<DraftItem>(key);
    if ((current?.draftVersion ?? 0) === draftVersion)
      return write(put(key, item, { if: isUnchanged }));
    // A first attempt has stored it.
    const isStored =
      current?.draftVersion === item.draftVersion &&
      isDeepStrictEqual(await decompress<DraftBody>(current), JSON.parse(JSON.stringify(stored)));
    if (!isStored) throw draftChanged();
  });
  return find(caller, id);
}

const draftChanged = () =>
  conflict("Somebody has changed the draft since it was read", { code: "draft_changed" });

/** Puts the draft in place of the steps and deletes it, both or neither. */
export async function publish(
  caller: CallerScope,
  id: number,
  { stepsVersion }: PublishRequest,
): Promise<SequenceSteps> {
  const sequence = await findItem(caller, id);
  const key = draftKey(caller.orgId, id);
  const [draft, graph] = await Promise.all([
    findDraft(caller.orgId, id),
    getGraph(caller.orgId, sequence),
  ]);
  const { draftVersion } = draft;
  return steps.replace(caller, id, {
    ...draft,
    steps: withKnownIds(graph, draft.steps),
    stepsVersion: stepsVersion ?? draft.stepsVersion,
    furtherWrites: async () => {
      const current = await get<DraftItem>(key);
      if (current?.draftVersion !== draftVersion) throw draftChanged();
      return [remove(key, { if: equals("draftVersion", draftVersion) })];
    },
  });
}

export async function discard(caller: CallerScope, id: number): Promise<void> {
  await findItem(caller, id);
  await findDraft(caller.orgId, id);
  await write(removeDraftWrite(caller.orgId, id));
}
