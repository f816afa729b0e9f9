// Forms. The record is small, because lists and submissions read it. The name and design of each
// version are stored apart and never change: they prove what a contact agreed to.

import { equals } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  remove as removeWrite,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { invalid, missing as notFound } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import * as groups from "../audience/groups/groups.ts";
import * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import { captchaToApi, sealCaptcha } from "./captcha.ts";
import * as deletedForms from "./deleted-forms.ts";
import { type DesignJson, type FormDesign, normalizeDesign } from "./form-design.ts";
import type { Form, FormChanges, FormItem, FormMeta, NewForm } from "./form-schema.ts";
import * as submissions from "./submissions.ts";

export async function create(
  caller: CallerScope,
  { siteId: requestedSiteId, designJson, captcha, ...form }: NewForm,
): Promise<Form> {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  requireConfirmedTopics(form);
  await checkReferences(caller, siteId, form);
  const recordFields = await records.newRecordFields("FORM");
  const item: FormItem = {
    ...recordFields,
    orgId,
    siteId,
    ...form,
    captcha: await sealCaptcha({ orgId, id: recordFields.id }, captcha),
    version: 1,
    edits: 1,
  };
  const created = await records.insert("FORM", caller, {
    record: item,
    extraWrites: [
      // The public page knows only the id of the form, so this item names the organization.
      put(keys.publicForm(item.id), { orgId }),
      await versionWrite(item, { name: item.name, design: designJson }),
    ],
  });
  return { ...toApi(created, 0), designJson };
}

type FormReferences = Pick<
  FormItem,
  "status" | "sequenceId" | "listId" | "topicIds" | "doubleOptIn"
>;

/**
 * 404 for a list or sequence that does not exist, 400 for one of another site, 400
 * `no_sending_config` if double opt-in has no sender.
 */
async function checkReferences(
  caller: CallerScope,
  siteId: number,
  { status, sequenceId, listId, topicIds, doubleOptIn }: FormReferences,
): Promise<void> {
  await Promise.all([
    ...topicIds.map((id) => records.findOfSite("TOPIC", caller, { id, siteId, path: "topicIds" })),
    listId === null ? undefined : groups.findOfSite("LIST", caller, { id: listId, siteId }),
    sequenceId === null
      ? undefined
      : records.findOfSite("SEQUENCE", caller, { id: sequenceId, siteId, path: "sequenceId" }),
    doubleOptIn && status === "active" ? findDefault(caller.orgId) : undefined,
  ]);
}

/** Anybody can type an address, so only a confirmation is consent to a topic. */
function requireConfirmedTopics({
  topicIds,
  doubleOptIn,
}: Pick<FormItem, "topicIds" | "doubleOptIn">): void {
  if (topicIds.length && !doubleOptIn)
    throw invalid("A form that joins topics needs doubleOptIn", {
      details: [{ path: "doubleOptIn", message: "must be true with topicIds" }],
    });
}

const versionKey = (form: Pick<FormItem, "orgId" | "id" | "version">) =>
  keys.recordBody(form.orgId, "FORM", form);

async function versionWrite(form: FormItem, version: FormVersion): Promise<Write> {
  const key = versionKey(form);
  return put(key, await compress(key, version));
}

const toApi = ({ orgId: _, edits: __, ...form }: FormItem, submissionCount: number): FormMeta => ({
  ...form,
  captcha: captchaToApi(form.captcha),
  submissionCount,
  pageUrl: `${config.publicUrl}/api/v1/forms/${form.id}/page`,
});

