// Segments: rules that say who belongs. Nothing is kept of who does, so every answer is as of now, and exact.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { where } from "../conditions.ts";
import { getMany, updateReturning, write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { missing } from "../errors.ts";
import { type GroupKind, keys } from "../keys.ts";
import { type PageRequest, type Pagination, pagination } from "../paging.ts";
import { type Contact, groupSet } from "./contacts/contact.ts";
import * as deadGroups from "./contacts/dead-groups.ts";
import type { Group } from "./contacts/groups.ts";
import * as reader from "./contacts/reader.ts";
import * as contacts from "./contacts.ts";
import * as records from "./records.ts";
import { type Compiled, compile, type Explained, wanted } from "./segments/compile.ts";
import type { Context, Groups, Test } from "./segments/evaluate.ts";
import { fieldOf } from "./segments/fields.ts";
import { type Condition, GivenRules, isRules, Rules } from "./segments/grammar.ts";
import type { Scalar } from "./segments/operators.ts";
import * as sites from "./sites.ts";

const fields = { name: oneLine(200).trim().min(1), description: oneLine(500).nullable() };

export const Segment = z
  .object({ id: z.int(), siteId: z.int(), ...fields, rules: Rules, createdAt: z.string(), updatedAt: z.string() })
  .meta({ id: "Segment" });
export type Segment = z.output<typeof Segment> & records.Stored;

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
  .object({ siteId: z.int().positive().optional(), name: fields.name, description: fields.description.default(null), rules: GivenRules })
  .meta({ examples });
export type NewSegment = z.output<typeof NewSegment>;
export const SegmentChanges = z
  .object({ ...fields, rules: GivenRules.optional() })
  .partial()
  .meta({ examples: [{ description: "For the letter on Fridays" }] });
export type SegmentChanges = z.output<typeof SegmentChanges>;

type Who = Pick<Caller, "orgId" | "siteId">;

export async function create(who: Who, { siteId: given, ...segment }: NewSegment): Promise<Segment> {
  const siteId = await sites.resolve(who, given);
  return records.insert<Segment>("SEGMENT", who, { ...(await records.stamp("SEGMENT")), siteId, ...segment });
}

export const find = (who: Who, id: number): Promise<Segment> => records.find<Segment>("SEGMENT", who, id);

export async function list(
  who: Who,
  request: PageRequest,
  siteId: number | undefined,
): Promise<{ items: Segment[]; pagination: Pagination }> {
  return records.list<Segment>("SEGMENT", who, request, where({ siteId: await sites.only(who, siteId) }));
}

export async function change(who: Who, id: number, changes: SegmentChanges): Promise<Segment> {
  await find(who, id);
  const changed = await updateReturning<Segment>(records.changing("SEGMENT", who, id, changes));
  if (!changed) throw missing("There is no such segment");
  return changed;
}

export async function remove(who: Who, id: number): Promise<void> {
  await find(who, id);
  await write(...records.removing("SEGMENT", who, id));
}

/** The rules of a segment, ready to be asked of contacts of its site; what `wanted` makes of them, the reader takes. */
async function compiled(who: Who, id: number): Promise<Compiled & { siteId: number }> {
  const { siteId, rules } = await find(who, id);
  return { ...(await ready(who.orgId, siteId, rules)), siteId };
}

/** What the reader of contacts takes. Whatever is meant by days ago is meant as of `at`. */
export const wantedBy = async (orgId: number, siteId: number, rules: Rules, at = now()): Promise<reader.Wanted> =>
  wanted(await ready(orgId, siteId, rules, at));

/** Rules as a question to a contact, as of now. */
export async function matcher(orgId: number, siteId: number, rules: Rules): Promise<Test> {
  return (await ready(orgId, siteId, rules)).matches;
}

/** How many belong now, by the segment's rules or by others for the same site. */
export async function count(who: Who, id: number, rules?: Rules): Promise<number> {
  const segment = await find(who, id);
  return countIn(who.orgId, segment.siteId, rules ?? segment.rules);
}

/** How many would belong. */
export async function preview(who: Who, { siteId, rules }: { siteId?: number | undefined; rules: Rules }): Promise<number> {
  return countIn(who.orgId, await sites.resolve(who, siteId), rules);
}

export const countIn = async (orgId: number, siteId: number, rules: Rules): Promise<number> =>
  reader.count(orgId, siteId, await wantedBy(orgId, siteId, rules));

/** A page by address. */
export async function members(who: Who, id: number, request: PageRequest): Promise<{ items: Contact[]; pagination: Pagination }> {
  const segment = await compiled(who, id);
  const { items, next } = await reader.page(who.orgId, segment.siteId, request, wanted(segment));
  return { items: await contacts.tellAll(who.orgId, items), pagination: pagination(request, null, next) };
}

/** Which conditions a contact fulfils; 404 for a contact of another site. */
export async function explain(who: Who, id: number, contactId: number): Promise<Explained> {
  // One after the other: which of two refusals is told must not be chance.
  const segment = await compiled(who, id);
  const contact = await contacts.item(who, contactId);
  if (contact.siteId !== segment.siteId) throw missing("There is no such contact in the segment's site");
  return withNames(segment.explain(contact), await contacts.tell(who.orgId, contact));
}

/** What the tags and lists that a contact carries are called. */
function withNames(node: Explained, contact: Contact): Explained {
  const { conditions, actual, field } = node;
  if (conditions) return { ...node, conditions: conditions.map((one) => withNames(one, contact)) };
  if (!Array.isArray(actual)) return node;
  const named = contact[groupSet(fieldOf(field!)!.group!)];
  return { ...node, actualNames: actual.flatMap((id) => named.find((one) => one.id === id)?.name ?? []) };
}

async function ready(orgId: number, siteId: number, rules: Rules, at = now()): Promise<Compiled> {
  const [TAG, LIST] = await Promise.all([groupsNamed(orgId, siteId, "TAG", rules), groupsNamed(orgId, siteId, "LIST", rules)]);
  const context: Context = { now: at, groups: { TAG, LIST } };
  return compile(rules, context);
}

/** The lists or tags that rules name, by id or name; one that is gone or of another site is nobody's. */
async function groupsNamed(orgId: number, siteId: number, kind: GroupKind, rules: Rules): Promise<Groups> {
  const conditions = conditionsOf(rules).filter(({ field }) => fieldOf(field)!.group === kind);
  if (!conditions.length) return { idOf: () => undefined, dead: new Set() };
  const values = [...new Set(conditions.flatMap(({ value }) => (value === undefined ? [] : [value].flat())))];
  const names = values.filter((value) => typeof value === "string");
  const named = await getMany<{ id: number }>(
    names.map((name) => keys.groupName(orgId, siteId, kind, name)),
    { consistent: true },
  );
  const ids = new Map<Scalar, number>(names.flatMap((name, i) => (named[i] ? [[name, named[i].id] as const] : [])));
  for (const value of values) if (typeof value === "number") ids.set(value, value);
  const alive = await getMany<Group>(
    [...ids.values()].map((id) => keys.record(orgId, kind, id)),
    { consistent: true },
  );
  const known = new Set(alive.flatMap((group) => (group?.siteId === siteId ? [group.id] : [])));
  const idOf = (value: Scalar): number | undefined => {
    const id = ids.get(value);
    return id !== undefined && known.has(id) ? id : undefined;
  };
  return { idOf, dead: await deadGroups.among(orgId, kind) };
}

const conditionsOf = (node: Condition | Rules): Condition[] => (isRules(node) ? node.conditions.flatMap(conditionsOf) : [node]);
