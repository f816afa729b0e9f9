// Checks what the action of a step refers to, when the step is stored.
import type * as z from "zod";
import { getMany } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import * as liquid from "../../../email/liquid.ts";
import { invalid, type Problem } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { keys } from "../../../keys.ts";
import { ContactChanges } from "../../audience/contacts/contact-schema.ts";
import { CustomFieldName } from "../../audience/contacts/custom-fields.ts";
import * as declaredFields from "../../audience/contacts/declared-fields.ts";
import * as groups from "../../audience/groups/groups.ts";
import { getMember } from "../../identity/members.ts";
import { getTimezone } from "../../identity/organizations.ts";
import { type ActionConfig, type ChangeableField, customNameOf } from "./action-config.ts";

interface StepSite extends SiteRef {
  /** The sequence of the step. */
  sequenceId: number;
}

/**
 * The config with the id of a tag that exists in place of its name, and the value as its field
 * stores it. 400 for a record that the site does not have, and for a value that the field cannot
 * have. `path` is that of the config in the request. Changes nothing.
 */
export async function resolveActionConfig(
  site: StepSite,
  { tagName, ...config }: ActionConfig,
  path: string,
): Promise<ActionConfig> {
  await checkRecord(site, config, path);
  await checkMembers(site.orgId, config, `${path}.memberIds`);
  checkTexts(config, path);
  const value = await readValue(site, config, path);
  const tagId = tagName === undefined ? undefined : await findTag(site, tagName);
  return {
    ...config,
    ...(tagId !== undefined && { tagId }),
    ...(tagId === undefined && tagName !== undefined && { tagName }),
    ...(value !== undefined && { value }),
  };
}

const findTag = async ({ orgId, siteId }: SiteRef, name: string): Promise<number | undefined> =>
  (await groups.knownTags(orgId, siteId, [name])).get(name);

/** The steps with ids in place of the names of tags, which are created. */
export const withNewTags = <S extends { actionConfig: ActionConfig | null }>(
  { orgId, siteId }: SiteRef,
  steps: S[],
): Promise<S[]> =>
  inParallel(8, steps, async (step) => {
    const { tagName, ...config } = step.actionConfig ?? {};
    if (tagName === undefined) return step;
    const tagId = (await groups.getOrCreateTags({ orgId }, siteId, [tagName])).get(tagName)!;
    return { ...step, actionConfig: { ...config, tagId } };
  });

const invalidAt = (path: string, message: string): Problem =>
  invalid(`${path}: ${message}`, { details: [{ path, message: `${path}: ${message}` }] });

const kinds = { tagId: "TAG", listId: "LIST", topicId: "TOPIC", sequenceId: "SEQUENCE" } as const;
const referenceFields = Object.keys(kinds) as (keyof typeof kinds)[];

async function checkRecord(
  { orgId, siteId, sequenceId }: StepSite,
  config: ActionConfig,
  path: string,
): Promise<void> {
  for (const name of referenceFields) {
    const id = config[name];
    if (id === undefined) continue;
    const [record] = await getMany<records.StoredRecord>([keys.record(orgId, kinds[name], id)], {
      consistent: true,
    });
    if (record?.siteId !== siteId) {
      const kind = records.nameOfKind(kinds[name]);
      throw invalidAt(`${path}.${name}`, `the sequence's site has no ${kind} ${id}`);
    }
    if (name === "sequenceId" && id === sequenceId)
      throw invalidAt(`${path}.${name}`, "must be another sequence");
  }
}

async function checkMembers(
  orgId: number,
  { memberIds = [] }: ActionConfig,
  path: string,
): Promise<void> {
  for (const [i, id] of memberIds.entries())
    if (!(await getMember(orgId, id)))
      throw invalidAt(`${path}.${i}`, `the organization has no member ${id}`);
}

/** The texts are Liquid, and fields of responses have names. */
function checkTexts({ subject, message, saveResponse = [] }: ActionConfig, path: string): void {
  for (const [name, text] of Object.entries({ subject, message }))
    if (text !== undefined) liquid.compile(text, { escape: false, field: `${path}.${name}` });
  for (const [i, { field }] of saveResponse.entries()) {
    const name = customNameOf(field);
    if (name !== undefined) checkWith(CustomFieldName, name, `${path}.saveResponse.${i}.field`);
  }
}

/** The value as the field stores it, or for `add_to_field`, as it is added. */
async function readValue(
  site: SiteRef,
  { action, field = "", value }: ActionConfig,
  path: string,
): Promise<ActionConfig["value"]> {
  const name = customNameOf(field);
  if (name !== undefined) checkWith(CustomFieldName, name, `${path}.field`);
  if (value === undefined) return undefined;
  const at = `${path}.value`;
  if (name === undefined) {
    checkWith(ContactChanges.shape[field as ChangeableField].unwrap(), value, at);
    return value;
  }
  const typeOf = declaredFields.createTypeLookup(await declaredFields.listDeclared(site));
  const type = typeOf(name);
  if (action === "add_to_field" && type !== "list") {
    if (type !== undefined && type !== "number")
      throw invalidAt(`${path}.field`, "must be a number or a list");
    if (typeof value !== "number") throw invalidAt(at, "must be a number");
    return value;
  }
  const format = { timezone: await getTimezone(site.orgId) };
  const { row, faults } = declaredFields.readByType(
    { customFields: { [name]: value } },
    typeOf,
    format,
  );
  if (faults[0]) throw invalidAt(at, faults[0].message);
  const read = row.customFields?.[name];
  if (read === null || read === undefined)
    throw invalidAt(at, "is empty: use the action clear_field");
  return read;
}

function checkWith(schema: z.ZodType, value: unknown, path: string): void {
  const { error } = schema.safeParse(value, { error: validationMessages });
  if (error) throw invalidAt(path, error.issues[0]!.message);
}
