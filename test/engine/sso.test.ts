import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { account } from "../../functions/http/account.ts";
import { invitationPages } from "../../functions/http/invitation-pages.ts";
import { singleSignOn } from "../../functions/http/sso.ts";
import { get, remove, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as auditLog from "../../shared/domain/audit/audit-list.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as invitationLinks from "../../shared/domain/identity/invitation-links.ts";
import * as members from "../../shared/domain/identity/members.ts";
import * as factors from "../../shared/domain/identity/mfa/mfa.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import * as sessions from "../../shared/domain/identity/sessions.ts";
import * as linkedUsers from "../../shared/domain/identity/sso/linked-users.ts";
import * as settings from "../../shared/domain/identity/sso/settings.ts";
import { authenticate, sessionCookieName } from "../../shared/http/authenticate.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount, login, password } from "../support/accounts.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { accept, addMember, client, invite } from "../support/members.ts";
import { type OidcProvider, startOidcProvider } from "../support/oidc-provider.ts";
import {
  type CallbackAnswer,
  callBack,
  createSsoOrganization,
  holdDomain,
  logInWithSso,
  setUp,
  startLogin,
  uniqueDomain,
  visitProvider,
} from "../support/sso.ts";

let provider: OidcProvider;
beforeAll(async () => {
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  provider = await startOidcProvider();
});
beforeEach(() => {
  Object.assign(provider, { forge: () => {}, refuseWith: undefined, metadata: {}, userInfo: {} });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await provider.close();
});

let subjects = 0;
/** Another user is now logged in at the provider. */
function enterAs(email: string, claims: object = {}): void {
  provider.user = { sub: `subject-${++subjects}`, email, email_verified: true, ...claims };
}

/** The caller of the session that a login opened. */
async function callerOf({ token = "" }: Pick<CallbackAnswer, "token">): Promise<Caller> {
  const request = { headers: {}, cookies: { [sessionCookieName]: token } };
  return { ...(await authenticate(request, "GET")), plan: "free" };
}

const failed = (reason: RegExp) => ({
  status: 403,
  token: undefined,
  body: { code: "sso_failed", error: expect.stringMatching(reason) },
});

test("a member logs in with the provider, in a session of that organization only", async () => {
  const org = await createSsoOrganization(provider);
  const member = await addMember(org.caller, { role: "marketer", email: `ann@${org.domain}` });
  enterAs(`Ann@${org.domain}`);
  const answer = await logInWithSso(org.orgId, { returnTo: "/campaigns?page=2#top" });
  expect(answer).toMatchObject({
    status: 302,
    headers: { location: "http://127.0.0.1:3000/campaigns?page=2#top" },
  });
  const caller = await callerOf(answer);
  expect(caller).toMatchObject({
    orgId: org.orgId,
    userId: member.userId,
    role: "marketer",
    viaSso: true,
  });
  const listed = await sessions.listSessions(members.userKeyOf(caller), {
    currentHash: caller.sessionHash!,
  });
  expect(listed.map(({ origin, current }) => [origin, current])).toEqual(
    expect.arrayContaining([
      ["sso", true],
      ["password", false],
    ]),
  );
  expect((await settings.findSso(org.caller)).settings).toMatchObject({
    verifiedAt: expect.any(String),
    lastFailure: null,
  });
});

test("a linked user is found by issuer and subject, even when the address changes", async () => {
  const org = await createSsoOrganization(provider);
  const ann = await addMember(org.caller, { role: "viewer", email: `ann@${org.domain}` });
  const bob = await addMember(org.caller, { role: "admin", email: `bob@${org.domain}` });
  enterAs(`ann@${org.domain}`);
  expect((await logInWithSso(org.orgId)).status).toBe(302);
  provider.user = { ...provider.user, email: `bob@${org.domain}` };
  expect(await callerOf(await logInWithSso(org.orgId))).toMatchObject({ userId: ann.userId });
  enterAs(`bob@${org.domain}`);
  expect(await callerOf(await logInWithSso(org.orgId))).toMatchObject({ userId: bob.userId });
  // The provider gave the address of Ann to another person.
  enterAs(`ann@${org.domain}`);
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/another account of the provider/));
});

