import * as z from "zod";
import { GroupName } from "../../shared/domain/contacts/contact.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const Tag = z
  .object({
    id: z.int(),
    siteId: z.int(),
    name: z.string().describe("Unique in its site, whatever its case"),
    contactCount: z.int().describe("Exact"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Tag" });
const NewTag = z.object({ siteId: z.int().positive().optional(), name: GroupName }).meta({ examples: [{ name: "customer" }] });

export const tags = group("tags", [
  route("GET /tags", "List tags", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("tags", Tag),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await groups.list("TAG", caller, page, siteId);
      return { tags: items, pagination };
    },
  }),
  route("POST /tags", "Create a tag", {
    level: "site",
    body: NewTag,
    returns: Tag,
    status: 201,
    errors: { 409: "The site has a tag of this name (`tag_exists`)" },
    handle: ({ caller, body }) => groups.create("TAG", caller, body),
  }),
  route("DELETE /tags/:id", "Delete a tag, however many carry it; its contacts stay", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await groups.removeGroup("TAG", caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = tags;
