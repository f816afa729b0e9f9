// Segments: stored rules that select contacts. Membership is not stored, so every result is current
// and exact.
import * as z from "zod";
import { updateReturning, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope, SiteRef } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { missing } from "../../../errors.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { type PageRequest, type Pagination, toPagination } from "../../../kernel/paging.ts";
import {
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import * as records from "../../../kernel/records.ts";
import * as sites from "../../identity/sites.ts";
import * as contactReader from "../contacts/contact-reader.ts";
import { type Contact, type ContactItem, groupAttribute } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import { contactReactions } from "../contacts/reactions.ts";
import { createMailReader } from "../mail-counts/mail-counts.ts";
import { createEventReader } from "./event-history.ts";
import { ruleReferences, withGroupIds } from "./group-ids.ts";
import {
  type CompiledRules,
  compileRules,
  type RuleExplanation,
  toContactQuery,
} from "./rule-compiler.ts";
import { loadRuleLookups } from "./rule-lookups.ts";
import { parseField } from "./segment-fields.ts";
import { SegmentRules, SegmentRulesInput } from "./segment-rules.ts";

const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the segment."),
  description: singleLineText(500).nullable().describe("Note for yourself, or `null`."),
};

export const Segment = z
  .object({
    id: RecordId.describe(
      "Id of the segment, for GET /segments/:id and `segmentId` of other requests.",
    ),
    siteId: RecordSiteId,
    ...fields,
    rules: SegmentRules,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Segment" });
export type Segment = z.output<typeof Segment> & records.StoredRecord;

const examples = [
  {
    name: "Customers who read us",
    rules: {
      match: "all",
      conditions: [
        { field: "tag", operator: "equals", value: "customer" },
        { field: "lastOpenedAt", operator: "inLastDays", value: 30 },
      ],
    },
  },
];
export const NewSegment = z
  .object({
    siteId: NewSiteId,
    name: fields.name,
    description: fields.description.default(null),
    rules: SegmentRulesInput.describe("Rules that a contact must match."),
  })
  .meta({ examples });
export type NewSegment = z.output<typeof NewSegment>;
export const SegmentChanges = z
  .object({
    ...fields,
    rules: SegmentRulesInput.optional().describe("New rules that a contact must match."),
  })
  .partial()
  .meta({ examples: [{ description: "For the letter on Fridays" }] });
export type SegmentChanges = z.output<typeof SegmentChanges>;

export async function create(
  caller: CallerScope,
  { siteId: given, ...segment }: NewSegment,
): Promise<Segment> {
  const siteId = await sites.resolveSiteId(caller, given);
  const rules = await withGroupIds({ orgId: caller.orgId, siteId }, segment.rules);
  const stamp = await records.newRecordFields("SEGMENT");
  return records.insert<Segment>("SEGMENT", caller, {
    record: { ...stamp, siteId, ...segment, rules },
  });
}

export const find = (caller: CallerScope, id: number): Promise<Segment> =>
  records.find<Segment>("SEGMENT", caller, id);

/** Lists, tags and topics that the rules name and that were deleted. */
export const listMissing = (caller: CallerScope, { rules }: Pick<Segment, "rules">) =>
  records.listMissing(caller, ruleReferences(rules, "rules"));

export async function list(
  caller: CallerScope,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: Segment[]; pagination: Pagination }> {
  return records.list<Segment>("SEGMENT", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
}

export async function change(
  caller: CallerScope,
  id: number,
  changes: SegmentChanges,
): Promise<Segment> {
  const { siteId } = await find(caller, id);
  const rules =
    changes.rules && (await withGroupIds({ orgId: caller.orgId, siteId }, changes.rules));
  const set = { ...changes, ...(rules && { rules }) };
  const changeWrite = records.updateWrite("SEGMENT", caller, { id, set });
  const watchWrites = rules
    ? await contactReactions().segmentChangeWrites(caller.orgId, siteId, id)
    : [];
  if (watchWrites.length) {
    await write(changeWrite, ...watchWrites);
    return find(caller, id);
  }
  const changed = await updateReturning<Segment>(changeWrite);
  if (!changed) throw missing("The segment does not exist");
  return changed;
}

export async function remove(caller: CallerScope, id: number): Promise<void> {
  await write(...records.removeWrites("SEGMENT", caller, await find(caller, id)));
}

async function compileSegment(
  caller: CallerScope,
  id: number,
): Promise<CompiledRules & { siteId: number }> {
  const { siteId, rules } = await find(caller, id);
  return { ...(await compileForSite({ orgId: caller.orgId, siteId }, rules)), siteId };
}

/** The query for contact-reader.ts. Relative times in the rules count from `at`. */
export const queryForRules = async (
  site: SiteRef,
  rules: SegmentRules,
  at = now(),
): Promise<contactReader.ContactQuery> =>
  toContactQuery(site, await compileForSite(site, rules, at));

/**
 * A function that tests contacts against the rules, as of now, or of the time that it is given. It
 * reads the mail log once. For a filter of an event, the contact comes with the event: see
 * `withEventProperties`.
 */
export async function createMatcher(
  orgId: number,
  siteId: number,
  rules: SegmentRules,
): Promise<(contact: ContactItem, at?: Date) => Promise<boolean>> {
  const site = { orgId, siteId };
  const lookups = await loadRuleLookups(site, rules);
  const compileAt = (at: Date) => compileRules(rules, { ...lookups, now: at });
  const current = compileAt(now());
  const addMails = createMailAdder(site, current);
  const createTest = (compiled: CompiledRules) => {
    const addEvents = createEventAdder(site, compiled);
    return async (contact: ContactItem) => compiled.test(await addEvents(await addMails(contact)));
  };
  const testNow = createTest(current);
  return (contact, at) => (at ? createTest(compileAt(at)) : testNow)(contact);
}

/** Returns a function that adds the mails that the rules need to a contact. */
function createMailAdder(site: SiteRef, { mails }: CompiledRules) {
  const readMails = mails && createMailReader(site, { ...mails, consistent: true });
  return async (contact: ContactItem): Promise<ContactItem> =>
    readMails ? (await readMails([contact]))[0]! : contact;
}

/** Returns a function that adds the events that the rules need to a contact. */
function createEventAdder(site: SiteRef, { events }: CompiledRules, everything = false) {
  const readEvents = events && createEventReader(site, events, { consistent: true, everything });
  return async (contact: ContactItem): Promise<ContactItem> =>
    readEvents ? (await readEvents([contact]))[0]! : contact;
}

/** Counts the contacts that match the segment, or other rules in its site. */
export async function count(
  caller: CallerScope,
  id: number,
  rules?: SegmentRules,
): Promise<number> {
  const { siteId, rules: own } = await find(caller, id);
  const given = rules && (await withGroupIds({ orgId: caller.orgId, siteId }, rules));
  return countMatching(caller.orgId, siteId, given ?? own);
}

/** Counts the contacts that match rules that are not stored. */
export async function countPreview(
  caller: CallerScope,
  { siteId: given, rules }: { siteId?: number | undefined; rules: SegmentRules },
): Promise<number> {
  const siteId = await sites.resolveSiteId(caller, given);
  return countMatching(
    caller.orgId,
    siteId,
    await withGroupIds({ orgId: caller.orgId, siteId }, rules),
  );
}

export const countMatching = async (
  orgId: number,
  siteId: number,
  rules: SegmentRules,
): Promise<number> =>
  contactReader.countContacts({ orgId, siteId }, await queryForRules({ orgId, siteId }, rules));

/** In email order. */
export async function members(
  caller: CallerScope,
  id: number,
  request: PageRequest,
): Promise<{ items: Contact[]; pagination: Pagination }> {
  const segment = await compileSegment(caller, id);
  const site = { orgId: caller.orgId, siteId: segment.siteId };
  const { items, next } = await contactReader.readSitePage(
    site,
    request,
    toContactQuery(site, segment),
  );
  return {
    items: await contacts.toApiAll(caller.orgId, items),
    pagination: toPagination(request, null, next),
  };
}

/** Tells which conditions a contact meets. Throws 404 for a contact of another site. */
export async function explain(
  caller: CallerScope,
  id: number,
  contactId: number,
): Promise<RuleExplanation> {
  // One after the other, so that the error is the same when both do not exist.
  const segment = await compileSegment(caller, id);
  const contact = await contacts.findItem(caller, contactId);
  if (contact.siteId !== segment.siteId)
    throw missing("The contact does not exist in the segment's site");
  return explainCompiled(caller.orgId, segment, contact);
}

/** Tells which conditions of rules that are not stored a contact meets. */
export async function explainPreview(
  caller: CallerScope,
  { rules, contactId }: { rules: SegmentRules; contactId: number },
): Promise<RuleExplanation> {
  const contact = await contacts.findItem(caller, contactId);
  const site = { orgId: caller.orgId, siteId: contact.siteId };
  const compiled = await compileForSite(site, await withGroupIds(site, rules));
  return explainCompiled(caller.orgId, compiled, contact);
}

async function explainCompiled(
  orgId: number,
  compiled: CompiledRules,
  contact: ContactItem,
): Promise<RuleExplanation> {
  const counted = await createMailAdder(contact, compiled)(contact);
  const [known, shown] = await Promise.all([
    createEventAdder(contact, compiled, true)(counted),
    contacts.toApi(orgId, contact),
  ]);
  return addGroupNames(compiled.explain(known), shown);
}

/** Adds the names of the contact's tags and lists. */
function addGroupNames(node: RuleExplanation, contact: Contact): RuleExplanation {
  const { conditions, actual, field } = node;
  if (conditions)
    return { ...node, conditions: conditions.map((one) => addGroupNames(one, contact)) };
  const { group } = parseField(field!)!;
  if (!group || !Array.isArray(actual)) return node;
  const named = contact[groupAttribute(group)];
  return {
    ...node,
    actualNames: actual.flatMap((id) => named.find((one) => one.id === id)?.name ?? []),
  };
}

const compileForSite = async (
  site: SiteRef,
  rules: SegmentRules,
  at = now(),
): Promise<CompiledRules> =>
  compileRules(rules, { ...(await loadRuleLookups(site, rules)), now: at });