test("an owner unlinks a member, whose sessions end and who can be linked again", async () => {
  const org = await createSsoOrganization(provider);
  const ann = await addMember(org.caller, { role: "viewer", email: `ann@${org.domain}` });
  const unlink = (caller: Caller) => linkedUsers.unlink(caller, ann.userId);
  await expect(unlink(org.caller)).rejects.toMatchObject({ kind: "missing" });
  enterAs(ann.email);
  const former = provider.user;
  const opened = await logInWithSso(org.orgId);
  const stranger = await createAccount();
  await expect(unlink(stranger.caller)).rejects.toMatchObject({ kind: "missing" });
  await unlink(org.caller);
  await expect(callerOf(opened)).rejects.toMatchObject({ kind: "unauthenticated" });
  expect(await callerOf(ann)).toMatchObject({ userId: ann.userId });
  enterAs(ann.email);
  expect(await callerOf(await logInWithSso(org.orgId))).toMatchObject({ userId: ann.userId });
  provider.user = former;
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/another account of the provider/));
});

test("of Google, only accounts of a Workspace in the domains are accepted", async () => {
  const google = { issuer: "https://accounts.google.com", domains: ["shop.example"] };
  const check = (hostedDomain: unknown, settingsOf = google) =>
    linkedUsers.requireWorkspace({ settings: settingsOf, claims: { hostedDomain } });
  expect(() => check("Shop.example")).not.toThrow();
  for (const hd of [undefined, "other.example", ["shop.example"]])
    expect(() => check(hd)).toThrow(expect.objectContaining({ code: "sso_failed" }));
  expect(() => check(undefined, { ...google, issuer: "https://login.example" })).not.toThrow();
});

test("an address outside of the held domains logs nobody in", async () => {
  const org = await createSsoOrganization(provider);
  const victim = await createAccount();
  await addMember(org.caller, { role: "viewer", email: `ann@${org.domain}` });
  enterAs(victim.email);
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/outside of the domains/));
  enterAs(`ann@${org.domain}`);
  await write(remove(keys.domainOwner(org.domain)));
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/no longer a verified domain/));
  expect((await settings.findSso(org.caller)).settings?.lastFailure?.reason).toContain("no longer");
});

test("a domain that the organization does not hold cannot be set", async () => {
  const org = await createSsoOrganization(provider);
  const foreign = uniqueDomain();
  await holdDomain((await createAccount()).caller.orgId, foreign);
  for (const domain of [foreign, uniqueDomain()])
    await expect(
      settings.change(org.caller, { domains: [org.domain, domain] }),
    ).rejects.toMatchObject({ kind: "conflict", code: "domain_not_verified" });
});

test("the provider of an organization never reaches a user of another organization", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  // Somebody signed up with an address at the domain before the organization held it.
  const email = `carol@${org.domain}`;
  const other = await createAccount();
  const outsider = await addMember(other.caller, { role: "admin", email });
  enterAs(email);
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/accept it with the password/));
  expect(await members.getMember(org.orgId, outsider.userId)).toBeUndefined();
});

test("a session of single sign-on cannot switch to another organization", async () => {
  const org = await createSsoOrganization(provider);
  const email = `dan@${org.domain}`;
  const other = await createAccount();
  await addMember(other.caller, { role: "admin", email });
  const { token } = await invite(org.caller, { role: "viewer", email });
  await accept(token);
  enterAs(email);
  const caller = await callerOf(await logInWithSso(org.orgId));
  expect(caller).toMatchObject({ orgId: org.orgId, homeOrgId: other.caller.orgId });
  const refused = { kind: "forbidden", code: "sso_session" };
  const otherOrg = other.caller.orgId;
  const newPassword = { currentPassword: password, newPassword: "another long phrase" };
  for (const attempt of [
    () => accounts.switchOrganization(caller, otherOrg, client),
    () => passwordChanges.changePassword(caller, newPassword),
    () => factors.setUpTotp(caller),
    () => factors.enableTotp(caller, { code: "123456" }),
    () => factors.enableEmailOtp(caller),
    () => factors.disableTotp(caller, { password }),
    () => factors.disableEmailOtp(caller, { password }),
  ])
    await expect(attempt()).rejects.toMatchObject(refused);
});

