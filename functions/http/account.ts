import * as z from "zod";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { mfaMethods } from "../../shared/domain/identity/mfa/second-factors.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as passwords from "../../shared/domain/identity/passwords.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import * as cookies from "../../shared/http/session-cookie.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { RecordId } from "../../shared/kernel/record-fields.ts";

const Profile = accounts.AccountProfile;
const SecondFactorRequired = z.object({
  mfaRequired: z.literal(true).describe("Always true: the login waits for a second factor."),
  mfaToken: z.string().describe("Token for POST /mfa/verify. Expires after 10 minutes."),
  methods: z
    .array(z.enum(mfaMethods))
    .describe(
      "Second factors that the user has. For `email_otp`, POST /mfa/challenge emails a code. " +
        "Recovery codes always work.",
    ),
});
const tooManyFailures =
  "Too many failed logins: 10 per account in 15 minutes, or `LOGIN_FAILURES_PER_ADDRESS` " +
  "(50) per client address.";

export const account = routeGroup("account", [
  route("POST /auth/signup", "Sign up", {
    operationId: "signUp",
    description:
      "Creates a user, an organization and a session, and sets the session cookie. The " +
      "organization starts on the plan that the setting `DEFAULT_PLAN` names. The setting " +
      "`SIGNUP` decides who may sign up.",
    auth: "public",
    rateLimit: "address",
    body: signups.NewAccount,
    returns: Profile,
    status: 201,
    errors: {
      403: "The setting `SIGNUP` does not allow this sign-up (`signup_closed`).",
      409: "An account with this email address exists (`email_taken`).",
    },
    handle: async ({ body, reply }) => {
      const { token, ...profile } = await signups.signUp(body);
      reply.cookies.push(cookies.createSessionCookie(token));
      return profile;
    },
  }),
  route("POST /auth/login", "Log in", {
    operationId: "logIn",
    description:
      "Sets the session cookie and returns the user. If the user has a second factor, " +
      "returns an `mfaToken` and sets no cookie: complete the login with POST /mfa/verify.",
    auth: "public",
    rateLimit: "address",
    body: z.object({
      email: z.string().min(1).max(254).describe("Email address of the user, ignoring case."),
      password: passwords.PasswordInput.describe("Password of the user."),
    }),
    returns: z.union([
      Profile.describe("The user is logged in, and the session cookie is set."),
      SecondFactorRequired.describe("The user has a second factor: no cookie is set yet."),
    ]),
    errors: {
      401: "The email address or the password is wrong. The response is the same in both cases.",
      429: tooManyFailures,
    },
    handle: async ({ body, request, reply }) => {
      const loginResult = await accounts.logIn(body, request.clientIp);
      if ("mfaRequired" in loginResult) return loginResult;
      const { token, ...profile } = loginResult;
      reply.cookies.push(cookies.createSessionCookie(token));
      return profile;
    },
  }),
  route("POST /auth/logout", "Log out", {
    operationId: "logOut",
    description: "Ends the session and clears the session cookie.",
    auth: "session",
    returns: z.object({
      loggedOut: z.literal(true).describe("Always true: the session has ended."),
    }),
    handle: async ({ caller, reply }) => {
      await accounts.logOut(caller);
      reply.cookies.push(cookies.expiredSessionCookie);
      return { loggedOut: true as const };
    },
  }),
  route("GET /auth/me", "Get the caller's identity", {
    operationId: "getCallerIdentity",
    description:
      "Returns the user and organization that the credential belongs to, the kind of " +
      "credential, its site and its scopes.",
    level: "site",
    returns: Profile.extend({
      auth: z
        .object({
          kind: z.enum(["session", "api_key"]).describe("Kind of the credential."),
          siteId: RecordId.nullable().describe("Site that the API key is bound to, or `null`."),
          scopes: z
            .array(z.string())
            .describe(
              "What the credential may do: `*` for everything, or scopes such as " +
                "`contacts:read`. A session has `*`.",
            ),
        })
        .describe("The credential of the request."),
    }),
    handle: async ({ caller }) => {
      const { kind, siteId = null, scopes } = caller;
      return { ...(await accounts.getProfile(caller)), auth: { kind, siteId, scopes } };
    },
  }),
  route("POST /auth/forgot-password", "Request a password reset email", {
    operationId: "requestPasswordReset",
    description:
      "Emails a link that works once and expires after one hour. The response is the same " +
      "whether or not the user exists.",
    auth: "public",
    rateLimit: "address",
    body: z.object({ email: EmailAddress.describe("Email address of the user.") }),
    returns: z.object({
      sent: z.literal(true).describe("Always true, whether or not the user exists."),
    }),
    handle: async ({ body }) => {
      await accounts.requestPasswordReset(body.email);
      return { sent: true as const };
    },
  }),
  route("POST /auth/reset-password", "Reset the password with an emailed token", {
    operationId: "resetPassword",
    description:
      "Sets a new password and ends every session of the user. The token works once and " +
      "expires after one hour.",
    auth: "public",
    rateLimit: "address",
    body: z.object({
      token: z.string().min(1).max(200).describe("Token of the link in the email."),
      password: passwords.NewPassword.describe(
        "New password. 8 to 200 characters. The most common passwords are refused.",
      ),
    }),
    returns: z.object({ reset: z.literal(true).describe("Always true: the new password is set.") }),
    handle: async ({ body }) => {
      await accounts.resetPassword(body.token, body.password);
      return { reset: true as const };
    },
  }),

  route("GET /api-keys", "List API keys", {
    description:
      "Returns the API keys of the organization, newest first. The keys themselves are not " +
      "returned.",
    query: PageQuery,
    returns: pagedSchema("apiKeys", apiKeys.ApiKey),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await apiKeys.list(caller, query);
      return { apiKeys: items, pagination };
    },
  }),
  route("POST /api-keys", "Create an API key", {
    description:
      "Returns the full key once, in `key`. Only its SHA-256 hash is stored: a lost key must " +
      "be revoked and replaced.",
    auth: "session",
    body: apiKeys.NewApiKey,
    returns: apiKeys.ApiKey.extend({
      key: z.string().describe("The full key. It is returned only here."),
    }).meta({ id: "ApiKeyWithKey" }),
    status: 201,
    fieldsShownOnce: ["key"],
    errors: { 404: "The site does not exist." },
    handle: ({ caller, body }) => apiKeys.create(caller, body),
  }),
  route("DELETE /api-keys/:id", "Revoke an API key", {
    description: "Requests with this key get 401 within 5 seconds.",
    auth: "session",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await apiKeys.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),

  route("GET /settings", "Get the current user and organization", {
    returns: Profile,
    handle: ({ caller }) => accounts.getProfile(caller),
  }),
  route("PUT /settings/password", "Change the password", {
    operationId: "changePassword",
    description:
      "Sets a new password and ends the user's other sessions. Wrong values of " +
      "`currentPassword` count as failed logins.",
    auth: "session",
    body: z.object({
      currentPassword: passwords.PasswordInput.describe("Current password of the user."),
      newPassword: passwords.NewPassword.describe(
        "New password. 8 to 200 characters. The most common passwords are refused.",
      ),
    }),
    returns: z.object({
      changed: z.literal(true).describe("Always true: the new password is set."),
    }),
    errors: { 429: tooManyFailures },
    handle: async ({ caller, body }) => {
      await accounts.changePassword(caller, body);
      return { changed: true as const };
    },
  }),
  route("PUT /settings/org", "Update the organization", {
    operationId: "updateOrganization",
    description: "Updates the given fields.",
    body: organizations.OrganizationChanges,
    returns: organizations.Organization,
    handle: ({ caller, body }) => organizations.change(caller, body),
  }),
]);
export const { handler } = account;
