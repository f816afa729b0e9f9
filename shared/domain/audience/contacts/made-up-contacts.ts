// A contact that is not stored, as POST /contacts would create it: for previews of what would
// happen to such a person.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { invalid } from "../../../errors.ts";
import * as organizations from "../../identity/organizations.ts";
import * as groups from "../groups/groups.ts";
import { listOfSite } from "../topics/site-topics.ts";
import { applyChoices, resolveChoices } from "../topics/topic-choices.ts";
import { type ContactItem, NewContact } from "./contact-schema.ts";
import { createItem } from "./contact-writes.ts";
import { createTypeLookup, listDeclared, readByType } from "./declared-fields.ts";
import * as fieldNames from "./field-names.ts";

const { siteId: _, externalId: __, sendConfirmation: ___, ...inputFields } = NewContact.shape;

export const MadeUpContact = z
  .object({
    ...inputFields,
    email: NewContact.shape.email.describe("Email address. It need not be that of a contact."),
    status: NewContact.shape.status.describe("Status. Defaults to `subscribed`."),
    tags: NewContact.shape.tags.describe("Names of up to 20 tags that exist."),
    topics: NewContact.shape.topics.describe("Topics that the person joined or left."),
  })
  .meta({
    id: "MadeUpContact",
    examples: [{ email: "ann@example.com", customFields: { plan: "pro" } }],
  });
export type MadeUpContact = z.output<typeof MadeUpContact>;

/** Its id is 0. Throws 400 for values that a contact of the site cannot have. */
export async function makeUpContact(
  caller: CallerScope,
  siteId: number,
  { tags, lists, topics = [], ...fields }: MadeUpContact,
): Promise<ContactItem> {
  const { orgId } = caller;
  const [tagIds, listIds, known, customFields] = await Promise.all([
    findTags(orgId, siteId, tags),
    groups.checkLists(caller, siteId, lists),
    topics.length ? listOfSite(orgId, siteId) : [],
    fields.customFields && readFields(orgId, siteId, fields.customFields),
  ]);
  return createItem(
    { ...fields, ...(customFields && { customFields }) },
    {
      ...{ orgId, siteId, id: 0, tags: tagIds, lists: listIds, suppressed: false },
      choices: applyChoices({}, resolveChoices(topics, known)).stored,
    },
  );
}

async function findTags(orgId: number, siteId: number, names: string[]): Promise<number[]> {
  const known = await groups.knownTags(orgId, siteId, names);
  const unknown = names.findIndex((name) => !known.has(name));
  if (unknown >= 0)
    throw invalid(`The site has no tag ${JSON.stringify(names[unknown])}`, {
      details: [{ path: `tags.${unknown}`, message: "is not a tag of the site" }],
    });
  return [...new Set(known.values())];
}

type Fields = NonNullable<MadeUpContact["customFields"]>;

/** As contacts store them, but the names do not become known to the site. */
async function readFields(orgId: number, siteId: number, given: Fields): Promise<Fields> {
  const [spellingOf, declared, timezone] = await Promise.all([
    fieldNames.createSpellingLookup(orgId, siteId),
    listDeclared({ orgId, siteId }),
    organizations.getTimezone(orgId),
  ]);
  const customFields = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === null ? [] : [[spellingOf(name), value]],
    ),
  );
  const { row, faults } = readByType({ customFields }, createTypeLookup(declared), { timezone });
  const [fault] = faults;
  if (fault) throw invalid(fault.message, { details: [fault] });
  return row.customFields;
}
