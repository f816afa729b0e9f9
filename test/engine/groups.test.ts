import { describe, expect, test } from "vitest";
import { advance } from "../../shared/clock.ts";
import * as deadGroups from "../../shared/domain/contacts/dead-groups.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as memberships from "../../shared/domain/contacts/members.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as sites from "../../shared/domain/sites.ts";
import { get, put, queryAll, write } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { dueShard, keys, ranges, shelves } from "../../shared/keys.ts";
import { type Audience, audience, create, members, stored } from "../support/audience.ts";
import { armed, atSomeSteps } from "../support/killer.ts";

armed();

const newList = async ({ caller, siteId }: Audience, name = "News") => (await groups.create("LIST", caller, { siteId, name })).id;
const crowd = async (shop: Audience, n: number) =>
  (await Promise.all(Array.from({ length: n }, (_, i) => create(shop, `p${i}@x.com`)))).map(({ id }) => id);

/** The members, those who carry it, and the count all say the same. */
async function agreeing(shop: Audience, list: number): Promise<number[]> {
  const { ids, count } = await members(shop, "LIST", list);
  const carriers = (await stored(shop)).filter(({ lists }) => lists?.has(list)).map(({ id }) => id);
  expect(ids).toEqual(carriers.sort((a, b) => a - b));
  expect(count).toBe(ids.length);
  return ids;
}

test("two tags of a request that died after it made the first are two, whichever is made first when it is repeated", async () => {
  const shop = await audience();
  const address = keys.idempotency(shop.orgId, "tags");
  await write(put(address, {}));
  const memory: ids.Memory = { address, taken: {} };
  const { id } = await ids.remembering(memory, () => groups.create("TAG", shop.caller, { siteId: shop.siteId, name: "a" }));
  const named = await ids.remembering(memory, () => groups.tagsNamed(shop.caller, shop.siteId, ["b", "a"]));
  expect(named.get("a")).toBe(id);
  expect(named.get("b")).not.toBe(id);
  expect((await groups.find("TAG", shop.caller, named.get("b")!)).name).toBe("b");
});

describe("members", () => {
  test("100 join at once, and once; those who are not there fail alone", async () => {
    const shop = await audience();
    const other = { ...shop, siteId: (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id };
    const [list, ids, stranger] = [await newList(shop), await crowd(shop, 98), (await create(other, "s@x.com")).id];
    const asked = [...ids, stranger, 999_999_999];
    expect(await memberships.add(shop.caller, "LIST", list, asked)).toEqual({
      changed: 98,
      unchanged: 0,
      failed: [
        { contactId: stranger, error: "The contact belongs to another site" },
        { contactId: 999_999_999, error: "There is no such contact" },
      ],
    });
    expect(await memberships.add(shop.caller, "LIST", list, [...ids, ids[0]!])).toEqual({ changed: 0, unchanged: 98, failed: [] });
    expect(await agreeing(shop, list)).toEqual(ids.sort((a, b) => a - b));
    expect(await memberships.drop(shop.caller, "LIST", list, ids.slice(0, 50))).toEqual({ changed: 50, unchanged: 0, failed: [] });
    expect(await agreeing(shop, list)).toEqual(ids.slice(50));
    expect(await groups.find("LIST", shop.caller, list)).toMatchObject({ contactCount: 48 });
  });

  test("joins and leaves at the same time leave the count exact", async () => {
    const shop = await audience();
    const [list, ids] = [await newList(shop), await crowd(shop, 20)];
    const moves = Array.from({ length: 8 }, (_, i) => (i % 2 ? memberships.drop : memberships.add));
    const moved = await Promise.all(moves.map((move) => move(shop.caller, "LIST", list, ids)));
    const joined = moved.reduce((sum, { changed }, i) => sum + (i % 2 ? -changed : changed), 0);
    expect(await agreeing(shop, list)).toHaveLength(joined);
  });

  test("one contact that is changed and joins at the same time loses neither", async () => {
    const shop = await audience();
    const list = await newList(shop);
    const { id } = await create(shop, "ann@x.com");
    await Promise.all([
      contacts.change(shop.caller, id, { firstName: "Ann" }),
      contacts.join(shop.caller, id, "LIST", list),
      contacts.change(shop.caller, id, { email: "ann@y.com" }),
      contacts.join(shop.caller, id, "LIST", list),
    ]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      firstName: "Ann",
      email: "ann@y.com",
      lists: [{ id: list, name: "News" }],
    });
    expect(await agreeing(shop, list)).toEqual([id]);
  });

  test("dead at any step of it, everyone is a member whole or not at all, and doing it again ends it", async () => {
    const steps = await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const [list, ids] = [await newList(shop), await crowd(shop, 4)];
      await kill(() => memberships.add(shop.caller, "LIST", list, ids));
      await agreeing(shop, list);
      await memberships.add(shop.caller, "LIST", list, ids);
      expect(await agreeing(shop, list)).toHaveLength(4);
    });
    expect(steps.length).toBeGreaterThan(5);
  }, 60_000);
});