test("a session of single sign-on does not see or end those of other organizations", async () => {
  const org = await createSsoOrganization(provider);
  const email = `eve@${org.domain}`;
  const other = await createAccount();
  const elsewhere = await addMember(other.caller, { role: "admin", email });
  const { token } = await invite(org.caller, { role: "viewer", email });
  await accept(token);
  enterAs(email);
  const answer = await logInWithSso(org.orgId);
  const cookies = [`${sessionCookieName}=${answer.token}`];
  const me = await invokeRoute<{ organizations: { id: number }[] }>(account, "GET /auth/me", {
    cookies,
  });
  expect(me.body.data.organizations.map(({ id }) => id)).toEqual([org.orgId]);
  const { body } = await invokeRoute<{
    sessions: { id: string; organizationId: number; current: boolean }[];
  }>(account, "GET /auth/sessions", { cookies });
  expect(new Set(body.data.sessions.map((one) => one.organizationId))).toEqual(
    new Set([org.orgId]),
  );
  const id = elsewhere.caller.sessionHash!.slice(0, 16);
  const revoke = (session: string) =>
    invokeRoute(account, "DELETE /auth/sessions/:session", { cookies, params: { session } });
  expect((await revoke(id)).status).toBe(404);
  expect(await get(keys.session(elsewhere.caller.sessionHash!))).toBeDefined();
  for (const { id: own, current } of body.data.sessions)
    if (!current) expect((await revoke(own)).status).toBe(200);
});

const { privateKey: foreignKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
test.each<[string, OidcProvider["forge"]]>([
  ["the signature of another key", (token) => Object.assign(token, { key: foreignKey })],
  ["no signature", ({ header }) => Object.assign(header, { alg: "none" })],
  ["another issuer", ({ claims }) => Object.assign(claims, { iss: "https://login.example" })],
  ["another audience", ({ claims }) => Object.assign(claims, { aud: "client-of-somebody" })],
  ["an expired token", ({ claims }) => Object.assign(claims, { exp: 1_700_000_000 })],
  ["another nonce", ({ claims }) => Object.assign(claims, { nonce: "of another login" })],
  ["no nonce", ({ claims }) => delete claims.nonce],
  ["no subject", ({ claims }) => delete claims.sub],
])("an ID token with %s logs nobody in", async (_, forge) => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ann@${org.domain}`);
  provider.forge = forge;
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/not valid/));
  provider.forge = () => {};
  expect((await logInWithSso(org.orgId)).status).toBe(302);
});

test("a login ends only in the browser that started it, once and within 10 minutes", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  const other = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ann@${org.domain}`);
  const { orgId } = org;
  const start = () => startLogin({ organizationId: String(orgId) });
  const [own, attacker] = [await start(), await start()];
  const query = await visitProvider(own.url);
  const startAgain = failed(/start again/);
  // Without the cookie, with that of another login, and at another organization.
  expect(await callBack({ orgId, query })).toMatchObject(startAgain);
  expect(await callBack({ orgId, cookie: attacker.cookie, query })).toMatchObject(startAgain);
  const elsewhere = await callBack({ orgId: other.orgId, cookie: own.cookie, query });
  expect(elsewhere).toMatchObject(startAgain);
  // The code of another login with the state of this one fails by PKCE.
  const injected = { ...query, code: (await visitProvider(attacker.url)).code! };
  expect(await callBack({ orgId, cookie: own.cookie, query: injected })).toMatchObject(
    failed(/refused the code/),
  );
  expect((await callBack({ orgId, cookie: own.cookie, query })).status).toBe(302);
  expect(await callBack({ orgId, cookie: own.cookie, query })).toMatchObject(
    failed(/refused the code/),
  );
  const late = await start();
  const lateQuery = await visitProvider(late.url);
  clock.advanceClock(601);
  expect(await callBack({ orgId, cookie: late.cookie, query: lateQuery })).toMatchObject(
    startAgain,
  );
});

test("a response that names another issuer, or the refusal of the provider, fails", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ann@${org.domain}`);
  const { cookie, url } = await startLogin({ organizationId: String(org.orgId) });
  const query = { ...(await visitProvider(url)), iss: "https://evil.example" };
  expect(await callBack({ orgId: org.orgId, cookie, query })).toMatchObject(failed(/not valid/));
  provider.refuseWith = "access_denied";
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/refused the login: access_denied/));
});

test("a login never goes on to another site", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ann@${org.domain}`);
  const origin = "http://127.0.0.1:3000";
  for (const [returnTo, goal] of [
    ["https://evil.example/", `${origin}/app`],
    ["//evil.example/", `${origin}/app`],
    ["/\\evil.example/", `${origin}/app`],
    ["/\t/evil.example/", `${origin}/app`],
    ["/.//evil.example/", `${origin}//evil.example/`],
    ["javascript:alert(1)", `${origin}/app`],
    ["/ok", `${origin}/ok`],
  ] as const) {
    const { headers } = await logInWithSso(org.orgId, { returnTo });
    expect([returnTo, headers.location]).toEqual([returnTo, goal]);
  }
});

