import { expect, test } from "vitest";
import type { Caller } from "../../shared/caller.ts";
import * as allowance from "../../shared/domain/allowance.ts";
import * as apiKeys from "../../shared/domain/api-keys.ts";
import * as feed from "../../shared/domain/sending/feed.ts";
import * as sites from "../../shared/domain/sites.ts";
import { metered } from "../../shared/doors/meter.ts";
import { get, write } from "../../shared/doors/table.ts";
import { missing } from "../../shared/errors.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { account } from "../support/callers.ts";

const make = async (caller: Caller, name: string) => sites.create(caller, sites.NewSite.parse({ name }));
const newKey = (siteId: number | null) => apiKeys.NewApiKey.parse({ name: "key", siteId });
const readUnits = async (work: () => Promise<unknown>) => (await metered(work)).usage.readUnits;

test("a missing siteId is the organization's only site, and needed when there are none or two", async () => {
  const { caller } = await account();
  await expect(sites.resolve(caller)).rejects.toMatchObject({ kind: "invalid", details: [{ path: "siteId" }] });
  const one = await make(caller, "One");
  expect(await sites.resolve(caller)).toBe(one.id);
  const two = await make(caller, "Two");
  await expect(sites.resolve(caller)).rejects.toMatchObject({ kind: "invalid" });
  await sites.remove(caller, one.id);
  expect(await sites.resolve(caller)).toBe(two.id);
});

test("sites made and deleted side by side leave the only one known", async () => {
  const { caller } = await account();
  const made = await Promise.all(["a", "b", "c", "d"].map((name) => make(caller, name)));
  const [kept, ...others] = made;
  await Promise.all(others.map(({ id }) => sites.remove(caller, id)));
  expect(await sites.resolve(caller)).toBe(kept!.id);
  expect(await sites.visible(caller)).toEqual([kept!.id]);
});

test("finding the site costs a bound key nothing and everyone else half a unit", async () => {
  const { caller } = await account();
  const { id } = await make(caller, "One");
  const bound = { ...caller, siteId: id };
  expect(await readUnits(() => sites.resolve(bound))).toBe(0);
  expect(await readUnits(() => sites.resolve(bound, id))).toBe(0);
  expect(await readUnits(() => sites.resolve(caller))).toBe(0.5);
  expect(await readUnits(() => sites.resolve(caller, id))).toBe(0.5);
});

test("a site of another organization does not exist, one of the same is forbidden to a bound key", async () => {
  const [{ caller }, { caller: stranger }] = await Promise.all([account(), account()]);
  const [own, other, foreign] = await Promise.all([make(caller, "Own"), make(caller, "Other"), make(stranger, "Foreign")]);
  const bound = { ...caller, siteId: own.id };
  for (const ask of [sites.resolve, sites.visible, sites.find] as ((who: Caller, id: number) => Promise<unknown>)[]) {
    await expect(ask(caller, foreign.id)).rejects.toMatchObject({ kind: "missing" });
    await expect(ask(bound, foreign.id)).rejects.toMatchObject({ kind: "missing" });
    await expect(ask(bound, other.id)).rejects.toMatchObject({ kind: "forbidden", code: "site_forbidden" });
  }
  expect(await sites.visible(bound)).toEqual([own.id]);
  expect(await sites.visible(caller)).toEqual([own.id, other.id].sort((a, b) => a - b));
});

test("a site with sends stays, and so do its keys", async () => {
  const { caller } = await account();
  const { id } = await make(caller, "One");
  const { key } = await apiKeys.create(caller, newKey(id));
  await write(feed.counting(caller.orgId, { siteId: id, n: 1 }));
  await expect(sites.remove(caller, id)).rejects.toMatchObject({ kind: "conflict", code: "site_has_sends" });
  expect(await sites.find(caller, id)).toMatchObject({ name: "One" });
  expect(await get(keys.apiKey(sha256(key)))).toMatchObject({ siteId: id });
});

test("sends of the 32 first sites are counted on the account, those of further ones beside it, and all in one sum", async () => {
  const { caller } = await account();
  const siteIds = Array.from({ length: 40 }, (_, i) => i + 1);
  for (const siteId of [...siteIds, ...siteIds.toReversed()])
    await allowance.spend(caller.orgId, 2, `s${siteId}`, ({ writes }) => write(...writes), { listed: { siteId, n: 2 } });
  expect(await feed.total(caller.orgId, siteIds)).toBe(160);
  expect(await feed.total(caller.orgId, [40])).toBe(4);
  const item = (await get<object>(keys.account(caller.orgId)))!;
  expect(Object.keys(item).filter((name) => name.startsWith("sends."))).toHaveLength(32);
  for (const siteId of [1, 40]) {
    await expect(feed.checkNone(caller.orgId, siteId, missing("none"))).rejects.toMatchObject({ kind: "missing" });
    await write(feed.counting(caller.orgId, { siteId, n: -4 }));
    const checks = await feed.checkNone(caller.orgId, siteId, missing("none"));
    await write(...checks);
    await allowance.spend(caller.orgId, 1, `late${siteId}`, ({ writes }) => write(...writes), { listed: { siteId, n: 1 } });
    await expect(write(...checks)).rejects.toMatchObject({ kind: "missing" });
  }
});

test("a site goes with the keys bound to it and leaves all others", async () => {
  const { caller } = await account();
  const [gone, kept] = [await make(caller, "Gone"), await make(caller, "Kept")];
  const [bound, elsewhere, free] = [
    await apiKeys.create(caller, newKey(gone.id)),
    await apiKeys.create(caller, newKey(kept.id)),
    await apiKeys.create(caller, newKey(null)),
  ];
  await sites.remove(caller, gone.id);
  expect(await get(keys.apiKey(sha256(bound.key)))).toBeUndefined();
  const { items, pagination } = await apiKeys.list(caller, { limit: 50 });
  expect(items.map(({ id }) => id)).toEqual([free.id, elsewhere.id]);
  expect(pagination.total).toBe(2);
});

test("a key cannot be bound to a site that is not there", async () => {
  const [{ caller }, { caller: stranger }] = await Promise.all([account(), account()]);
  const foreign = await make(stranger, "Foreign");
  await expect(apiKeys.create(caller, newKey(foreign.id))).rejects.toMatchObject({ kind: "missing" });
  expect((await apiKeys.list(caller, { limit: 50 })).pagination.total).toBe(0);
});
