import { describe, expect, test } from "vitest";
import { put, queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as campaignList from "../../shared/domain/campaigns/campaign-list.ts";
import { NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as attempts from "../../shared/domain/identity/attempt-limits.ts";
import * as invitations from "../../shared/domain/identity/invitations.ts";
import * as members from "../../shared/domain/identity/members.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sessions from "../../shared/domain/identity/sessions.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { listOrganizations } from "../../shared/domain/identity/user-organizations.ts";
import { findApiKey } from "../../shared/kernel/api-key-cache.ts";
import { keys, ranges, sha256 } from "../../shared/keys.ts";
import { createAccount, login, password, uniqueEmail } from "../support/accounts.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import { crashAtEveryStep, interceptClients } from "../support/crash-injection.ts";
import { accept, addMember, callerOf, client, invite } from "../support/members.ts";

interceptClients();

const page = { limit: 50 };
const codeOf = (outcome: PromiseSettledResult<unknown>): string =>
  outcome.status === "fulfilled" ? "done" : outcome.reason.code;

test("the only owner cannot leave, be demoted or be removed", async () => {
  const { caller } = await createAccount();
  const admin = await addMember(caller, { role: "admin" });
  const refusal = { kind: "conflict", code: "last_owner" };
  await expect(members.leave(caller)).rejects.toMatchObject(refusal);
  await expect(members.remove(caller, caller.userId)).rejects.toMatchObject(refusal);
  await expect(members.change(caller, caller.userId, { role: "admin" })).rejects.toMatchObject(
    refusal,
  );
  await expect(members.remove(admin.caller, caller.userId)).rejects.toMatchObject({
    code: "scope_missing",
  });
});

test("of two owners who demote or remove each other at once, one stays an owner", async () => {
  for (const act of [
    (by: Caller, id: number) => members.change(by, id, { role: "viewer" }),
    (by: Caller, id: number) => members.remove(by, id),
    (by: Caller) => members.leave(by),
  ]) {
    const { caller: first } = await createAccount();
    const second = await addMember(first, { role: "owner" });
    const outcomes = await Promise.allSettled([
      act(first, second.userId),
      act(second.caller, first.userId),
    ]);
    expect(outcomes.map(codeOf).sort()).toEqual(["done", "last_owner"]);
    const { items } = await members.list(first, page);
    expect(items.filter(({ role }) => role === "owner")).toHaveLength(1);
  }
});

test("an admin cannot make, change or remove an owner", async () => {
  const { caller } = await createAccount();
  const [admin, owner, viewer] = [
    await addMember(caller, { role: "admin" }),
    await addMember(caller, { role: "owner" }),
    await addMember(caller, { role: "viewer" }),
  ];
  const refusal = { kind: "forbidden", code: "scope_missing" };
  await expect(
    members.change(admin.caller, viewer.userId, { role: "owner" }),
  ).rejects.toMatchObject(refusal);
  await expect(
    members.change(admin.caller, owner.userId, { role: "viewer" }),
  ).rejects.toMatchObject(refusal);
  await expect(members.remove(admin.caller, owner.userId)).rejects.toMatchObject(refusal);
  await expect(invite(admin.caller, { role: "owner" })).rejects.toMatchObject(refusal);
  expect(await members.change(admin.caller, viewer.userId, { role: "admin" })).toMatchObject({
    role: "admin",
  });
});

test("a changed role and a removal work from the next request on", async () => {
  const { caller } = await createAccount();
  const member = await addMember(caller, { role: "viewer" });
  const session = { token: member.token, organization: { ...(await organizationOf(member)) } };
  await members.change(caller, member.userId, { role: "marketer" });
  expect((await callerOf(session)).role).toBe("marketer");
  await members.remove(caller, member.userId);
  await expect(callerOf(session)).rejects.toMatchObject({ kind: "unauthenticated" });
  await expect(login({ email: member.email, password }, "192.0.2.78")).rejects.toMatchObject({
    code: "no_organization",
  });
});

const organizationOf = async ({ caller }: { caller: Caller }) =>
  (await accounts.getProfile(caller)).organization;

test("a user who was removed can be invited again", async () => {
  const { caller } = await createAccount();
  const { email, userId } = await addMember(caller, { role: "admin" });
  await members.remove(caller, userId);
  const { token } = await invite(caller, { role: "viewer", email });
  const back = await accept(token);
  expect(back.user.id).toBe(userId);
  expect(await members.find(caller, userId)).toMatchObject({ role: "viewer" });
});

test("a session from before a removal stays ended when the user is invited again", async () => {
  const { caller } = await createAccount();
  const { email, userId, token } = await addMember(caller, { role: "admin" });
  const { organization } = await accounts.getProfile(caller);
  await members.remove(caller, userId);
  clock.advanceClock(1);
  const back = await accept((await invite(caller, { role: "viewer", email })).token);
  await expect(callerOf({ token, organization })).rejects.toMatchObject({
    kind: "unauthenticated",
  });
  expect((await callerOf(back)).role).toBe("viewer");
});

test("a password reset does not reach the API keys of an organization that the user left", async () => {
  const { caller } = await createAccount();
  const { email, userId, caller: developer } = await addMember(caller, { role: "developer" });
  const { key } = await apiKeys.create(developer, apiKeys.NewApiKey.parse({ name: "server" }));
  await members.remove(caller, userId);
  const { token } = (await passwordChanges.createResetToken(email))!;
  const options = { revokeApiKeys: true };
  expect(await passwordChanges.resetPassword(token, "quite a new password", options)).toEqual([]);
  expect(await findApiKey(sha256(key))).toMatchObject({ orgId: caller.orgId });
});

test("a password reset by a member without a key of their own keeps keys without a creator", async () => {
  const { caller } = await createAccount();
  const { id, key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "server" }));
  await write(update(keys.record(caller.orgId, "APIKEY", id), { remove: ["createdBy"] }));
  const { email } = await addMember(caller, { role: "viewer" });
  const { token } = (await passwordChanges.createResetToken(email))!;
  await passwordChanges.resetPassword(token, "quite a new password", { revokeApiKeys: true });
  expect(await findApiKey(sha256(key))).toMatchObject({ orgId: caller.orgId });
});