/** Newest first, without designs. */
export async function list(caller: CallerScope, request: PageRequest, siteId: number | undefined) {
  const { items, pagination } = await records.list<FormItem>("FORM", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
  const counts = await inParallel(16, items, (form) => submissions.count(caller.orgId, form.id));
  return { items: items.map((form, i) => toApi(form, counts[i]!)), pagination };
}

/** With the name and design of `version`, or of the current version. */
export async function find(caller: CallerScope, formId: number, version?: number): Promise<Form> {
  const item = await records.find<FormItem>("FORM", caller, formId);
  if (version !== undefined && version > item.version)
    throw notFound("The form version does not exist");
  const [{ name, design }, count, missing] = await Promise.all([
    getFormVersion({ ...item, version: version ?? item.version }),
    submissions.count(caller.orgId, formId),
    records.listMissing(caller, referencesOf(item)),
  ]);
  return {
    ...toApi({ ...item, name, version: version ?? item.version }, count),
    designJson: design,
    missing,
  };
}

const referencesOf = ({ sequenceId, listId, topicIds }: FormItem): records.Reference[] => [
  ...records.reference("sequenceId", "SEQUENCE", sequenceId),
  ...records.reference("listId", "LIST", listId),
  ...topicIds.flatMap((id, i) => records.reference(`topicIds.${i}`, "TOPIC", id)),
];

interface FormVersion {
  name: string;
  design: DesignJson | null;
}

const versionCache = createLruCache<FormVersion>(16_000_000);

/** Cached in the process: a version never changes. */
async function getFormVersion(
  form: Pick<FormItem, "orgId" | "id" | "version">,
): Promise<FormVersion> {
  const { pk, sk } = versionKey(form);
  const cached = versionCache.get(pk + sk);
  if (cached) return cached;
  const body = await get<CompressedValue>({ pk, sk });
  if (!body) throw formNotFound();
  const value = await decompress<FormVersion>(body);
  versionCache.set(pk + sk, value, 2 * JSON.stringify(value).length + 1000);
  return value;
}

const formNotFound = () => notFound("The form does not exist");

export const change = (caller: CallerScope, formId: number, changes: FormChanges): Promise<Form> =>
  retryOnConflict("The form", () => changeOnce(caller, formId, changes));

async function changeOnce(
  caller: CallerScope,
  formId: number,
  { designJson, captcha, ...changes }: FormChanges,
): Promise<Form> {
  const item = await records.find<FormItem>("FORM", caller, formId);
  const before = await getFormVersion(item);
  const definedChanges = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  const next: FormItem = {
    ...item,
    ...definedChanges,
    ...(captcha !== undefined && { captcha: await sealCaptcha(item, captcha, item.captcha) }),
    edits: item.edits + 1,
    updatedAt: now().toISOString(),
  };
  const after: FormVersion = {
    name: next.name,
    design: designJson === undefined ? before.design : designJson,
  };
  if (JSON.stringify(after) !== JSON.stringify(before)) next.version++;
  requireConfirmedTopics(next);
  await checkReferences(caller, item.siteId, changedReferences(item, next));
  await write(
    put(keys.record(caller.orgId, "FORM", formId), next, { if: equals("edits", item.edits) }),
    ...(next.version === item.version ? [] : [await versionWrite(next, after)]),
  );
  return {
    ...toApi(next, await submissions.count(caller.orgId, formId)),
    designJson: after.design,
  };
}

/**
 * Only new references are checked: a list that was deleted since must not block an unrelated
 * change.
 */
const changedReferences = (current: FormItem, next: FormItem): FormReferences => ({
  ...next,
  listId: next.listId === current.listId ? null : next.listId,
  sequenceId: next.sequenceId === current.sequenceId ? null : next.sequenceId,
  topicIds: next.topicIds.filter((id) => !current.topicIds.includes(id)),
  doubleOptIn: next.doubleOptIn && (!current.doubleOptIn || current.status !== "active"),
});

/**
 * Deletes the form. A background job deletes its submissions; contacts keep what the form gave
 * them.
 */
export async function remove(caller: CallerScope, formId: number): Promise<void> {
  const form = await records.find<FormItem>("FORM", caller, formId);
  await write(
    ...records.removeWrites("FORM", caller, form),
    removeWrite(keys.publicForm(formId)),
    deletedForms.deletionWrite(caller.orgId, formId),
  );
  await deletedForms.enqueueCleanup(caller.orgId, formId);
}

/** Newest first, with the exact total. */
export async function listSubmissions(caller: CallerScope, formId: number, request: PageRequest) {
  await records.find("FORM", caller, formId);
  return submissions.list(caller.orgId, formId, request);
}

export interface FormWithDesign {
  form: FormItem;
  design: FormDesign;
}

const organizationIds = createLruCache<number>(100_000);

/** For public pages: takes no caller. Throws 404. */
export async function findPublicForm(formId: number): Promise<FormWithDesign> {
  const orgId = organizationIds.get(String(formId)) ?? (await findOrganizationId(formId));
  const form = await records.findAlive<FormItem>("FORM", orgId, formId);
  if (!form) throw formNotFound();
  return { form, design: await readDesign(form) };
}

/** The current design. */
export async function readDesign(form: FormItem): Promise<FormDesign> {
  const { name, design } = await getFormVersion(form);
  return normalizeDesign(name, design);
}

async function findOrganizationId(formId: number): Promise<number> {
  const item = await get<{ orgId: number }>(keys.publicForm(formId));
  if (!item) throw formNotFound();
  // A form never moves to another organization.
  organizationIds.set(String(formId), item.orgId, 1);
  return item.orgId;
}
