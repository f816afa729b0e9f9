// Organizations with single sign-on, and a browser that logs in with it.
import { randomUUID } from "node:crypto";
import { singleSignOn } from "../../functions/http/sso.ts";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as settings from "../../shared/domain/identity/sso/settings.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount, type TestAccount } from "./accounts.ts";
import { invokeRoute, type LambdaAnswer } from "./lambda-requests.ts";
import type { OidcProvider } from "./oidc-provider.ts";

export const uniqueDomain = (): string => `d-${randomUUID()}.example`;

/** Gives the organization the domain, as after the check of its ownership record. */
export const holdDomain = (orgId: number, name: string): Promise<void> =>
  write(put(keys.domainOwner(name), { orgId, domainId: 1 }));

export interface SsoOrganization extends TestAccount {
  domain: string;
  orgId: number;
}

/** An organization that holds a domain and uses the provider. */
export async function createSsoOrganization(
  provider: OidcProvider,
  changes: settings.SsoChanges = {},
): Promise<SsoOrganization> {
  const account = await createAccount();
  const { orgId } = account.caller;
  const domain = uniqueDomain();
  await holdDomain(orgId, domain);
  await setUp(account.caller, provider, { domains: [domain], ...changes });
  return { ...account, domain, orgId };
}

export async function setUp(
  caller: Caller,
  provider: OidcProvider,
  changes: settings.SsoChanges,
): Promise<void> {
  const clientId = `client-${caller.orgId}`;
  const clientSecret = randomUUID();
  const { redirectUri } = await settings.findSso(caller);
  provider.register({ clientId, clientSecret, redirectUri });
  await settings.change(caller, { issuer: provider.issuer, clientId, clientSecret, ...changes });
}

const cookieValue = (cookies: string[], name: string): string | undefined =>
  cookies.find((cookie) => cookie.startsWith(`${name}=`))?.split(/[=;]/)[1];

export interface StartedLogin {
  /** The `Cookie` header of the browser. */
  cookie: string;
  /** URL of the provider. */
  url: string;
}

/** Opens the start URL. */
export async function startLogin(query: Record<string, string>): Promise<StartedLogin> {
  const answer = await invokeRoute(singleSignOn, "GET /auth/sso/start", { query });
  if (answer.status !== 302) throw new Error(`The login does not start: ${answer.status}`);
  return {
    cookie: `__Host-login=${cookieValue(answer.cookies, "__Host-login")}`,
    url: answer.headers.location!,
  };
}

/** Visits the provider. Returns the query of its redirect. */
export async function visitProvider(url: string): Promise<Record<string, string>> {
  const answer = await fetch(url, { redirect: "manual" });
  const location = answer.headers.get("location");
  if (!location) throw new Error(`The provider does not redirect: ${await answer.text()}`);
  return Object.fromEntries(new URL(location).searchParams);
}

export interface Callback {
  orgId: number;
  cookie?: string;
  query: Record<string, string>;
}

export interface CallbackAnswer extends LambdaAnswer<unknown> {
  /** Token of the new session. */
  token: string | undefined;
}

export async function callBack({ orgId, cookie, query }: Callback): Promise<CallbackAnswer> {
  const answer = await invokeRoute(singleSignOn, "GET /auth/sso/callback/:organizationId", {
    params: { organizationId: String(orgId) },
    query,
    ...(cookie !== undefined && { cookies: [cookie] }),
  });
  return { ...answer, token: cookieValue(answer.cookies, "__Host-session") };
}

/** A whole login in one browser. */
export async function logInWithSso(
  orgId: number,
  query: Record<string, string> = {},
): Promise<CallbackAnswer> {
  const { cookie, url } = await startLogin({ organizationId: String(orgId), ...query });
  return callBack({ orgId, cookie, query: await visitProvider(url) });
}