test("a session that switches while all sessions end is ended too", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  const { token } = await invite(caller, { role: "viewer", email: user.email });
  const stolen = await callerOf(await accept(token, user.password));
  let hasSwitched = false;
  const end = interceptCalls("dynamodb", async ({ operation }, passThrough) => {
    const response = await passThrough();
    if (!hasSwitched && operation === "Query") {
      hasSwitched = true;
      await accounts.switchOrganization(stolen, user.caller.orgId, client);
    }
    return response;
  });
  await sessions.endAllSessions(user.caller).finally(end);
  expect(hasSwitched).toBe(true);
  const { orgId, userId } = user.caller;
  expect(await queryAll(ranges.userSessions(orgId, userId), { consistent: true })).toEqual([]);
});

test("members limited to several sites list the records of these sites only", async () => {
  const { caller } = await createAccount();
  const [one, two, three] = [await site(caller), await site(caller), await site(caller)];
  const { caller: limited } = await addMember(caller, { role: "viewer", siteIds: [one, three] });
  const page1 = await sites.list(limited, { limit: 1 });
  expect(page1.items.map(({ id }) => id)).toEqual([three]);
  const rest = await sites.list(limited, { limit: 1, cursor: page1.pagination.nextCursor! });
  expect(rest.items.map(({ id }) => id)).toEqual([one]);
  expect(rest.pagination).toMatchObject({ total: 2, nextCursor: null });
  await expect(sites.find(limited, two)).rejects.toMatchObject({ code: "site_forbidden" });
  await expect(sites.resolveSiteId(limited)).rejects.toMatchObject({ kind: "invalid" });
  expect(await sites.listVisibleSiteIds(limited)).toEqual([one, three]);
});

