import * as z from "zod";
import * as templateUses from "../../shared/domain/campaigns/template-uses.ts";
import * as templateChecks from "../../shared/domain/content/template-checks.ts";
import * as templateFolders from "../../shared/domain/content/template-folders.ts";
import * as templateRendering from "../../shared/domain/content/template-rendering.ts";
import {
  NewTemplate,
  Template,
  TemplateChanges,
  TemplateMeta,
} from "../../shared/domain/content/template-schema.ts";
import * as templateVersions from "../../shared/domain/content/template-versions.ts";
import * as template from "../../shared/domain/content/templates.ts";
import { Variables } from "../../shared/domain/sending/accept/message-fields.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Deleted,
  deletesUsed,
  IfUnused,
  inUse,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";

const siteId = QueryId.optional();
const templateError =
  "A field is not valid, or a part is not valid Liquid: the message names the field and the line.";

const TemplateDraft = z
  .object({
    ...templateChecks.templateDraftFields,
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
    returns: pagedSchema("templateFolders", templateFolders.TemplateFolder),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await templateFolders.list(caller, query);
      return { templateFolders: items, pagination };
    },
  }),
  route("POST /template-folders", "Create a template folder", {
    level: "site",
    body: templateFolders.NewTemplateFolder,
    returns: templateFolders.TemplateFolder,
    status: 201,
    handle: ({ caller, body }) => templateFolders.create(caller, body),
  }),
  route("PUT /template-folders/:id", "Rename a template folder", {
    level: "site",
    body: templateFolders.TemplateFolderChanges,
    returns: templateFolders.TemplateFolder,
    handle: ({ caller, params, body }) => templateFolders.change(caller, params.id, body),
  }),
  route("DELETE /template-folders/:id", "Delete a template folder", {
    description: "Its templates stay and are in no folder from then on.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await templateFolders.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /templates", "List templates", {
    description: "Returns templates, newest first, without their texts.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
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
    returns: pagedSchema("templates", TemplateMeta),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await template.list(caller, query);
      return { templates: items, pagination };
    },
  }),
  route("POST /templates", "Create a template", {
    description:
      "Needs `html` or `text`. All texts may contain Liquid, which is parsed when the template " +
      "is saved. `translations` has the texts in other languages: an email is sent in the exact " +
      "locale of its recipient, else in the language, else in the texts of the template itself.",
    level: "site",
    body: NewTemplate,
    returns: Template,
    status: 201,
    errors: { 400: templateError, 404: "The site or the folder does not exist." },
    handle: ({ caller, body }) => template.create(caller, body),
  }),
  route("GET /templates/:id", "Get a template", {
    level: "site",
    returns: Template,
    handle: ({ caller, params }) => template.find(caller, params.id),
  }),
  route("PUT /templates/:id", "Update a template", {
    description:
      "Updates the given fields, also of the given translations. A change of content creates a " +
      "new version; email that was already accepted is sent with the version it was accepted with.",
    level: "site",
    body: TemplateChanges,
    returns: Template,
    errors: {
      400: templateError,
      404: "The template or the folder does not exist.",
      409: "The content is not that of the given `version` any more (`template_changed`).",
    },
    handle: ({ caller, params, body }) => template.change(caller, params.id, body),
  }),
  route("DELETE /templates/:id", "Delete a template", {
    description: `Email that was already accepted with the template is still sent. ${deletesUsed}`,
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) => deleteWithUses("TEMPLATE", input, template.remove),
  }),
  route("GET /templates/:id/uses", "List what uses a template", {
    description:
      "Returns sequences that mail it, also paused ones and drafts, and campaigns, recurring " +
      "campaigns and holidays that are not sent yet. Active sequences send what is saved from " +
      "then on.",
    level: "site",
    returns: z.object({
      uses: z.array(templateUses.TemplateUse).describe("Up to 100 uses."),
    }),
    handle: async ({ caller, params }) => ({
      uses: await templateUses.listUses(caller, params.id),
    }),
  }),
  route("GET /templates/:id/versions", "List the versions of a template", {
    description:
      "Returns the current version and up to 49 that it replaced, newest first, without their " +
      "bodies. Versions that were replaced before the service listed versions are not in it.",
    level: "site",
    returns: z.object({
      versions: z
        .array(templateVersions.TemplateVersion)
        .describe("Up to 50 versions, newest first."),
    }),
    handle: async ({ caller, params }) => ({
      versions: await templateVersions.list(caller, params.id),
    }),
  }),
  route("GET /templates/:id/versions/:versionId", "Get a version of a template", {
    level: "site",
    returns: templateVersions.TemplateVersionDetail,
    errors: { 404: "The template does not exist, or the version is not one of its last 50." },
    handle: ({ caller, params }) => templateVersions.find(caller, params.id, params.versionId),
  }),
  route("POST /templates/:id/restore", "Restore a version of a template", {
    operationId: "restoreTemplate",
    description:
      "Saves the content of an earlier version as a new version. Nothing is lost: the version " +
      "that it replaces stays in the list.",
    level: "site",
    body: templateVersions.RestoreRequest,
    returns: Template,
    errors: { 404: "The template does not exist, or the version is not one of its last 50." },
    handle: ({ caller, params, body }) => templateVersions.restore(caller, params.id, body.version),
  }),
  route("POST /templates/:id/check", "Check a template", {
    operationId: "checkTemplate",
    right: "content:read",
    description:
      "Renders the template for a recipient with the given `locale`, or the given draft of it, " +
      "and reports what recipients would see broken: its size, links, images, variables and " +
      "parts. Sends nothing, and follows no link.",
    level: "site",
    preview: true,
    body: TemplateDraft,
    returns: templateChecks.TemplateCheck,
    errors: { 400: templateError },
    handle: ({ caller, params, body }) => templateChecks.check(caller, params.id, body),
  }),
  route("POST /templates/:id/render", "Preview a template", {
    right: "content:read",
    description:
      "Renders subject, html and text for a recipient with the given `locale`, or the given " +
      "draft of them, with the given variables and lists the variables that have no value. " +
      "Sends nothing.",
    level: "site",
    preview: true,
    body: TemplateDraft,
    returns: templateRendering.RenderedTemplate,
    errors: {
      400:
        "A part is not valid Liquid, a filter does not accept a value, or rendering takes too " +
        "long.",
    },
    handle: ({ caller, params, body }) => templateRendering.render(caller, params.id, body),
  }),
]);
export const { handler } = templates;
