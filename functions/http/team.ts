// Members, roles and invitations of an organization.
import * as z from "zod";
import { CreatedApiKey } from "../../shared/domain/identity/api-keys.ts";
import * as invitationAcceptance from "../../shared/domain/identity/invitation-acceptance.ts";
import * as invitationLinks from "../../shared/domain/identity/invitation-links.ts";
import * as invitations from "../../shared/domain/identity/invitations.ts";
import * as memberCredentials from "../../shared/domain/identity/member-credentials.ts";
import * as members from "../../shared/domain/identity/members.ts";
import { roleDescriptions } from "../../shared/domain/identity/role-descriptions.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  SecondFactorRequired,
  Session,
  tooManyFailures,
} from "../../shared/http/login-responses.ts";
import { Deleted, MailedToken, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import * as sessionCookie from "../../shared/http/session-cookie.ts";
import { roleNames, roles } from "../../shared/rights.ts";

const Role = z
  .object({
    name: members.RoleOfMember,
    description: z.string().describe("What members with the role may do."),
    scopes: z
      .array(z.string())
      .describe("Rights of the role, such as `audience:read`. `*`: everything."),
  })
  .meta({ id: "Role" });

const changeErrors = {
  403: "The caller does not have all rights of the member's role (`scope_missing`).",
  409: "The member is the last owner (`last_owner`).",
};

const RevokesKeys = z
  .boolean()
  .default(false)
  .describe("Also revokes the API keys that the member created.");
const KeysOfMember = z
  .array(CreatedApiKey)
  .describe(
    "API keys that the member created and that still work. They keep their rights: repeat the " +
      "request with `revokeApiKeys`, or revoke them one by one, if the member must not use them.",
  );
const MemberUpdate = members.MemberChanges.extend({ revokeApiKeys: RevokesKeys }).meta({
  examples: [{ role: "marketer", siteIds: [1], revokeApiKeys: true }],
});

const tooManyInvitations =
  "Five invitations were mailed to the address within 15 minutes, or 100 by the organization " +
  "within an hour; on the free plan 20 within a day.";

export const team = routeGroup("team", [
  route("GET /roles", "List roles", {
    description:
      "Returns every role with its rights. A route needs the right that its description names.",
    level: "site",
    returns: z.object({
      roles: z.array(Role).describe("All roles, the one with most rights first."),
    }),
    handle: async () => ({
      roles: roleNames.map((name) => ({
        name,
        description: roleDescriptions[name],
        scopes: [...roles[name].scopes],
      })),
    }),
  }),
  route("GET /members", "List members", {
    level: "site_members",
    description: "Returns the members of the organization, those with the newest accounts first.",
    query: PageQuery,
    returns: pagedSchema("members", members.Member),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await members.list(caller, query);
      return { members: items, pagination };
    },
  }),
  route("GET /members/:id", "Get a member", {
    level: "site_members",
    returns: members.Member,
    handle: ({ caller, params: { id } }) => members.find(caller, id),
  }),
  route("PUT /members/:id", "Change the role and sites of a member", {
    level: "site_members",
    auditedValues: ["role", "siteIds"],
    description:
      "Updates the given fields. The change works from the member's next request on. Only owners " +
      "can make or change owners. Ends open invitations of the member that the new role or sites " +
      "do not permit. Returns the API keys that the member created; `revokeApiKeys` revokes them.",
    auth: "session",
    body: MemberUpdate,
    returns: members.Member.extend({ apiKeys: KeysOfMember }).meta({ id: "UpdatedMember" }),
    errors: changeErrors,
    handle: ({ caller, params: { id }, body }) => memberCredentials.changeMember(caller, id, body),
  }),
  route("DELETE /members/:id", "Remove a member", {
    level: "site_members",
    description:
      "The member loses access at once, and open invitations of the member end. The account " +
      "stays. So do API keys that the member created, which the response lists, unless " +
      "`revokeApiKeys` is set, here or in the query. To leave an organization yourself, use " +
      "POST /auth/leave.",
    auth: "session",
    query: z.object({
      revokeApiKeys: z
        .enum(["true", "false"])
        .optional()
        .describe("`true`: also revokes the API keys that the member created."),
    }),
    body: z.object({ revokeApiKeys: RevokesKeys }).meta({ examples: [{ revokeApiKeys: true }] }),
    returns: Deleted.extend({ apiKeys: KeysOfMember }).meta({ id: "RemovedMember" }),
    errors: changeErrors,
    handle: async ({ caller, params: { id }, query, body }) => {
      const revokeApiKeys = body.revokeApiKeys || query.revokeApiKeys === "true";
      const apiKeys = await memberCredentials.removeMember(caller, id, { revokeApiKeys });
      return { id, deleted: true as const, apiKeys };
    },
  }),

  route("GET /invitations", "List invitations", {
    level: "site_members",
    description:
      "Returns invitations that were not accepted yet, newest first. Their links are not returned.",
    query: PageQuery,
    returns: pagedSchema("invitations", invitations.Invitation),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await invitations.list(caller, query);
      return { invitations: items, pagination };
    },
  }),
  route("GET /invitations/:id", "Get an invitation", {
    level: "site_members",
    returns: invitations.Invitation,
    handle: ({ caller, params: { id } }) => invitations.find(caller, id),
  }),
  route("POST /invitations", "Invite somebody to the organization", {
    level: "site_members",
    auditedValues: ["email", "role", "siteIds"],
    description:
      "Mails a link that works for 7 days and once. An organization has at most 500 members and " +
      "invitations.",
    auth: "session",
    body: invitations.NewInvitation,
    returns: invitations.Invitation,
    status: 201,
    errors: {
      403: "The caller does not have all rights of the role (`scope_missing`).",
      409:
        "The address belongs to a member (`already_member`), is already invited " +
        "(`invitation_exists`), or there are 500 members and invitations (`too_many`).",
      429: tooManyInvitations,
    },
    handle: ({ caller, body }) => invitations.create(caller, body),
  }),
  route("POST /invitations/:id/resend", "Mail an invitation again", {
    level: "site_members",
    description:
      "Mails a new link that works for 7 days. Links that were mailed before still work.",
    auth: "session",
    returns: invitations.Invitation,
    errors: { 429: tooManyInvitations },
    handle: ({ caller, params: { id } }) => invitations.resend(caller, id),
  }),
  route("DELETE /invitations/:id", "Revoke an invitation", {
    level: "site_members",
    operationId: "revokeInvitation",
    description: "Links that were mailed no longer work.",
    auth: "session",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await invitations.revoke(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /invitations/preview", "Preview an invitation", {
    operationId: "previewInvitation",
    description:
      "Returns what the token of a mailed link is for: who invites to which organization. Does " +
      "not use up the token.",
    auth: "public",
    rateLimit: "address",
    preview: true,
    body: MailedToken,
    returns: invitationLinks.InvitationPreview,
    handle: ({ body }) => invitationLinks.preview(body.token),
  }),
  route("POST /invitations/accept", "Accept an invitation", {
    operationId: "acceptInvitation",
    description:
      "Makes the invited user a member and sets the session cookie. An address without an " +
      "account gets one with this password; otherwise the password must be that of the account. " +
      "If the user has a second factor, returns an `mfaToken`, and POST /mfa/verify accepts the " +
      "invitation. Where the organization requires single sign-on of the address, a new user " +
      "accepts by logging in with it, and a user with an account logs in with it afterwards.",
    auth: "public",
    rateLimit: "address",
    body: invitationAcceptance.Acceptance,
    returns: z.union([
      Session.describe("The user is a member and logged in, and the session cookie is set."),
      SecondFactorRequired.describe("The user has a second factor: nothing is accepted yet."),
    ]),
    errors: {
      401: "The address has an account, and the password is not its password.",
      403:
        "The address has no account, and the organization requires single sign-on " +
        "(`sso_required`): open `ssoUrl` of the response in a browser.",
      409: "The user is already a member (`already_member`).",
      429: tooManyFailures,
    },
    handle: async ({ body, request, reply }) => {
      const accepted = await invitationAcceptance.accept(
        body,
        sessionCookie.sessionClientOf(request),
      );
      if ("mfaRequired" in accepted) return accepted;
      const { token, ...profile } = accepted;
      reply.cookies.push(sessionCookie.createSessionCookie(token));
      return profile;
    },
  }),
]);
export const { handler } = team;
