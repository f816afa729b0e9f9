// Public endpoints of forms: the hosted page, the embed script, submissions and confirmation links.
import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as confirmations from "../../shared/domain/forms/double-opt-in.ts";
import { honeypotField, maxText, readEntry } from "../../shared/domain/forms/form-entry.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import { submitForm } from "../../shared/domain/forms/submission-processing.ts";
import { formPageWording } from "../../shared/email/wording/form-pages.ts";
import { type Language, preferredLanguage } from "../../shared/email/wording/subscriber-pages.ts";
import { conflict, invalid, undefinedIfMissing } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { parsePostedFields } from "../../shared/http/form-body.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import { framablePagePolicy } from "../../shared/http/responses.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import * as scripts from "../../shared/pages/form-embed-script.ts";
import { type FormView, fieldErrorText } from "../../shared/pages/form-html.ts";
import * as pages from "../../shared/pages/form-pages.ts";

const html = "text/html; charset=utf-8";
const inactiveError =
  "The form does not take submissions, because it is not active (`form_inactive`).";
const perMinute =
  "The limit is 60 requests per minute from one client address (setting " +
  "`ADDRESS_LIMIT_PER_MINUTE`)";

const SubmittedFields = z
  .looseObject({
    email: EmailAddress.describe(
      "Email address of the visitor. Some forms use another name for this field: see " +
        "`designJson`.",
    ),
    firstName: z
      .string()
      .max(maxText)
      .optional()
      .describe("First name of the visitor, if the form asks for it."),
    lastName: z
      .string()
      .max(maxText)
      .optional()
      .describe("Last name of the visitor, if the form asks for it."),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Further fields by name. They may also be given at the top level."),
    [honeypotField]: z
      .string()
      .max(maxBytes.anyone)
      .optional()
      .describe(
        "Trap for bots: people do not see this field. If it has a value, the response is as " +
          "usual and nothing is stored.",
      ),
  })
  .meta({ examples: [{ email: "ada@example.com", firstName: "Ada" }] });

