// Creates and changes many contacts. A transaction holds as many rows as fit, with their counters,
// so a crash leaves whole rows and exact counts. Shards run in parallel, because they share no
// counters.

import { ConditionFailed, getMany } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { isContended, type Problem, undefinedIfMissing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { retryInTurn } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import * as groups from "../groups/groups.ts";
import * as suppressionLookups from "../suppressions/suppression-lookups.ts";
import * as suppressions from "../suppressions/suppressions.ts";
import { listOfSite, type SiteTopic } from "../topics/site-topics.ts";
import { resolveChoices } from "../topics/topic-choices.ts";
import * as confirmations from "./confirmations.ts";
import type { Consent } from "./consent-log.ts";
import type { ContactItem, ContactRow } from "./contact-schema.ts";
import * as contactStatus from "./contact-status.ts";
import { lineOf } from "./contact-writes.ts";
import * as declaredFields from "./declared-fields.ts";
import { externalIdTaken, listTaken } from "./external-ids.ts";
import { contactReactions } from "./reactions.ts";
import { askToConfirm } from "./upsert-confirmations.ts";
import { type IdentifiedRow, mergeRows, splitByMemberships } from "./upsert-row-merging.ts";
import {
  isWritable,
  type NewContactDefaults,
  planStep,
  type UpsertMode,
  type UpsertStep,
  type UpsertTarget,
} from "./upsert-steps.ts";
import {
  commitSteps,
  groupTransactions,
  removeStalePointers,
  writePointers,
} from "./upsert-transactions.ts";

export type UpsertOutcome =
  | { outcome: "created" | "updated"; id: number; error?: undefined }
  | { outcome: "failed"; error: string };

export interface UpsertOptions {
  /**
   * Subscribes unsubscribed contacts again, also to topics that they left, and removes
   * suppressions. An API key of one site cannot remove a suppression: its suppressed contacts stay
   * suppressed.
   */
  resubscribe?: boolean | undefined;
}

/** Options of an import. */
export interface RowUpsertOptions extends UpsertOptions {
  mode?: UpsertMode | undefined;
  defaults?: NewContactDefaults | undefined;
  /** Contact id reserved for each row. A retry with the same ids returns the same outcomes. */
  ids?: number[] | undefined;
  /** An earlier attempt may have used these ids. */
  mayBeRetry?: boolean | undefined;
  /** Lists and tags that a row adds trigger sequences. */
  startSequences?: boolean | undefined;
  /** How texts are written that are read by the type of a declared field. */
  format?: declaredFields.GivenFormat | undefined;
  /** For the consent log. */
  consentSource?: Consent["source"] | undefined;
  confirmationSource?: confirmations.ConfirmationItem["source"] | undefined;
}
export type SkippedOutcome = { outcome: "skipped"; error?: undefined };

interface UpsertContext {
  caller: CallerScope;
  siteId: number;
}

/**
 * Returns an outcome for each row. Rows of one email address are merged in order. A row fails
 * alone.
 */
export const upsert = (
  context: UpsertContext,
  rows: ContactRow[],
  options: UpsertOptions = {},
): Promise<UpsertOutcome[]> =>
  // The mode `upsert` skips no rows.
  upsertRows(context, rows, { ...options, startSequences: true }) as Promise<UpsertOutcome[]>;

export async function upsertRows(
  { caller, siteId }: UpsertContext,
  rows: ContactRow[],
  options: RowUpsertOptions,
): Promise<(UpsertOutcome | SkippedOutcome)[]> {
  const [lists, topics, read] = await Promise.all([
    getListIds(caller.orgId, siteId, rows),
    rows.some((row) => row.topics?.length) ? listOfSite(caller.orgId, siteId) : [],
    declaredFields.readRows({ orgId: caller.orgId, siteId }, rows, options.format),
  ]);
  const errors = read.map(
    ({ row, faults }) =>
      faults[0]?.message ?? findUnknownList(row, lists) ?? findWrongTopic(row, topics),
  );
  const good = read.flatMap(({ row }, i) => (errors[i] ? [] : [{ row, id: options.ids?.[i] }]));
  const lookedUpAt = now().toISOString();
  const people = await planTargets({ caller, siteId, topics }, good, options);
  for (const round of roundsOf(people)) await storeTargets(round, lookedUpAt, options.mayBeRetry);
  await askToConfirm(caller.orgId, people);
  const byRow = new Map(people.flatMap((person) => person.rows.map((row) => [row, person])));
  return read.map(({ row }, i) =>
    errors[i] ? { outcome: "failed", error: errors[i] } : outcomeOf(byRow.get(row)!, row),
  );
}

/** The first row of a new email address is `created`, the others are `updated`. */
function outcomeOf(
  { id, current, created, mode, skipped, rows, error }: UpsertTarget,
  row: ContactRow,
): UpsertOutcome | SkippedOutcome {
  if (error !== undefined) return { outcome: "failed", error };
  if (skipped || (mode === "create" && rows[0] !== row)) return { outcome: "skipped" };
  return { outcome: created && rows[0] === row ? "created" : "updated", id: current?.id ?? id };
}

/** Each email address is at most once in a round. */
function roundsOf(targets: UpsertTarget[]): UpsertTarget[][] {
  const byAddress = [
    ...Map.groupBy(targets, ({ mergedRow }) => normalizeEmail(mergedRow.email)).values(),
  ];
  const longest = Math.max(0, ...byAddress.map((same) => same.length));
  return Array.from({ length: longest }, (_, i) => byAddress.flatMap((same) => same[i] ?? []));
}

function findUnknownList({ lists }: ContactRow, known: Set<number>): string | undefined {
  const unknown = lists.find((id) => !known.has(id));
  return unknown === undefined ? undefined : `lists: the site has no list ${unknown}`;
}

function findWrongTopic({ topics = [] }: ContactRow, known: SiteTopic[]): string | undefined {
  try {
    resolveChoices(topics, known);
    return undefined;
  } catch (error) {
    return `topics: ${(error as Problem).message}`;
  }
}

async function getListIds(orgId: number, siteId: number, rows: ContactRow[]): Promise<Set<number>> {
  const wanted = [...new Set(rows.flatMap(({ lists }) => lists))];
  const found = await getMany<groups.Group>(
    wanted.map((id) => keys.record(orgId, "LIST", id)),
    { consistent: true },
  );
  return new Set(found.flatMap((list) => (list?.siteId === siteId ? [list.id] : [])));
}

async function planTargets(
  { caller, siteId, topics }: UpsertContext & { topics: SiteTopic[] },
  rows: IdentifiedRow[],
  {
    resubscribe = false,
    mode = "upsert",
    defaults = {},
    ids: given,
    startSequences = false,
    consentSource = "api",
    confirmationSource = confirmations.sourceOf(caller),
  }: RowUpsertOptions,
): Promise<UpsertTarget[]> {
  const { orgId } = caller;
  const rowSets = [...Map.groupBy(rows, ({ row }) => normalizeEmail(row.email)).values()].flatMap(
    mode === "create" ? (same) => [same] : splitByMemberships,
  );
  const merged = rowSets.map((same) =>
    mode === "create"
      ? same[0]!.row
      : same.map(({ row }) => row).reduce(mergeRows(resubscribe, defaults.status)),
  );
  if (resubscribe && mode !== "create" && !caller.siteIds)
    await unsuppressResubscribed(orgId, merged, defaults.status);
  const emails = merged.map(({ email }) => email);
  const [date, tags, suppressed, taken] = await Promise.all([
    organizations.getToday(orgId),
    groups.knownTags(
      orgId,
      siteId,
      merged.flatMap((row) => row.tags),
    ),
    suppressionLookups.filterManySuppressed(orgId, emails),
    given ? [] : ids.nextContactIds(merged.length),
  ]);
  return merged.map((row, i) => ({
    orgId,
    siteId,
    date,
    id: given ? rowSets[i]![0]!.id! : taken[i]!,
    rows: rowSets[i]!.map((one) => one.row),
    mergedRow: row,
    tags: [...new Set(row.tags.flatMap((name) => tags.get(name) ?? []))],
    newTags: row.tags.filter((name) => !tags.has(name)),
    choices: resolveChoices(row.topics ?? [], topics),
    consentSource,
    confirmationSource,
    startSequences,
    resubscribe,
    mode,
    defaults,
    suppressed: suppressed.has(normalizeEmail(row.email)),
    current: undefined,
    created: false,
  }));
}

/** Removes the suppressions of email addresses that are subscribed again. */
async function unsuppressResubscribed(
  orgId: number,
  rows: ContactRow[],
  fresh: ContactRow["status"] = "subscribed",
): Promise<void> {
  const back = rows
    .filter(({ status = fresh }) => status === "subscribed")
    .map(({ email }) => email);
  for (const email of await suppressionLookups.filterSuppressed(orgId, back, {
    purpose: "marketing",
  }))
    await suppressions.remove(orgId, email).catch(undefinedIfMissing);
}

/** `lookedUpAt`: when it began to be read which addresses are suppressed (ISO 8601). */
async function storeTargets(
  targets: UpsertTarget[],
  lookedUpAt: string,
  again = false,
): Promise<void> {
  const lost = await storeOnce(targets, again);
  // Retry rows one by one, each in turn with other writers of its contact, so that a busy contact
  // does not delay the others.
  await inParallel(8, lost, (person) => storeAlone(person, again));
  // A request that suppressed an address in between may not have found its contact.
  const created = targets.flatMap(({ current: contact, created, suppressed: wasSuppressed }) =>
    contact && created ? [{ contact, wasSuppressed }] : [],
  );
  if (created[0]) await contactStatus.syncCreated(created[0].contact.orgId, created, lookedUpAt);
}

/** A contact with too many concurrent writers fails alone. */
async function storeAlone(person: UpsertTarget, again: boolean): Promise<void> {
  const { orgId, siteId, current, mergedRow } = person;
  const line = current
    ? lineOf(orgId, current.id)
    : `contact ${orgId} ${siteId} ${normalizeEmail(mergedRow.email)}`;
  try {
    await retryInTurn(line, "The contact", async () => {
      if ((await storeOnce([person], again)).length) throw new ConditionFailed(0);
    });
  } catch (error) {
    if (!isContended(error)) throw error;
    person.error = (error as Problem).message;
  }
}

/** Returns the targets that lost to a concurrent change. */
async function storeOnce(targets: UpsertTarget[], again: boolean): Promise<UpsertTarget[]> {
  const found = await getMany<ContactItem>(targets.map(keyOf), { consistent: true });
  await refuseTakenIds(targets.flatMap((person, i) => planStep(person, found[i]) ?? []));
  const open = targets.flatMap((person, i) =>
    person.error === undefined ? [{ person, current: found[i] }] : [],
  );
  await makeTags(
    open.flatMap(({ person, current }) =>
      person.newTags.length && isWritable(person, current) ? [person] : [],
    ),
  );
  const wanted = open.flatMap(({ person, current }) => planStep(person, current) ?? []);
  const steps = again ? await dropAlreadyCreated(wanted) : wanted;
  await addStarts(steps);
  await removeStalePointers(targets);
  await writePointers(steps);
  const lost = await inParallel(8, groupTransactions(steps), async (lane) => {
    const lost: UpsertTarget[] = [];
    for (const some of lane)
      if (!(await commitSteps(some))) lost.push(...some.map(({ person }) => person));
    return lost;
  });
  return lost.flat();
}

/** A row fails if another contact has its id in the customer's own system. */
async function refuseTakenIds(steps: UpsertStep[]): Promise<void> {
  const changing = steps.filter((step) => step.externalIdWrites.length);
  if (!changing.length) return;
  const taken = await listTaken(changing.map(({ next }) => next));
  for (const { person, next } of changing)
    if (taken.has(next)) person.error = externalIdTaken().message;
}

/** Creates missing tags only for rows that can be written, so that a failed row creates none. */
async function makeTags(targets: UpsertTarget[]): Promise<void> {
  const [first] = targets;
  if (!first) return;
  const names = targets.flatMap(({ newTags }) => newTags);
  const made = await groups.getOrCreateTags({ orgId: first.orgId }, first.siteId, names);
  for (const person of targets) {
    person.tags = [...new Set([...person.tags, ...person.newTags.map((name) => made.get(name)!)])];
    person.newTags = [];
  }
}

/** Sets the sequences that the new memberships of each row trigger. */
async function addStarts(steps: UpsertStep[]): Promise<void> {
  const starting = steps.filter(
    ({ person, memberships }) => person.startSequences && memberships.length,
  );
  if (!starting.length) return;
  const startsOf = await contactReactions().startsOf(
    starting[0]!.next.orgId,
    starting.flatMap(({ memberships }) => memberships),
  );
  for (const step of starting) step.sequenceIds = startsOf(step.memberships);
}

/** Skips contacts that an earlier attempt created and whose email address has changed since. */
async function dropAlreadyCreated(steps: UpsertStep[]): Promise<UpsertStep[]> {
  const pointers = await getMany<{ email: string }>(
    steps.map(({ next }) => keys.contactPointer(next.orgId, next.id)),
    { consistent: true },
  );
  return steps.filter(
    ({ isNew, next }, i) => !isNew || pointers[i] === undefined || pointers[i].email === next.sk,
  );
}

const keyOf = ({ orgId, siteId, mergedRow }: UpsertTarget) =>
  keys.contact(orgId, siteId, normalizeEmail(mergedRow.email));