test("another site cannot start a login unseen", async () => {
  const org = await createSsoOrganization(provider);
  const query = { organizationId: String(org.orgId) };
  const start = (site: string) =>
    invokeRoute<string>(singleSignOn, "GET /auth/sso/start", {
      query,
      headers: { "sec-fetch-site": site, accept: "text/html" },
    });
  for (const site of ["cross-site", "same-site"]) {
    const page = await start(site);
    expect(page).toMatchObject({ status: 200, cookies: [] });
    expect(page.body.data).toContain("Log in to Ada");
  }
  expect((await start("same-origin")).status).toBe(302);
});

test("new users get the default role, and nobody becomes an owner that way", async () => {
  const org = await createSsoOrganization(provider);
  const email = `new@${org.domain}`;
  enterAs(email, { name: "New User" });
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/ask for an invitation/));
  expect(settings.SsoChanges.safeParse({ defaultRole: "owner" }).success).toBe(false);
  await settings.change(org.caller, { defaultRole: "developer" });
  const caller = await callerOf(await logInWithSso(org.orgId));
  expect(caller).toMatchObject({ orgId: org.orgId, role: "developer" });
  expect(await members.find(org.caller, caller.userId)).toMatchObject({ email, name: "New User" });
  // The account has no password that anybody knows.
  await expect(login({ email, password: "" }, "192.0.2.9")).rejects.toMatchObject({
    kind: "unauthenticated",
  });
  await members.remove(org.caller, caller.userId);
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/accept it with the password/));
});

test("single sign-on accepts the open invitation of a new user, with its role", async () => {
  const org = await createSsoOrganization(provider);
  const email = `invited@${org.domain}`;
  const { token } = await invite(org.caller, { role: "marketer", email });
  expect(await invitationLinks.preview(token)).toMatchObject({
    organizationName: "Ada",
    email,
    invitedBy: org.email,
    role: "marketer",
    hasAccount: false,
    requiresSso: false,
    ssoUrl: `http://127.0.0.1:3000/api/v1/auth/sso/start?organizationId=${org.orgId}`,
  });
  enterAs(email);
  expect(await callerOf(await logInWithSso(org.orgId))).toMatchObject({ role: "marketer" });
  await expect(invitationLinks.preview(token)).rejects.toMatchObject({ code: "invalid_token" });
  await expect(accept(token)).rejects.toMatchObject({ code: "invalid_token" });
});

test.each([
  ["false", { email_verified: false }, true, true],
  ["missing", { email_verified: undefined }, true, false],
  ["true as a text", { email_verified: "true" }, false, false],
] as const)("email_verified that is %s", async (_, claims, refusedByDefault, refusedAlways) => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ann@${org.domain}`, claims);
  expect((await logInWithSso(org.orgId)).status).toBe(refusedByDefault ? 403 : 302);
  await settings.change(org.caller, { requireVerifiedEmail: false });
  expect((await logInWithSso(org.orgId)).status).toBe(refusedAlways ? 403 : 302);
});

test("a token without a usable address logs nobody in", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  for (const email of [undefined, 7, "ann", `ann\u212a@${org.domain}`, [`ann@${org.domain}`]]) {
    enterAs("", { email });
    expect(await logInWithSso(org.orgId)).toMatchObject(failed(/names no email address/));
  }
});

test("an address that the ID token lacks comes from userinfo, for the same subject", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  const email = `thin@${org.domain}`;
  enterAs(email);
  const { sub } = provider.user;
  provider.forge = ({ claims }) => delete claims.email;
  provider.userInfo = { sub: "somebody else", email, email_verified: true };
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/names no email address/));
  provider.userInfo = { sub, email, email_verified: false };
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/has not verified/));
  // The address of the token is not verified by a claim about another address.
  provider.forge = ({ claims }) => {
    claims.email = `boss@${org.domain}`;
    delete claims.email_verified;
  };
  provider.userInfo = { sub, email, email_verified: true };
  const caller = await callerOf(await logInWithSso(org.orgId));
  expect(await members.find(org.caller, caller.userId)).toMatchObject({ email });
});

test("enforced single sign-on refuses passwords of members, except of owners", async () => {
  const org = await createSsoOrganization(provider);
  const ann = await addMember(org.caller, { role: "admin", email: `ann@${org.domain}` });
  const boss = await addMember(org.caller, { role: "owner", email: `boss@${org.domain}` });
  const guest = await addMember(org.caller, { role: "viewer" });
  await expect(settings.change(org.caller, { enforced: true })).rejects.toMatchObject({
    code: "sso_not_verified",
  });
  enterAs(ann.email);
  const opened = await logInWithSso(org.orgId);
  await settings.change(org.caller, { enforced: true });
  const ssoUrl = `http://127.0.0.1:3000/api/v1/auth/sso/start?organizationId=${org.orgId}`;
  const required = { kind: "forbidden", code: "sso_required", bodyFields: { ssoUrl } };
  const enter = (email: string) => login({ email, password }, "192.0.2.10");
  await expect(enter(ann.email)).rejects.toMatchObject(required);
  // The session from before ends too, and that of single sign-on stays.
  await expect(callerOf(ann)).rejects.toMatchObject(required);
  expect(await callerOf(opened)).toMatchObject({ userId: ann.userId });
  for (const { email } of [boss, guest])
    expect((await enter(email)).organization.id).toBe(org.orgId);
  // An owner who becomes a marketer is no longer exempt.
  await members.change(org.caller, boss.userId, { role: "marketer" });
  await expect(callerOf(boss)).rejects.toMatchObject(required);
});