test("a member whose only site was deleted lists nothing", async () => {
  const { caller } = await createAccount();
  await campaigns.create(caller, NewCampaign.parse({ siteId: await site(caller), name: "C" }));
  const gone = await site(caller);
  const { caller: limited } = await addMember(caller, { role: "viewer", siteIds: [gone] });
  await removeSite(caller, gone);
  expect(await campaignList.list(limited, page, {})).toMatchObject({
    campaigns: [],
    pagination: { total: 0, nextCursor: null },
  });
});

const site = async (caller: Caller): Promise<number> =>
  (await sites.create(caller, sites.NewSite.parse({ name: "Shop" }))).id;

test("an owner cannot be limited to sites, and sites must exist", async () => {
  const { caller } = await createAccount();
  const id = await site(caller);
  const { caller: stranger } = await createAccount();
  const foreign = await site(stranger);
  await expect(invite(caller, { role: "owner", siteIds: [id] })).rejects.toMatchObject({
    kind: "invalid",
  });
  await expect(invite(caller, { role: "viewer", siteIds: [foreign] })).rejects.toMatchObject({
    kind: "invalid",
  });
  const member = await addMember(caller, { role: "viewer", siteIds: [id] });
  expect(await members.change(caller, member.userId, { role: "owner" })).toMatchObject({
    role: "owner",
    siteIds: null,
  });
});

describe("an admin who is limited to sites", () => {
  const forbidden = { code: "site_forbidden" };

  async function createTeam() {
    const { caller: owner } = await createAccount();
    const [own, second, other] = [await site(owner), await site(owner), await site(owner)];
    const { caller: admin } = await addMember(owner, { role: "admin", siteIds: [own, second] });
    return { owner, admin, own, second, other };
  }

  test("creates, lists and revokes the API keys of these sites only", async () => {
    const { owner, admin, own, other } = await createTeam();
    const create = (by: Caller, siteId: number | null) =>
      apiKeys.create(by, apiKeys.NewApiKey.parse({ name: "k", siteId }));
    const [whole, foreign] = [await create(owner, null), await create(owner, other)];
    const key = await create(admin, own);
    expect(key.siteId).toBe(own);
    await expect(create(admin, other)).rejects.toMatchObject(forbidden);
    await expect(create(admin, null)).rejects.toMatchObject({ kind: "invalid" });
    const { items, pagination } = await apiKeys.list(admin, page);
    expect(items.map(({ id }) => id)).toEqual([key.id]);
    expect(pagination.total).toBe(1);
    for (const { id } of [whole, foreign])
      await expect(apiKeys.remove(admin, id)).rejects.toMatchObject(forbidden);
    await apiKeys.remove(admin, key.id);
    expect((await apiKeys.list(owner, page)).items).toHaveLength(2);
  });

  test("creates keys of the only site without naming it", async () => {
    const { owner, own } = await createTeam();
    const { caller: developer } = await addMember(owner, { role: "developer", siteIds: [own] });
    const input = apiKeys.NewApiKey.parse({ name: "k" });
    expect(await apiKeys.create(developer, input)).toMatchObject({ siteId: own });
  });

  test("invites to these sites only, by default to all of them", async () => {
    const { owner, admin, own, second, other } = await createTeam();
    const { id: foreign } = await invite(owner, { role: "viewer", siteIds: [own, other] });
    const { id: whole } = await invite(owner, { role: "viewer" });
    for (const siteIds of [[other], [own, other]])
      await expect(invite(admin, { role: "viewer", siteIds })).rejects.toMatchObject(forbidden);
    const { id } = await invite(admin, { role: "viewer" });
    expect((await invitations.find(admin, id)).siteIds).toEqual([own, second]);
    expect((await invitations.list(admin, page)).items.map((one) => one.id)).toEqual([id, foreign]);
    for (const refused of [foreign, whole]) {
      await expect(invitations.resend(admin, refused)).rejects.toMatchObject(forbidden);
      await expect(invitations.revoke(admin, refused)).rejects.toMatchObject(forbidden);
    }
    await invitations.revoke(admin, id);
  });

  test("changes only members who have no other sites", async () => {
    const { owner, admin, own, other } = await createTeam();
    const inside = await addMember(owner, { role: "viewer", siteIds: [own] });
    const partly = await addMember(owner, { role: "viewer", siteIds: [own, other] });
    const outside = await addMember(owner, { role: "viewer", siteIds: [other] });
    const { items } = await members.list(admin, page);
    const seen = [owner, admin, inside, partly].map(({ userId }) => userId);
    expect(items.map(({ id }) => id).toSorted()).toEqual(seen.toSorted());
    await expect(members.find(admin, outside.userId)).rejects.toMatchObject(forbidden);
    for (const { userId } of [owner, partly, outside]) {
      await expect(members.change(admin, userId, { role: "viewer" })).rejects.toMatchObject(
        forbidden,
      );
      await expect(members.remove(admin, userId)).rejects.toMatchObject(forbidden);
    }
    for (const siteIds of [null, [own, other]])
      await expect(members.change(admin, inside.userId, { siteIds })).rejects.toMatchObject(
        forbidden,
      );
    expect(await members.change(admin, inside.userId, { role: "marketer" })).toMatchObject({
      role: "marketer",
      siteIds: [own],
    });
    await members.remove(admin, inside.userId);
  });
});

