import * as z from "zod";
import * as accounts from "../../shared/domain/accounts.ts";
import * as apiKeys from "../../shared/domain/api-keys.ts";
import { methods } from "../../shared/domain/mfa/second-factors.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import * as passwords from "../../shared/domain/passwords.ts";
import * as signups from "../../shared/domain/signups.ts";
import { EmailAddress } from "../../shared/email.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import * as cookies from "../../shared/http/session-cookie.ts";

const Profile = z.object({ user: accounts.User, organization: organizations.Organization });
const SecondFactorNeeded = z.object({
  mfaRequired: z.literal(true),
  mfaToken: z.string().describe("For POST /mfa/verify; lives 10 minutes"),
  methods: z.array(z.enum(methods)).describe("`email_otp`: POST /mfa/challenge mails a code; recovery codes work too"),
});
const tooManyFailures =
  "Too many failures: 10 per account in 15 minutes, or the setting LOGIN_FAILURES_PER_ADDRESS (50) per client address";

export const account = group("account", [
  route("POST /auth/signup", "Create an account: a user, an organization and a session", {
    auth: "public",
    limit: "address",
    body: signups.NewAccount,
    returns: Profile,
    status: 201,
    errors: { 403: "Signups are closed", 409: "The email is taken" },
    handle: async ({ body, reply }) => {
      const { token, ...profile } = await signups.signup(body);
      reply.cookies.push(cookies.begun(token));
      return profile;
    },
  }),
  route("POST /auth/login", "Log in: sets the session cookie, or asks for the second factor of a user who has one", {
    auth: "public",
    limit: "address",
    body: z.object({ email: z.string().min(1).max(254), password: passwords.GivenPassword }),
    returns: z.union([
      Profile.describe("Logged in: the cookie is set"),
      SecondFactorNeeded.describe("The user has a second factor: no cookie yet"),
    ]),
    errors: { 401: "The email is unknown or the password wrong", 429: tooManyFailures },
    handle: async ({ body, request, reply }) => {
      const opened = await accounts.login(body, request.address);
      if ("mfaRequired" in opened) return opened;
      const { token, ...profile } = opened;
      reply.cookies.push(cookies.begun(token));
      return profile;
    },
  }),
  route("POST /auth/logout", "End this session", {
    auth: "session",
    returns: z.object({ loggedOut: z.literal(true) }),
    handle: async ({ caller, reply }) => {
      await accounts.logout(caller);
      reply.cookies.push(cookies.ended);
      return { loggedOut: true as const };
    },
  }),
  route("GET /auth/me", "Who is asking, and with what rights", {
    level: "site",
    returns: Profile.extend({
      auth: z.object({ kind: z.enum(["session", "api_key"]), siteId: z.int().nullable(), scopes: z.array(z.string()) }),
    }),
    handle: async ({ caller }) => {
      const { kind, siteId = null, scopes } = caller;
      return { ...(await accounts.profile(caller)), auth: { kind, siteId, scopes } };
    },
  }),
  route("POST /auth/forgot-password", "Mail a link to reset the password, if there is such a user", {
    auth: "public",
    limit: "address",
    body: z.object({ email: EmailAddress }),
    returns: z.object({ sent: z.literal(true).describe("Whether or not there is such a user") }),
    handle: async ({ body }) => {
      await accounts.requestReset(body.email);
      return { sent: true as const };
    },
  }),
  route("POST /auth/reset-password", "Set a new password with the token of a reset mail; ends every session of the user", {
    auth: "public",
    limit: "address",
    body: z.object({ token: z.string().min(1).max(200), password: passwords.NewPassword }),
    returns: z.object({ reset: z.literal(true) }),
    handle: async ({ body }) => {
      await accounts.reset(body.token, body.password);
      return { reset: true as const };
    },
  }),

  route("GET /api-keys", "List the organization's API keys", {
    query: PageQuery,
    returns: paged("apiKeys", apiKeys.ApiKey),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await apiKeys.list(caller, query);
      return { apiKeys: items, pagination };
    },
  }),
  route("POST /api-keys", "Create an API key; the key itself is shown this once", {
    auth: "session",
    body: apiKeys.NewApiKey,
    returns: apiKeys.ApiKey.extend({ key: z.string() }).meta({ id: "ApiKeyWithKey" }),
    status: 201,
    once: ["key"],
    errors: { 404: "There is no such site" },
    handle: ({ caller, body }) => apiKeys.create(caller, body),
  }),
  route("DELETE /api-keys/:id", "Revoke an API key", {
    auth: "session",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await apiKeys.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),

  route("GET /settings", "The current user and the organization", {
    returns: Profile,
    handle: ({ caller }) => accounts.profile(caller),
  }),
  route("PUT /settings/password", "Change the password; ends the user's other sessions", {
    auth: "session",
    body: z.object({ currentPassword: passwords.GivenPassword, newPassword: passwords.NewPassword }),
    returns: z.object({ changed: z.literal(true) }),
    errors: { 429: tooManyFailures },
    handle: async ({ caller, body }) => {
      await accounts.changePassword(caller, body);
      return { changed: true as const };
    },
  }),
  route("PUT /settings/org", "Change the organization's name or time zone", {
    body: organizations.OrganizationChanges,
    returns: organizations.Organization,
    handle: ({ caller, body }) => organizations.change(caller, body),
  }),
]);
export const { handler } = account;
