import * as z from "zod";
import { Form, FormChanges, FormMeta, NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as form from "../../shared/domain/forms/forms.ts";
import { Submission } from "../../shared/domain/forms/submissions.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, NameSearch, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";

const formErrors = {
  400:
    "A field is not valid; or an active form with `doubleOptIn` has no verified sending config " +
    "(`no_sending_config`).",
  404: "The site, list or sequence does not exist.",
};

export const forms = routeGroup("forms", [
  route("GET /forms", "List forms", {
    description: "Returns forms, newest first, without `designJson`.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
    }),
    returns: pagedSchema("forms", FormMeta),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await form.list(caller, page, siteId);
      return { forms: items, pagination };
    },
  }),
  route("POST /forms", "Create a form", {
    needsVerifiedEmail: true,
    level: "site",
    body: NewForm,
    returns: Form,
    status: 201,
    errors: formErrors,
    handle: ({ caller, body }) => form.create(caller, body),
  }),
  route("GET /forms/:id", "Get a form", {
    description: "With `version`, returns the name and design that the form had in that version.",
    level: "site",
    query: z.object({
      version: QueryId.optional().describe(
        "Version of the form, as in `consent.formVersion` of a submission.",
      ),
    }),
    returns: Form,
    errors: { 404: "The form or this version of it does not exist." },
    handle: ({ caller, params, query: { version } }) => form.find(caller, params.id, version),
  }),
  route("PUT /forms/:id", "Update a form", {
    description: "Updates the given fields.",
    level: "site",
    body: FormChanges,
    returns: Form,
    errors: formErrors,
    handle: ({ caller, params, body }) => form.change(caller, params.id, body),
  }),
  route("DELETE /forms/:id", "Delete a form", {
    description: "Also deletes its submissions, in the background. Contacts stay.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await form.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /forms/:id/submissions", "List form submissions", {
    description: "Returns submissions, newest first, with the evidence of consent.",
    level: "site",
    query: PageQuery,
    returns: pagedSchema("submissions", Submission),
    handle: async ({ caller, params, query }) => {
      const { items, pagination } = await form.listSubmissions(caller, params.id, query);
      return { submissions: items, pagination };
    },
  }),
]);
export const { handler } = forms;
