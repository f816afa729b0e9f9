// Forms as anybody meets them: on our page, in a customer's page, and behind the link of a mail.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as confirmations from "../../shared/domain/forms/confirmations.ts";
import { submit } from "../../shared/domain/forms/submitting.ts";
import { entered, trap } from "../../shared/domain/forms/values.ts";
import * as forms from "../../shared/domain/forms.ts";
import { conflict, invalid, unlessMissing } from "../../shared/errors.ts";
import { posted } from "../../shared/http/posted.ts";
import { openPolicy } from "../../shared/http/reply.ts";
import { type Extra, type Request, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { failure } from "../../shared/pages/failure.ts";
import { faultText, type Shown } from "../../shared/pages/form.ts";
import * as pages from "../../shared/pages/form-pages.ts";
import * as scripts from "../../shared/pages/form-script.ts";
import { type Language, languageOf, words } from "../../shared/pages/words.ts";

const html = "text/html; charset=utf-8";
const closed = "The form is not active (`form_inactive`)";
const perMinute = "At most 60 a minute from one client address (setting `ADDRESS_LIMIT_PER_MINUTE`)";

const Given = z
  .looseObject({
    email: z.string().describe("Of whoever submits; or under the name that the form's own field has"),
    firstName: z.string().optional(),
    lastName: z.string().optional(),
    fields: z.record(z.string(), z.unknown()).optional().describe("Further fields by name; they may as well stand beside the others"),
    [trap]: z.string().optional().describe("Nobody sees this field: where it is filled, nothing is stored, and the answer is as ever"),
  })
  .meta({ examples: [{ email: "ada@example.com", firstName: "Ada" }] });

export const publicForms = group({ name: "public-forms", failurePage: failure }, [
  route("POST /forms/:id/submit", `Submit a form. ${perMinute}. A browser that posts a form gets a page, or is sent on to redirectUrl`, {
    auth: "public",
    limit: "address",
    cors: true,
    raw: { "application/json": Given, "application/x-www-form-urlencoded": Given, "multipart/form-data": Given },
    returns: z.object({ submitted: z.literal(true), pending: z.boolean().describe("A mail asks to confirm; until then nothing happens") }),
    errors: { 400: "A field is missing or wrong; `details` names it", 409: closed },
    handle: async ({ params, request, reply }) => (isBrowser(request) ? fromPage : fromScript)(params.id, request, reply),
  }),
  route(
    "GET /forms/:id/embed",
    "The script that puts the form into a page, where it stands; with `format=html` the form as html to paste",
    {
      auth: "public",
      cors: true,
      query: z.object({ format: z.enum(["js", "html"]).default("js") }),
      returns: z.string(),
      type: "application/javascript; charset=utf-8",
      errors: { 404: "There is no such form" },
      handle: async ({ params, query: { format }, request, reply }) => {
        const shown = await shownTo(params.id, request);
        Object.assign(reply.headers, { "cache-control": "public, max-age=300", vary: "Accept-Language" });
        if (format === "html") reply.page = snippet(shown);
        return script(shown);
      },
    },
  ),
  route("GET /forms/:id/page", "The form as a page of its own, which others may frame; what the query names is filled in", {
    auth: "public",
    probed: true,
    returns: z.string(),
    type: html,
    errors: { 404: "There is no such form" },
    handle: ({ params, request, reply }) =>
      orUnknown(request, reply, async () => {
        const shown = await shownTo(params.id, request);
        policed(reply, shown);
        const values = Object.fromEntries(new URLSearchParams(request.queryString));
        return isOpen(shown) ? pages.formPage({ ...shown, values }) : pages.closed(shown.language);
      }),
  }),
  route("GET /forms/confirm/:token", "The page that the mailed link opens: it asks, and changes nothing", {
    auth: "public",
    limit: "address",
    probed: true,
    returns: z.string(),
    type: html,
    errors: { 404: "The link is not one of ours, or older than 30 days" },
    handle: ({ params: { token }, request, reply }) => orUnknown(request, reply, async () => confirmPage(await confirmations.find(token))),
  }),
  route(
    "POST /forms/confirm/:token",
    "What its button sends: the submission is confirmed, and all that waited for it is done. Safe to repeat",
    {
      auth: "public",
      limit: "address",
      raw: { "application/x-www-form-urlencoded": z.object({}) },
      returns: z.string(),
      type: html,
      errors: { 404: "The link is not one of ours, or older than 30 days" },
      handle: ({ params: { token }, request, reply }) =>
        orUnknown(request, reply, async () => confirmPage(await confirmations.confirm(token, visitor(request)))),
    },
  ),
]);
export const { handler } = publicForms;

type Opened = Shown & forms.Open;

async function shownTo(formId: number, request: Request): Promise<Opened> {
  const { form, design } = await forms.open(formId);
  const language = design.language ?? languageOf(request.headers["accept-language"]);
  return { form, design, formId, language, action: `${config.publicUrl}/api/v1/forms/${formId}/submit` };
}

const isOpen = ({ form }: Opened): boolean => form.status === "active";
const script = (shown: Opened): string => {
  const { formId, language, form } = shown;
  if (!isOpen(shown)) return scripts.closedScript(formId, words[language].inactiveTitle);
  return scripts.script({ ...shown, pending: form.doubleOptIn, redirectUrl: form.redirectUrl });
};
const snippet = (shown: Opened): string => (isOpen(shown) ? scripts.snippet(shown) : `<p>${words[shown.language].inactiveTitle}</p>\n`);

/** A page that was posted by a browser, not by its script. */
const isBrowser = ({ headers }: Request): boolean =>
  !/\bjson\b/i.test(headers["content-type"] ?? "") && /\btext\/html\b/i.test(headers.accept ?? "");

async function taken(shown: Opened, given: Record<string, unknown>, request: Request) {
  const { form, design, language } = shown;
  const { wrong, entry } = entered(design, given);
  if (!wrong.length && !String(given[trap] ?? "")) {
    const { ip, userAgent } = visitor(request);
    await submit(form, entry, { ip, userAgent, page: pageOf(request), language });
  }
  return wrong;
}

const visitor = ({ address, headers }: Request) => ({ ip: address, userAgent: headers["user-agent"] });
/** Without what follows the question mark, which may be anything. */
const pageOf = ({ headers }: Request): string | undefined => (headers.referer ?? headers.origin)?.split(/[?#]/)[0];

async function fromScript(formId: number, request: Request) {
  const given = await posted(request);
  const shown = await shownTo(formId, request);
  if (!isOpen(shown)) throw conflict("The form takes no entries at the moment", { code: "form_inactive" });
  const wrong = await taken(shown, given, request);
  const details = wrong.map((one) => ({ path: one.field.name, message: faultText(shown.language, shown.design, one) }));
  if (details[0]) throw invalid(details[0].message, { details });
  return { submitted: true as const, pending: shown.form.doubleOptIn };
}

async function fromPage(formId: number, request: Request, reply: Extra) {
  reply.page = await orUnknown(request, reply, async () => {
    const given = await posted(request);
    const shown = await shownTo(formId, request);
    policed(reply, shown);
    return answerPage(shown, given, request, reply);
  });
  return { submitted: true as const, pending: false };
}

async function answerPage(shown: Opened, given: Record<string, unknown>, request: Request, reply: Extra): Promise<string> {
  const { form, design, language } = shown;
  if (!isOpen(shown)) {
    reply.status = 409;
    return pages.closed(language);
  }
  const wrong = await taken(shown, given, request);
  if (wrong.length) {
    reply.status = 400;
    return pages.formPage({ ...shown, values: given, wrong });
  }
  // As the parser writes it: in ASCII, and of one line.
  if (form.redirectUrl !== null) Object.assign(reply, { status: 303 }).headers.location = new URL(form.redirectUrl).href;
  return form.doubleOptIn ? pages.pending(language) : pages.thanks(language, design.successMessage);
}

/** Our pages of a form may be framed by others, and lead on to where the form says. */
function policed({ headers }: Extra, { form, language }: Opened): void {
  headers["content-security-policy"] = openPolicy(form.redirectUrl === null ? [] : [new URL(form.redirectUrl).origin]);
  Object.assign(headers, { "content-language": language, vary: "Accept-Language, Accept" });
}

const confirmPage = (standing: confirmations.Standing): string => {
  const language = standing.language as Language;
  return (standing.confirmed ? pages.confirmed : pages.confirming)(language, standing);
};

/** What is not there is said on a page, too. */
async function orUnknown(request: Request, reply: Extra, work: () => Promise<string>): Promise<string> {
  const page = await work().catch(unlessMissing);
  if (page !== undefined) return page;
  reply.status = 404;
  return pages.unknown(languageOf(request.headers["accept-language"]));
}
