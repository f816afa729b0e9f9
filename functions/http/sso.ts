// Single sign-on: the settings of an organization, and the logins of its users in a browser.
import * as z from "zod";
import { find as findOrganization } from "../../shared/domain/identity/organizations.ts";
import { loginUrlOf } from "../../shared/domain/identity/sso/enforcement.ts";
import * as linkedUsers from "../../shared/domain/identity/sso/linked-users.ts";
import * as logins from "../../shared/domain/identity/sso/logins.ts";
import * as sso from "../../shared/domain/identity/sso/settings.ts";
import { preferredLanguage } from "../../shared/email/languages.ts";
import { Problem } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { statusOf } from "../../shared/http/responses.ts";
import { type ApiReply, type ApiRequest, Deleted, route } from "../../shared/http/route.ts";
import * as sessionCookie from "../../shared/http/session-cookie.ts";
import { digits } from "../../shared/kernel/digits.ts";
import { exactlyOneOf } from "../../shared/kernel/either-or.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { Id } from "../../shared/kernel/record-fields.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import { renderSsoFailedPage, renderSsoStartPage } from "../../shared/pages/sso-pages.ts";

const browserRoute = {
  auth: "public",
  rateLimit: "address",
  returns: z.string(),
  contentType: "text/html; charset=utf-8",
} as const;
/** All together fit into the URL of a request. Codes of Microsoft have about 1,500 characters. */
const ProviderText = (what: string, max = 1000) => z.string().max(max).optional().describe(what);

const noSso = "The organization has no single sign-on.";

