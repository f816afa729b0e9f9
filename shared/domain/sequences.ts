// Sequences: mails, waits and forks that contacts go through one by one. What is in one, and how they go on, is in sequences/.
import type { Caller } from "../caller.ts";
import { where } from "../conditions.ts";
import { type Write, write } from "../doors/table.ts";
import { invalid } from "../errors.ts";
import * as ids from "../ids.ts";
import type { PageRequest, Pagination } from "../paging.ts";
import * as groups from "./contacts/groups.ts";
import * as records from "./records.ts";
import * as sources from "./sending/sources.ts";
import * as sendingConfigs from "./sending-configs.ts";
import * as chores from "./sequences/chores.ts";
import * as flow from "./sequences/flow.ts";
import * as flows from "./sequences/flows.ts";
import {
  find as item,
  type NewSequence,
  revising,
  type Sequence,
  type SequenceChanges,
  type SequenceItem,
  type Status,
  told,
  toldAll,
  untilSettled,
} from "./sequences/record.ts";
import type { Step } from "./sequences/step.ts";
import { templatesOf } from "./sequences/steps.ts";
import * as triggers from "./sequences/triggers.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export async function create(who: Who, given: NewSequence): Promise<Sequence> {
  const siteId = await sites.resolve(who, given.siteId);
  return told(who.orgId, await insert(who, { ...given, siteId }, flow.empty));
}

/** With its steps, and whatever else is to be made with it. */
export async function insert(
  who: Who,
  given: NewSequence & { siteId: number },
  steps: flow.Flow,
  ...further: Write[]
): Promise<SequenceItem> {
  const stepsVersion = steps.steps.length ? 1 : 0;
  const sequence: SequenceItem = {
    ...(await records.stamp("SEQUENCE")),
    ...given,
    statusReason: null,
    hook: ids.randomText(16),
    stepsVersion,
    waitsAt: null,
    revision: 1,
  };
  triggers.check(sequence, false);
  await checkTrigger(who, sequence);
  await checkSender(who, sequence);
  if (sequence.status === "active") await checkReady(who.orgId, sequence, steps);
  const next = await placed(who, sequence);
  const storing = stepsVersion ? [await flows.storing(who.orgId, sequence.id, stepsVersion, steps)] : [];
  return records.insert("SEQUENCE", who, next, ...storing, ...(await triggers.arming(who.orgId, undefined, next)), ...further);
}

export const find = async (who: Who, id: number): Promise<Sequence> => told(who.orgId, await item(who, id));

interface Filter {
  siteId?: number | undefined;
  status?: Status | undefined;
}

/** Newest first. */
export async function list(
  who: Who,
  request: PageRequest,
  { siteId, status }: Filter,
): Promise<{ items: Sequence[]; pagination: Pagination }> {
  const filter = where({ siteId: await sites.only(who, siteId), status });
  const { items, pagination } = await records.list<SequenceItem>("SEQUENCE", who, request, filter);
  return { items: await toldAll(who.orgId, items), pagination };
}

/** 400 when it is to be active and something is missing for it. */
export async function change(who: Who, id: number, changes: SequenceChanges): Promise<Sequence> {
  const [before, after] = await untilSettled(() => changeOnce(who, id, changes));
  triggers.forget(who.orgId, after.siteId);
  if (before.status !== "active" && after.status === "active") await chores.workSoon(who.orgId, id);
  return find(who, id);
}

async function changeOnce(who: Who, id: number, changes: SequenceChanges): Promise<[before: SequenceItem, after: SequenceItem]> {
  const before = await item(who, id);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<SequenceItem>;
  // Another trigger begins without what the old one was about.
  const fresh = changes.triggerType !== undefined && changes.triggerType !== before.triggerType ? { triggerConfig: null } : {};
  const wanted: SequenceItem = { ...before, ...fresh, ...given, ...(changes.status !== undefined && { statusReason: null }) };
  triggers.check(wanted, false);
  if (changes.triggerConfig) await checkTrigger(who, wanted);
  if (changes.sendingConfigId !== undefined) await checkSender(who, wanted);
  if (wanted.status === "active") await checkReady(who.orgId, wanted, await flows.of(who.orgId, wanted));
  const after = await placed(who, wanted);
  const { name, status, statusReason, triggerType, triggerConfig, sendingConfigId, autoBcc, sendWindow, waitsAt } = after;
  const set = { name, status, statusReason, triggerType, triggerConfig, sendingConfigId, autoBcc, sendWindow, waitsAt: waitsAt ?? null };
  await write(
    revising(who.orgId, before, set),
    ...(await triggers.arming(who.orgId, before, after)),
    ...switching(who.orgId, before, after),
  );
  return [before, after];
}

