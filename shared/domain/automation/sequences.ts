// Sequences: automated series of emails, delays and conditions for one contact at a time.
// enrollments.ts and advance.ts move the contacts.

import { allEqual } from "../../adapters/dynamodb/conditions.ts";
import { transact, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import * as groups from "../audience/groups/groups.ts";
import * as topics from "../audience/topics/topics.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as sources from "../sending/mail-sources.ts";
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
import * as tasks from "./sequence-tasks.ts";
import * as stepGraph from "./step-graph.ts";
import * as graphStore from "./step-graph-store.ts";
import type { SequenceSteps } from "./step-schema.ts";
import { getTemplates } from "./steps.ts";
import * as triggers from "./triggers.ts";

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
  const stepsVersion = graph.steps.length ? 1 : 0;
  const sequence: SequenceItem = {
    ...(await records.newRecordFields("SEQUENCE")),
    ...input,
    statusReason: null,
    hook: ids.randomBase62(16),
    stepsVersion,
    waitsAt: null,
    revision: 1,
  };
  triggers.checkTriggerConfig(sequence, false);
  await checkTrigger(caller, sequence);
  await Promise.all([checkSender(caller, sequence), checkTopic(caller, sequence)]);
  if (sequence.status === "active") await checkCanActivate(caller.orgId, sequence, graph);
  const resolved = await resolveTrigger(caller, sequence);
  const graphWrites = stepsVersion
    ? [
        await graphStore.graphWrite(
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
      ...(await triggers.triggerWrites(caller.orgId, undefined, resolved)),
      ...extraWrites,
    ],
  });
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
  triggers.clearTriggerCache(caller.orgId, after.siteId);
  if (before.status !== "active" && after.status === "active")
    await tasks.enqueueTask(caller.orgId, id);
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
  triggers.checkTriggerConfig(wanted, false);
  if (changes.triggerConfig) await checkTrigger(caller, wanted);
  if (changes.sendingConfigId !== undefined) await checkSender(caller, wanted);
  if (changes.topicId !== undefined) await checkTopic(caller, wanted);
  if (wanted.status === "active")
    await checkCanActivate(caller.orgId, wanted, await graphStore.getGraph(caller.orgId, wanted));
  const after = await resolveTrigger(caller, wanted);
  const {
    name,
    status,
    statusReason,
    triggerType,
    triggerConfig,
    sendingConfigId,
    topicId,
    autoBcc,
    utm,
    sendWindow,
    waitsAt,
  } = after;
  const set = {
    name,
    status,
    statusReason,
    triggerType,
    triggerConfig,
    sendingConfigId,
    topicId: topicId ?? null,
    autoBcc,
    utm: utm ?? null,
    sendWindow,
    waitsAt: waitsAt ?? null,
  };
  await write(
    changeWrite(caller.orgId, before, set),
    ...(await triggers.triggerWrites(caller.orgId, before, after)),
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
  const stateWrite = sources.setSourceStateWrite(
    orgId,
    { kind: "sequence", id },
    isActive ? "going" : "paused",
  );
  return isActive
    ? [stateWrite, tasks.releaseTaskWrite(orgId, { sequenceId: id, siteId })]
    : [stateWrite];
}

/**
 * Pauses a sequence that cannot continue and stores the reason. Does nothing if it has changed
 * since it was read.
 */
export async function pauseWithReason(
  orgId: number,
  sequence: SequenceItem,
  statusReason: string,
): Promise<void> {
  const paused = { status: "paused" as const, statusReason };
  await transact(
    changeWrite(orgId, sequence, { ...paused, waitsAt: null }),
    ...(await triggers.triggerWrites(orgId, sequence, { ...sequence, ...paused })),
    sources.setSourceStateWrite(orgId, { kind: "sequence", id: sequence.id }, "paused"),
  );
}

/**
 * Deletes the sequence. A task removes its enrollments and cancels mail that was not handed over
 * yet.
 */