describe("names", () => {
  test("are unique in their site, whatever their case, and free again once they are given up", async () => {
    const shop = await audience();
    const list = await newList(shop, "News");
    await expect(newList(shop, "NEWS ")).rejects.toMatchObject({ kind: "conflict", code: "list_exists" });
    await groups.change("LIST", shop.caller, list, { name: "Old news" });
    const second = await newList(shop, "news");
    await expect(groups.change("LIST", shop.caller, list, { name: "NEWS" })).rejects.toMatchObject({ code: "list_exists" });
    await groups.removeGroup("LIST", shop.caller, second);
    expect(await groups.change("LIST", shop.caller, list, { name: "NEWS" })).toMatchObject({ name: "NEWS" });
    const other = await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }));
    await newList({ ...shop, siteId: other.id }, "news");
  });

  test("renamed twice at once, one name stands and all others are free", async () => {
    const shop = await audience();
    const list = await newList(shop, "a");
    await Promise.allSettled(["b", "c", "d"].map((name) => groups.change("LIST", shop.caller, list, { name })));
    const { name } = await groups.find("LIST", shop.caller, list);
    const free = ["a", "b", "c", "d"].filter((one) => one !== name);
    for (const one of free) await newList(shop, one);
    await expect(newList(shop, name)).rejects.toMatchObject({ code: "list_exists" });
  });
});

describe("a deleted list", () => {
  const lastCall = 901;
  const sweep = (shop: Audience, list: number) => deadGroups.sweep(shop.orgId, "LIST", list);
  const traces = async (shop: Audience, list: number) => ({
    carriers: (await stored(shop)).filter(({ lists }) => lists?.has(list)).length,
    members: (await members(shop, "LIST", list)).ids.length,
    counters: (await queryAll(ranges.groupCounts(shop.orgId, "LIST", list))).length,
    grave: (await get(keys.deadGroup(shop.orgId, "LIST", list))) !== undefined,
  });
  const nothing = { carriers: 0, members: 0, counters: 0, grave: false };

  test("is gone at once for everyone, and swept from whoever carries it", async () => {
    const shop = await audience();
    const [list, kept, ids] = [await newList(shop), await newList(shop, "Kept"), await crowd(shop, 30)];
    await memberships.add(shop.caller, "LIST", list, ids);
    await memberships.add(shop.caller, "LIST", kept, ids);
    await groups.removeGroup("LIST", shop.caller, list);
    await expect(groups.find("LIST", shop.caller, list)).rejects.toMatchObject({ kind: "missing" });
    expect((await contacts.find(shop.caller, ids[0]!)).lists).toEqual([{ id: kept, name: "Kept" }]);
    await expect(memberships.add(shop.caller, "LIST", list, ids)).rejects.toMatchObject({ kind: "missing" });

    await sweep(shop, list);
    expect(await traces(shop, list)).toMatchObject({ carriers: 0, members: 0, grave: true });
    advance(lastCall);
    await sweep(shop, list);
    expect(await traces(shop, list)).toEqual(nothing);
    expect(await agreeing(shop, kept)).toHaveLength(30);
  });

  test("is swept from one who had another address meanwhile, and from one who joined as it died", async () => {
    const shop = await audience();
    const [list, [mover, late]] = [await newList(shop), await crowd(shop, 2)];
    await memberships.add(shop.caller, "LIST", list, [mover!]);
    await contacts.change(shop.caller, mover!, { email: "elsewhere@x.com" });
    await groups.removeGroup("LIST", shop.caller, list);
    await sweep(shop, list);
    await contacts.join(shop.caller, late!, "LIST", list);
    expect(await traces(shop, list)).toMatchObject({ carriers: 1 });
    advance(lastCall);
    await sweep(shop, list);
    expect(await traces(shop, list)).toEqual(nothing);
  });

  test("is swept in the end, at whatever step a sweeper dies", async () => {
    const steps = await atSomeSteps(3, async (kill) => {
      const shop = await audience();
      const [list, ids] = [await newList(shop), await crowd(shop, 3)];
      await memberships.add(shop.caller, "LIST", list, ids);
      await groups.removeGroup("LIST", shop.caller, list);
      advance(lastCall);
      await kill(() => sweep(shop, list));
      await sweep(shop, list);
      expect(await traces(shop, list)).toEqual(nothing);
    });
    expect(steps.length).toBeGreaterThan(40);
  }, 120_000);

  test("is found by the tick when nobody was told of its death", async () => {
    const shop = await audience();
    const list = await newList(shop);
    await groups.removeGroup("LIST", shop.caller, list);
    const waiting = async () => {
      const places = await queryAll<{ pk: string; duesk: string }>(shelves.due("GROUP", dueShard(list)));
      return places.find(({ pk }) => pk === keys.deadGroup(shop.orgId, "LIST", list).pk)?.duesk;
    };
    const before = await waiting();
    expect(before).toBeDefined();
    advance(120);
    await due.drain("GROUP", dueShard(list));
    expect((await waiting())! > before!).toBe(true);
  });
});
