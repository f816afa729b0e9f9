import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import { Contact, GroupName } from "../../shared/domain/contacts/contact.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as search from "../../shared/domain/contacts/member-search.ts";
import * as members from "../../shared/domain/contacts/members.ts";
import { oneLine } from "../../shared/email.ts";
import { invalid } from "../../shared/errors.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const List = z
  .object({
    id: z.int(),
    siteId: z.int(),
    name: z.string().describe("Unique in its site, whatever its case"),
    description: z.string().nullable(),
    contactCount: z.int().describe("Exact"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "List" });

const description = oneLine(500).nullable();
const NewList = z
  .object({ siteId: z.int().positive().optional(), name: GroupName, description: description.optional() })
  .meta({ examples: [{ name: "Newsletter", description: "Every other Tuesday" }] });
const ListChanges = z
  .object({ name: GroupName, description })
  .partial()
  .meta({ examples: [{ description: "Every Tuesday" }] });

const Id = z.int().positive();
const maxAtOnce = 100;
const Members = z
  .object({ contactId: Id.optional(), contactIds: z.array(Id).min(1).max(maxAtOnce).optional() })
  .describe("One of the two")
  .meta({ examples: [{ contactIds: [1, 2] }] });
const MembersQuery = z.object({
  contactId: z.coerce.number().int().positive().optional(),
  contactIds: z
    .string()
    .regex(/^\d{1,16}(,\d{1,16})*$/, "must be ids with commas between them")
    .transform((text) => text.split(",").map(Number))
    .pipe(z.array(Id).max(maxAtOnce))
    .optional()
    .describe("Ids with commas between them"),
});

const Failed = z.array(z.object({ contactId: z.int(), error: z.string() })).describe("Ids that name no contact of the site");
const Added = z.object({ added: z.int(), unchanged: z.int().describe("Members already"), failed: Failed });
const Removed = z.object({ removed: z.int(), unchanged: z.int().describe("No members"), failed: Failed });

/** One id that is wrong is an error of the request; of several, each fails alone. */
async function moving(
  caller: Caller,
  { contactId, contactIds }: z.output<typeof Members>,
  move: (ids: number[]) => Promise<members.Moved>,
): Promise<members.Moved> {
  if ((contactId === undefined) === (contactIds === undefined))
    throw invalid("Exactly one of contactId and contactIds is needed", {
      details: [{ path: "contactId", message: "one of the two is needed" }],
    });
  const moved = await move(contactIds ?? [contactId!]);
  return contactId === undefined ? moved : members.only(caller, contactId, moved);
}

export const lists = group("lists", [
  route("GET /lists", "List the lists of contacts", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("lists", List),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await groups.list("LIST", caller, page, siteId);
      return { lists: items.map(told), pagination };
    },
  }),
  route("POST /lists", "Create a list", {
    level: "site",
    body: NewList,
    returns: List,
    status: 201,
    errors: { 409: "The site has a list of this name (`list_exists`)" },
    handle: async ({ caller, body }) => told(await groups.create("LIST", caller, body)),
  }),
  route("GET /lists/:id", "One list, with the number of its contacts", {
    level: "site",
    returns: List,
    handle: async ({ caller, params }) => told(await groups.find("LIST", caller, params.id)),
  }),
  route("PUT /lists/:id", "Change a list; fields that are not given stay", {
    level: "site",
    body: ListChanges,
    returns: List,
    errors: { 409: "The site has a list of this name (`list_exists`)" },
    handle: async ({ caller, params, body }) => told(await groups.change("LIST", caller, params.id, body)),
  }),
  route("DELETE /lists/:id", "Delete a list, whatever its size; its contacts stay", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await groups.removeGroup("LIST", caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /lists/:id/contacts", "Search the contacts of the list's site for those to add, by address", {
    level: "site",
    query: PageQuery.extend({
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .describe("Part of the address or of the name, whatever its case")
        .meta({ examples: ["ann"] }),
    }),
    returns: paged("contacts", Contact.extend({ member: z.boolean().describe("It is on the list already") }).meta({ id: "ListCandidate" })),
    handle: async ({ caller, params, query: { q, ...page } }) => {
      const { items, pagination } = await search.candidates(caller, params.id, q, page);
      return { contacts: items, pagination };
    },
  }),
  route("POST /lists/:id/contacts", "Put contacts on a list; who is on it already stays", {
    level: "site",
    body: Members,
    returns: Added,
    errors: { 404: "There is no such list, or no such contact where one was named" },
    handle: async ({ caller, params, body }) => {
      const moved = await moving(caller, body, (ids) => members.add(caller, "LIST", params.id, ids));
      return { added: moved.changed, unchanged: moved.unchanged, failed: moved.failed };
    },
  }),
  route("DELETE /lists/:id/contacts", "Take contacts off a list; they are named in the body or the query", {
    level: "site",
    query: MembersQuery,
    body: Members,
    returns: Removed,
    errors: { 404: "There is no such list, or no such contact where one was named" },
    handle: async ({ caller, params, query, body }) => {
      const moved = await moving(caller, { ...query, ...body }, (ids) => members.drop(caller, "LIST", params.id, ids));
      return { removed: moved.changed, unchanged: moved.unchanged, failed: moved.failed };
    },
  }),
]);
export const { handler } = lists;

const told = (list: groups.CountedGroup) => ({ ...list, description: list.description ?? null });