export async function remove(caller: CallerScope, id: number): Promise<void> {
  const { siteId } = await changeWithRetry(async () => {
    const sequence = await findItem(caller, id);
    await write(
      ...records.removeWrites("SEQUENCE", caller, sequence),
      ...(await triggers.triggerWrites(caller.orgId, sequence, undefined)),
      ...graphStore.expireGraphWrites(caller.orgId, sequence),
      sources.setSourceStateWrite(caller.orgId, { kind: "sequence", id }, "cancelled"),
      tasks.removalTaskWrite(caller.orgId, { sequenceId: id, siteId: sequence.siteId }),
    );
    return sequence;
  });
  triggers.clearTriggerCache(caller.orgId, siteId);
  await tasks.enqueueTask(caller.orgId, id);
}

/** Replaces the secret in the webhook URL: the old URL stops working at once. */
export const rotateWebhook = (caller: CallerScope, id: number): Promise<Sequence> =>
  changeWithRetry(async () => {
    const sequence = await findItem(caller, id);
    await write(changeWrite(caller.orgId, sequence, { hook: ids.randomBase62(16) }));
    return find(caller, id);
  });

/** Sets `waitsAt`. A tag that `triggerConfig` names is created if it does not exist. */
async function resolveTrigger(caller: CallerScope, sequence: SequenceItem): Promise<SequenceItem> {
  if (sequence.status !== "active") return { ...sequence, waitsAt: null };
  triggers.checkTriggerConfig(sequence, true);
  const waitsAt = await triggers.resolveTriggerGroup(
    sequence,
    async (name) => (await groups.getOrCreateTags(caller, sequence.siteId, [name])).get(name)!,
  );
  if (waitsAt)
    await groups.findOfSite(waitsAt.kind, caller, { id: waitsAt.id, siteId: sequence.siteId });
  return { ...sequence, waitsAt };
}

const referencedKinds = { tagId: "TAG", listId: "LIST", formId: "FORM" } as const;

/** 404 for a tag, list or form that does not exist, 400 for one of another site. */
async function checkTrigger(
  caller: CallerScope,
  { siteId, triggerConfig }: SequenceItem,
): Promise<void> {
  for (const name of ["tagId", "listId", "formId"] as const)
    if (triggerConfig?.[name] !== undefined)
      await records.findOfSite(referencedKinds[name], caller, {
        id: triggerConfig[name],
        siteId,
        path: `triggerConfig.${name}`,
      });
}

async function checkSender(
  { orgId }: CallerScope,
  { sendingConfigId }: SequenceItem,
): Promise<void> {
  if (sendingConfigId !== null) await sendingConfigs.findWithSender({ orgId }, sendingConfigId);
}

async function checkTopic(caller: CallerScope, { siteId, topicId }: SequenceItem): Promise<void> {
  if (topicId) await topics.findOfSite(caller, { id: topicId, siteId });
}

async function checkCanActivate(
  orgId: number,
  { siteId, sendingConfigId }: SequenceItem,
  current: stepGraph.StepGraph,
): Promise<void> {
  const [first] = stepGraph.missingParts(current);
  if (first)
    throw invalid(`The sequence cannot be active: ${first}`, {
      details: [{ path: "status", message: first }],
    });
  const templateIds = [
    ...new Set(
      current.steps.flatMap(({ type, templateId }) => (type === "email" ? (templateId ?? []) : [])),
    ),
  ];
  if (!templateIds.length) return;
  const templates = await getTemplates(orgId, templateIds);
  const missingId = templateIds.find((id) => templates.get(id)?.siteId !== siteId);
  if (missingId !== undefined) {
    const message = `The sequence cannot be active: template ${missingId} no longer exists`;
    throw invalid(message, { details: [{ path: "status", message }] });
  }
  if (sendingConfigId === null) await sendingConfigs.findDefault(orgId);
}

export async function listSteps(caller: CallerScope, id: number): Promise<SequenceSteps> {
  const sequence = await findItem(caller, id);
  const { steps } = await graphStore.getGraph(caller.orgId, sequence);
  return { stepsVersion: sequence.stepsVersion, steps };
}
