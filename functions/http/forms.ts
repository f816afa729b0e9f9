import * as z from "zod";
import { Form, FormChanges, FormMeta, NewForm } from "../../shared/domain/forms/form.ts";
import { Submission } from "../../shared/domain/forms/submissions.ts";
import * as form from "../../shared/domain/forms.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const unfit = {
  400: "A field is wrong, or `no_sending_config`: doubleOptIn needs a verified sending config once the form is active",
  404: "There is no such form, list or sequence",
};

export const forms = group("forms", [
  route("GET /forms", "List forms, without their designs", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("forms", FormMeta),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await form.list(caller, page, siteId);
      return { forms: items, pagination };
    },
  }),
  route("POST /forms", "Create a form", {
    level: "site",
    body: NewForm,
    returns: Form,
    status: 201,
    errors: unfit,
    handle: ({ caller, body }) => form.create(caller, body),
  }),
  route("GET /forms/:id", "One form; with `version` its name and design as they were then", {
    level: "site",
    query: z.object({ version: z.coerce.number().int().positive().optional().describe("As a submission names it") }),
    returns: Form,
    errors: { 404: "There is no such form, or it has no such version" },
    handle: ({ caller, params, query: { version } }) => form.find(caller, params.id, version),
  }),
  route("PUT /forms/:id", "Change a form; fields that are not given stay", {
    level: "site",
    body: FormChanges,
    returns: Form,
    errors: unfit,
    handle: ({ caller, params, body }) => form.change(caller, params.id, body),
  }),
  route("DELETE /forms/:id", "Delete a form and all that was submitted to it; contacts stay as they are", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await form.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /forms/:id/submissions", "What was submitted, newest first, with the evidence of consent", {
    level: "site",
    query: PageQuery,
    returns: paged("submissions", Submission),
    handle: async ({ caller, params, query }) => {
      const { items, pagination } = await form.submitted(caller, params.id, query);
      return { submissions: items, pagination };
    },
  }),
]);
export const { handler } = forms;
