import * as z from "zod";
import { GroupName } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
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
import { SiteFilter } from "../../shared/kernel/digits.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../shared/kernel/record-fields.ts";

const Tag = z
  .object({
    id: RecordId.describe("Id of the tag, for `tagId` of other requests."),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the tag. Unique in its site, ignoring case."),
    contactCount: Count.describe("Exact number of contacts with the tag."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Tag" });
const NewTag = z
  .object({
    siteId: NewSiteId,
    name: GroupName.describe("Name of the tag. Must be new in its site, ignoring case."),
  })
  .meta({ examples: [{ name: "customer" }] });

export const tags = routeGroup("tags", [
  route("GET /tags", "List tags", {
    description: "Returns tags, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
    }),
    returns: pagedSchema("tags", Tag),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await groups.list("TAG", caller, { ...page, siteId });
      return { tags: items, pagination };
    },
  }),
  route("POST /tags", "Create a tag", {
    level: "site",
    body: NewTag,
    returns: Tag,
    status: 201,
    errors: { 409: "The site has a tag with this name (`tag_exists`)." },
    handle: ({ caller, body }) => groups.create("TAG", caller, body),
  }),
  route("DELETE /tags/:id", "Delete a tag", {
    description:
      `Deletes the tag however many contacts have it. The contacts stay. ${deletesUsed} ` +
      "A campaign that is still reading the contacts with the tag fails, and forms no longer " +
      "apply it.",
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) =>
      deleteWithUses("TAG", input, (caller, id) => groups.removeGroup("TAG", caller, id)),
  }),
]);
export const { handler } = tags;