test("a user of an enforcing organization keeps the password for other organizations", async () => {
  const org = await createSsoOrganization(provider);
  const other = await createAccount();
  const email = `fay@${org.domain}`;
  const home = await addMember(other.caller, { role: "viewer", email });
  const { token } = await invite(org.caller, { role: "viewer", email });
  const joined = await accept(token);
  enterAs(email);
  await logInWithSso(org.orgId);
  await settings.change(org.caller, { enforced: true });
  const opened = await login({ email, password }, "192.0.2.11");
  expect(opened.organization.id).toBe(other.caller.orgId);
  expect(opened.organizations.map(({ id, requiresSso }) => [id, requiresSso])).toEqual([
    [other.caller.orgId, false],
    [org.orgId, true],
  ]);
  await expect(accounts.switchOrganization(home.caller, org.orgId, client)).rejects.toMatchObject({
    code: "sso_required",
  });
  await expect(callerOf(joined)).rejects.toMatchObject({ code: "sso_required" });
});

test("enforced single sign-on refuses a new user who accepts an invitation", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`first@${org.domain}`);
  await logInWithSso(org.orgId);
  await settings.change(org.caller, { enforced: true });
  const { token, email } = await invite(org.caller, {
    role: "viewer",
    email: `gil@${org.domain}`,
  });
  expect(await invitationLinks.preview(token)).toMatchObject({ requiresSso: true });
  await expect(accept(token)).rejects.toMatchObject({ code: "sso_required" });
  enterAs(email);
  expect((await logInWithSso(org.orgId)).status).toBe(302);
});

test("the invitation page leads to single sign-on where it is enforced", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`first@${org.domain}`);
  await logInWithSso(org.orgId);
  await settings.change(org.caller, { enforced: true });
  const ssoLink = `/api/v1/auth/sso/start?organizationId=${org.orgId}`;
  const openPage = async (token: string) =>
    (await invokeRoute<string>(invitationPages, "GET /accept-invitation", { query: { token } }))
      .body.data;
  const fresh = await invite(org.caller, { role: "viewer", email: `new@${org.domain}` });
  const newUserPage = await openPage(fresh.token);
  expect(newUserPage).toContain(ssoLink);
  expect(newUserPage).not.toContain("<form");
  // An account must be proven by its password once.
  const other = await createAccount();
  const email = `known@${org.domain}`;
  await addMember(other.caller, { role: "viewer", email });
  const { id, token } = await invite(org.caller, { role: "viewer", email });
  expect(await openPage(token)).toContain("<form");
  const accepted = await invokeRoute<string>(invitationPages, "POST /accept-invitation", {
    raw: Buffer.from(new URLSearchParams({ token, password }).toString()),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  expect(accepted).toMatchObject({ status: 200, cookies: [] });
  expect(accepted.body.data).toContain(ssoLink);
  const { items: log } = await auditLog.list(org.caller, { limit: 1 });
  expect(log).toMatchObject([
    { action: "acceptInvitation", outcome: "done", actor: { type: "invitation", id, name: null } },
  ]);
  enterAs(email);
  expect(await callerOf(await logInWithSso(org.orgId))).toMatchObject({ role: "viewer" });
});

