// Pages at the root: the home page and the password reset.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as emailVerification from "../../shared/domain/identity/email-verification.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import { NewPassword } from "../../shared/domain/identity/passwords.ts";
import { type Language, preferredLanguage } from "../../shared/email/languages.ts";
import { Problem, tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import * as emailVerificationPages from "../../shared/pages/email-verification-pages.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import { renderHomePage } from "../../shared/pages/home-page.ts";
import * as passwordResetPages from "../../shared/pages/password-reset-pages.ts";

const pageRoute = {
  auth: "public",
  atRoot: true,
  returns: z.string(),
  contentType: "text/html; charset=utf-8",
} as const;
const resetFormTypes = {
  "application/x-www-form-urlencoded": z
    .object({
      token: z
        .string()
        .max(200)
        .optional()
        .describe("Token of the emailed link. Give it together with `password`."),
      password: NewPassword.optional().describe("New password."),
      revokeApiKeys: z
        .literal("yes")
        .optional()
        .describe("Also revokes the API keys that the user created."),
      email: EmailAddress.optional().describe(
        "Email address to send a new link to, without `token`.",
      ),
    })
    .meta({
      examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw", password: "a long pass phrase" }],
    }),
};
const maxBytes = 4096;

export const publicPages = routeGroup({ name: "public-pages", errorPage: renderErrorPage }, [
  route("GET /", "Get the home page", {
    operationId: "getHomePage",
    ...pageRoute,
    answersHead: true,
    handle: async () => renderHomePage(config.homeLinks),
  }),
  route("GET /verify-email", "Get the email verification page", {
    operationId: "getVerificationPage",
    description: "The page behind the link of a sign-up. Opening it does not use up the token.",
    ...pageRoute,
    rateLimit: "address",
    query: z.object({
      token: z.string().max(200).optional().describe("Token of the emailed link."),
    }),
    handle: async ({ query: { token = "" }, request }) => {
      const language = preferredLanguage(request.headers["accept-language"]);
      const address = await emailVerification.findAddress(token);
      return address === undefined
        ? emailVerificationPages.renderVerifiedPage(language, "invalid")
        : emailVerificationPages.renderVerifyPage(language, token, address);
    },
  }),
  route("POST /verify-email", "Submit the email verification page", {
    operationId: "submitVerificationPage",
    description: "Called by the form of that page. Verifies the address.",
    ...pageRoute,
    rateLimit: "address",
    rawBodyTypes: {
      "application/x-www-form-urlencoded": z
        .object({ token: z.string().max(200).describe("Token of the emailed link.") })
        .meta({ examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw" }] }),
    },
    errors: { 413: "The form is larger than 4 KB." },
    handle: async ({ request }) => {
      if (request.rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 KB");
      const language = preferredLanguage(request.headers["accept-language"]);
      const fields = new URLSearchParams(request.rawBody.toString("utf8"));
      const token = (fields.get("token") ?? "").slice(0, 200);
      return emailVerificationPages.renderVerifiedPage(language, await tryVerify(token));
    },
  }),
  route("GET /reset-password", "Get the password reset page", {
    operationId: "getPasswordResetPage",
    description: "The page behind the link of a reset email. Opening it does not use up the token.",
    ...pageRoute,
    rateLimit: "address",
    query: z.object({
      token: z.string().max(200).optional().describe("Token of the emailed link."),
    }),
    handle: async ({ query: { token }, request }) => {
      const language = preferredLanguage(request.headers["accept-language"]);
      if (token === undefined) return passwordResetPages.renderResetRequestPage(language, "ask");
      return renderNewPassword(language, token);
    },
  }),
  route("POST /reset-password", "Submit the password reset page", {
    operationId: "submitPasswordResetPage",
    description:
      "Called by the forms of that page, with `token` and `password` to set a new password, " +
      "or with `email` to request another link.",
    ...pageRoute,
    rateLimit: "address",
    rawBodyTypes: resetFormTypes,
    errors: { 413: "The form is larger than 4 KB." },
    handle: async ({ request }) => {
      if (request.rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 KB");
      const fields = new URLSearchParams(request.rawBody.toString("utf8"));
      const language = preferredLanguage(request.headers["accept-language"]);
      return fields.has("token")
        ? handleResetForm(language, fields)
        : handleRequestForm(language, fields);
    },
  }),
]);
export const { handler } = publicPages;

async function tryVerify(token: string): Promise<"done" | "invalid"> {
  try {
    await emailVerification.verify(token);
    return "done";
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_token") return "invalid";
    throw error;
  }
}

async function renderNewPassword(
  language: Language,
  token: string,
  refusal?: passwordResetPages.PasswordRefusal,
): Promise<string> {
  const apiKeys = await passwordChanges.listKeysOfReset(token);
  return apiKeys
    ? passwordResetPages.renderNewPasswordPage(language, token, { apiKeys, refusal })
    : passwordResetPages.renderResetRequestPage(language, "invalid");
}

async function handleResetForm(language: Language, fields: URLSearchParams): Promise<string> {
  const token = (fields.get("token") ?? "").slice(0, 200);
  const { success, data } = NewPassword.safeParse(fields.get("password") ?? "");
  if (!success) return renderNewPassword(language, token, "tooShort");
  try {
    await passwordChanges.resetPassword(token, data, {
      revokeApiKeys: fields.has("revokeApiKeys"),
    });
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_token")
      return passwordResetPages.renderResetRequestPage(language, "invalid");
    if (error instanceof Problem && error.details?.[0]?.path === "password")
      return renderNewPassword(language, token, "weak");
    throw error;
  }
  return passwordResetPages.renderPasswordSetPage(language);
}

/** The response is the same whether or not the user exists. */
async function handleRequestForm(language: Language, fields: URLSearchParams): Promise<string> {
  const { success, data } = EmailAddress.safeParse(fields.get("email") ?? "");
  if (!success) return passwordResetPages.renderResetRequestPage(language, "ask", true);
  await passwordChanges.requestPasswordReset(data);
  return passwordResetPages.renderLinkSentPage(language);
}