export const singleSignOn = routeGroup({ name: "sso", errorPage: renderErrorPage }, [
  route("GET /sso", "Get single sign-on", {
    description:
      "Returns the redirect URI to register at your OpenID Connect provider, and the settings. " +
      "The client secret is not returned.",
    auth: "session",
    returns: sso.Sso,
    handle: ({ caller }) => sso.findSso(caller),
  }),
  route("PUT /sso", "Set up single sign-on", {
    description:
      "Updates the given fields. The first call needs `issuer`, `clientId`, `clientSecret` and " +
      "`domains`. Only owners can change it, because whoever controls the provider can log in as " +
      "any member with an address in the domains.",
    auth: "session",
    needsVerifiedEmail: true,
    body: sso.SsoChanges,
    auditedValues: ["issuer", "domains", "enforced"],
    returns: sso.Sso,
    errors: {
      409:
        "A domain is no verified domain of the organization (`domain_not_verified`), or " +
        "`enforced` is set before somebody has logged in (`sso_not_verified`).",
    },
    handle: ({ caller, body }) => sso.change(caller, body),
  }),
  route("DELETE /sso", "Turn off single sign-on", {
    description:
      "Ends the sessions that it opened, and unlinks its users. Users who never had a password " +
      "set one with POST /auth/forgot-password.",
    auth: "session",
    returns: Deleted,
    errors: { 404: noSso },
    handle: async ({ caller }) => {
      await sso.remove(caller);
      return { id: caller.orgId, deleted: true as const };
    },
  }),
  route("POST /sso/test", "Check single sign-on", {
    description:
      "Reads the metadata and keys of the provider and checks the domains. Only a login at " +
      "`loginUrl` can check the client secret and the claims.",
    auth: "session",
    returns: sso.SsoTest,
    errors: { 404: noSso },
    preview: true,
    handle: ({ caller }) => sso.test(caller),
  }),

  route("DELETE /sso/links/:memberId", "Unlink a member from the provider", {
    operationId: "removeSsoLink",
    description:
      "Ends the member's sessions of single sign-on. The next login with the member's address " +
      "links the account at the provider that makes it, such as a new account of the same person.",
    auth: "session",
    returns: Deleted,
    errors: { 404: "The member does not exist, or is not linked." },
    handle: async ({ caller, params: { memberId } }) => {
      await linkedUsers.unlink(caller, memberId);
      return { id: memberId, deleted: true as const };
    },
  }),

  route("GET /auth/sso/start", "Start a login with single sign-on", {
    operationId: "logInWithSso",
    description:
      "Open it in a browser: it redirects to the provider of the organization. The login must " +
      "end in the same browser within 10 minutes. If another site links here, a page first names " +
      "the organization.",
    ...browserRoute,
    query: exactlyOneOf(
      z.object({
        email: EmailAddress.optional().describe(
          "Email address of the user, whose domain names the organization. Give either this or " +
            "`organizationId`.",
        ),
        organizationId: digits(Id).optional().describe("Id of the organization."),
        returnTo: z
          .string()
          .max(200)
          .default("/app")
          .describe("Path on this service to go to after the login. Other URLs count as `/app`."),
      }),
      ["email", "organizationId"],
    ),
    otherStatuses: { 302: "Goes to the provider." },
    errors: {
      403: "The provider does not respond as it should (`sso_failed`).",
      404: "The organization, or that of the domain, has no single sign-on.",
    },
    handle: ({ query, request, reply }) =>
      withFailurePage({ request, reply }, async () => {
        const { email, organizationId, returnTo } = query;
        const orgId = organizationId ?? (await logins.findOrganizationOf(email!));
        if (isFromOtherSite(request)) return renderStart(orgId, request);
        const { url, pending } = await logins.startLogin({ orgId, email, returnTo });
        reply.cookies.push(sessionCookie.createLoginCookie(pending, logins.loginTtlSeconds));
        return redirect(reply, url);
      }),
  }),
  route("GET /auth/sso/callback/:organizationId", "Complete a login with single sign-on", {
    operationId: "receiveSsoLogin",
    description:
      "The redirect URI of the organization. The provider sends the browser here. Sets the " +
      "session cookie and goes to `returnTo`. The session is limited to the organization and " +
      "ends after 24 hours. A second factor of the account is not asked for, because the " +
      "provider has its own.",
    ...browserRoute,
    query: z.object({
      code: ProviderText("Code of the provider.", 4000),
      state: ProviderText("State of the login."),
      iss: ProviderText("Issuer of the provider (RFC 9207)."),
      session_state: ProviderText("Not used."),
      scope: ProviderText("Not used."),
      error: ProviderText("Why the provider refuses the login."),
      error_description: ProviderText("Explanation of `error`."),
    }),
    otherStatuses: { 302: "Logged in. Goes to `returnTo`." },
    errors: { 403: "The login failed (`sso_failed`): `error` has the reason." },
    handle: ({ params, request, reply }) => {
      const { organizationId: orgId } = params;
      return withFailurePage({ request, reply, againUrl: loginUrlOf(orgId) }, async () => {
        const { opened, returnTo } = await logins.completeLogin(
          {
            orgId,
            pending: request.cookies[sessionCookie.loginCookieName],
            query: request.queryString,
          },
          sessionCookie.sessionClientOf(request),
        );
        reply.cookies.push(
          sessionCookie.createSessionCookie(opened.token, logins.ssoSessionSeconds),
          sessionCookie.expiredLoginCookie,
        );
        return redirect(reply, returnTo);
      });
    },
  }),
]);
export const { handler } = singleSignOn;

function redirect(reply: ApiReply, url: string): string {
  Object.assign(reply, { status: 302 }).headers.location = url;
  return "";
}

/** A link of another site may log a victim in to an account of the attacker. */
const isFromOtherSite = ({ headers }: ApiRequest): boolean =>
  /^(cross|same)-site$/.test(headers["sec-fetch-site"] ?? "");

async function renderStart(orgId: number, request: ApiRequest): Promise<string> {
  await sso.requireSettings(orgId);
  const { name } = await findOrganization(orgId);
  const language = preferredLanguage(request.headers["accept-language"]);
  const url = `${request.path}?${request.queryString}`;
  return renderSsoStartPage(language, { organizationName: name, url });
}

interface BrowserLogin {
  request: ApiRequest;
  reply: ApiReply;
  againUrl?: string;
}

/** Shows a browser the reason of a failure as a page. Programs get the error. */
async function withFailurePage(
  { request, reply, againUrl }: BrowserLogin,
  work: () => Promise<string>,
): Promise<string> {
  try {
    return await work();
  } catch (error) {
    const wantsPage = /\btext\/html\b/i.test(request.headers.accept ?? "");
    if (!(error instanceof Problem) || !wantsPage) throw error;
    reply.status = statusOf(error);
    const language = preferredLanguage(request.headers["accept-language"]);
    return renderSsoFailedPage(language, { reason: error.message, againUrl });
  }
}
