// Forms: a small record that lists and submissions read, and its design apart from it, one for each version: what somebody agreed to is
// what the form said then.
import { type Packed, packed, unpacked } from "../bodies.ts";
import { boundedCache } from "../cache.ts";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { equals, where } from "../conditions.ts";
import { config } from "../config.ts";
import { get, put, remove as removing, Unmet, type Write, write } from "../doors/table.ts";
import { conflict, missing } from "../errors.ts";
import { keys } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import { inParallel } from "../parallel.ts";
import * as groups from "./contacts/groups.ts";
import * as deadForms from "./forms/dead-forms.ts";
import { type Design, type DesignJson, designOf } from "./forms/design.ts";
import type { Form, FormChanges, FormItem, FormMeta, NewForm } from "./forms/form.ts";
import * as submissions from "./forms/submissions.ts";
import * as records from "./records.ts";
import * as sendingConfigs from "./sending-configs.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export async function create(who: Who, { siteId: given, designJson: design, ...form }: NewForm): Promise<Form> {
  const { orgId } = who;
  const siteId = await sites.resolve(who, given);
  await fitting(who, siteId, form);
  const item: FormItem = { ...(await records.stamp("FORM")), orgId, siteId, ...form, version: 1, edits: 1 };
  const made = await records.insert(
    "FORM",
    who,
    item,
    // Found from outside, where nobody knows its organization.
    put(keys.publicForm(item.id), { orgId }),
    await designing(item, design),
  );
  return { ...told(made, 0), designJson: design };
}

type Settings = Pick<FormItem, "status" | "sequenceId" | "listId" | "doubleOptIn">;

/** 404 and 400 for what is not there or of another site, 400 `no_sending_config` when it could not ask for confirmation. */
async function fitting(who: Who, siteId: number, { status, sequenceId, listId, doubleOptIn }: Settings): Promise<void> {
  await Promise.all([
    listId === null ? undefined : groups.ofSite("LIST", who, listId, siteId),
    sequenceId === null ? undefined : records.ofSite("SEQUENCE", who, sequenceId, siteId, "sequenceId"),
    doubleOptIn && status === "active" ? sendingConfigs.defaultConfig(who.orgId) : undefined,
  ]);
}

const addressOf = ({ orgId, id: formId, version }: Pick<FormItem, "orgId" | "id" | "version">) => keys.body(orgId, "FORM", formId, version);
async function designing(form: FormItem, design: DesignJson | null): Promise<Write> {
  const address = addressOf(form);
  return put(address, await packed(address, { name: form.name, design }));
}

const told = ({ orgId: _, edits: __, ...form }: FormItem, submissionCount: number): FormMeta => ({
  ...form,
  submissionCount,
  pageUrl: pageUrl(form.id),
});

const pageUrl = (formId: number): string => `${config.publicUrl}/api/v1/forms/${formId}/page`;

/** Newest first, without their designs. */
export async function list(who: Who, request: PageRequest, siteId: number | undefined) {
  const { items, pagination } = await records.list<FormItem>("FORM", who, request, where({ siteId: await sites.only(who, siteId) }));
  const counts = await inParallel(16, items, (form) => submissions.count(who.orgId, form.id));
  return { items: items.map((form, i) => told(form, counts[i]!)), pagination };
}

/** As it is; or with the name and the design of an earlier version. */
export async function find(who: Who, formId: number, version?: number): Promise<Form> {
  const item = await records.find<FormItem>("FORM", who, formId);
  if (version !== undefined && version > item.version) throw missing("The form has no such version");
  const [{ name, design }, count] = await Promise.all([
    saidBy({ ...item, version: version ?? item.version }),
    submissions.count(who.orgId, formId),
  ]);
  return { ...told({ ...item, name, version: version ?? item.version }, count), designJson: design };
}

interface Said {
  name: string;
  design: DesignJson | null;
}

const said = boundedCache<Said>(16_000_000);

/** What a version says; it never changes, so the process keeps it. */
async function saidBy(form: Pick<FormItem, "orgId" | "id" | "version">): Promise<Said> {
  const { pk, sk } = addressOf(form);
  const known = said.get(pk + sk);
  if (known) return known;
  const body = await get<Packed>({ pk, sk });
  if (!body) throw notThere();
  const value = await unpacked<Said>(body);
  said.set(pk + sk, value, 2 * JSON.stringify(value).length + 1000);
  return value;
}

const notThere = () => missing("There is no such form");
const mostTries = 8;

/** Fields that are not given stay. */
export async function change(who: Who, formId: number, changes: FormChanges): Promise<Form> {
  for (let tries = 1; ; tries++) {
    try {
      return await changeOnce(who, formId, changes);
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (tries >= mostTries) throw conflict("The form is being changed by others at the same time");
    }
  }
}

async function changeOnce(who: Who, formId: number, { designJson: design, ...changes }: FormChanges): Promise<Form> {
  const item = await records.find<FormItem>("FORM", who, formId);
  const before = await saidBy(item);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const next: FormItem = { ...item, ...given, edits: item.edits + 1, updatedAt: now().toISOString() };
  const after: Said = { name: next.name, design: design === undefined ? before.design : design };
  if (JSON.stringify(after) !== JSON.stringify(before)) next.version++;
  await fitting(who, item.siteId, withoutKnown(item, next));
  await write(
    put(keys.record(who.orgId, "FORM", formId), next, { if: equals("edits", item.edits) }),
    ...(next.version === item.version ? [] : [await designing(next, after.design)]),
  );
  return { ...told(next, await submissions.count(who.orgId, formId)), designJson: after.design };
}

/** A list that was deleted since must not stand in the way of another change. */
const withoutKnown = (item: FormItem, next: FormItem): Settings => ({
  ...next,
  listId: next.listId === item.listId ? null : next.listId,
  sequenceId: next.sequenceId === item.sequenceId ? null : next.sequenceId,
  doubleOptIn: next.doubleOptIn && (!item.doubleOptIn || item.status !== "active"),
});

/** What was submitted goes with it, in the background; contacts stay what it made of them. */
export async function remove(who: Who, formId: number): Promise<void> {
  await records.find("FORM", who, formId);
  await write(...records.removing("FORM", who, formId), removing(keys.publicForm(formId)), deadForms.dying(who.orgId, formId));
  await deadForms.sweepSoon(who.orgId, formId);
}

/** Newest first, and their exact number. */
export async function submitted(who: Who, formId: number, request: PageRequest) {
  await records.find("FORM", who, formId);
  return submissions.list(who.orgId, formId, request);
}

export interface Open {
  form: FormItem;
  design: Design;
}

const organizations = boundedCache<number>(100_000);

/** For anybody. Throws 404. */
export async function open(formId: number): Promise<Open> {
  const orgId = organizations.get(String(formId)) ?? (await organizationOf(formId));
  const form = await get<FormItem>(keys.record(orgId, "FORM", formId));
  if (!form) throw notThere();
  const { name, design } = await saidBy(form);
  return { form, design: designOf(name, design) };
}

async function organizationOf(formId: number): Promise<number> {
  const found = await get<{ orgId: number }>(keys.publicForm(formId));
  if (!found) throw notThere();
  // A form never moves to another organization.
  organizations.set(String(formId), found.orgId, 1);
  return found.orgId;
}
