// Sequences: automated series of emails, delays and conditions for one contact at a time.
// enrollments.ts and advance.ts move the contacts.

import { allEqual } from "../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, transact, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import * as topics from "../audience/topics/topics.ts";
import * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import { findConfigOfSender, requireAllowedFrom, toMailSender } from "../senders/mail-sender.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { clearListenerCache, listenerWrites } from "./event-listeners.ts";
import { withGoalReferences } from "./sequence-goals.ts";
import { sequenceReferences } from "./sequence-references.ts";
import {
  changeWithRetry,
  changeWrite,
  findItem,
  type NewSequence,
  type Sequence,
  type SequenceChanges,
  type SequenceItem,
  type SequenceStatus,
  toApi,
  toApiAll,
} from "./sequence-schema.ts";
import { clearStartRules } from "./sequence-starts.ts";
import * as sequenceTasks from "./sequence-tasks.ts";
import { removeDraftWrite } from "./step-drafts.ts";
import * as stepGraph from "./step-graph.ts";
import * as stepGraphProblems from "./step-graph-problems.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import type { SequenceSteps } from "./step-schema.ts";
import { resolveReferences, resolveTrigger } from "./trigger-references.ts";
import * as triggerRegistrations from "./trigger-registrations.ts";
import { checkTriggerConfig } from "./trigger-schema.ts";

export async function create(caller: CallerScope, input: NewSequence): Promise<Sequence> {
  const siteId = await sites.resolveSiteId(caller, input.siteId);
  const sequence = await insertSequence(
    caller,
    { ...input, siteId },
    { graph: stepGraph.emptyGraph },
  );
  return toApi(caller.orgId, sequence);
}

/** Creates the sequence, its steps and `extraWrites` in one transaction. */
export async function insertSequence(
  caller: CallerScope,
  input: NewSequence & { siteId: number },
  { graph, extraWrites = [] }: { graph: stepGraph.StepGraph; extraWrites?: Write[] },
): Promise<SequenceItem> {
  checkTriggerConfig(input, false);
  const stepsVersion = graph.steps.length ? 1 : 0;
  const sequence: SequenceItem = {
    ...(await records.newRecordFields("SEQUENCE")),
    ...input,
    triggerConfig: await resolveReferences(caller, input),
    ...(await resolveGoals(caller, input.siteId, input)),
    statusReason: null,
    hook: ids.randomBase62(16),
    stepsVersion,
    waitsAt: null,
    revision: 1,
  };
  await Promise.all([checkSender(caller, sequence), checkTopic(caller, sequence)]);
  if (sequence.status === "active") await checkCanActivate(caller.orgId, sequence, graph);
  const resolved = await resolveTrigger(caller, sequence);
  const graphWrites = stepsVersion
    ? [
        await stepGraphStore.graphWrite(
          caller.orgId,
          { sequenceId: sequence.id, version: stepsVersion },
          graph,
        ),
      ]
    : [];
  return records.insert("SEQUENCE", caller, {
    record: resolved,
    extraWrites: [
      ...graphWrites,
      ...(await triggerRegistrations.triggerWrites(caller.orgId, undefined, resolved)),
      ...(await listenerWrites(caller.orgId, undefined, { sequence: resolved, graph })),
      ...extraWrites,
    ],
  });
}

/** The given goals and exits, with ids of lists and tags. */
async function resolveGoals(
  { orgId }: CallerScope,
  siteId: number,
  { goals, exits }: Pick<SequenceChanges, "goals" | "exits">,
): Promise<Pick<SequenceItem, "goals" | "exits">> {
  const site = { orgId, siteId };
  return {
    ...(goals && { goals: await withGoalReferences(site, goals, "goals") }),
    ...(exits && { exits: await withGoalReferences(site, exits, "exits") }),
  };
}

export const find = async (caller: CallerScope, id: number): Promise<Sequence> =>
  toApi(caller.orgId, await findItem(caller, id));

interface SequenceFilter {
  siteId?: number | undefined;
  status?: SequenceStatus | undefined;
}

