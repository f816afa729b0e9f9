import * as z from "zod";
import * as snippetUses from "../../shared/domain/campaigns/snippet-uses.ts";
import * as snippetRendering from "../../shared/domain/content/snippet-rendering.ts";
import * as snippetSchema from "../../shared/domain/content/snippet-schema.ts";
import * as snippet from "../../shared/domain/content/snippets.ts";
import { Variables } from "../../shared/domain/sending/accept/message-fields.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";

const snippetError =
  "A field is not valid, a part is not valid Liquid, or the snippet would use itself " +
  "(`snippet_cycle`).";

const SnippetDraft = z
  .object({
    ...snippetRendering.snippetDraftFields,
    variables: Variables.default({}).describe("Values for the Liquid variables."),
  })
  .meta({ id: "SnippetDraft", examples: [{ variables: { firstName: "Ada" } }] });

export const snippets = routeGroup("snippets", [
  route("GET /snippets", "List snippets", {
    description:
      "Returns snippets and layouts, newest first, without `html`, `text` and `designJson`.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: z
        .string()
        .min(1)
        .max(60)
        .optional()
        .describe("Part of the name, ignoring case and accents.")
        .meta({ examples: ["footer"] }),
    }),
    returns: pagedSchema("snippets", snippetSchema.SnippetMeta),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await snippet.list(caller, query);
      return { snippets: items, pagination };
    },
  }),
  route("POST /snippets", "Create a snippet", {
    description:
      "A template of the site brings it in with `{% render 'name' %}`. If it has " +
      "`{{ content }}`, a template can begin with `{% layout 'name' %}` to have it around " +
      "itself. The guide to variables says what a snippet sees.",
    level: "site",
    body: snippetSchema.NewSnippet,
    returns: snippetSchema.Snippet,
    status: 201,
    errors: {
      400: snippetError,
      404: "The site does not exist.",
      409: "The site has a snippet with this name (`snippet_exists`).",
    },
    handle: ({ caller, body }) => snippet.create(caller, body),
  }),
  route("GET /snippets/:id", "Get a snippet", {
    level: "site",
    returns: snippetSchema.Snippet,
    handle: ({ caller, params }) => snippet.find(caller, params.id),
  }),
  route("PUT /snippets/:id", "Update a snippet", {
    description:
      "Updates the given fields. Everything that uses the snippet shows the change in email that " +
      "is accepted from then on. Accepted email, such as that of a campaign that has started, is " +
      "sent with the version it was accepted with.",
    level: "site",
    body: snippetSchema.SnippetChanges,
    returns: snippetSchema.Snippet,
    errors: {
      400: snippetError,
      409:
        "The content is not that of the given `version` any more (`snippet_changed`), something " +
        "uses the snippet under its old name (`in_use`), or another snippet of the site has the " +
        "new one (`snippet_exists`).",
    },
    handle: ({ caller, params, body }) => snippetUses.change(caller, params.id, body),
  }),
  route("DELETE /snippets/:id", "Delete a snippet", {
    description: "Email that was already accepted with the snippet is still sent.",
    level: "site",
    returns: Deleted,
    errors: { 409: "Something uses the snippet (`in_use`): `details` name up to 20." },
    handle: async ({ caller, params: { id } }) => {
      await snippetUses.removeUnused(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /snippets/:id/uses", "List what uses a snippet", {
    description:
      "Returns snippets, templates, and campaigns that are not sent yet and have a variant whose " +
      "`html` uses it.",
    level: "site",
    returns: z.object({
      uses: z.array(snippetUses.SnippetUse).describe("Up to 100 uses."),
    }),
    handle: async ({ caller, params }) => ({
      uses: await snippetUses.listUses(caller, params.id),
    }),
  }),
  route("POST /snippets/:id/render", "Preview a snippet", {
    right: "content:read",
    description:
      "Renders the snippet, or the given draft of it, as email brings it in, with the given " +
      "variables. A layout is rendered around a sample text. Sends nothing.",
    level: "site",
    preview: true,
    body: SnippetDraft,
    returns: snippetRendering.RenderedSnippet,
    errors: { 400: "A part is not valid Liquid, or rendering takes too long." },
    handle: ({ caller, params, body }) => snippetRendering.render(caller, params.id, body),
  }),
  route("POST /snippets/:id/restore", "Restore a version of a snippet", {
    operationId: "restoreSnippet",
    description: "Saves the content of an earlier version as a new version.",
    level: "site",
    body: snippetSchema.SnippetRestore,
    returns: snippetSchema.Snippet,
    errors: { 404: "The snippet does not exist, or the version is not one of its last 20." },
    handle: ({ caller, params, body }) => snippet.restore(caller, params.id, body.version),
  }),
]);
export const { handler } = snippets;