test("an API key has at most the rights of its creator", async () => {
  const { caller } = await createAccount();
  const developer = await addMember(caller, { role: "developer" });
  const create = (scopes: string[]) =>
    apiKeys.create(developer.caller, apiKeys.NewApiKey.parse({ name: "k", scopes }));
  for (const scope of ["contacts:read", "audience:export", "campaigns:write", "billing:write"])
    await expect(create([scope]), scope).rejects.toMatchObject({ code: "scope_missing" });
  expect((await create(["contacts:write", "send:write", "audience:read"])).scopes).toEqual([
    "contacts:write",
    "send:write",
    "audience:read",
  ]);
  const everything = await create(["*"]);
  expect(everything.scopes).toEqual(developer.caller.scopes);
  expect(everything.createdBy).toEqual({ id: developer.userId, email: developer.email });
});

test("API keys stay when their creator leaves, and the list shows who made them", async () => {
  const { caller } = await createAccount();
  const developer = await addMember(caller, { role: "developer" });
  const { id } = await apiKeys.create(
    developer.caller,
    apiKeys.NewApiKey.parse({ name: "server" }),
  );
  await members.leave(developer.caller);
  const { items } = await apiKeys.list(caller, page);
  expect(items).toMatchObject([{ id, createdBy: { email: developer.email } }]);
});

test("an invitation works once, and not after it was revoked or has expired", async () => {
  const { caller } = await createAccount();
  const invalid = { kind: "invalid", code: "invalid_token" };
  await expect(accept("x".repeat(43))).rejects.toMatchObject(invalid);
  const used = await invite(caller, { role: "viewer" });
  await accept(used.token);
  await expect(accept(used.token)).rejects.toMatchObject(invalid);
  const revoked = await invite(caller, { role: "viewer" });
  await invitations.revoke(caller, revoked.id);
  await expect(accept(revoked.token)).rejects.toMatchObject(invalid);
  const late = await invite(caller, { role: "viewer" });
  clock.advanceClock(7 * 24 * 3600 + 1);
  await expect(accept(late.token)).rejects.toMatchObject(invalid);
  expect(await invitations.find(caller, late.id)).toMatchObject({ status: "expired" });
});

test("two acceptances of one invitation at once make one member", async () => {
  const { caller } = await createAccount();
  const { token } = await invite(caller, { role: "viewer" });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => accept(token)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await members.list(caller, page)).items).toHaveLength(2);
});