export const publicForms = routeGroup({ name: "public-forms", errorPage: renderErrorPage }, [
  route("POST /forms/:id/submit", "Submit a form", {
    auth: "public",
    description:
      "Programs get JSON. A browser that posts the form gets a page, or is redirected to " +
      `\`redirectUrl\`. ${perMinute}. Starts the sequence of the form, and the sequences that ` +
      "the form (`form_submit`), its tags and its list trigger; each sequence starts at most " +
      "once in 24 hours for an email address. With double opt-in, all of this waits until the " +
      "address is confirmed.",
    rateLimit: "address",
    cors: true,
    rawBodyTypes: {
      "application/json": SubmittedFields,
      "application/x-www-form-urlencoded": SubmittedFields,
      "multipart/form-data": SubmittedFields,
    },
    otherContent: { "text/html": z.string() },
    otherStatuses: {
      303: "The form has a `redirectUrl`. Only for requests by a browser.",
    },
    returns: z.object({
      submitted: z.literal(true).describe("Always true."),
      pending: z
        .boolean()
        .describe(
          "Whether a confirmation email is sent. Nothing is applied until it is confirmed.",
        ),
    }),
    errors: { 400: "A field is missing or not valid: `details` names it.", 409: inactiveError },
    handle: async ({ params, request, reply }) =>
      (isBrowser(request) ? submitFromBrowser : submitFromScript)(params.id, request, reply),
  }),
  route("GET /forms/:id/embed", "Get the embed script of a form", {
    description:
      "Returns a script that renders the form where the script tag stands: `<script async " +
      'src="https://mail.example/api/v1/forms/1/embed"></script>`. The script stores nothing in ' +
      "the browser, and sends only what the visitor submits. With `format=html`, returns the " +
      "form as html to paste into a page.",
    auth: "public",
    cors: true,
    query: z.object({
      format: z
        .enum(["js", "html"])
        .default("js")
        .describe("`js`: a script. `html`: the form as html to paste."),
    }),
    returns: z.string(),
    contentType: "application/javascript; charset=utf-8",
    otherContent: { "text/html": z.string() },
    errors: { 404: "The form does not exist." },
    handle: async ({ params, query: { format }, request, reply }) => {
      const shown = await loadPublicForm(params.id, request);
      Object.assign(reply.headers, {
        "cache-control": "public, max-age=300",
        vary: "Accept-Language",
      });
      if (format === "html") reply.htmlPage = embedHtml(shown);
      return embedScript(shown);
    },
  }),
  route("GET /forms/:id/page", "Get the hosted page of a form", {
    description:
      "Other sites may embed the page in a frame. Query parameters fill in the fields of the " +
      "same name.",
    auth: "public",
    answersHead: true,
    returns: z.string(),
    contentType: html,
    errors: { 404: "The form does not exist." },
    handle: ({ params, request, reply }) =>
      orNotFoundPage(request, reply, async () => {
        const shown = await loadPublicForm(params.id, request);
        allowFraming(reply, shown);
        const values = Object.fromEntries(new URLSearchParams(request.queryString));
        return isOpen(shown)
          ? pages.renderFormPage({ ...shown, values })
          : pages.renderFormClosedPage(shown.language);
      }),
  }),
  route("GET /forms/confirm/:token", "Get the confirmation page of a submission", {
    operationId: "getFormConfirmationPage",
    description:
      "The page behind the emailed link. It asks for confirmation and changes nothing, " +
      "because scanners open links.",
    auth: "public",
    rateLimit: "address",
    answersHead: true,
    returns: z.string(),
    contentType: html,
    errors: { 404: "The link is not valid, or is older than 30 days." },
    handle: ({ params: { token }, request, reply }) =>
      orNotFoundPage(request, reply, async () =>
        confirmationPage(await confirmations.findStatus(token)),
      ),
  }),
  route("POST /forms/confirm/:token", "Confirm a form submission", {
    operationId: "confirmFormSubmission",
    description:
      "Confirms the submission, subscribes the contact and applies the form's tags, list, " +
      "sequence and points. Safe to repeat.",
    auth: "public",
    rateLimit: "address",
    rawBodyTypes: { "application/x-www-form-urlencoded": z.object({}) },
    returns: z.string(),
    contentType: html,
    errors: { 404: "The link is not valid, or is older than 30 days." },
    handle: ({ params: { token }, request, reply }) =>
      orNotFoundPage(request, reply, async () =>
        confirmationPage(await confirmations.confirm(token, visitorOf(request))),
      ),
  }),
]);
export const { handler } = publicForms;

type PublicForm = FormView & forms.FormWithDesign;

async function loadPublicForm(formId: number, request: ApiRequest): Promise<PublicForm> {
  const { form, design } = await forms.findPublicForm(formId);
  const language = design.language ?? preferredLanguage(request.headers["accept-language"]);
  return {
    form,
    design,
    formId,
    language,
    action: `${config.publicUrl}/api/v1/forms/${formId}/submit`,
  };
}

const isOpen = ({ form }: PublicForm): boolean => form.status === "active";
const embedScript = (publicForm: PublicForm): string => {
  const { formId, language, form } = publicForm;
  if (!isOpen(publicForm))
    return scripts.closedFormScript(formId, formPageWording[language].inactiveTitle);
  return scripts.formEmbedScript({
    ...publicForm,
    pending: form.doubleOptIn,
    redirectUrl: form.redirectUrl,
  });
};
const embedHtml = (publicForm: PublicForm): string =>
  isOpen(publicForm)
    ? scripts.formSnippet(publicForm)
    : `<p>${formPageWording[publicForm.language].inactiveTitle}</p>\n`;

