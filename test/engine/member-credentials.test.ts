// API keys and open invitations of members who lose their rights, and API keys that expire.
import { expect, test } from "vitest";
import { team } from "../../functions/http/team.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as invitations from "../../shared/domain/identity/invitations.ts";
import * as memberCredentials from "../../shared/domain/identity/member-credentials.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { authenticate } from "../../shared/http/authenticate.ts";
import { createAccount } from "../support/accounts.ts";
import { withSession } from "../support/audit-log.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { accept, addMember, callerOf, invite } from "../support/members.ts";

const createKey = (caller: Caller, fields: object = {}) =>
  apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "k", ...fields }));
const works = ({ key }: { key: string }): Promise<boolean> =>
  authenticate({ headers: { authorization: `Bearer ${key}` }, cookies: {} }, "GET").then(
    () => true,
    () => false,
  );
const openInvitations = async (caller: Caller) =>
  (await invitations.list(caller, { limit: 100 })).items.map(({ id }) => id);

test("a removal returns the keys of the member, and revokes them on request", async () => {
  const owner = await createAccount();
  const kept = await createKey(owner.caller);
  for (const revokeApiKeys of [false, true]) {
    const member = await addMember(owner.caller, { role: "developer" });
    const keys = [await createKey(member.caller), await createKey(member.caller)];
    const left = await memberCredentials.removeMember(owner.caller, member.userId, {
      revokeApiKeys,
    });
    expect(left.map(({ id }) => id).toSorted()).toEqual(
      revokeApiKeys ? [] : keys.map(({ id }) => id).toSorted(),
    );
    for (const key of keys) expect(await works(key)).toBe(!revokeApiKeys);
  }
  expect(await works(kept)).toBe(true);
});

test("the routes take revokeApiKeys and return the keys that still work", async () => {
  const owner = await createAccount();
  for (const request of [{ body: { revokeApiKeys: true } }, { query: { revokeApiKeys: "true" } }]) {
    const { userId, caller } = await addMember(owner.caller, { role: "admin" });
    const key = await createKey(caller);
    const params = { id: String(userId) };
    const demote = (body: object) =>
      invokeRoute(team, "PUT /members/:id", { ...withSession(owner), params, body });
    expect(await demote({ role: "viewer" })).toMatchObject({
      status: 200,
      body: { data: { role: "viewer", apiKeys: [{ id: key.id, prefix: key.prefix }] } },
    });
    expect(await works(key)).toBe(true);
    expect(
      await invokeRoute(team, "DELETE /members/:id", {
        ...withSession(owner),
        params,
        ...request,
      }),
    ).toMatchObject({ status: 200, body: { data: { id: userId, deleted: true, apiKeys: [] } } });
    expect(await works(key)).toBe(false);
  }
});

test("an admin of some sites revokes the keys of these sites only", async () => {
  const { caller } = await createAccount();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const { id: otherId } = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
  const admin = await addMember(caller, { role: "admin", siteIds: [siteId] });
  const developer = await addMember(caller, { role: "developer" });
  const [own, other] = [
    await createKey(developer.caller, { siteId }),
    await createKey(developer.caller, { siteId: otherId }),
  ];
  const update = { siteIds: [siteId], revokeApiKeys: false };
  await memberCredentials.changeMember(caller, developer.userId, update);
  const removal = { revokeApiKeys: true };
  const { userId } = developer;
  expect(await memberCredentials.removeMember(admin.caller, userId, removal)).toEqual([]);
  expect([await works(own), await works(other)]).toEqual([false, true]);
});

test("open invitations of a member end when the member may not give them any more", async () => {
  const { caller } = await createAccount();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const own = await invite(caller, { role: "viewer" });
  const inviter = async () => {
    const { userId, caller: admin } = await addMember(caller, { role: "admin" });
    return { userId, admin, open: await invite(admin, { role: "viewer" }) };
  };
  const refused = { code: "invalid_token" };
  const removed = await inviter();
  await memberCredentials.removeMember(caller, removed.userId, { revokeApiKeys: false });
  await expect(accept(removed.open.token)).rejects.toMatchObject(refused);
  const gone = await inviter();
  await memberCredentials.leave(gone.admin);
  await expect(accept(gone.open.token)).rejects.toMatchObject(refused);
  const demoted = await inviter();
  const change = (fields: object) =>
    memberCredentials.changeMember(caller, demoted.userId, { revokeApiKeys: false, ...fields });
  const ofSite = await invite(demoted.admin, { role: "viewer", siteIds: [siteId] });
  await change({ siteIds: [siteId] });
  await expect(accept(demoted.open.token)).rejects.toMatchObject(refused);
  expect(await openInvitations(caller)).toEqual([ofSite.id, own.id]);
  await change({ role: "viewer" });
  await expect(accept(ofSite.token)).rejects.toMatchObject(refused);
  expect(await openInvitations(caller)).toEqual([own.id]);
  expect((await callerOf(await accept(own.token))).role).toBe("viewer");
});

test("an expired key is refused at once, and stays in the list", async () => {
  const { caller } = await createAccount();
  const at = clock.addSeconds(60).toISOString();
  const key = await createKey(caller, { expiresAt: at.replace("Z", "+00:00") });
  expect(key.expiresAt).toBe(at);
  const endless = await createKey(caller);
  expect(endless.expiresAt).toBeNull();
  expect(await works(key)).toBe(true);
  clock.advanceClock(58);
  expect(await works(key)).toBe(true);
  // The process has read the key a second before, and keeps it for 5 seconds.
  clock.advanceClock(2);
  expect([await works(key), await works(endless)]).toEqual([false, true]);
  const { items } = await apiKeys.list(caller, { limit: 10 });
  expect(items.map(({ expiresAt }) => expiresAt)).toEqual([null, at]);
});

test("a key that expires in the past is refused, and the error names the field", async () => {
  const { caller } = await createAccount();
  const past = clock.addSeconds(-1).toISOString();
  await expect(createKey(caller, { expiresAt: past })).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "expiresAt" }],
  });
});
