import { describe, expect, test } from "vitest";
import { get, put, queryAll, write } from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as deadGroups from "../../shared/domain/audience/groups/deleted-groups.ts";
import * as memberships from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { addMembersWrites } from "../../shared/domain/audience/groups/membership-writes.ts";
import * as due from "../../shared/domain/due-work.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as ids from "../../shared/ids.ts";
import { dueShardOf, indexes, keys, ranges } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  readGroupMembers,
  type TestSite,
} from "../support/contacts.ts";
import {
  crashAtSomeSteps,
  interceptClients,
  interruptedAtSomeSteps,
  interruptions,
} from "../support/crash-injection.ts";

interceptClients();

const newList = async ({ caller, siteId }: TestSite, name = "News") =>
  (await groups.create("LIST", caller, { siteId, name })).id;
const crowd = async (shop: TestSite, n: number) =>
  (await Promise.all(Array.from({ length: n }, (_, i) => createContact(shop, `p${i}@x.com`)))).map(
    ({ id }) => id,
  );

/** Checks that memberships, contacts and the count of a list agree. Returns the members. */
async function readAgreeingMembers(shop: TestSite, list: number): Promise<number[]> {
  const { ids, count } = await readGroupMembers(shop, "LIST", list);
  const listedIds = (await readAllContacts(shop))
    .filter(({ lists }) => lists?.has(list))
    .map(({ id }) => id);
  expect(ids).toEqual(listedIds.sort((a, b) => a - b));
  expect(count).toBe(ids.length);
  return ids;
}

test("a request that crashed after creating the first of two tags creates both when it is repeated", async () => {
  const shop = await createTestSite();
  const key = keys.idempotency(shop.orgId, "tags");
  await write(put(key, {}));
  const memory: ids.ReservedIds = { key, taken: {} };
  const { id } = await ids.withReservedIds(memory, () =>
    groups.create("TAG", shop.caller, { siteId: shop.siteId, name: "a" }),
  );
  const named = await ids.withReservedIds(memory, () =>
    groups.getOrCreateTags(shop.caller, shop.siteId, ["b", "a"]),
  );
  expect(named.get("a")).toBe(id);
  expect(named.get("b")).not.toBe(id);
  expect((await groups.find("TAG", shop.caller, named.get("b")!)).name).toBe("b");
});

describe("members", () => {
  test("100 contacts join in one request, each once; unknown contacts fail alone", async () => {
    const shop = await createTestSite();
    const other = {
      ...shop,
      siteId: (await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }))).id,
    };
    const [list, ids, otherSiteContact] = [
      await newList(shop),
      await crowd(shop, 98),
      (await createContact(other, "s@x.com")).id,
    ];
    const contactIds = [...ids, otherSiteContact, 999_999_999];
    expect(
      await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, contactIds),
    ).toEqual({
      changed: 98,
      unchanged: 0,
      failed: [
        { contactId: otherSiteContact, error: "The contact belongs to another site" },
        { contactId: 999_999_999, error: "The contact does not exist" },
      ],
    });
    expect(
      await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, [...ids, ids[0]!]),
    ).toEqual({
      changed: 0,
      unchanged: 98,
      failed: [],
    });
    expect(await readAgreeingMembers(shop, list)).toEqual(ids.sort((a, b) => a - b));
    expect(
      await memberships.removeMembers(shop.caller, { kind: "LIST", id: list }, ids.slice(0, 50)),
    ).toEqual({
      changed: 50,
      unchanged: 0,
      failed: [],
    });
    expect(await readAgreeingMembers(shop, list)).toEqual(ids.slice(50));
    expect(await groups.find("LIST", shop.caller, list)).toMatchObject({ contactCount: 48 });
  });

  test("the count is exact after concurrent joins and leaves", async () => {
    const shop = await createTestSite();
    const [list, ids] = [await newList(shop), await crowd(shop, 20)];
    const moves = Array.from({ length: 8 }, (_, i) =>
      i % 2 ? memberships.removeMembers : memberships.addMembers,
    );
    const results = await Promise.all(
      moves.map((move) => move(shop.caller, { kind: "LIST", id: list }, ids)),
    );
    const joined = results.reduce((sum, { changed }, i) => sum + (i % 2 ? -changed : changed), 0);
    expect(await readAgreeingMembers(shop, list)).toHaveLength(joined);
  });

  test("a concurrent change and join of one contact are both stored", async () => {
    const shop = await createTestSite();
    const list = await newList(shop);
    const { id } = await createContact(shop, "ann@x.com");
    await Promise.all([
      contacts.change(shop.caller, id, { firstName: "Ann" }),
      memberships.addMembers(shop.caller, { kind: "LIST", id: list }, [id]),
      contacts.change(shop.caller, id, { email: "ann@y.com" }),
      memberships.addMembers(shop.caller, { kind: "LIST", id: list }, [id]),
    ]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      firstName: "Ann",
      email: "ann@y.com",
      lists: [{ id: list, name: "News" }],
    });
    expect(await readAgreeingMembers(shop, list)).toEqual([id]);
  });

  test("after a crash at any point, memberships are complete or missing, and a retry adds the rest", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const [list, ids] = [await newList(shop), await crowd(shop, 4)];
      await crash(() => memberships.addMembers(shop.caller, { kind: "LIST", id: list }, ids));
      await readAgreeingMembers(shop, list);
      await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, ids);
      expect(await readAgreeingMembers(shop, list)).toHaveLength(4);
    });
    expect(steps.length).toBeGreaterThan(5);
  });
});

