import * as z from "zod";
import { GroupName } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as usages from "../../shared/domain/campaigns/usages.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, Force, inUse, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
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
      siteId: QueryId.optional().describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
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
    description: "Deletes the tag however many contacts have it. The contacts stay.",
    level: "site",
    query: Force,
    returns: Deleted,
    errors: { 409: inUse },
    handle: async ({ caller, params: { id }, query: { force } }) => {
      if (force !== "true") await usages.refuseUsed(caller, "TAG", id);
      await groups.removeGroup("TAG", caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = tags;