test("an invited address with an account needs its password", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  const { token } = await invite(caller, { role: "viewer", email: user.email });
  await expect(accept(token, "another password")).rejects.toMatchObject({
    kind: "unauthenticated",
  });
  const opened = await accept(token, user.password);
  expect(opened.user.id).toBe(user.caller.userId);
  expect(opened.organization.id).toBe(caller.orgId);
  expect(opened.organizations.map(({ id, role }) => [id, role])).toEqual([
    [user.caller.orgId, "owner"],
    [caller.orgId, "viewer"],
  ]);
});

test("a member and an invited address cannot be invited, and an organization has a bound", async () => {
  const { caller, email } = await createAccount();
  await expect(invite(caller, { role: "viewer", email })).rejects.toMatchObject({
    code: "already_member",
  });
  const invited = await invite(caller, { role: "viewer" });
  await expect(
    invite(caller, { role: "viewer", email: invited.email.toUpperCase() }),
  ).rejects.toMatchObject({ code: "invitation_exists" });
  await write(put(keys.team(caller.orgId), { furtherMembers: 499, furtherOwners: 0 }));
  await expect(invite(caller, { role: "viewer" })).rejects.toMatchObject({ code: "too_many" });
  await invitations.revoke(caller, invited.id);
  await invite(caller, { role: "viewer" });
});

test.each([
  { plan: "starter", limit: 100, hours: 1 },
  { plan: "free", limit: 20, hours: 24 },
] as const)(
  "an organization can mail $limit invitations in $hours h on the plan $plan, to whatever addresses",
  async ({ plan, limit, hours }) => {
    const account = await createAccount();
    const caller = { ...account.caller, plan };
    const seconds = hours * 3600;
    // The window begins with the hour or the day.
    clock.advanceClock(seconds - (clock.epochSeconds() % seconds));
    const { id } = await invite(caller, { role: "viewer" });
    for (let mails = 1; mails < limit; mails++)
      await attempts.countInvitation(caller, uniqueEmail());
    const refusal = { kind: "limited", bodyFields: { limit } };
    await expect(invite(caller, { role: "viewer" })).rejects.toMatchObject(refusal);
    await expect(invitations.resend(caller, id)).rejects.toMatchObject(refusal);
    clock.advanceClock(seconds);
    await invitations.resend(caller, id);
  },
);

test("a user switches between organizations, and the next login goes to the last one", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  const { token } = await invite(caller, { role: "marketer", email: user.email });
  const joined = await accept(token, user.password);
  const back = await accounts.switchOrganization(await callerOf(joined), user.caller.orgId, client);
  expect(await callerOf(back)).toMatchObject({ orgId: user.caller.orgId, role: "owner" });
  await expect(callerOf(joined)).rejects.toMatchObject({ kind: "unauthenticated" });
  const again = await accounts.switchOrganization(await callerOf(back), caller.orgId, client);
  expect(await callerOf(again)).toMatchObject({
    orgId: caller.orgId,
    homeOrgId: user.caller.orgId,
    role: "marketer",
  });
  const loggedIn = await login(user, "192.0.2.79");
  expect(loggedIn.organization.id).toBe(caller.orgId);
  await members.remove(caller, user.caller.userId);
  expect((await login(user, "192.0.2.79")).organization.id).toBe(user.caller.orgId);
});

