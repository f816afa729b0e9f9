import { expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { get, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import { type MailOrder, prepareCharge } from "../../shared/domain/billing/charge.ts";
import { getQuota } from "../../shared/domain/billing/quota.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import {
  countSends,
  countSiteSendsWrite,
  requireNoSendsWrites,
} from "../../shared/domain/identity/site-send-counts.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { missing } from "../../shared/errors.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";

const make = async (caller: Caller, name: string) =>
  sites.create(caller, sites.NewSite.parse({ name }));
const newKey = (siteId: number | null) => apiKeys.NewApiKey.parse({ name: "key", siteId });
const readUnits = async (work: () => Promise<unknown>) =>
  (await measureUnits(work)).usage.readUnits;

test("siteId defaults to the organization's only site and is required otherwise", async () => {
  const { caller } = await createAccount();
  await expect(sites.resolveSiteId(caller)).rejects.toMatchObject({
    kind: "invalid",
    message: expect.stringContaining("create one with POST /sites"),
    details: [{ path: "siteId" }],
  });
  const one = await make(caller, "One");
  expect(await sites.resolveSiteId(caller)).toBe(one.id);
  const two = await make(caller, "Two");
  await expect(sites.resolveSiteId(caller)).rejects.toMatchObject({ kind: "invalid" });
  await removeSite(caller, one.id);
  expect(await sites.resolveSiteId(caller)).toBe(two.id);
});

test("concurrent creations and deletions leave the only site resolvable", async () => {
  const { caller } = await createAccount();
  const made = await Promise.all(["a", "b", "c", "d"].map((name) => make(caller, name)));
  const [kept, ...otherSites] = made;
  await Promise.all(otherSites.map(({ id }) => removeSite(caller, id)));
  expect(await sites.resolveSiteId(caller)).toBe(kept!.id);
  expect(await sites.listVisibleSiteIds(caller)).toEqual([kept!.id]);
});

test("resolving the site costs a bound key nothing and other callers half a read unit", async () => {
  const { caller } = await createAccount();
  const { id } = await make(caller, "One");
  const bound = { ...caller, siteIds: [id] };
  expect(await readUnits(() => sites.resolveSiteId(bound))).toBe(0);
  expect(await readUnits(() => sites.resolveSiteId(bound, id))).toBe(0);
  expect(await readUnits(() => sites.resolveSiteId(caller))).toBe(0.5);
  expect(await readUnits(() => sites.resolveSiteId(caller, id))).toBe(0.5);
});

test("a foreign site is a 404; for a bound key, another site of its organization is a 403", async () => {
  const [{ caller }, { caller: stranger }] = await Promise.all([createAccount(), createAccount()]);
  const [own, other, foreign] = await Promise.all([
    make(caller, "Own"),
    make(caller, "Other"),
    make(stranger, "Foreign"),
  ]);
  const bound = { ...caller, siteIds: [own.id] };
  for (const ask of [sites.resolveSiteId, sites.listVisibleSiteIds, sites.find] as ((
    owner: Caller,
    id: number,
  ) => Promise<unknown>)[]) {
    await expect(ask(caller, foreign.id)).rejects.toMatchObject({ kind: "missing" });
    await expect(ask(bound, foreign.id)).rejects.toMatchObject({ kind: "missing" });
    await expect(ask(bound, other.id)).rejects.toMatchObject({
      kind: "forbidden",
      code: "site_forbidden",
    });
  }
  expect(await sites.listVisibleSiteIds(bound)).toEqual([own.id]);
  expect(await sites.listVisibleSiteIds(caller)).toEqual([own.id, other.id].sort((a, b) => a - b));
});

test("a site with sends cannot be deleted and keeps its keys", async () => {
  const { caller } = await createAccount();
  const { id } = await make(caller, "One");
  const { key } = await apiKeys.create(caller, newKey(id));
  await write(countSiteSendsWrite(caller.orgId, { siteId: id, n: 1 }));
  await expect(removeSite(caller, id)).rejects.toMatchObject({
    kind: "conflict",
    code: "site_has_sends",
  });
  expect(await sites.find(caller, id)).toMatchObject({ name: "One" });
  expect(await get(keys.apiKey(sha256(key)))).toMatchObject({ siteId: id });
});

test("counts the sends of 32 sites on the account, and of others in their own items", async () => {
  const { caller } = await createAccount();
  const charge = async (order: Omit<MailOrder, "orgId">) => {
    const quota = await getQuota(caller.orgId);
    await write(...prepareCharge(quota, { orgId: caller.orgId, ...order }).writes);
  };
  const siteIds = Array.from({ length: 40 }, (_, i) => i + 1);
  for (const siteId of [...siteIds, ...siteIds.toReversed()])
    await charge({ n: 2, reference: `s${siteId}`, siteSends: { siteId, n: 2 } });
  expect(await countSends(caller.orgId, siteIds)).toBe(160);
  expect(await countSends(caller.orgId, [40])).toBe(4);
  const item = (await get<object>(keys.account(caller.orgId)))!;
  expect(Object.keys(item).filter((name) => name.startsWith("sends."))).toHaveLength(32);
  for (const siteId of [1, 40]) {
    await expect(requireNoSendsWrites(caller.orgId, siteId, missing("none"))).rejects.toMatchObject(
      { kind: "missing" },
    );
    await write(countSiteSendsWrite(caller.orgId, { siteId, n: -4 }));
    const checks = await requireNoSendsWrites(caller.orgId, siteId, missing("none"));
    await write(...checks);
    await charge({ n: 1, reference: `late${siteId}`, siteSends: { siteId, n: 1 } });
    await expect(write(...checks)).rejects.toMatchObject({ kind: "missing" });
  }
});

test("deleting a site deletes the keys bound to it and no others", async () => {
  const { caller } = await createAccount();
  const [deleted, kept] = [await make(caller, "Gone"), await make(caller, "Kept")];
  const [bound, elsewhere, free] = [
    await apiKeys.create(caller, newKey(deleted.id)),
    await apiKeys.create(caller, newKey(kept.id)),
    await apiKeys.create(caller, newKey(null)),
  ];
  await removeSite(caller, deleted.id);
  expect(await get(keys.apiKey(sha256(bound.key)))).toBeUndefined();
  const { items, pagination } = await apiKeys.list(caller, { limit: 50 });
  expect(items.map(({ id }) => id)).toEqual([free.id, elsewhere.id]);
  expect(pagination.total).toBe(2);
});

test("a key cannot be bound to an unknown site", async () => {
  const [{ caller }, { caller: stranger }] = await Promise.all([createAccount(), createAccount()]);
  const foreign = await make(stranger, "Foreign");
  await expect(apiKeys.create(caller, newKey(foreign.id))).rejects.toMatchObject({
    kind: "missing",
  });
  expect((await apiKeys.list(caller, { limit: 50 })).pagination.total).toBe(0);
});
