// Edits the steps of a sequence, also while contacts are enrolled.
import { isDeepStrictEqual } from "node:util";

import { getMany, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope, SiteRef } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { conflict, invalid, missing, type Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import { withGroupIds } from "../audience/segments/group-ids.ts";
import type { SentTemplate } from "../content/templates.ts";
import { clearListenerCache, listenerWrites } from "./event-listeners.ts";
import { changeWithRetry, changeWrite, findItem, type SequenceItem } from "./sequence-schema.ts";
import * as sequenceTasks from "./sequence-tasks.ts";
import { resolveActionConfig, withNewTags } from "./step-actions/resolve-action-config.ts";
import type * as stepGraph from "./step-graph.ts";
import * as stepGraphChanges from "./step-graph-changes.ts";
import * as stepGraphProblems from "./step-graph-problems.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import type {
  AddStepsRequest,
  NewSequenceStep,
  ReplaceStepsRequest,
  SequenceStep,
  SequenceStepChanges,
  SequenceSteps,
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
  const { graph: next } = await editGraph(caller, sequenceId, {
    edit: async (sequence, graph) => {
      // A retry after a crash has the same ids and finds the steps that the first attempt stored.
      if (graph.steps.some(({ id }) => id === firstId)) return graph;
      const resolved = await withReferences({ orgId: caller.orgId, sequence }, input, (i) =>
        steps ? `steps.${i}.` : "",
      );
      return checkComplete(
        sequence,
        stepGraphChanges.addSteps(graph, { input: resolved, stamps, insert }),
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
  const { delayMinutes, waitConfig, type } = changes;
  const movesWaits = [delayMinutes, waitConfig, type].some((value) => value !== undefined);
  const { graph: next } = await editGraph(caller, sequenceId, {
    edit: async (sequence, graph) => {
      findStep(graph, stepId);
      const site = { orgId: caller.orgId, sequence };
      const [resolved] = await withReferences(site, [changes], () => "");
      const updatedAt = now().toISOString();
      return checkComplete(
        sequence,
        stepGraphChanges.changeStep(graph, stepId, { changes: resolved!, updatedAt }),
      );
    },
    extraWrites: ({ siteId }) =>
      movesWaits ? [sequenceTasks.releaseTaskWrite(caller.orgId, { sequenceId, siteId })] : [],
  });
  if (movesWaits) await sequenceTasks.enqueueTask(caller.orgId, sequenceId);
  return findStep(next, stepId);
}

interface ReplacedSteps extends ReplaceStepsRequest {
  /** Called at each attempt. Its writes are part of the transaction. */
  furtherWrites?: () => Promise<Write[]>;
}

/**
 * Replaces all steps, or none if one of them is not valid. 409 if somebody has changed the steps
 * since `stepsVersion`, unless they are those of the request: then a first attempt has stored them.
 */
export async function replace(
  caller: CallerScope,
  sequenceId: number,
  { stepsVersion, steps: input, sendWindow, furtherWrites }: ReplacedSteps,
): Promise<SequenceSteps> {
  const added = input.filter(({ id }) => id === undefined);
  const firstId = added.length ? await ids.nextId("STEP", added.length) : 0;
  const at = now().toISOString();
  const stamps = added.map((_, i) => ({ id: firstId + i, createdAt: at, updatedAt: at }));
  let movesWaits = false;
  const { graph, stepsVersion: newVersion } = await editGraph(caller, sequenceId, {
    edit: async (sequence, current) => {
      const isStale = sequence.stepsVersion !== stepsVersion;
      if (isStale && !input.every(({ id }) => id === undefined || hasStep(current, id)))
        throw stepsChanged();
      const site = { orgId: caller.orgId, sequence };
      const next = stepGraphChanges.replaceSteps(current, {
        input: await withReferences(site, input, (i) => `steps.${i}.`),
        stamps,
        updatedAt: at,
        mustBeComplete: sequence.status === "active",
      });
      if (
        stepGraphChanges.hasSameSteps(current, next, stamps) &&
        (sendWindow === undefined || isDeepStrictEqual(sendWindow, sequence.sendWindow))
      )
        return current;
      if (isStale) throw stepsChanged();
      movesWaits = stepGraphChanges.movesEnrollments(current, next);
      return checkComplete(sequence, next);
    },
    changes: sendWindow === undefined ? {} : { sendWindow },
    extraWrites: async ({ siteId }) => [
      ...(movesWaits ? [sequenceTasks.releaseTaskWrite(caller.orgId, { sequenceId, siteId })] : []),
      ...((await furtherWrites?.()) ?? []),
    ],
  });
  if (movesWaits) await sequenceTasks.enqueueTask(caller.orgId, sequenceId);
  return { stepsVersion: newVersion, steps: graph.steps };
}

const hasStep = ({ steps }: stepGraph.StepGraph, stepId: number): boolean =>
  steps.some(({ id }) => id === stepId);

const stepsChanged = (): Problem =>
  conflict("Somebody has changed the steps since they were read", { code: "steps_changed" });

/** Enrollments at the step continue with the next one within about a minute. */
export async function remove(
  caller: CallerScope,
  sequenceId: number,
  stepId: number,
): Promise<void> {
  await editGraph(caller, sequenceId, {
    edit: async (_, graph) => stepGraphChanges.removeStep(graph, findStep(graph, stepId)),
    extraWrites: ({ siteId }) => [
      sequenceTasks.releaseTaskWrite(caller.orgId, { sequenceId, siteId }),
    ],
  });
  await sequenceTasks.enqueueTask(caller.orgId, sequenceId);
}

function findStep({ steps }: stepGraph.StepGraph, stepId: number): SequenceStep {
  const step = steps.find(({ id }) => id === stepId);
  if (!step) throw missing("The step does not exist");
  return step;
}

/** 400 when the sequence is active and a step is incomplete. */
function checkComplete(
  { status, triggerType }: SequenceItem,
  next: stepGraph.StepGraph,
): stepGraph.StepGraph {
  const missing = status === "active" ? stepGraphProblems.missingParts(next, triggerType) : [];
  const [message] = missing;
  if (message)
    throw invalid(`The sequence is active: ${message}`, {
      details: [{ path: "steps", message }],
    });
  return next;
}

/**
 * The steps with ids in place of the names of lists and tags. 400 for a template, list, tag, topic
 * or sequence that the site does not have, and for a preview text that is not Liquid. `prefixOf` is
 * the path of a step in the request.
 */
export async function withReferences<S extends SequenceStepChanges>(
  { orgId, sequence: { id: sequenceId, siteId } }: { orgId: number; sequence: SequenceItem },
  steps: S[],
  prefixOf: (index: number) => string,
): Promise<S[]> {
  for (const [i, { previewText }] of steps.entries())
    if (previewText)
      liquid.compile(previewText, { escape: true, field: `${prefixOf(i)}previewText` });
  await checkTemplates({ orgId, siteId }, steps, prefixOf);
  return inParallel(8, steps, async (step, i) => {
    const site = { orgId, siteId };
    const { conditionConfig: rules, waitConfig, actionConfig } = step;
    const filter = waitConfig?.filter;
    const at = (name: string) => `${prefixOf(i)}${name}`;
    return {
      ...step,
      ...(rules && { conditionConfig: await withGroupIds(site, rules, at("conditionConfig")) }),
      ...(filter && {
        waitConfig: {
          ...waitConfig,
          filter: await withGroupIds(site, filter, at("waitConfig.filter")),
        },
      }),
      ...(actionConfig && {
        actionConfig: await resolveActionConfig(
          { ...site, sequenceId },
          actionConfig,
          at("actionConfig"),
        ),
      }),
    };
  });
}

async function checkTemplates(
  { orgId, siteId }: SiteRef,
  steps: { templateId?: number | null | undefined }[],
  prefixOf: (index: number) => string,
): Promise<void> {
  const templateIds = [...new Set(steps.flatMap(({ templateId }) => templateId ?? []))];
  const templates = await getTemplates(orgId, templateIds);
  const details = steps.flatMap(({ templateId }, i) => {
    const template = templateId ? templates.get(templateId) : undefined;
    const isUsable = template?.siteId === siteId && template.campaignId === undefined;
    if (!templateId || isUsable) return [];
    const path = `${prefixOf(i)}templateId`;
    return [{ path, message: `${path}: the sequence's site has no template ${templateId}` }];
  });
  if (details[0]) throw invalid(details[0].message, { details: details.slice(0, 20) });
}

export async function getTemplates(
  orgId: number,
  templateIds: number[],
): Promise<Map<number, SentTemplate>> {
  const found = await getMany<SentTemplate>(
    templateIds.map((id) => keys.record(orgId, "TEMPLATE", id)),
    { consistent: true },
  );
  return new Map(found.flatMap((template) => (template ? [[template.id, template]] : [])));
}

type GraphEdit = (
  sequence: SequenceItem,
  graph: stepGraph.StepGraph,
) => Promise<stepGraph.StepGraph>;

interface GraphEditOptions {
  /** Returns `graph` itself if nothing changes. */
  edit: GraphEdit;
  /** Further changes of the sequence. */
  changes?: Partial<SequenceItem>;
  extraWrites?: (sequence: SequenceItem) => Write[] | Promise<Write[]>;
}

const editGraph = (
  caller: CallerScope,
  sequenceId: number,
  { edit, changes = {}, extraWrites = () => [] }: GraphEditOptions,
): Promise<{ graph: stepGraph.StepGraph; stepsVersion: number }> =>
  changeWithRetry(async () => {
    const sequence = await findItem(caller, sequenceId);
    const graph = await stepGraphStore.getGraph(caller.orgId, sequence);
    const edited = await edit(sequence, graph);
    const furtherWrites = await extraWrites(sequence);
    if (edited === graph) {
      if (furtherWrites.length) await write(...furtherWrites);
      return { graph, stepsVersion: sequence.stepsVersion };
    }
    const stepsVersion = sequence.stepsVersion + 1;
    const site = { orgId: caller.orgId, siteId: sequence.siteId };
    const next = { ...edited, steps: await withNewTags(site, edited.steps) };
    await write(
      changeWrite(caller.orgId, sequence, { ...changes, stepsVersion }),
      ...(await listenerWrites(caller.orgId, { sequence, graph }, { sequence, graph: next })),
      await stepGraphStore.graphWrite(caller.orgId, { sequenceId, version: stepsVersion }, next),
      ...stepGraphStore.expireGraphWrites(caller.orgId, sequence),
      ...furtherWrites,
    );
    clearListenerCache(caller.orgId, sequence.siteId);
    return { graph: next, stepsVersion };
  });