test("a session that is older than the membership switches to the organization", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  clock.advanceClock(60);
  const { token } = await invite(caller, { role: "viewer", email: user.email });
  await accept(token, user.password);
  const switched = await accounts.switchOrganization(user.caller, caller.orgId, client);
  expect(await callerOf(switched)).toMatchObject({ orgId: caller.orgId, role: "viewer" });
  clock.advanceClock(60);
  await members.remove(caller, user.caller.userId);
  clock.advanceClock(60);
  const again = await invite(caller, { role: "viewer", email: user.email });
  await accept(again.token, user.password);
  await expect(callerOf(switched)).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("switching to an organization of others is a 404", async () => {
  const [{ caller }, stranger] = [await createAccount(), await createAccount()];
  await expect(
    accounts.switchOrganization(caller, stranger.caller.orgId, client),
  ).rejects.toMatchObject({ kind: "missing" });
});

test.each([
  { who: "a new user", hasAccount: false },
  { who: "a user with an account", hasAccount: true },
])("an acceptance by $who that crashes is made or not made", async ({ hasAccount }) => {
  // A free organization has too few invitations for all crash points.
  const caller = { ...(await createAccount()).caller, plan: "starter" as const };
  const steps = await crashAtEveryStep(async (kill) => {
    const email = hasAccount ? (await createAccount()).email : uniqueEmail();
    const invited = await invite(caller, { role: "viewer", email });
    await kill(() => accept(invited.token));
    const isOpen = await exists(invitations.find(caller, invited.id));
    const { items } = await members.list(caller, { limit: 100 });
    expect(items.some((one) => one.email === email)).toBe(!isOpen);
    if (isOpen) await accept(invited.token);
    const opened = await login({ email, password }, "192.0.2.80");
    expect(opened.organization.id).toBe(caller.orgId);
    expect(opened.organizations).toHaveLength(hasAccount ? 2 : 1);
  });
  expect(steps).toContain("after TransactWriteItems");
});

const exists = (found: Promise<unknown>): Promise<boolean> =>
  found.then(
    () => true,
    () => false,
  );

test("a switch that crashes leaves the old session or opens the new one", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  const { token } = await invite(caller, { role: "viewer", email: user.email });
  await accept(token, user.password);
  const steps = await crashAtEveryStep(async (kill) => {
    const before = await login(user, "192.0.2.81");
    const target = before.organizations.find(({ id }) => id !== before.organization.id)!.id;
    const from = await callerOf(before);
    await kill(() => accounts.switchOrganization(from, target, client));
    const isOldAlive = await exists(callerOf(before));
    const next = await login(user, "192.0.2.81");
    expect(next.organization.id).toBe(isOldAlive ? before.organization.id : target);
  });
  expect(steps).toContain("after TransactWriteItems");
});

test("the list of organizations leaves out those that the user has left", async () => {
  const { caller } = await createAccount();
  const member = await addMember(caller, { role: "viewer" });
  const key = { orgId: caller.orgId, userId: member.userId };
  expect(await listOrganizations(key)).toHaveLength(1);
  await members.leave(member.caller);
  expect(await listOrganizations(key)).toEqual([]);
});

test("a session ends when it is not used for the time that the organization allows", async () => {
  const { caller, token, opened } = await createAccount();
  const session = { token, organization: opened.organization };
  await organizations.change(caller, { sessionIdleMinutes: 30 });
  for (let used = 0; used < 3; used++) {
    clock.advanceClock(20 * 60);
    await callerOf(session);
  }
  clock.advanceClock(31 * 60);
  await expect(callerOf(session)).rejects.toMatchObject({ kind: "unauthenticated" });
  await organizations.change(caller, { sessionIdleMinutes: null });
  await expect(callerOf(session)).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("a password reset lists the user's API keys in all organizations, and revokes them", async () => {
  const { caller } = await createAccount();
  const user = await createAccount();
  const own = await apiKeys.create(user.caller, apiKeys.NewApiKey.parse({ name: "own" }));
  const { token } = await invite(caller, { role: "developer", email: user.email });
  const joined = await callerOf(await accept(token, user.password));
  const other = await apiKeys.create(joined, apiKeys.NewApiKey.parse({ name: "other" }));
  const kept = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "kept" }));
  const reset = async (revokeApiKeys: boolean) => {
    const started = await passwordChanges.createResetToken(user.email);
    return passwordChanges.resetPassword(started!.token, "quite a new password", { revokeApiKeys });
  };
  expect((await reset(false)).map(({ id }) => id).sort()).toEqual([own.id, other.id].sort());
  expect(await reset(true)).toEqual([]);
  const { items } = await apiKeys.list(caller, page);
  expect(items.map(({ id }) => id)).toEqual([kept.id]);
});
