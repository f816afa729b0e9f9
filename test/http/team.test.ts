import { expect, inject, test } from "vitest";
import {
  expectStatus,
  password,
  request,
  sessionCookie,
  signedUp,
  type TestClient,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";

interface Invitation {
  id: number;
  email: string;
  status: string;
}
interface OpenedSession {
  user: { id: number; email: string };
  organization: { id: number };
  organizations: { id: number; role: string }[];
}
const session = { as: "session" } as const;

/** Invites somebody and returns the token of the mailed link. */
async function invite(
  { call }: TestClient,
  fields: { email?: string; role?: string; siteIds?: number[] } = {},
): Promise<{ id: number; email: string; token: string }> {
  const body = { email: uniqueEmail(), role: "marketer", ...fields };
  const { id } = expectStatus(201, await call<Invitation>("POST", "/invitations", body, session))
    .body.data;
  return { id, email: body.email, token: await mailedToken(body.email) };
}

async function mailedToken(email: string): Promise<string> {
  const { text } = await waitForMail(email);
  return /\/accept-invitation\?token=(\w+)/.exec(text ?? "")?.[1] ?? "";
}

const accept = (token: string, fields: object = {}) =>
  request<OpenedSession>("POST", "/invitations/accept", { token, password, ...fields });

async function addMember(owner: TestClient, fields: Parameters<typeof invite>[1] = {}) {
  const { token, email } = await invite(owner, fields);
  const answer = expectStatus(200, await accept(token, { name: "Bob" }));
  return { email, cookie: sessionCookie(answer), ...answer.body.data };
}

test("an invited person becomes a member with a new account and the rights of the role", async () => {
  const owner = await signedUp();
  const { email, cookie, user, organization } = await addMember(owner);
  expect(organization.id).toBe(owner.orgId);
  const me = await owner.call("GET", "/auth/me", undefined, { as: { cookie } });
  expect(me.body.data).toMatchObject({
    user: { email, name: "Bob" },
    auth: { kind: "session", role: "marketer", siteId: null, siteIds: null },
  });
  const contact = { siteId: owner.siteId, email: "ann@example.com" };
  expectStatus(201, await owner.call("POST", "/contacts", contact, { as: { cookie } }));
  const refused = await owner.call("POST", "/api-keys", { name: "k" }, { as: { cookie } });
  expect(refused).toMatchObject({
    status: 403,
    body: {
      code: "scope_missing",
      error: "The role marketer does not have the right credentials:write",
    },
  });
  const listed = await owner.call("GET", "/members");
  expect(listed.body.data).toMatchObject({
    members: [
      { id: user.id, email, role: "marketer", siteIds: null },
      { id: owner.userId, email: owner.email, role: "owner" },
    ],
  });
});

test("invitations are listed, resent and revoked", async () => {
  const owner = await signedUp();
  const { id, email, token } = await invite(owner);
  const listed = await owner.call("GET", "/invitations");
  expect(listed.body.data).toMatchObject({
    invitations: [{ id, email, status: "open", invitedBy: { email: owner.email } }],
    pagination: { total: 1 },
  });
  expect(listed.text).not.toContain(token);
  expectStatus(200, await owner.call("POST", `/invitations/${id}/resend`, undefined, session));
  await expect.poll(() => mailedToken(email)).not.toBe(token);
  expectStatus(200, await owner.call("DELETE", `/invitations/${id}`, undefined, session));
  expect((await accept(token)).body.code).toBe("invalid_token");
  expect((await accept(await mailedToken(email))).body.code).toBe("invalid_token");
});

test("the holder of a link sees who invites to what, without using it up", async () => {
  const [owner, user] = [await signedUp(), await signedUp()];
  const preview = (token: string) => request("POST", "/invitations/preview", { token });
  for (const email of [uniqueEmail(), user.email]) {
    const { token } = await invite(owner, { email, role: "developer" });
    for (let n = 0; n < 2; n++)
      expect(expectStatus(200, await preview(token)).body.data).toEqual({
        organizationName: expect.any(String),
        email,
        invitedBy: owner.email,
        role: "developer",
        hasAccount: email === user.email,
        requiresSso: false,
        ssoUrl: null,
        expiresAt: expect.stringMatching(/^\d{4}-/),
      });
  }
  expect(await preview("no-such-token")).toMatchObject({
    status: 400,
    body: { code: "invalid_token" },
  });
});

test("invitations and members of one organization are a 404 for another", async () => {
  const [owner, stranger] = [await signedUp(), await signedUp()];
  const { id } = await invite(owner);
  for (const [method, path, body] of [
    ["GET", `/members/${owner.userId}`],
    ["PUT", `/members/${owner.userId}`, { role: "viewer" }],
    ["DELETE", `/members/${owner.userId}`],
    ["GET", `/invitations/${id}`],
    ["POST", `/invitations/${id}/resend`],
    ["DELETE", `/invitations/${id}`],
    ["POST", "/auth/switch", { organizationId: owner.orgId }],
  ] as const) {
    const { status } = await stranger.call(method, path, body, session);
    expect([method, path, status]).toEqual([method, path, 404]);
  }
});

test("a user of another organization accepts with the password and switches back", async () => {
  const [owner, user] = [await signedUp(), await signedUp()];
  const { token } = await invite(owner, { email: user.email, role: "viewer" });
  expect((await accept(token, { password: "another horse" })).status).toBe(401);
  const accepted = expectStatus(200, await accept(token, { password: user.password }));
  expect(accepted.body.data.organizations).toMatchObject([
    { id: user.orgId, role: "owner" },
    { id: owner.orgId, role: "viewer" },
  ]);
  const joined = sessionCookie(accepted);
  const switched = expectStatus(
    200,
    await owner.call<OpenedSession>(
      "POST",
      "/auth/switch",
      { organizationId: user.orgId },
      { as: { cookie: joined } },
    ),
  );
  expect(switched.body.data.organization.id).toBe(user.orgId);
  const me = (cookie: string) => owner.call("GET", "/auth/me", undefined, { as: { cookie } });
  expect((await me(joined)).status).toBe(401);
  expect((await me(sessionCookie(switched))).status).toBe(200);
  const { email } = user;
  const login = await request<OpenedSession>("POST", "/auth/login", { email, password });
  expect(login.body.data.organization.id).toBe(user.orgId);
  expect(login.body.data.organizations).toHaveLength(2);
});

test("an invited user with a second factor accepts with a code", async () => {
  const [owner, user] = [await signedUp(), await signedUp()];
  const enabled = await user.call<{ recoveryCodes: string[] }>(
    "POST",
    "/mfa/email-otp/enable",
    undefined,
    session,
  );
  const { token } = await invite(owner, { email: user.email });
  const asked = await request<{ mfaRequired: boolean; mfaToken: string }>(
    "POST",
    "/invitations/accept",
    { token, password: user.password },
  );
  expect(asked.body.data.mfaRequired).toBe(true);
  expect(asked.cookies).toEqual([]);
  const before = await owner.call<{ members: object[] }>("GET", "/members");
  expect(before.body.data.members).toHaveLength(1);
  const { mfaToken } = asked.body.data;
  const code = enabled.body.data.recoveryCodes[0];
  const verified = await request<OpenedSession>("POST", "/mfa/verify", { mfaToken, code });
  expect(expectStatus(200, verified).body.data.organization.id).toBe(owner.orgId);
});

test("a member who is limited to a site sees only this site", async () => {
  const owner = await signedUp();
  const other = await owner.call<{ id: number }>("POST", "/sites", { name: "Other" });
  const { cookie } = await addMember(owner, { role: "marketer", siteIds: [owner.siteId] });
  const asMember = { as: { cookie } };
  const sites = await owner.call<{ sites: { id: number }[] }>("GET", "/sites", undefined, asMember);
  expect(sites.body.data.sites.map(({ id }) => id)).toEqual([owner.siteId]);
  const refused = await owner.call(
    "GET",
    `/contacts?siteId=${other.body.data.id}`,
    undefined,
    asMember,
  );
  expect([refused.status, refused.body.code]).toEqual([403, "site_forbidden"]);
  expect((await owner.call("GET", "/settings", undefined, asMember)).status).toBe(403);
  expect((await owner.call("GET", "/mfa/status", undefined, asMember)).status).toBe(200);
});

test("an admin who is limited to a site manages its team and its API keys", async () => {
  const owner = await signedUp();
  const { cookie } = await addMember(owner, { role: "admin", siteIds: [owner.siteId] });
  const asAdmin = { as: { cookie } };
  const key = await owner.call<{ id: number; siteId: number }>(
    "POST",
    "/api-keys",
    { name: "Shop" },
    asAdmin,
  );
  expect(expectStatus(201, key).body.data.siteId).toBe(owner.siteId);
  const paths = ["/members", "/invitations", "/api-keys"];
  for (const path of paths) expectStatus(200, await owner.call("GET", path, undefined, asAdmin));
  const bound = { as: { key: await owner.newKey({ siteId: owner.siteId }) } };
  for (const path of paths) expectStatus(403, await owner.call("GET", path, undefined, bound));
});

test("a member leaves, and the session ends", async () => {
  const owner = await signedUp();
  const { cookie } = await addMember(owner);
  const left = await owner.call("POST", "/auth/leave", undefined, { as: { cookie } });
  expect([left.status, left.cookies[0]]).toEqual([200, expect.stringContaining("Max-Age=0")]);
  expect((await owner.call("GET", "/auth/me", undefined, { as: { cookie } })).status).toBe(401);
  const last = await owner.call("POST", "/auth/leave", undefined, session);
  expect([last.status, last.body.code]).toEqual([409, "last_owner"]);
});

test("an API key cannot invite, and cannot change members", async () => {
  const owner = await signedUp();
  const body = { email: uniqueEmail(), role: "viewer" };
  for (const [method, path] of [
    ["POST", "/invitations"],
    ["PUT", `/members/${owner.userId}`],
  ] as const)
    expect((await owner.call(method, path, body)).body.code).toBe("session_required");
});

test("wrong passwords for an invitation count as failed logins of the account", async () => {
  const [owner, user] = [await signedUp(), await signedUp()];
  const { token } = await invite(owner, { email: user.email });
  const guesses = [];
  for (let n = 0; n < 11; n++)
    guesses.push((await accept(token, { password: `guess number ${n}` })).status);
  expect(guesses).toEqual([...Array(10).fill(401), 429]);
});

const visit = (path: string, form?: Record<string, string>, headers = {}) =>
  fetch(`${inject("baseUrl")}${path}`, {
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
    headers: { "accept-language": "en", ...headers },
  });

test("the page of an invitation accepts it, in the language of the browser", async () => {
  const owner = await signedUp();
  const { token, email } = await invite(owner);
  const path = `/accept-invitation?token=${token}`;
  const german = await (await visit(path, undefined, { "accept-language": "de" })).text();
  expect(german).toContain("Passwort wählen");
  const form = await visit(path);
  expect(await form.text()).toContain(`${owner.email} invited ${email}.`);
  const short = await visit("/accept-invitation", { token, password: "short" });
  expect(await short.text()).toContain("The password must have 10 to 200 characters.");
  const weak = await visit("/accept-invitation", { token, password: "aaaaaaaaaa" });
  expect(await weak.text()).toContain("This password is too easy to guess.");
  const done = await visit("/accept-invitation", { token, password });
  expect(await done.text()).toContain("You are now a member of");
  expect(done.headers.get("set-cookie")).toContain("__Host-session=");
  expect(await (await visit(path)).text()).toContain("This invitation no longer works");
});

test("the page asks a user with an account for the password and the second factor", async () => {
  const [owner, user] = [await signedUp(), await signedUp()];
  await user.call("POST", "/mfa/email-otp/enable", undefined, session);
  const { token } = await invite(owner, { email: user.email });
  const wrong = await visit("/accept-invitation", { token, password: "another horse" });
  expect(await wrong.text()).toContain("This is not the password of the account.");
  const asked = await (await visit("/accept-invitation", { token, password })).text();
  const mfaToken = /name="mfaToken" value="(\w+)"/.exec(asked)?.[1] ?? "";
  const submit = (code: string) =>
    visit("/accept-invitation", { token, mfaToken, code, mailed: "yes" });
  expect(await (await submit("000000x")).text()).toContain("This code is wrong");
  const mailedCode = async () =>
    /^(\d{6}) is your/.exec((await waitForMail(user.email)).subject)?.[1] ?? "";
  await expect.poll(mailedCode).not.toBe("");
  expect(await (await submit(await mailedCode())).text()).toContain("You are now a member of");
});

test("a page of another origin cannot accept an invitation", async () => {
  const owner = await signedUp();
  const { token } = await invite(owner);
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "null", "sec-fetch-site": "cross-site" },
  ])
    expect((await visit("/accept-invitation", { token, password }, headers)).status).toBe(403);
  const own = { origin: "null", "sec-fetch-site": "same-origin" };
  expect((await visit("/accept-invitation", { token, password }, own)).status).toBe(200);
});