/** Newest first. */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  { siteId, status }: SequenceFilter,
): Promise<{ items: Sequence[]; pagination: Pagination }> {
  const filter = { siteIds: await sites.siteFilter(caller, siteId), filter: allEqual({ status }) };
  const { items, pagination } = await records.list<SequenceItem>("SEQUENCE", caller, {
    ...request,
    ...filter,
  });
  return { items: await toApiAll(caller.orgId, items), pagination };
}

/** 400 when the change activates the sequence and something required is missing. */
export async function change(
  caller: CallerScope,
  id: number,
  changes: SequenceChanges,
): Promise<Sequence> {
  const [before, after] = await changeWithRetry(() => changeOnce(caller, id, changes));
  triggerRegistrations.clearTriggerCache(caller.orgId, after.siteId);
  clearListenerCache(caller.orgId, after.siteId);
  clearStartRules(caller.orgId, id);
  if (before.status !== "active" && after.status === "active")
    await sequenceTasks.enqueueTask(caller.orgId, id);
  if (after.status === "active" && triggerRegistrations.isWatched(after))
    await triggerRegistrations.enqueueNewWatch(caller.orgId, id);
  return find(caller, id);
}

async function changeOnce(
  caller: CallerScope,
  id: number,
  changes: SequenceChanges,
): Promise<[before: SequenceItem, after: SequenceItem]> {
  const before = await findItem(caller, id);
  const definedChanges = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<SequenceItem>;
  // The config of the old trigger does not fit a new one.
  const triggerReset =
    changes.triggerType !== undefined && changes.triggerType !== before.triggerType
      ? { triggerConfig: null }
      : {};
  const wanted: SequenceItem = {
    ...before,
    ...triggerReset,
    ...definedChanges,
    ...(changes.status !== undefined && { statusReason: null }),
  };
  checkTriggerConfig(wanted, false);
  if (changes.triggerConfig) wanted.triggerConfig = await resolveReferences(caller, wanted);
  Object.assign(wanted, await resolveGoals(caller, before.siteId, changes));
  if (changes.sendingConfigId !== undefined || changes.fromEmail !== undefined)
    await checkSender(caller, wanted);
  if (changes.topicId !== undefined) await checkTopic(caller, wanted);
  const graph = await stepGraphStore.getGraph(caller.orgId, wanted);
  if (wanted.status === "active") await checkCanActivate(caller.orgId, wanted, graph);
  const after = await resolveTrigger(caller, wanted);
  const { name, status, statusReason, triggerType, triggerConfig, waitsAt } = after;
  const { sendingConfigId, topicId, autoBcc, utm, sendWindow, goals, exits } = after;
  const set = {
    ...{ name, status, statusReason, triggerType, triggerConfig, waitsAt },
    ...{ sendingConfigId, topicId, autoBcc, utm, sendWindow, goals, exits },
    ...toMailSender(after),
  };
  await write(
    changeWrite(caller.orgId, before, set),
    ...(await triggerRegistrations.triggerWrites(caller.orgId, before, after)),
    ...(await listenerWrites(
      caller.orgId,
      { sequence: before, graph },
      { sequence: after, graph },
    )),
    ...statusChangeWrites(caller.orgId, before, after),
  );
  return [before, after];
}

/**
 * Mail that is ready is held while the sequence is not active. Activation releases it and all held
 * enrollments.
 */
function statusChangeWrites(
  orgId: number,
  before: SequenceItem,
  { id, siteId, status }: SequenceItem,
): Write[] {
  const isActive = status === "active";
  if ((before.status === "active") === isActive) return [];
  const stateWrite = mailSources.setSourceStateWrite(
    orgId,
    { kind: "sequence", id },
    isActive ? "going" : "paused",
  );
  return isActive
    ? [stateWrite, sequenceTasks.releaseTaskWrite(orgId, { sequenceId: id, siteId })]
    : [stateWrite];
}

/**
 * Pauses a sequence that cannot continue and stores the reason. Returns false and does nothing if
 * it has changed since it was read.
 */
