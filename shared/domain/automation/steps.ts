// Edits the steps of a sequence, also while contacts are enrolled.

import { getMany, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { invalid, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import { withGroupIds } from "../audience/segments/group-ids.ts";
import type { TemplateMeta } from "../content/templates.ts";
import { changeWithRetry, changeWrite, findItem, type SequenceItem } from "./sequence-schema.ts";
import * as tasks from "./sequence-tasks.ts";
import * as stepGraph from "./step-graph.ts";
import * as graphStore from "./step-graph-store.ts";
import type {
  AddStepsRequest,
  NewSequenceStep,
  SequenceStep,
  SequenceStepChanges,
} from "./step-schema.ts";

/** Adds all steps or none. */
export async function add(
  caller: CallerScope,
  sequenceId: number,
  { steps, insert = false, ...singleStep }: AddStepsRequest,
): Promise<SequenceStep[]> {
  const input = steps ?? [singleStep as NewSequenceStep];
  const firstId = await ids.nextId("STEP", input.length);
  const at = new Date(await ids.requestTime()).toISOString();
  const stamps = input.map((_, i) => ({ id: firstId + i, createdAt: at, updatedAt: at }));
  const next = await editGraph(caller, sequenceId, {
    edit: async (sequence, graph) => {
      // A retry after a crash has the same ids and finds the steps that the first attempt stored.
      if (graph.steps.some(({ id }) => id === firstId)) return graph;
      await checkTemplates(caller.orgId, sequence, input);
      const resolved = await inParallel(8, input, (step, i) =>
        withIds({ orgId: caller.orgId, sequence }, step, steps ? `steps.${i}.` : ""),
      );
      return checkComplete(
        sequence,
        stepGraph.addSteps(graph, { input: resolved, stamps, insert }),
      );
    },
  });
  return next.steps.filter(({ id }) => id >= firstId && id < firstId + input.length);
}

/**
 * A changed delay counts from the start of each contact's wait. A task updates the waiting
 * enrollments.
 */
export async function change(
  caller: CallerScope,
  { sequenceId, stepId }: { sequenceId: number; stepId: number },
  changes: SequenceStepChanges,
): Promise<SequenceStep> {
  const movesWaits = changes.delayMinutes !== undefined || changes.type !== undefined;
  const next = await editGraph(caller, sequenceId, {
    edit: async (sequence, graph) => {
      findStep(graph, stepId);
      await checkTemplates(caller.orgId, sequence, [changes]);
      const resolved = await withIds({ orgId: caller.orgId, sequence }, changes, "");
      return checkComplete(
        sequence,
        stepGraph.changeStep(graph, stepId, { changes: resolved, updatedAt: now().toISOString() }),
      );
    },
    extraWrites: ({ siteId }) =>
      movesWaits ? [tasks.releaseTaskWrite(caller.orgId, { sequenceId, siteId })] : [],
  });
  if (movesWaits) await tasks.enqueueTask(caller.orgId, sequenceId);
  return findStep(next, stepId);
}

/** Enrollments at the step continue with the next one within about a minute. */
export async function remove(
  caller: CallerScope,
  sequenceId: number,
  stepId: number,
): Promise<void> {
  await editGraph(caller, sequenceId, {
    edit: async (_, graph) => stepGraph.removeStep(graph, findStep(graph, stepId)),
    extraWrites: ({ siteId }) => [tasks.releaseTaskWrite(caller.orgId, { sequenceId, siteId })],
  });
  await tasks.enqueueTask(caller.orgId, sequenceId);
}

function findStep({ steps }: stepGraph.StepGraph, stepId: number): SequenceStep {
  const step = steps.find(({ id }) => id === stepId);
  if (!step) throw missing("The step does not exist");
  return step;
}

/** 400 when the sequence is active and a step is incomplete. */
function checkComplete({ status }: SequenceItem, next: stepGraph.StepGraph): stepGraph.StepGraph {
  const [message] = status === "active" ? stepGraph.missingParts(next) : [];
  if (message)
    throw invalid(`The sequence is active: ${message}`, {
      details: [{ path: "steps", message }],
    });
  return next;
}

/**
 * Adds the ids of the lists and tags that the condition names. 400 for a name that does not exist
 * in the site.
 */
async function withIds<S extends SequenceStepChanges>(
  { orgId, sequence: { siteId } }: { orgId: number; sequence: SequenceItem },
  step: S,
  path: string,
): Promise<S> {
  const rules = step.conditionConfig;
  if (!rules) return step;
  return {
    ...step,
    conditionConfig: await withGroupIds({ orgId, siteId }, rules, `${path}conditionConfig`),
  };
}

async function checkTemplates(
  orgId: number,
  { siteId }: SequenceItem,
  steps: { templateId?: number | null | undefined }[],
): Promise<void> {
  const templateIds = [...new Set(steps.flatMap(({ templateId }) => templateId ?? []))];
  const templates = await getTemplates(orgId, templateIds);
  const unknownId = templateIds.find((id) => templates.get(id)?.siteId !== siteId);
  if (unknownId === undefined) return;
  const message = `templateId: the sequence's site has no template ${unknownId}`;
  throw invalid(message, { details: [{ path: "templateId", message }] });
}

export async function getTemplates(
  orgId: number,
  templateIds: number[],
): Promise<Map<number, TemplateMeta>> {
  const found = await getMany<TemplateMeta>(
    templateIds.map((id) => keys.record(orgId, "TEMPLATE", id)),
    { consistent: true },
  );
  return new Map(found.flatMap((template) => (template ? [[template.id, template]] : [])));
}

type GraphEdit = (
  sequence: SequenceItem,
  graph: stepGraph.StepGraph,
) => Promise<stepGraph.StepGraph>;

const editGraph = (
  caller: CallerScope,
  sequenceId: number,
  {
    edit,
    extraWrites = () => [],
  }: { edit: GraphEdit; extraWrites?: ((sequence: SequenceItem) => Write[]) | undefined },
): Promise<stepGraph.StepGraph> =>
  changeWithRetry(async () => {
    const sequence = await findItem(caller, sequenceId);
    const current = await graphStore.getGraph(caller.orgId, sequence);
    const next = await edit(sequence, current);
    if (next === current) return current;
    const stepsVersion = sequence.stepsVersion + 1;
    await write(
      changeWrite(caller.orgId, sequence, { stepsVersion }),
      await graphStore.graphWrite(caller.orgId, { sequenceId, version: stepsVersion }, next),
      ...graphStore.expireGraphWrites(caller.orgId, sequence),
      ...extraWrites(sequence),
    );
    return next;
  });