/** Mails that are ready are held back while it is not active; once it is, all who are held go on. */
function switching(orgId: number, before: SequenceItem, { id, siteId, status }: SequenceItem): Write[] {
  const [was, is] = [before.status === "active", status === "active"];
  if (was === is) return [];
  const setting = sources.setting(orgId, { kind: "sequence", id }, is ? "going" : "paused");
  return is ? [setting, chores.releasing(orgId, { sequenceId: id, siteId })] : [setting];
}

/** Everyone inside leaves it; mail that was not handed over yet is not sent. */
export async function remove(who: Who, id: number): Promise<void> {
  const { siteId } = await untilSettled(async () => {
    const sequence = await item(who, id);
    await write(
      ...records.removing("SEQUENCE", who, id),
      ...(await triggers.arming(who.orgId, sequence, undefined)),
      ...flows.expiring(who.orgId, sequence),
      sources.setting(who.orgId, { kind: "sequence", id }, "cancelled"),
      chores.removing(who.orgId, { sequenceId: id, siteId: sequence.siteId }),
    );
    return sequence;
  });
  triggers.forget(who.orgId, siteId);
  await chores.workSoon(who.orgId, id);
}

/** Another secret in the URL of its webhook: the old URL is worthless at once. */
export const rotateWebhook = (who: Who, id: number): Promise<Sequence> =>
  untilSettled(async () => {
    const sequence = await item(who, id);
    await write(revising(who.orgId, sequence, { hook: ids.randomText(16) }));
    return find(who, id);
  });

/** With the list or tag that it waits at while it is active. */
async function placed(who: Who, sequence: SequenceItem): Promise<SequenceItem> {
  if (sequence.status !== "active") return { ...sequence, waitsAt: null };
  triggers.check(sequence, true);
  const waitsAt = await triggers.groupOf(sequence, async (name) => (await groups.tagsNamed(who, sequence.siteId, [name])).get(name)!);
  if (waitsAt) await groups.ofSite(waitsAt.kind, who, waitsAt.id, sequence.siteId);
  return { ...sequence, waitsAt };
}

const waitedFor = { tagId: "TAG", listId: "LIST", formId: "FORM" } as const;

/** 404 for what is not there, 400 for what is of another site. */
async function checkTrigger(who: Who, { siteId, triggerConfig }: SequenceItem): Promise<void> {
  for (const name of ["tagId", "listId", "formId"] as const)
    if (triggerConfig?.[name] !== undefined)
      await records.ofSite(waitedFor[name], who, triggerConfig[name], siteId, `triggerConfig.${name}`);
}

async function checkSender({ orgId }: Who, { sendingConfigId }: SequenceItem): Promise<void> {
  if (sendingConfigId !== null) await sendingConfigs.find({ orgId }, sendingConfigId);
}

async function checkReady(orgId: number, { siteId, sendingConfigId }: SequenceItem, current: flow.Flow): Promise<void> {
  const [first] = flow.incomplete(current);
  if (first) throw invalid(`The sequence cannot be active: ${first}`, { details: [{ path: "status", message: first }] });
  const wanted = [...new Set(current.steps.flatMap(({ type, templateId }) => (type === "email" ? (templateId ?? []) : [])))];
  if (!wanted.length) return;
  const found = await templatesOf(orgId, wanted);
  const gone = wanted.find((id) => found.get(id)?.siteId !== siteId);
  if (gone !== undefined) {
    const message = `The sequence cannot be active: template ${gone} is not there any more`;
    throw invalid(message, { details: [{ path: "status", message }] });
  }
  if (sendingConfigId === null) await sendingConfigs.defaultConfig(orgId);
}

export const steps = async (who: Who, id: number): Promise<Step[]> => (await flows.of(who.orgId, await item(who, id))).steps;
