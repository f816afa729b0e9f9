// Public endpoints of forms: the hosted page, the embed script, submissions and confirmation links.
import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { config } from "../../shared/config.ts";
import { captchaToApi, verifyCaptcha } from "../../shared/domain/forms/captcha.ts";
import { captchaProviders } from "../../shared/domain/forms/captcha-providers.ts";
import * as doubleOptIn from "../../shared/domain/forms/double-opt-in.ts";
import {
  findTypeErrors,
  honeypotField,
  maxText,
  readEntry,
} from "../../shared/domain/forms/form-entry.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import { submitForm } from "../../shared/domain/forms/submission-processing.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import type { Brand } from "../../shared/email/brand/brand.ts";
import { type Language, preferredLanguage, preferredLocale } from "../../shared/email/languages.ts";
import { formPageWording } from "../../shared/email/wording/by-topic.ts";
import {
  conflict,
  invalid,
  Problem,
  unavailable,
  undefinedIfMissing,
} from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { parsePostedFields } from "../../shared/http/form-body.ts";
import { maxBytes } from "../../shared/http/request-body.ts";
import { allowLogo, framablePagePolicy } from "../../shared/http/responses.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import * as formEmbedScript from "../../shared/pages/form-embed-script.ts";
import { type FormView, fieldErrorText } from "../../shared/pages/form-html.ts";
import * as formPages from "../../shared/pages/form-pages.ts";

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
    "cf-turnstile-response": z
      .string()
      .meta({ maxLength: 4096 })
      .optional()
      .describe("Token of Cloudflare Turnstile, for a form with that CAPTCHA."),
    "h-captcha-response": z
      .string()
      .meta({ maxLength: 4096 })
      .optional()
      .describe("Token of hCaptcha, for a form with that CAPTCHA."),
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
    errors: {
      400:
        "A field is missing or not valid: `details` names it. Or the CAPTCHA of the form is not " +
        "solved (`captcha_failed`).",
      409: inactiveError,
      503:
        "The form has a CAPTCHA, and its provider did not answer (`captcha_unavailable`). " +
        "Nothing was stored.",
    },
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
          ? formPages.renderFormPage({ ...shown, values })
          : formPages.renderFormClosedPage(shown);
      }),
  }),
  route("GET /forms/confirm/:token", "Get the page of a confirmation link", {
    operationId: "getFormConfirmationPage",
    description:
      "The page behind the link of a confirmation email, of a form or of a contact. It asks for " +
      "confirmation and changes nothing, because scanners open links. After 30 days it offers a " +
      "new email instead.",
    auth: "public",
    rateLimit: "address",
    answersHead: true,
    returns: z.string(),
    contentType: html,
    errors: { 404: "The link is not valid, or what it confirms was deleted." },
    handle: ({ params: { token }, request, reply }) =>
      orNotFoundPage(request, reply, async () =>
        confirmationPage(await doubleOptIn.findStatus(token), reply),
      ),
  }),
  route("POST /forms/confirm/:token", "Confirm by the link of a confirmation email", {
    operationId: "confirmFormSubmission",
    description:
      "Subscribes the contact and, for the link of a form, applies the form's tags, list, " +
      "sequence and points. With `action=renew`, sends the email of a link again that is older " +
      "than 30 days. Safe to repeat.",
    auth: "public",
    rateLimit: "address",
    rawBodyTypes: {
      "application/x-www-form-urlencoded": z.object({
        action: z
          .literal("renew")
          .optional()
          .describe("`renew`: sends the email of an expired link again."),
      }),
    },
    returns: z.string(),
    contentType: html,
    errors: { 404: "The link is not valid, or what it confirms was deleted." },
    handle: ({ params: { token }, request, reply }) =>
      orNotFoundPage(request, reply, async () => {
        const posted = new URLSearchParams(request.rawBody.toString("utf8"));
        return posted.get("action") === "renew"
          ? renewedPage(await doubleOptIn.renew(token), reply)
          : confirmationPage(await doubleOptIn.confirm(token, visitorOf(request)), reply);
      }),
  }),
]);
export const { handler } = publicForms;

type PublicForm = FormView & forms.FormWithDesign;

async function loadPublicForm(formId: number, request: ApiRequest): Promise<PublicForm> {
  const { form, design } = await forms.findPublicForm(formId);
  const brand = await getBrand(form);
  const language =
    design.language ??
    preferredLanguage(request.headers["accept-language"], brand?.language ?? undefined);
  return {
    form,
    design,
    brand,
    formId,
    language,
    captcha: captchaToApi(form.captcha),
    action: `${config.publicUrl}/api/v1/forms/${formId}/submit`,
  };
}

async function getBrand({ orgId, siteId }: PublicForm["form"]): Promise<Brand | null> {
  const site = await sites.find({ orgId }, siteId);
  return site.brand ?? null;
}