/** Whether a browser posted the form itself, without a script. */
const isBrowser = ({ headers }: ApiRequest): boolean =>
  !/\bjson\b/i.test(headers["content-type"] ?? "") && /\btext\/html\b/i.test(headers.accept ?? "");

async function submitIfValid(
  publicForm: PublicForm,
  fields: Record<string, unknown>,
  request: ApiRequest,
) {
  const { form, design, language } = publicForm;
  const { errors, entry } = readEntry(design, fields);
  if (!errors.length && !String(fields[honeypotField] ?? "")) {
    const { ip, userAgent } = visitorOf(request);
    await submitForm(form, entry, { ip, userAgent, page: pageOf(request), language });
  }
  return errors;
}

const visitorOf = ({ clientIp, headers }: ApiRequest) => ({
  ip: clientIp,
  userAgent: headers["user-agent"],
});
/** Removes the query string, which can hold anything. */
const pageOf = ({ headers }: ApiRequest): string | undefined =>
  (headers.referer ?? headers.origin)?.split(/[?#]/)[0];

async function submitFromScript(formId: number, request: ApiRequest) {
  const given = await parsePostedFields(request);
  const shown = await loadPublicForm(formId, request);
  if (!isOpen(shown))
    throw conflict("The form is not active and does not accept submissions", {
      code: "form_inactive",
    });
  const errors = await submitIfValid(shown, given, request);
  const details = errors.map((error) => ({
    path: error.field.name,
    message: fieldErrorText(shown.language, shown.design, error),
  }));
  if (details[0]) throw invalid(details[0].message, { details });
  return { submitted: true as const, pending: shown.form.doubleOptIn };
}

async function submitFromBrowser(formId: number, request: ApiRequest, reply: ApiReply) {
  reply.htmlPage = await orNotFoundPage(request, reply, async () => {
    const given = await parsePostedFields(request);
    const shown = await loadPublicForm(formId, request);
    allowFraming(reply, shown);
    return submissionPage(shown, given, { request, reply });
  });
  return { submitted: true as const, pending: false };
}

async function submissionPage(
  publicForm: PublicForm,
  fields: Record<string, unknown>,
  { request, reply }: { request: ApiRequest; reply: ApiReply },
): Promise<string> {
  const { form, design, language } = publicForm;
  if (!isOpen(publicForm)) {
    reply.status = 409;
    return pages.renderFormClosedPage(language);
  }
  const errors = await submitIfValid(publicForm, fields, request);
  if (errors.length) {
    reply.status = 400;
    return pages.renderFormPage({ ...publicForm, values: fields, errors });
  }
  // The URL parser writes ASCII on one line.
  if (form.redirectUrl !== null)
    Object.assign(reply, { status: 303 }).headers.location = new URL(form.redirectUrl).href;
  return form.doubleOptIn
    ? pages.renderCheckInboxPage(language)
    : pages.renderThanksPage(language, design.successMessage);
}

/** Lets other sites frame the pages of a form, and lets the form redirect to its `redirectUrl`. */
function allowFraming({ headers }: ApiReply, { form, language }: PublicForm): void {
  headers["content-security-policy"] = framablePagePolicy(
    form.redirectUrl === null ? [] : [new URL(form.redirectUrl).origin],
  );
  Object.assign(headers, { "content-language": language, vary: "Accept-Language, Accept" });
}

const confirmationPage = (confirmation: confirmations.OptInStatus): string => {
  const language = confirmation.language as Language;
  return (confirmation.confirmed ? pages.renderConfirmedPage : pages.renderConfirmPage)(
    language,
    confirmation,
  );
};

/** Answers a missing form with a page and 404. */
async function orNotFoundPage(
  request: ApiRequest,
  reply: ApiReply,
  work: () => Promise<string>,
): Promise<string> {
  const page = await work().catch(undefinedIfMissing);
  if (page !== undefined) return page;
  reply.status = 404;
  return pages.renderInvalidLinkPage(preferredLanguage(request.headers["accept-language"]));
}
