import * as z from "zod";
import { onlyOrgIdOf, onlySiteIdOf } from "../../shared/caller.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as emailVerification from "../../shared/domain/identity/email-verification.ts";
import * as memberCredentials from "../../shared/domain/identity/member-credentials.ts";
import * as members from "../../shared/domain/identity/members.ts";
import { isOperator } from "../../shared/domain/identity/operators.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import * as passwords from "../../shared/domain/identity/passwords.ts";
import * as sessions from "../../shared/domain/identity/sessions.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import {
  listOrganizations,
  UserOrganization,
} from "../../shared/domain/identity/user-organizations.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Profile,
  SecondFactorRequired,
  Session,
  tooManyFailures,
} from "../../shared/http/login-responses.ts";
import { Deleted, MailedToken, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import * as sessionCookie from "../../shared/http/session-cookie.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { Id, RecordId } from "../../shared/kernel/record-fields.ts";

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
    returns: Session,
    status: 201,
    errors: {
      403: "The setting `SIGNUP` does not allow this sign-up (`signup_closed`).",
      409: "An account with this email address exists (`email_taken`).",
    },
    handle: async ({ body, request, reply }) => {
      const { token, ...profile } = await signups.signUp(
        body,
        sessionCookie.sessionClientOf(request),
      );
      reply.cookies.push(sessionCookie.createSessionCookie(token));
      return profile;
    },
  }),
  route("GET /auth/signup", "Get whether sign-up is open", {
    operationId: "getSignupState",
    description:
      "Tells a sign-in page whether it can offer a sign-up. The setting `SIGNUP` decides: " +
      "everyone, only the first organization, or nobody.",
    auth: "public",
    rateLimit: "address",
    returns: signups.SignupState,
    handle: () => signups.getState(),
  }),
  route("POST /auth/login", "Log in", {
    operationId: "logIn",
    description:
      "Sets the session cookie and returns the user. The session belongs to the organization " +
      "that the user used last: POST /auth/switch changes it. If the user has a second factor, " +
      "returns an `mfaToken` and sets no cookie: complete the login with POST /mfa/verify.",
    auth: "public",
    rateLimit: "address",
    body: z.object({
      email: z.string().min(1).max(254).describe("Email address of the user, ignoring case."),
      password: passwords.PasswordInput.describe("Password of the user."),
    }),
    returns: z.union([
      Session.describe("The user is logged in, and the session cookie is set."),
      SecondFactorRequired.describe("The user has a second factor: no cookie is set yet."),
    ]),
    errors: {
      401: "The email address or the password is wrong. The response is the same in both cases.",
      403:
        "The user is not a member of any organization (`no_organization`), or only of some that " +
        "require single sign-on (`sso_required`: open `ssoUrl` of the response in a browser).",
      429: tooManyFailures,
    },
    handle: async ({ body, request, reply }) => {
      const loginResult = await accounts.logIn(body, sessionCookie.sessionClientOf(request));
      if ("mfaRequired" in loginResult) return loginResult;
      const { token, ...profile } = loginResult;
      reply.cookies.push(sessionCookie.createSessionCookie(token));
      return profile;
    },
  }),
  route("POST /auth/logout", "Log out", {
    operationId: "logOut",
    description: "Ends the session and clears the session cookie.",
    auth: "session",
    level: "site",
    returns: z.object({
      loggedOut: z.literal(true).describe("Always true: the session has ended."),
    }),
    handle: async ({ caller, reply }) => {
      await accounts.logOut(caller);
      reply.cookies.push(sessionCookie.expiredSessionCookie);
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
      organizations: z
        .array(UserOrganization)
        .describe(
          "All organizations of the user. Empty for an API key. Only its own for a session of " +
            "single sign-on.",
        ),
      auth: z
        .object({
          kind: z.enum(["session", "api_key"]).describe("Kind of the credential."),
          viaSso: z
            .boolean()
            .describe(
              "Whether single sign-on opened the session. It is limited to its organization.",
            ),
          role: members.RoleOfMember.nullable().describe("Role of the user. `null`: an API key."),
          siteId: RecordId.nullable().describe(
            "The only site that the credential can access, or `null`.",
          ),
          siteIds: z
            .array(RecordId)
            .nullable()
            .describe("The only sites that the credential can access. `null`: all sites."),
          scopes: z
            .array(z.string())
            .describe("Rights of the role, or scopes of the API key. `*`: everything."),
          isOperator: z
            .boolean()
            .describe("Whether the user operates the service, and may read GET /system/health."),
          isVerified: z
            .boolean()
            .describe(
              "Whether the organization may send. `false`: its owner must first open the link in " +
                "the email that the sign-up sent.",
            ),
        })
        .describe("The credential of the request."),
    }),
    handle: async ({ caller }) => {
      const { kind, viaSso = false, role = null, siteIds = null, scopes, unverified } = caller;
      const siteId = onlySiteIdOf(caller) ?? null;
      const [profile, userOrganizations, operates] = await Promise.all([
        accounts.getProfile(caller),
        kind === "session" ? listOrganizations(members.userKeyOf(caller), onlyOrgIdOf(caller)) : [],
        isOperator(caller),
      ]);
      return {
        ...profile,
        organizations: userOrganizations,
        auth: {
          kind,
          viaSso,
          role,
          siteId,
          siteIds: siteIds && [...siteIds],
          scopes: [...scopes],
          isOperator: operates,
          isVerified: !unverified,
        },
      };
    },
  }),
  route("POST /auth/switch", "Switch to another organization", {
    operationId: "switchOrganization",
    description:
      "Replaces the session by one for another organization of the user, and sets its cookie. " +
      "The next login goes to that organization too. The session does not live longer. A session " +
      "of single sign-on is limited to its organization (403 `sso_session`).",
    auth: "session",
    level: "site",
    body: z
      .object({ organizationId: Id.describe("Id of an organization of the user.") })
      .meta({ examples: [{ organizationId: 2 }] }),
    returns: Session,
    errors: {
      403:
        "The organization requires single sign-on (`sso_required`), or the session was opened by " +
        "it (`sso_session`).",
      404: "The user is not a member of the organization, or it does not exist.",
    },
    handle: async ({ caller, body, request, reply }) => {
      const { token, ...profile } = await accounts.switchOrganization(
        caller,
        body.organizationId,
        sessionCookie.sessionClientOf(request),
      );
      reply.cookies.push(sessionCookie.createSessionCookie(token));
      return profile;
    },
  }),
  route("GET /auth/sessions", "List the user's sessions", {
    operationId: "listSessions",
    description:
      "Returns the sessions of the user in all organizations, the last used first, at most 200. " +
      "A session of single sign-on only sees those in its organization.",
    auth: "session",
    level: "site",
    returns: z.object({
      sessions: z.array(sessions.UserSession).describe("The sessions that have not ended."),
    }),
    handle: async ({ caller }) => ({
      sessions: await sessions.listSessions(members.userKeyOf(caller), {
        currentHash: caller.sessionHash!,
        onlyOrgId: onlyOrgIdOf(caller),
      }),
    }),
  }),
  route("DELETE /auth/sessions/:session", "Revoke a session", {
    operationId: "revokeSession",
    description:
      "Ends a session of the user at once, in any organization. A session of single sign-on only " +
      "ends those in its organization.",
    auth: "session",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { session } }) => {
      const user = members.userKeyOf(caller);
      await sessions.revokeSession(user, session, onlyOrgIdOf(caller));
      return { id: session, deleted: true as const };
    },
  }),
  route("POST /auth/leave", "Leave the organization", {
    operationId: "leaveOrganization",
    description:
      "Ends the caller's membership of the current organization, and the session. API keys that " +
      "the user created stay; open invitations of the user end.",
    auth: "session",
    level: "site",
    returns: z.object({
      left: z.literal(true).describe("Always true: the membership has ended."),
    }),
    errors: { 409: "The caller is the last owner (`last_owner`)." },
    handle: async ({ caller, reply }) => {
      await memberCredentials.leave(caller);
      reply.cookies.push(sessionCookie.expiredSessionCookie);
      return { left: true as const };
    },
  }),
  route("POST /auth/verify-email", "Verify the email address of a sign-up", {
    operationId: "verifyEmail",
    description:
      "Takes the token of the mailed link, which works for 24 hours. Where everybody can sign " +
      "up, an organization can send, invite, and have webhooks or single sign-on only after that " +
      "(403 `email_not_verified`).",
    auth: "public",
    rateLimit: "address",
    body: MailedToken,
    returns: z.object({
      verified: z.literal(true).describe("Always true: the address is verified."),
    }),
    handle: async ({ body }) => {
      await emailVerification.verify(body.token);
      return { verified: true as const };
    },
  }),
  route("POST /auth/verify-email/resend", "Mail the verification link again", {
    operationId: "resendVerification",
    description: "Mails a new link to the user. It works for 24 hours.",
    auth: "session",
    level: "site",
    returns: z.object({ sent: z.literal(true).describe("Always true: the mail is queued.") }),
    errors: {
      409: "The address is already verified (`already_verified`).",
      429: "Five links were mailed within 15 minutes.",
    },
    handle: async ({ caller }) => {
      await emailVerification.resend(caller);
      return { sent: true as const };
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
      await passwordChanges.requestPasswordReset(body.email);
      return { sent: true as const };
    },
  }),
  route("POST /auth/reset-password", "Reset the password with an emailed token", {
    operationId: "resetPassword",
    description:
      "Sets a new password and ends every session of the user. The token works once and " +
      "expires after one hour. The response lists the API keys that the user created and that " +
      "still work: revoke those that somebody else may know, or all with `revokeApiKeys`.",
    auth: "public",
    rateLimit: "address",
    body: z.object({
      token: z.string().min(1).max(200).describe("Token of the link in the email."),
      password: passwords.NewPassword.describe(`New password. ${passwords.newPasswordRule}`),
      revokeApiKeys: z
        .boolean()
        .default(false)
        .describe("Also revokes the API keys that the user created, in all organizations."),
    }),
    returns: z.object({
      reset: z.literal(true).describe("Always true: the new password is set."),
      apiKeys: z
        .array(apiKeys.CreatedApiKey)
        .describe("API keys that the user created and that still work."),
    }),
    handle: async ({ body: { token, password, revokeApiKeys } }) => ({
      reset: true as const,
      apiKeys: await passwordChanges.resetPassword(token, password, { revokeApiKeys }),
    }),
  }),

  route("GET /api-keys", "List API keys", {
    level: "site_members",
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
    level: "site_members",
    auditedValues: ["name", "siteId", "scopes", "expiresAt"],
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
    errors: {
      403: "The caller does not have a right that the scopes include (`scope_missing`).",
      404: "The site does not exist.",
    },
    handle: ({ caller, body }) => apiKeys.create(caller, body),
  }),
  route("DELETE /api-keys/:id", "Revoke an API key", {
    level: "site_members",
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
    level: "site",
    body: z.object({
      currentPassword: passwords.PasswordInput.describe("Current password of the user."),
      newPassword: passwords.NewPassword.describe(`New password. ${passwords.newPasswordRule}`),
    }),
    returns: z.object({
      changed: z.literal(true).describe("Always true: the new password is set."),
    }),
    errors: { 429: tooManyFailures },
    handle: async ({ caller, body }) => {
      await passwordChanges.changePassword(caller, body);
      return { changed: true as const };
    },
  }),
  route("PUT /settings/org", "Update the organization", {
    auditedValues: ["name", "timezone", "sessionIdleMinutes"],
    operationId: "updateOrganization",
    description: "Updates the given fields.",
    right: "organization:write",
    body: organizations.OrganizationChanges,
    returns: organizations.Organization,
    handle: ({ caller, body }) => organizations.change(caller, body),
  }),
]);
export const { handler } = account;
