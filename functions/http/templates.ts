import * as z from "zod";
import * as folders from "../../shared/domain/template-folders.ts";
import * as template from "../../shared/domain/templates.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const siteId = z.coerce.number().int().positive().optional();
const unparsable = "Something is out of bounds, or a part is no valid Liquid: the message names the field and the line";

export const templates = group("templates", [
  route("GET /template-folders", "List template folders", {
    level: "site",
    query: PageQuery.extend({ siteId: siteId.describe("Those of this site and those of all sites") }),
    returns: paged("templateFolders", folders.Folder),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await folders.list(caller, query);
      return { templateFolders: items, pagination };
    },
  }),
  route("POST /template-folders", "Create a template folder", {
    level: "site",
    body: folders.NewFolder,
    returns: folders.Folder,
    status: 201,
    handle: ({ caller, body }) => folders.create(caller, body),
  }),
  route("PUT /template-folders/:id", "Rename a template folder", {
    level: "site",
    body: folders.FolderChanges,
    returns: folders.Folder,
    handle: ({ caller, params, body }) => folders.change(caller, params.id, body),
  }),
  route("DELETE /template-folders/:id", "Delete a template folder; its templates become unfiled", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await folders.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /templates", "List templates, without what they say", {
    level: "site",
    query: PageQuery.extend({
      siteId,
      folderId: z
        .union([z.literal("none"), z.coerce.number().int().positive()])
        .optional()
        .describe("`none`: those in no folder")
        .meta({ examples: [1] }),
      search: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Part of the name")
        .meta({ examples: ["welcome"] }),
    }),
    returns: paged("templates", template.TemplateMeta),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await template.list(caller, query);
      return { templates: items, pagination };
    },
  }),
  route("POST /templates", "Create a template", {
    level: "site",
    body: template.NewTemplate,
    returns: template.Template,
    status: 201,
    errors: { 400: unparsable, 404: "There is no such site or folder" },
    handle: ({ caller, body }) => template.create(caller, body),
  }),
  route("GET /templates/:id", "One template with all it says", {
    level: "site",
    returns: template.Template,
    handle: ({ caller, params }) => template.find(caller, params.id),
  }),
  route("PUT /templates/:id", "Change a template; fields that are not given stay", {
    level: "site",
    body: template.TemplateChanges,
    returns: template.Template,
    errors: { 400: unparsable, 404: "There is no such template or folder" },
    handle: ({ caller, params, body }) => template.change(caller, params.id, body),
  }),
  route("DELETE /templates/:id", "Delete a template; mail accepted with it is still sent", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await template.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /templates/:id/render", "Preview: what a recipient with these variables would get", {
    level: "site",
    body: z.object({ variables: z.record(z.string(), z.unknown()).default({}) }).meta({ examples: [{ variables: { firstName: "Ada" } }] }),
    returns: template.Rendered,
    errors: { 400: "A filter cannot take a variable, or rendering takes too much" },
    handle: ({ caller, params, body }) => template.render(caller, params.id, body.variables),
  }),
]);
export const { handler } = templates;