describe("names", () => {
  test("are unique in a site, ignoring case, and can be used again after a rename or deletion", async () => {
    const shop = await createTestSite();
    const list = await newList(shop, "News");
    await expect(newList(shop, "NEWS ")).rejects.toMatchObject({
      kind: "conflict",
      code: "list_exists",
    });
    await groups.change("LIST", shop.caller, { id: list, name: "Old news" });
    const second = await newList(shop, "news");
    await expect(
      groups.change("LIST", shop.caller, { id: list, name: "NEWS" }),
    ).rejects.toMatchObject({
      code: "list_exists",
    });
    await groups.removeGroup("LIST", shop.caller, second);
    expect(await groups.change("LIST", shop.caller, { id: list, name: "NEWS" })).toMatchObject({
      name: "NEWS",
    });
    const other = await sites.create(shop.caller, sites.NewSite.parse({ name: "Other" }));
    await newList({ ...shop, siteId: other.id }, "news");
  });

  test("one of several concurrent renames is stored, and the other names can be used", async () => {
    const shop = await createTestSite();
    const list = await newList(shop, "a");
    await Promise.allSettled(
      ["b", "c", "d"].map((name) => groups.change("LIST", shop.caller, { id: list, name })),
    );
    const { name } = await groups.find("LIST", shop.caller, list);
    const free = ["a", "b", "c", "d"].filter((one) => one !== name);
    for (const one of free) await newList(shop, one);
    await expect(newList(shop, name)).rejects.toMatchObject({ code: "list_exists" });
  });
});

describe("a deleted list", () => {
  const lastCall = 901;
  const sweep = (shop: TestSite, list: number) => deadGroups.cleanUp(shop.orgId, "LIST", list);
  const traces = async (shop: TestSite, list: number) => ({
    carriers: (await readAllContacts(shop)).filter(({ lists }) => lists?.has(list)).length,
    members: (await readGroupMembers(shop, "LIST", list)).ids.length,
    counters: (await queryAll(ranges.groupCounts(shop.orgId, { kind: "LIST", id: list }))).length,
    grave: (await get(keys.deletedGroup(shop.orgId, { kind: "LIST", id: list }))) !== undefined,
  });
  const nothing = { carriers: 0, members: 0, counters: 0, grave: false };

  test("does not exist any more at once, and is then removed from its contacts", async () => {
    const shop = await createTestSite();
    const [list, kept, ids] = [
      await newList(shop),
      await newList(shop, "Kept"),
      await crowd(shop, 30),
    ];
    await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, ids);
    await memberships.addMembers(shop.caller, { kind: "LIST", id: kept }, ids);
    await groups.removeGroup("LIST", shop.caller, list);
    await expect(groups.find("LIST", shop.caller, list)).rejects.toMatchObject({ kind: "missing" });
    expect((await contacts.find(shop.caller, ids[0]!)).lists).toEqual([{ id: kept, name: "Kept" }]);
    await expect(
      memberships.addMembers(shop.caller, { kind: "LIST", id: list }, ids),
    ).rejects.toMatchObject({
      kind: "missing",
    });

    await sweep(shop, list);
    expect(await traces(shop, list)).toMatchObject({ carriers: 0, members: 0, grave: true });
    advanceClock(lastCall);
    await sweep(shop, list);
    expect(await traces(shop, list)).toEqual(nothing);
    expect(await readAgreeingMembers(shop, kept)).toHaveLength(30);
  });

  test("is removed from contacts that changed their address or joined during the deletion", async () => {
    const shop = await createTestSite();
    const [list, [mover, late]] = [await newList(shop), await crowd(shop, 2)];
    await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, [mover!]);
    await contacts.change(shop.caller, mover!, { email: "elsewhere@x.com" });
    await groups.removeGroup("LIST", shop.caller, list);
    await sweep(shop, list);
    const contact = await contacts.findItem(shop.caller, late!);
    await write(...addMembersWrites({ kind: "LIST", group: list }, [contact]));
    expect(await traces(shop, list)).toMatchObject({ carriers: 1 });
    advanceClock(lastCall);
    await sweep(shop, list);
    expect(await traces(shop, list)).toEqual(nothing);
  });

  test.each(interruptions)(
    "is removed completely although a worker %s at any step",
    async (how) => {
      const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
        const shop = await createTestSite();
        const [list, ids] = [await newList(shop), await crowd(shop, 3)];
        await memberships.addMembers(shop.caller, { kind: "LIST", id: list }, ids);
        await groups.removeGroup("LIST", shop.caller, list);
        advanceClock(lastCall);
        const work = () => sweep(shop, list);
        await interrupt(work, work);
        expect(await traces(shop, list)).toEqual(nothing);
      });
      expect(steps.length).toBeGreaterThan(40);
    },
    120_000,
  );

  test("is found by the schedule if its cleanup was never enqueued", async () => {
    const shop = await createTestSite();
    const list = await newList(shop);
    await groups.removeGroup("LIST", shop.caller, list);
    const waiting = async () => {
      const places = await queryAll<{ pk: string; duesk: string }>(
        indexes.due("GROUP", dueShardOf(list)),
      );
      return places.find(
        ({ pk }) => pk === keys.deletedGroup(shop.orgId, { kind: "LIST", id: list }).pk,
      )?.duesk;
    };
    const before = await waiting();
    expect(before).toBeDefined();
    advanceClock(120);
    await due.drain("GROUP", dueShardOf(list));
    expect((await waiting())! > before!).toBe(true);
  });
});