const isOpen = ({ form }: PublicForm): boolean => form.status === "active";
const embedScript = (publicForm: PublicForm): string => {
  const { formId, language, form } = publicForm;
  if (!isOpen(publicForm))
    return formEmbedScript.closedFormScript(formId, formPageWording[language].inactiveTitle);
  return formEmbedScript.formEmbedScript({
    ...publicForm,
    pending: form.doubleOptIn,
    redirectUrl: form.redirectUrl,
  });
};
const embedHtml = (publicForm: PublicForm): string =>
  isOpen(publicForm)
    ? formEmbedScript.formSnippet(publicForm)
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
  if (errors.length) return errors;
  const typeErrors = await findTypeErrors(form, design, entry);
  if (!typeErrors.length && !String(fields[honeypotField] ?? "")) {
    const { ip, userAgent } = visitorOf(request);
    await requireCaptcha(publicForm, fields, ip);
    const locale = design.language ?? preferredLocale(request.headers["accept-language"]);
    await submitForm(form, entry, { ip, userAgent, page: pageOf(request), language, locale });
  }
  return typeErrors;
}

/** Throws `captcha_failed` or `captcha_unavailable`, in the language of the form. */
async function requireCaptcha(
  { form, language }: PublicForm,
  fields: Record<string, unknown>,
  ip: string | undefined,
): Promise<void> {
  const { captcha } = form;
  if (!captcha) return;
  const token = fields[captchaProviders[captcha.provider].tokenField];
  const result = await verifyCaptcha({ ...form, captcha }, token, ip);
  const wording = formPageWording[language];
  if (result === "failed") throw invalid(wording.captchaFailed, { code: "captcha_failed" });
  if (result === "unavailable")
    throw unavailable(wording.captchaUnavailable, { code: "captcha_unavailable" });
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
  const { form, brand, language } = publicForm;
  if (!isOpen(publicForm)) {
    reply.status = 409;
    return formPages.renderFormClosedPage(publicForm);
  }
  const result = await submitIfValid(publicForm, fields, request).catch(toCaptchaProblem);
  if (result instanceof Problem || result.length) {
    reply.status = result instanceof Problem && result.kind === "unavailable" ? 503 : 400;
    const shown = result instanceof Problem ? { notice: result.message } : { errors: result };
    return formPages.renderFormPage({ ...publicForm, values: fields, ...shown });
  }
  // The URL parser writes ASCII on one line.
  if (form.redirectUrl !== null)
    Object.assign(reply, { status: 303 }).headers.location = new URL(form.redirectUrl).href;
  return form.doubleOptIn
    ? formPages.renderCheckInboxPage(language, brand)
    : formPages.renderThanksPage(publicForm);
}

/** A problem of the CAPTCHA. Throws any other error. */
function toCaptchaProblem(error: unknown): Problem {
  const isCaptcha = error instanceof Problem && error.code.startsWith("captcha_");
  if (!isCaptcha) throw error;
  return error;
}

/**
 * Lets other sites frame the pages of a form, and lets the form redirect to its `redirectUrl` and
 * load its CAPTCHA.
 */
function allowFraming(reply: ApiReply, { form, brand, language }: PublicForm): void {
  const { headers } = reply;
  headers["content-security-policy"] = framablePagePolicy({
    formTargets: form.redirectUrl === null ? [] : [new URL(form.redirectUrl).origin],
    widgetSources: form.captcha ? captchaProviders[form.captcha.provider].sources : [],
  });
  // Providers of CAPTCHAs check which site shows the widget.
  if (form.captcha) headers["referrer-policy"] = "strict-origin";
  Object.assign(headers, { "content-language": language, vary: "Accept-Language, Accept" });
  allowLogo(reply, brand ?? null);
}

function confirmationPage(status: doubleOptIn.OptInStatus, reply: ApiReply): string {
  allowLogo(reply, status.brand);
  return pagesByState[status.state](status.language as Language, status);
}

const pagesByState = {
  waiting: formPages.renderConfirmPage,
  confirmed: formPages.renderConfirmedPage,
  expired: formPages.renderExpiredPage,
};

/** The page after the button of an expired link. */
function renewedPage(status: doubleOptIn.OptInStatus, reply: ApiReply): string {
  if (status.state !== "expired") return confirmationPage(status, reply);
  allowLogo(reply, status.brand);
  return formPages.renderCheckInboxPage(status.language as Language, status.brand);
}

/** Answers a missing form with a page and 404. */
async function orNotFoundPage(
  request: ApiRequest,
  reply: ApiReply,
  work: () => Promise<string>,
): Promise<string> {
  const page = await work().catch(undefinedIfMissing);
  if (page !== undefined) return page;
  reply.status = 404;
  return formPages.renderInvalidLinkPage(preferredLanguage(request.headers["accept-language"]));
}
