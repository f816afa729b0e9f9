// The page behind the link of an invitation mail.
import * as z from "zod";
import type { OpenedSession } from "../../shared/domain/identity/accounts.ts";
import * as invitationAcceptance from "../../shared/domain/identity/invitation-acceptance.ts";
import * as invitationLinks from "../../shared/domain/identity/invitation-links.ts";
import * as mfaLogin from "../../shared/domain/identity/mfa/mfa-login.ts";
import { minPasswordLength } from "../../shared/domain/identity/passwords.ts";
import { loginUrlOf } from "../../shared/domain/identity/sso/enforcement.ts";
import { type Language, preferredLanguage } from "../../shared/email/languages.ts";
import { Problem, tooLarge } from "../../shared/errors.ts";
import { requireSameOrigin } from "../../shared/http/authenticate.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import * as sessionCookie from "../../shared/http/session-cookie.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import * as pages from "../../shared/pages/invitation-pages.ts";

const pageRoute = {
  auth: "public",
  atRoot: true,
  rateLimit: "address",
  returns: z.string(),
  contentType: "text/html; charset=utf-8",
} as const;
const Token = z.string().max(200).describe("Token of the mailed link.");
const formTypes = {
  "application/x-www-form-urlencoded": z
    .object({
      token: Token,
      password: z
        .string()
        .max(200)
        .optional()
        .describe("Password of the account, or of a new one."),
      name: z.string().max(200).optional().describe("Name of a new user."),
      mfaToken: z.string().max(200).optional().describe("Token of a login with a second factor."),
      code: z.string().max(50).optional().describe("Second factor. Give it with `mfaToken`."),
    })
    .meta({
      examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw", password: "a long pass phrase" }],
    }),
};
const maxBytes = 4096;

export const invitationPages = routeGroup(
  { name: "invitation-pages", errorPage: renderErrorPage },
  [
    route("GET /accept-invitation", "Get the invitation page", {
      operationId: "getInvitationPage",
      description:
        "The page behind the link of an invitation mail. Opening it does not use up the token.",
      ...pageRoute,
      query: z.object({ token: Token.optional() }),
      handle: async ({ query: { token = "" }, request }) =>
        renderForm(preferredLanguage(request.headers["accept-language"]), token),
    }),
    route("POST /accept-invitation", "Submit the invitation page", {
      operationId: "submitInvitationPage",
      description:
        "Called by the form of that page. Accepts the invitation and sets the session cookie, or " +
        "asks for the second factor.",
      ...pageRoute,
      rawBodyTypes: formTypes,
      errors: {
        403: "The form was sent by a page of another origin (`origin_forbidden`).",
        413: "The form is larger than 4 KB.",
      },
      handle: async ({ request, reply }) => {
        if (request.rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 KB");
        // The page logs in, so a page of somebody else must not send it.
        requireSameOrigin(request);
        const language = preferredLanguage(request.headers["accept-language"]);
        const fields = readFields(request);
        return fields.mfaToken
          ? submitCode({ language, fields, request, reply })
          : submitPassword({ language, fields, request, reply });
      },
    }),
  ],
);
export const { handler } = invitationPages;

interface FormFields {
  token: string;
  password: string;
  name: string;
  mfaToken: string;
  code: string;
  mailed: string;
}

function readFields({ rawBody }: ApiRequest): FormFields {
  const form = new URLSearchParams(rawBody.toString("utf8"));
  const field = (name: keyof FormFields) => (form.get(name) ?? "").slice(0, 200);
  return {
    token: field("token"),
    password: field("password"),
    name: field("name"),
    mfaToken: field("mfaToken"),
    code: field("code"),
    mailed: field("mailed"),
  };
}

interface Submission {
  language: Language;
  fields: FormFields;
  request: ApiRequest;
  reply: ApiReply;
}

async function renderForm(
  language: Language,
  token: string,
  refusal?: pages.Refusal,
): Promise<string> {
  const invitation = await invitationLinks.findByToken(token);
  return invitation
    ? pages.renderInvitationPage(language, token, { ...invitation, refusal })
    : pages.renderInvitationRefusedPage(language, "invalid");
}

async function submitPassword(submission: Submission): Promise<string> {
  const { language, fields, request, reply } = submission;
  const { token, password } = fields;
  const input = invitationAcceptance.Acceptance.safeParse({
    token,
    password,
    name: fields.name.trim() || null,
  });
  if (!input.success) return renderForm(language, token, "tooShort");
  try {
    const accepted = await invitationAcceptance.accept(
      input.data,
      sessionCookie.sessionClientOf(request),
    );
    if (!("mfaRequired" in accepted)) return finish(language, accepted, reply);
    const { mfaToken, methods } = accepted;
    const mailed = !methods.includes("totp");
    if (mailed) await mfaLogin.requestCode(mfaToken);
    return pages.renderInvitationCodePage(language, { token, mfaToken, mailed });
  } catch (error) {
    return renderRefusal(submission, error, (refusal) => renderForm(language, token, refusal));
  }
}

async function submitCode(submission: Submission): Promise<string> {
  const { language, fields, request, reply } = submission;
  const { token, mfaToken, code } = fields;
  const mailed = fields.mailed !== "";
  try {
    const opened = await mfaLogin.verifyLogin(
      { mfaToken, code },
      sessionCookie.sessionClientOf(request),
    );
    return finish(language, opened, reply);
  } catch (error) {
    // After five wrong codes the login starts again.
    if (error instanceof Problem && error.kind === "unauthenticated" && error.code !== "wrong_code")
      return renderForm(language, token, "wrongCode");
    return renderRefusal(submission, error, async (refusal) =>
      pages.renderInvitationCodePage(language, { token, mfaToken, mailed, refusal }),
    );
  }
}

function finish(
  language: Language,
  { token, organization, organizations }: OpenedSession,
  reply: ApiReply,
): string {
  const joined = organizations.find(({ id }) => id === organization.id);
  if (joined?.requiresSso)
    return pages.renderInvitationAcceptedPage(language, joined.name, loginUrlOf(joined.id));
  reply.cookies.push(sessionCookie.createSessionCookie(token));
  return pages.renderInvitationAcceptedPage(language, organization.name);
}

/** Shows the form again if the user can mend the error. */
async function renderRefusal(
  { language, fields }: Submission,
  error: unknown,
  again: (refusal: pages.Refusal) => Promise<string>,
): Promise<string> {
  if (!(error instanceof Problem)) throw error;
  const { kind, code } = error;
  if (code === "invalid_token") return pages.renderInvitationRefusedPage(language, "invalid");
  if (code === "already_member") return pages.renderInvitationRefusedPage(language, "already");
  if (code === "wrong_code") return again("wrongCode");
  if (kind === "unauthenticated") return again("wrongPassword");
  if (kind === "limited") return again("tooMany");
  if (kind !== "invalid") throw error;
  return again(fields.password.length < minPasswordLength ? "tooShort" : "weak");
}