export async function pauseWithReason(
  orgId: number,
  sequence: SequenceItem,
  statusReason: string,
): Promise<boolean> {
  const paused = { status: "paused" as const, statusReason };
  const graph = await stepGraphStore.getGraph(orgId, sequence);
  return transact(
    changeWrite(orgId, sequence, { ...paused, waitsAt: null }),
    ...(await triggerRegistrations.triggerWrites(orgId, sequence, { ...sequence, ...paused })),
    ...(await listenerWrites(orgId, { sequence, graph }, undefined)),
    mailSources.setSourceStateWrite(orgId, { kind: "sequence", id: sequence.id }, "paused"),
  );
}

/** Pauses the sequence if it is active, because a record that it uses is being deleted. */
export async function pauseForDeletion(
  orgId: number,
  id: number,
  statusReason: string,
): Promise<void> {
  const siteId = await changeWithRetry(async () => {
    const sequence = await findItem({ orgId }, id);
    if (sequence.status === "active" && !(await pauseWithReason(orgId, sequence, statusReason)))
      throw new ConditionFailed(0);
    return sequence.siteId;
  });
  triggerRegistrations.clearTriggerCache(orgId, siteId);
}

/**
 * Deletes the sequence. A task removes its enrollments and cancels mail that was not handed over
 * yet.
 */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const { siteId } = await changeWithRetry(async () => {
    const sequence = await findItem(caller, id);
    const graph = await stepGraphStore.getGraph(caller.orgId, sequence);
    await write(
      ...records.removeWrites("SEQUENCE", caller, sequence),
      ...(await triggerRegistrations.triggerWrites(caller.orgId, sequence, undefined)),
      ...(await listenerWrites(caller.orgId, { sequence, graph }, undefined)),
      ...stepGraphStore.expireGraphWrites(caller.orgId, sequence),
      removeDraftWrite(caller.orgId, id),
      mailSources.setSourceStateWrite(caller.orgId, { kind: "sequence", id }, "cancelled"),
      sequenceTasks.removalTaskWrite(caller.orgId, { sequenceId: id, siteId: sequence.siteId }),
    );
    return sequence;
  });
  triggerRegistrations.clearTriggerCache(caller.orgId, siteId);
  await sequenceTasks.enqueueTask(caller.orgId, id);
}

/** Replaces the secret in the webhook URL: the old URL stops working at once. */
export const rotateWebhook = (caller: CallerScope, id: number): Promise<Sequence> =>
  changeWithRetry(async () => {
    const sequence = await findItem(caller, id);
    await write(changeWrite(caller.orgId, sequence, { hook: ids.randomBase62(16) }));
    return find(caller, id);
  });

async function checkSender(
  { orgId }: CallerScope,
  { sendingConfigId, fromEmail }: SequenceItem,
): Promise<void> {
  if (sendingConfigId !== null) await findConfigOfSender({ orgId }, sendingConfigId, { fromEmail });
}

async function checkTopic(caller: CallerScope, { siteId, topicId }: SequenceItem): Promise<void> {
  if (topicId) await topics.findOfSite(caller, { id: topicId, siteId });
}

async function checkCanActivate(
  orgId: number,
  sequence: SequenceItem,
  current: stepGraph.StepGraph,
): Promise<void> {
  const [first] = stepGraphProblems.missingParts(current, sequence.triggerType);
  if (first)
    throw invalid(`The sequence cannot be active: ${first}`, {
      details: [{ path: "status", message: first }],
    });
  const [missing] = await records.listMissing({ orgId }, sequenceReferences(sequence, current));
  if (missing) {
    const message = `The sequence cannot be active: ${missing.message}`;
    throw invalid(message, { details: [{ path: missing.path, message }] });
  }
  const sendsEmail = current.steps.some(({ type }) => type === "email");
  if (!sendsEmail || sequence.sendingConfigId !== null) return;
  const config = await findDefault(orgId);
  if (sequence.fromEmail) await requireAllowedFrom({ orgId }, config, sequence.fromEmail);
}

export async function listSteps(caller: CallerScope, id: number): Promise<SequenceSteps> {
  const sequence = await findItem(caller, id);
  const { steps } = await stepGraphStore.getGraph(caller.orgId, sequence);
  return { stepsVersion: sequence.stepsVersion, steps };
}
