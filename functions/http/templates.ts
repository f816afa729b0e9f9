import * as z from "zod";
import * as usages from "../../shared/domain/campaigns/usages.ts";
import * as checks from "../../shared/domain/content/template-checks.ts";
import * as folders from "../../shared/domain/content/template-folders.ts";
import * as versions from "../../shared/domain/content/template-versions.ts";
import * as template from "../../shared/domain/content/templates.ts";
import { Variables } from "../../shared/domain/sending/intake/message.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, Force, inUse, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";

const siteId = QueryId.optional();
const templateError =
  "A field is not valid, or a part is not valid Liquid: the message names the field and the line.";

const TemplateDraft = z
  .object({
    ...checks.templateDraftFields,
    variables: Variables.default({}).describe("Values for the Liquid variables."),
  })
  .meta({ id: "TemplateDraft", examples: [{ variables: { firstName: "Ada" } }] });

export const templates = routeGroup("templates", [
  route("GET /template-folders", "List template folders", {
    description: "Returns template folders, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: siteId.describe(
        "Only folders of this site and folders for all sites. Defaults to the site of the " +
          "API key, else to all folders.",
      ),
    }),
    returns: pagedSchema("templateFolders", folders.TemplateFolder),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await folders.list(caller, query);
      return { templateFolders: items, pagination };
    },
  }),
  route("POST /template-folders", "Create a template folder", {
    level: "site",
    body: folders.NewTemplateFolder,
    returns: folders.TemplateFolder,
    status: 201,
    handle: ({ caller, body }) => folders.create(caller, body),
  }),
  route("PUT /template-folders/:id", "Rename a template folder", {
    level: "site",
    body: folders.TemplateFolderChanges,
    returns: folders.TemplateFolder,
    handle: ({ caller, params, body }) => folders.change(caller, params.id, body),
  }),
  route("DELETE /template-folders/:id", "Delete a template folder", {
    description: "Its templates stay and are in no folder from then on.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await folders.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /templates", "List templates", {
    description: "Returns templates, newest first, without `html`, `text` and `designJson`.",
    level: "site",
    query: PageQuery.extend({
      siteId: siteId.describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
      folderId: z
        .union([z.literal("none"), QueryId])
        .optional()
        .describe("Only templates in this folder. `none`: templates in no folder.")
        .meta({ examples: [1] }),
      search: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Part of the name, ignoring case.")
        .meta({ examples: ["welcome"] }),
    }),
    returns: pagedSchema("templates", template.TemplateMeta),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await template.list(caller, query);
      return { templates: items, pagination };
    },
  }),
  route("POST /templates", "Create a template", {
    description:
      "Needs `html` or `text`. Both, and the subject, may contain Liquid, which is parsed " +
      "when the template is saved.",
    level: "site",
    body: template.NewTemplate,
    returns: template.Template,
    status: 201,
    errors: { 400: templateError, 404: "The site or the folder does not exist." },
    handle: ({ caller, body }) => template.create(caller, body),
  }),
  route("GET /templates/:id", "Get a template", {
    level: "site",
    returns: template.Template,
    handle: ({ caller, params }) => template.find(caller, params.id),
  }),
  route("PUT /templates/:id", "Update a template", {
    description:
      "Updates the given fields. A change of content creates a new version; email that was " +
      "already accepted is sent with the version it was accepted with.",
    level: "site",
    body: template.TemplateChanges,
    returns: template.Template,
    errors: {
      400: templateError,
      404: "The template or the folder does not exist.",
      409: "The content is not that of the given `version` any more (`template_changed`).",
    },
    handle: ({ caller, params, body }) => template.change(caller, params.id, body),
  }),
  route("DELETE /templates/:id", "Delete a template", {
    description: "Email that was already accepted with the template is still sent.",
    level: "site",
    query: Force,
    returns: Deleted,
    errors: { 409: inUse },
    handle: async ({ caller, params: { id }, query: { force } }) => {
      if (force !== "true") await usages.refuseUsed(caller, "TEMPLATE", id);
      await template.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /templates/:id/versions", "List the versions of a template", {
    description:
      "Returns the current version and up to 49 that it replaced, newest first, without their " +
      "bodies. Versions that were replaced before the service listed versions are not in it.",
    level: "site",
    returns: z.object({
      versions: z.array(versions.TemplateVersion).describe("Up to 50 versions, newest first."),
    }),
    handle: async ({ caller, params }) => ({ versions: await versions.list(caller, params.id) }),
  }),
  route("GET /templates/:id/versions/:versionId", "Get a version of a template", {
    level: "site",
    returns: versions.TemplateVersionDetail,
    errors: { 404: "The template does not exist, or the version is not one of its last 50." },
    handle: ({ caller, params }) => versions.find(caller, params.id, params.versionId),
  }),
  route("POST /templates/:id/restore", "Restore a version of a template", {
    operationId: "restoreTemplate",
    description:
      "Saves the content of an earlier version as a new version. Nothing is lost: the version " +
      "that it replaces stays in the list.",
    level: "site",
    body: versions.RestoreRequest,
    returns: template.Template,
    errors: { 404: "The template does not exist, or the version is not one of its last 50." },
    handle: ({ caller, params, body }) => versions.restore(caller, params.id, body.version),
  }),
  route("POST /templates/:id/check", "Check a template", {
    operationId: "checkTemplate",
    right: "content:read",
    description:
      "Renders the template, or the given draft of it, and reports what recipients would see " +
      "broken: its size, links, images, variables and parts. Sends nothing, and follows no link.",
    level: "site",
    preview: true,
    body: TemplateDraft,
    returns: checks.TemplateCheck,
    errors: { 400: templateError },
    handle: ({ caller, params, body }) => checks.check(caller, params.id, body),
  }),
  route("POST /templates/:id/render", "Preview a template", {
    right: "content:read",
    description:
      "Renders subject, html and text, or the given draft of them, with the given variables and " +
      "lists the variables that have no value. Sends nothing.",
    level: "site",
    preview: true,
    body: TemplateDraft,
    returns: template.RenderedTemplate,
    errors: {
      400:
        "A part is not valid Liquid, a filter does not accept a value, or rendering takes too " +
        "long.",
    },
    handle: ({ caller, params, body }) => template.render(caller, params.id, body),
  }),
]);
export const { handler } = templates;
