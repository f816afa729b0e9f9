// Pages for people at the root: what this is, and the way back in for who forgot the password.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as accounts from "../../shared/domain/accounts.ts";
import { NewPassword } from "../../shared/domain/passwords.ts";
import { EmailAddress } from "../../shared/email.ts";
import { Problem, tooLarge } from "../../shared/errors.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { failure } from "../../shared/pages/failure.ts";
import { home } from "../../shared/pages/home.ts";
import * as resetPassword from "../../shared/pages/reset-password.ts";
import { type Language, languageOf } from "../../shared/pages/words.ts";

const page = { auth: "public", atRoot: true, returns: z.string(), type: "text/html; charset=utf-8" } as const;
const form = {
  "application/x-www-form-urlencoded": z
    .object({
      token: z.string().max(200).optional().describe("Of the mailed link"),
      password: NewPassword.optional().describe("With the token"),
      email: EmailAddress.optional().describe("Without one"),
    })
    .meta({ examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw", password: "a long pass phrase" }] }),
};
const maxBytes = 4096;

export const pages = group({ name: "pages", failurePage: failure }, [
  route("GET /", "What this is, and where its documentation is", {
    ...page,
    probed: true,
    handle: async () => home(config.homeLinks),
  }),
  route("GET /reset-password", "The page that a reset mail leads to; looking at it uses nothing up", {
    ...page,
    limit: "address",
    query: z.object({ token: z.string().max(200).optional() }),
    handle: async ({ query: { token }, request }) => {
      const language = languageOf(request.headers["accept-language"]);
      if (token === undefined) return resetPassword.request(language, "ask");
      return (await accounts.isResetOpen(token)) ? resetPassword.form(language, token) : resetPassword.request(language, "invalid");
    },
  }),
  route("POST /reset-password", "What its forms send: a new password with the token, or an address to mail a link to", {
    ...page,
    limit: "address",
    raw: form,
    errors: { 413: "The form is larger than 4 kB" },
    handle: async ({ request }) => {
      if (request.rawBody.length > maxBytes) throw tooLarge("The form is larger than 4 kB");
      const fields = new URLSearchParams(request.rawBody.toString("utf8"));
      const language = languageOf(request.headers["accept-language"]);
      return fields.has("token") ? reset(language, fields) : mail(language, fields);
    },
  }),
]);
export const { handler } = pages;

async function reset(language: Language, fields: URLSearchParams): Promise<string> {
  const token = (fields.get("token") ?? "").slice(0, 200);
  const { success, data, error } = NewPassword.safeParse(fields.get("password") ?? "");
  if (!success) {
    const common = error.issues.every(({ code }) => code === "custom");
    return resetPassword.form(language, token, common ? "common" : "tooShort");
  }
  try {
    await accounts.reset(token, data);
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_token") return resetPassword.request(language, "invalid");
    throw error;
  }
  return resetPassword.done(language);
}

/** Says the same whether there is such a user or not. */
async function mail(language: Language, fields: URLSearchParams): Promise<string> {
  const { success, data } = EmailAddress.safeParse(fields.get("email") ?? "");
  if (!success) return resetPassword.request(language, "ask", true);
  await accounts.requestReset(data);
  return resetPassword.sent(language);
}