test("sessions and links of a provider end when it is changed or turned off", async () => {
  const org = await createSsoOrganization(provider);
  const email = `hal@${org.domain}`;
  await addMember(org.caller, { role: "viewer", email });
  enterAs(email);
  const opened = await logInWithSso(org.orgId);
  await settings.remove(org.caller);
  await expect(callerOf(opened)).rejects.toMatchObject({ kind: "unauthenticated" });
  await expect(startLogin({ organizationId: String(org.orgId) })).rejects.toThrow("404");
  await setUp(org.caller, provider, { domains: [org.domain] });
  await expect(callerOf(opened)).rejects.toMatchObject({ kind: "unauthenticated" });
  provider.user = { ...provider.user, email: `nobody@${org.domain}` };
  expect(await logInWithSso(org.orgId)).toMatchObject(failed(/ask for an invitation/));
});

test("sessions of single sign-on end after 24 hours", async () => {
  const org = await createSsoOrganization(provider, { defaultRole: "viewer" });
  enterAs(`ida@${org.domain}`);
  const opened = await logInWithSso(org.orgId);
  clock.advanceClock(24 * 3600 - 60);
  expect(await callerOf(opened)).toMatchObject({ viaSso: true });
  clock.advanceClock(61);
  await expect(callerOf(opened)).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("the client secret is encrypted, is never returned, and stays with its issuer", async () => {
  const org = await createSsoOrganization(provider);
  await settings.change(org.caller, { clientSecret: "a very secret text" });
  const stored = await get<settings.SsoItem>(keys.sso(org.orgId));
  expect(JSON.stringify(stored)).not.toContain("a very secret text");
  const cookies = [`${sessionCookieName}=${org.token}`];
  const shown = await invokeRoute(singleSignOn, "GET /sso", { cookies });
  expect(JSON.stringify(shown)).not.toMatch(/secret|providerId/i);
  await expect(
    settings.change(org.caller, { issuer: "https://evil.example" }),
  ).rejects.toMatchObject({ details: [{ path: "clientSecret", message: "is required" }] });
});

test("private addresses and shared issuers are refused", async () => {
  const org = await createSsoOrganization(provider);
  const tenant = "/{tenantid}/v2.0";
  provider.metadata = { issuer: `${provider.issuer}${tenant}` };
  const moved = await settings.test(org.caller);
  expect(moved).toMatchObject({
    ready: false,
    checks: [{ name: "provider", passed: false }, { passed: true }, { passed: false }],
  });
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "off");
  try {
    for (const issuer of [provider.issuer, "https://10.0.0.1", "https://login.internal"])
      await expect(
        settings.change(org.caller, { issuer, clientSecret: "s" }),
      ).rejects.toMatchObject({ kind: "invalid" });
  } finally {
    vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  }
});

test("the check of the settings says in words what is missing", async () => {
  const org = await createSsoOrganization(provider);
  expect(await settings.test(org.caller)).toMatchObject({
    ready: true,
    checks: [
      { name: "provider", passed: true },
      { name: "domains", passed: true },
      { name: "login", passed: false, message: expect.stringContaining("Nobody has logged in") },
    ],
  });
  await write(remove(keys.domainOwner(org.domain)));
  provider.metadata = { jwks_uri: `${provider.issuer}/none` };
  expect(await settings.test(org.caller)).toMatchObject({
    ready: false,
    checks: [
      { passed: false, message: expect.stringContaining("keys") },
      { passed: false, message: expect.stringContaining(`Verify ${org.domain}`) },
      {},
    ],
  });
});

test("a login can start with the email address", async () => {
  const org = await createSsoOrganization(provider);
  const { url } = await startLogin({ email: `jo@${org.domain}` });
  expect(url).toContain(`client-${org.orgId}`);
  expect(new URL(url).searchParams.get("login_hint")).toBe(`jo@${org.domain}`);
  await expect(startLogin({ email: `jo@${uniqueDomain()}` })).rejects.toThrow("404");
});

test("a browser sees the reason of a failure as a page", async () => {
  const org = await createSsoOrganization(provider);
  const page = await invokeRoute<string>(singleSignOn, "GET /auth/sso/callback/:organizationId", {
    params: { organizationId: String(org.orgId) },
    query: { state: "x", error: "<b>denied</b>" },
    headers: { accept: "text/html", "accept-language": "de" },
  });
  expect(page.status).toBe(403);
  expect(page.body.data).toContain("Die Anmeldung hat nicht geklappt");
  expect(page.body.data).toContain("start again");
});
