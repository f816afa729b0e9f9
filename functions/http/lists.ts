import "../../shared/domain/reactions.ts";
import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import { Contact, GroupName } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { FailedContact } from "../../shared/domain/audience/contacts/failed-contact.ts";
import * as groupMembers from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { invalid } from "../../shared/errors.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Deleted,
  deletesUsed,
  IfUnused,
  inUse,
  NameSearch,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { exactlyOneOf } from "../../shared/kernel/either-or.ts";
import { singleLineText } from "../../shared/kernel/email-fields.ts";
import {
  Count,
  CreatedAt,
  Id,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../shared/kernel/record-fields.ts";

const List = z
  .object({
    id: RecordId.describe("Id of the list, for GET /lists/:id and `listId` of other requests."),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the list. Unique in its site, ignoring case."),
    description: z.string().nullable().describe("Note for yourself, or `null`."),
    contactCount: Count.describe("Exact number of contacts on the list."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "List" });

const description = singleLineText(500).nullable();
const NewList = z
  .object({
    siteId: NewSiteId,
    name: GroupName.describe("Name of the list. Must be new in its site, ignoring case."),
    description: description.optional().describe("Note for yourself."),
  })
  .meta({ examples: [{ name: "Newsletter", description: "Every other Tuesday" }] });
const ListChanges = z
  .object({
    name: GroupName.describe("New name of the list. Must be new in its site, ignoring case."),
    description: description.describe("Note for yourself. `null` removes it."),
  })
  .partial()
  .meta({ examples: [{ description: "Every Tuesday" }] });

const maxAtOnce = 100;
const Members = z.object({
  contactId: Id.optional().describe("One contact. Give either this or `contactIds`."),
  contactIds: z
    .array(Id)
    .min(1)
    .max(maxAtOnce)
    .optional()
    .describe("Up to 100 contacts. Give either this or `contactId`."),
});
const AddedMembers = exactlyOneOf(Members, ["contactId", "contactIds"])
  .describe("Give one of the two fields.")
  .meta({ id: "ListMembers", examples: [{ contactIds: [1, 2] }] });
/** The fields can also be in the query. */
const RemovedMembers = Members.meta({ documentedAs: AddedMembers });
const MembersQuery = z.object({
  contactId: QueryId.optional().describe(
    "One contact. Give either this or `contactIds`, here or in the body.",
  ),
  contactIds: z
    .string()
    .max(maxAtOnce * 17)
    .regex(/^\d{1,16}(,\d{1,16})*$/, "must be ids separated by commas")
    .transform((text) => text.split(",").map(Number))
    .pipe(z.array(Id).max(maxAtOnce))
    .optional()
    .describe("Up to 100 contact ids, separated by commas."),
});

const FailedContacts = z
  .array(FailedContact)
  .describe("Ids that are not contacts of the list's site, with the reason.");
const AddResult = z.object({
  added: Count.describe("Number of contacts added."),
  unchanged: Count.describe("Number of contacts that were already on the list."),
  failed: FailedContacts,
});
const RemoveResult = z.object({
  removed: Count.describe("Number of contacts removed."),
  unchanged: Count.describe("Number of contacts that were not on the list."),
  failed: FailedContacts,
});

/** An unknown `contactId` fails the request; unknown ids in `contactIds` fail alone. */
async function changeMembership(
  caller: Caller,
  { contactId, contactIds }: z.output<typeof Members>,
  move: (ids: number[]) => Promise<groupMembers.MembershipResult>,
): Promise<groupMembers.MembershipResult> {
  if ((contactId === undefined) === (contactIds === undefined))
    throw invalid("Exactly one of contactId and contactIds is required", {
      details: [
        { path: "contactId", message: "exactly one of contactId and contactIds is required" },
      ],
    });
  const result = await move(contactIds ?? [contactId!]);
  return contactId === undefined ? result : groupMembers.requireSuccess(caller, contactId, result);
}

export const lists = routeGroup("lists", [
  route("GET /lists", "List contact lists", {
    description: "Returns lists, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
    }),
    returns: pagedSchema("lists", List),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await groups.list("LIST", caller, { ...page, siteId });
      return { lists: items.map(toApi), pagination };
    },
  }),
  route("POST /lists", "Create a contact list", {
    level: "site",
    body: NewList,
    returns: List,
    status: 201,
    errors: { 409: "The site has a list with this name (`list_exists`)." },
    handle: async ({ caller, body }) => toApi(await groups.create("LIST", caller, body)),
  }),
  route("GET /lists/:id", "Get a contact list", {
    level: "site",
    returns: List,
    handle: async ({ caller, params }) => toApi(await groups.find("LIST", caller, params.id)),
  }),
  route("PUT /lists/:id", "Update a contact list", {
    description: "Updates the given fields.",
    level: "site",
    body: ListChanges,
    returns: List,
    errors: { 409: "The site has a list with this name (`list_exists`)." },
    handle: async ({ caller, params, body }) =>
      toApi(await groups.change("LIST", caller, { ...body, id: params.id })),
  }),
  route("DELETE /lists/:id", "Delete a contact list", {
    description:
      `Deletes the list whatever its size. Its contacts stay. ${deletesUsed} ` +
      "A campaign that is still reading the list fails.",
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) =>
      deleteWithUses("LIST", input, (caller, id) => groups.removeGroup("LIST", caller, id)),
  }),
  route("GET /lists/:id/contacts", "Search contacts to add to a list", {
    operationId: "searchListContacts",
    description:
      "Searches the contacts of the list's site by email address or name, ordered by email " +
      "address. `member` says whether a contact is already on the list. To read the contacts " +
      "that are on a list, use GET /contacts?listId=.",
    level: "site",
    query: PageQuery.extend({
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .describe("Part of the email address or the name, ignoring case.")
        .meta({ examples: ["ann"] }),
    }),
    returns: pagedSchema(
      "contacts",
      Contact.extend({
        member: z.boolean().describe("Whether the contact is already on the list."),
      }).meta({
        id: "ListCandidate",
      }),
    ),
    handle: async ({ caller, params, query: { q, ...page } }) => {
      const { items, pagination } = await groupMembers.searchCandidates(caller, params.id, {
        ...page,
        text: q,
      });
      return { contacts: items, pagination };
    },
  }),
  route("POST /lists/:id/contacts", "Add contacts to a list", {
    audit: "counted",
    operationId: "addListContacts",
    description:
      "Takes one `contactId` or up to 100 `contactIds`. Starts the sequences with the " +
      "trigger `list_join`. Contacts that are already on the list are counted in `unchanged`.",
    level: "site",
    body: AddedMembers,
    returns: AddResult,
    errors: {
      404: "The list does not exist, or the contact in `contactId` does not exist in its site.",
    },
    handle: async ({ caller, params, body }) => {
      const result = await changeMembership(caller, body, (ids) =>
        groupMembers.addMembers(caller, { kind: "LIST", id: params.id }, ids),
      );
      return { added: result.changed, unchanged: result.unchanged, failed: result.failed };
    },
  }),
  route("DELETE /lists/:id/contacts", "Remove contacts from a list", {
    audit: "counted",
    operationId: "removeListContacts",
    description: "Takes one `contactId` or up to 100 `contactIds`, in the body or in the query.",
    level: "site",
    query: MembersQuery,
    body: RemovedMembers,
    returns: RemoveResult,
    errors: {
      404: "The list does not exist, or the contact in `contactId` does not exist in its site.",
    },
    handle: async ({ caller, params, query, body }) => {
      const result = await changeMembership(caller, { ...query, ...body }, (ids) =>
        groupMembers.removeMembers(caller, { kind: "LIST", id: params.id }, ids),
      );
      return { removed: result.changed, unchanged: result.unchanged, failed: result.failed };
    },
  }),
]);
export const { handler } = lists;

const toApi = (list: groups.CountedGroup) => ({ ...list, description: list.description ?? null });
