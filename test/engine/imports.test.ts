import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { type Import, NewImport } from "../../shared/domain/imports/import.ts";
import * as runs from "../../shared/domain/imports/run.ts";
import * as imports from "../../shared/domain/imports.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import * as blobs from "../../shared/doors/blobs.ts";
import { metered } from "../../shared/doors/meter.ts";
import { getMany, put, write } from "../../shared/doors/table.ts";
import { type Address, keys } from "../../shared/keys.ts";
import { type Audience, audience, counted, create, members, stored } from "../support/audience.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { armed, atSomeSteps, killed } from "../support/killer.ts";

armed();

type Wish = Partial<NewImport>;
const begin = (shop: Audience, file: string | Uint8Array, wish: Wish = {}) =>
  imports.start(shop.caller, NewImport.parse({ siteId: shop.siteId, ...wish }), { bytes: Buffer.from(file) });

/** To its end. */
async function done(shop: Audience, file: string | Uint8Array, wish: Wish = {}): Promise<Import> {
  const { id } = await begin(shop, file, wish);
  await runs.run(shop.orgId, id);
  return imports.find(shop.caller, id);
}

const known = async (shop: Audience) => {
  const all = await contacts.tellAll(shop.orgId, (await stored(shop)) as never);
  return new Map(all.map((one) => [one.email, one]));
};
const rows = (n: number, of = (i: number) => `p${i}@x.com,Ann ${i}`) =>
  `email,firstName\n${Array.from({ length: n }, (_, i) => of(i)).join("\n")}\n`;

describe("a file", () => {
  test("makes contacts and changes those that are there; every row is counted, and what is wrong is told with its row", async () => {
    const shop = await audience();
    const there = await create(shop, "ann@x.com", { firstName: "Ann", customFields: { plan: "free", seats: 1 }, tags: ["old"] });
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
    const file = [
      "E-Mail;Vorname;Plan;Tags",
      "ann@x.com;;pro;vip",
      "",
      "bob@x.com;Bob;;",
      "not an address;Eve;;",
      ";Nobody;;",
      "cy@x.com;Cy;pro;vip, early",
    ].join("\r\n");
    const told = await done(shop, file, { tags: ["imported"], lists: [list.id], filename: "people.csv" });
    expect(told).toMatchObject({
      status: "completed",
      progress: 100,
      filename: "people.csv",
      total: 5,
      processed: 5,
      created: 2,
      updated: 1,
      skipped: 0,
      failed: 2,
      delimiter: ";",
      encoding: "utf-8",
      mapping: { "E-Mail": "email", Vorname: "firstName", Plan: "customFields.plan", Tags: "tags" },
      errors: [
        { row: 5, email: "not an address", message: "email: must be one valid email address" },
        { row: 6, email: "", message: "email: is missing" },
      ],
    });
    const all = await known(shop);
    expect(all.get("ann@x.com")).toMatchObject({
      id: there.id,
      firstName: "Ann",
      customFields: { plan: "pro", seats: 1 },
      source: null,
    });
    expect(
      all
        .get("ann@x.com")!
        .tags.map(({ name }) => name)
        .toSorted(),
    ).toEqual(["imported", "old", "vip"]);
    expect(all.get("cy@x.com")).toMatchObject({ firstName: "Cy", status: "subscribed", source: "import", lists: [{ name: "News" }] });
    expect(await counted(shop)).toBe(3);
    expect((await members(shop, "LIST", list.id)).count).toBe(3);
  });

  test("in any encoding is read as it was written", async () => {
    const text = "email,firstName\nann@x.com,Zoë – €\n";
    const bytes = {
      "utf-8": Buffer.from(`\uFEFF${text}`),
      "utf-16le": Buffer.from(`\uFEFF${text}`, "utf16le"),
      "utf-16be": Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
      "windows-1252": Buffer.from(text.replace("–", "\x96").replace("€", "\x80"), "latin1"),
    };
    for (const [encoding, file] of Object.entries(bytes)) {
      const shop = await audience();
      expect(await done(shop, file)).toMatchObject({ status: "completed", encoding, created: 1 });
      expect((await known(shop)).get("ann@x.com")!.firstName).toBe("Zoë – €");
    }
  });

  test("that is not UTF-8 only at its very end is known for what it is", async () => {
    const shop = await audience();
    const file = Buffer.concat([Buffer.from(rows(3)), Buffer.from("last@x.com,Jos\xe9\n", "latin1")]);
    expect(await done(shop, file)).toMatchObject({ encoding: "windows-1252", created: 4 });
    expect((await known(shop)).get("last@x.com")!.firstName).toBe("José");
  });

  test.for([
    ["email,name\n", { status: "completed", total: 0, processed: 0, progress: 100 }],
    ["\n\n", { status: "failed", error: "The file is empty: its first row must name the columns, one of them email" }],
    [
      "name,city\nAnn,Graz\n",
      { status: "failed", error: "No column is the email address: name it in mapping. The columns are: name, city" },
    ],
    [
      "ann@x.com,Ann\nbob,Bob\n",
      { status: "failed", error: "The file has no header: its first row must name the columns, one of them email" },
    ],
    ['email\nann@x.com\n"bob@x.com\n', { status: "failed", error: 'Row 3: a quote (") is opened and not closed' }],
  ] as const)("%j is %j, and nothing else happens", async ([file, expected]) => {
    const shop = await audience();
    expect(await done(shop, file)).toMatchObject(expected);
    expect(await counted(shop)).toBe(0);
  });

  test("with an address twice ends with its last row, near or far apart", async () => {
    const shop = await audience();
    const file = rows(2100, (i) => (i % 700 ? `p${i}@x.com,Ann` : `Twice@x.com,Ann ${i}`));
    expect(await done(shop, file)).toMatchObject({ total: 2100, created: 2098, updated: 2, failed: 0 });
    expect(await known(shop)).toHaveProperty("size", 2098);
    expect([...(await known(shop)).values()].find(({ email }) => /twice/i.test(email))!.firstName).toBe("Ann 1400");
    expect(await counted(shop)).toBe(2098);
  });

  test("may only make contacts, or only change them", async () => {
    const shop = await audience();
    await create(shop, "p0@x.com", { firstName: "Old" });
    const file = rows(3, (i) => `p${i % 2}@x.com,New ${i}`);
    expect(await done(shop, file, { mode: "create" })).toMatchObject({ created: 1, updated: 0, skipped: 2 });
    expect((await known(shop)).get("p0@x.com")!.firstName).toBe("Old");
    expect((await known(shop)).get("p1@x.com")!.firstName).toBe("New 1");
    const more = rows(3, (i) => `p${i}@x.com,Newer ${i}`);
    expect(await done(shop, more, { mode: "update" })).toMatchObject({ created: 0, updated: 2, skipped: 1 });
    expect((await known(shop)).get("p0@x.com")!.firstName).toBe("Newer 0");
    expect(await counted(shop)).toBe(2);
  });

  test("brings nobody back who left, unless it says so", async () => {
    const shop = await audience();
    await create(shop, "left@x.com", { status: "unsubscribed" });
    for (const email of ["gone@x.com", "new@x.com"])
      await suppressions.suppress(shop.orgId, { ...suppressions.NewSuppression.parse({ email, reason: "spam_report" }), source: "test" });
    await create(shop, "gone@x.com");
    const file = "email,status\nleft@x.com,subscribed\ngone@x.com,subscribed\nnew@x.com,\nfresh@x.com,\nquiet@x.com,unsubscribed\n";
    const statuses = async () => Object.fromEntries([...(await known(shop)).values()].map(({ email, status }) => [email, status]));
    expect(await done(shop, file, { status: "pending" })).toMatchObject({ created: 3, updated: 2 });
    const before = {
      "left@x.com": "unsubscribed",
      "gone@x.com": "suppressed",
      "new@x.com": "suppressed",
      "fresh@x.com": "pending",
      "quiet@x.com": "unsubscribed",
    };
    expect(await statuses()).toEqual(before);
    const bound = { ...shop, caller: { ...shop.caller, siteId: shop.siteId } };
    await done(bound, file, { resubscribe: true });
    expect(await statuses()).toEqual({ ...before, "left@x.com": "subscribed" });
    await done(shop, file, { resubscribe: true });
    expect(await statuses()).toMatchObject({ "gone@x.com": "subscribed", "fresh@x.com": "pending", "quiet@x.com": "unsubscribed" });
    expect(await suppressions.find(shop.orgId, "gone@x.com")).toBeUndefined();
  });

  test("that was uploaded is taken as long as its upload is kept", async () => {
    const shop = await audience();
    const blob = `uploads/${shop.orgId}/file`;
    await blobs.put(blob, Buffer.from(rows(1)), "text/csv");
    const expires = clock.epochSeconds() + 60;
    await write(put(keys.upload(shop.orgId, "file"), { blob, filename: "people.csv", expires }));
    const take = () => imports.start(shop.caller, NewImport.parse({ siteId: shop.siteId }), { uploadId: "file" });
    expect(await take()).toMatchObject({ status: "queued", filename: "people.csv" });
    clock.advance(61);
    await expect(take()).rejects.toMatchObject({ kind: "invalid", message: "uploadId names no finished upload" });
  });

  test("tells its first hundred errors, and hands over all of them", async () => {
    const shop = await audience();
    const told = await done(
      shop,
      rows(2500, (i) => (i % 2 ? `p${i}@x.com,Ann` : `wrong ${i},Ann`)),
    );
    expect(told).toMatchObject({ created: 1250, failed: 1250, total: 2500 });
    expect(told.errors).toHaveLength(100);
    expect(told.errors[99]).toEqual({ row: 200, email: "wrong 198", message: "email: must be one valid email address" });
    const { rows: all, next } = await imports.errors(shop.caller, told.id, undefined);
    expect(all.map(({ row }) => row)).toEqual(Array.from({ length: 1250 }, (_, i) => 2 + 2 * i));
    expect(next).toBeUndefined();
    expect((await imports.errors(shop.caller, told.id, "1001")).rows[0]!.row).toBe(1002);
    clock.advance(91 * 24 * 3600);
    expect((await imports.errors(shop.caller, told.id, undefined)).rows).toEqual([]);
    clock.advance(-91 * 24 * 3600);
  }, 30_000);

  test("of a list that is deleted meanwhile, and of a site", async () => {
    const shop = await audience();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
    const { id } = await begin(shop, rows(2), { lists: [list.id] });
    await groups.removeGroup("LIST", shop.caller, list.id);
    await runs.run(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 2, failed: 0 });
    await expect(begin(shop, rows(2), { lists: [list.id] })).rejects.toMatchObject({ kind: "missing" });
  });
});

describe("under way", () => {
  const seven = rows(7, (i) => (i === 3 ? "wrong,Ann" : `p${i % 5}@x.com,Ann ${i}`));

  test("dead at any step, whoever takes it up ends it, and each row is counted once for what it first was", async () => {
    const steps = await atSomeSteps(5, async (kill) => {
      const shop = await audience();
      await create(shop, "p2@x.com");
      const { id } = await begin(shop, seven, { tags: ["a"], mode: "upsert" });
      await kill(() => runs.run(shop.orgId, id));
      // The lease of whoever died runs out.
      clock.advance(200);
      await runs.run(shop.orgId, id);
      await runs.run(shop.orgId, id);
      expect(await imports.find(shop.caller, id)).toMatchObject({
        status: "completed",
        total: 7,
        processed: 7,
        created: 3,
        updated: 3,
        failed: 1,
        errors: [{ row: 5 }],
      });
      const all = await known(shop);
      expect(all.size).toBe(4);
      expect(all.get("p0@x.com")!.firstName).toBe("Ann 5");
      expect(await counted(shop)).toBe(4);
      const tag = (await groups.tagsNamed(shop.caller, shop.siteId, ["a"])).get("a")!;
      expect(await members(shop, "TAG", tag)).toEqual({ ids: [...all.values()].map((one) => one.id).toSorted((a, b) => a - b), count: 4 });
    });
    expect(steps.length).toBeGreaterThan(20);
  }, 300_000);

  test("dead at any step, one that only makes contacts skips the same as the first time", async () => {
    await atSomeSteps(5, async (kill) => {
      const shop = await audience();
      await create(shop, "p2@x.com");
      const { id } = await begin(shop, seven, { mode: "create" });
      await kill(() => runs.run(shop.orgId, id));
      clock.advance(200);
      await runs.run(shop.orgId, id);
      expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 3, updated: 0, skipped: 3, failed: 1 });
      expect(await counted(shop)).toBe(4);
    });
  }, 300_000);

  test("dead while it was begun, it is found by the due index, or was never answered", async () => {
    const shop = await audience();
    for (let n = 1; ; n++) {
      const fate = await killed(n, "after", () => begin(shop, rows(1)));
      const { items } = await imports.list(shop.caller, { limit: 1 }, undefined);
      const [due] = await getMany<Address & { duesk?: string }>(
        items.map(({ id }) => keys.importRun(shop.orgId, id)),
        { consistent: true },
      );
      if (items.length) expect(due!.duesk).toBeDefined();
      if (!fate.died) break;
    }
  });

  test("killed again and again in a long file, no row is lost, repeated or miscounted", async () => {
    const shop = await audience();
    for (let i = 0; i < 50; i++) await create(shop, `p${i * 7}@x.com`);
    const file = rows(5200, (i) => (i % 100 === 99 ? `wrong ${i},Ann` : `p${i % 5000}@x.com,Ann ${i}`));
    const { id } = await begin(shop, file, { tags: ["all"] });
    let deaths = 0;
    for (let n = 3; deaths < 12; n += 9) {
      const { died } = await killed(n, n % 2 ? "after" : "before", () => runs.run(shop.orgId, id));
      if (!died) break;
      deaths++;
      clock.advance(200);
    }
    expect(deaths).toBeGreaterThan(5);
    await runs.run(shop.orgId, id);
    const wrong = 52;
    const made = 5000 - 50 - 50;
    const again = await known(shop);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      total: 5200,
      processed: 5200,
      failed: wrong,
      created: again.size - 50,
      updated: 5200 - wrong - (again.size - 50),
    });
    expect(again.size).toBeGreaterThanOrEqual(made);
    expect(await counted(shop)).toBe(again.size);
    expect(again.get("p100@x.com")!.firstName).toBe("Ann 5100");
    const tag = (await groups.tagsNamed(shop.caller, shop.siteId, ["all"])).get("all")!;
    expect((await members(shop, "TAG", tag)).count).toBe(
      new Set([...again.values()].filter(({ tags }) => tags.length).map((one) => one.id)).size,
    );
  }, 120_000);

  test("two workers at once, and the same message twice, store a file once", async () => {
    const shop = await audience();
    const { id } = await begin(shop, rows(1500));
    await Promise.all([runs.run(shop.orgId, id), runs.run(shop.orgId, id), runs.run(shop.orgId, id)]);
    await runs.run(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 1500, updated: 0, processed: 1500 });
    expect(await counted(shop)).toBe(1500);
  }, 30_000);

  test("one who is believed dead and is not changes no number of another's", async () => {
    for (let n = 1, isHeld = true; isHeld; n++) {
      const shop = await audience();
      const { id } = await begin(shop, rows(3));
      const holding = heldUp(UpdateCommand, n);
      const slow = runs.run(shop.orgId, id);
      isHeld = await Promise.race([holding.reached.then(() => true), slow.then(() => false)]);
      clock.advance(200);
      await runs.run(shop.orgId, id);
      holding.release();
      await slow;
      letGo();
      clock.advance(200);
      await runs.run(shop.orgId, id);
      expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 3, updated: 0, processed: 3 });
      expect(await counted(shop)).toBe(3);
      if (!isHeld) expect(n).toBeGreaterThan(3);
    }
  });

  test("whose time is up, another turn goes on", async () => {
    const shop = await audience();
    const { id } = await begin(shop, rows(3500));
    const turn = runs.run(shop.orgId, id);
    // Time runs away while it is at work.
    const hurry = setInterval(() => clock.advance(30), 50);
    await turn;
    clearInterval(hurry);
    const turns: (string | number)[] = [];
    for (let told = await imports.find(shop.caller, id); told.status !== "completed"; told = await imports.find(shop.caller, id)) {
      turns.push(told.processed);
      await runs.run(shop.orgId, id);
      expect(turns.length).toBeLessThan(20);
    }
    expect(turns.length).toBeGreaterThan(0);
    expect(await imports.find(shop.caller, id)).toMatchObject({ created: 3500, processed: 3500 });
  }, 60_000);

  test("who was made and has moved to another address before the replay is not made once more", async () => {
    const shop = await audience();
    const { id } = await begin(shop, rows(3));
    // Everything but the note.
    let made = false;
    for (let n = 5; !made; n++) {
      await killed(n, "before", () => runs.run(shop.orgId, id));
      clock.advance(200);
      made = (await stored(shop)).length === 3;
    }
    const [first] = [...(await known(shop)).values()];
    await contacts.change(shop.caller, first!.id, { email: "moved@x.com" });
    await runs.run(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({ status: "completed", created: 3, processed: 3 });
    expect((await known(shop)).size).toBe(3);
    expect((await contacts.find(shop.caller, first!.id)).email).toBe("moved@x.com");
    expect(await counted(shop)).toBe(3);
  });

  test("the file is another one by now, or gone: it fails and says so", async () => {
    const shop = await audience();
    const { id } = await begin(shop, rows(3));
    await killed(7, "before", () => runs.run(shop.orgId, id));
    clock.advance(200);
    await blobs.put(`uploads/${shop.orgId}/import-${id}`, Buffer.from(rows(3, (i) => `q${i}@x.com,Bob ${i}`)), "text/csv");
    await runs.run(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "failed",
      error: "The file was uploaded anew while it was read: import it again",
    });
    const other = await begin(shop, rows(3));
    await blobs.remove(`uploads/${shop.orgId}/import-${other.id}`);
    await runs.run(shop.orgId, other.id);
    expect(await imports.find(shop.caller, other.id)).toMatchObject({ status: "failed", error: "The file is gone: upload it again" });
  });
});

test("a new contact costs about four units, with a list and a tag six", async () => {
  const shop = await audience();
  const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
  const cost = async (from: number, wish: Wish) => {
    const { id } = await begin(
      shop,
      rows(3000, (i) => `c${from + i}@x.com,Ann`),
      wish,
    );
    const { usage } = await metered(() => runs.run(shop.orgId, id));
    return { writes: usage.writeUnits / 3000, reads: usage.readUnits / 3000 };
  };
  const bare = await cost(0, {});
  const grouped = await cost(3000, { lists: [list.id], tags: ["all"] });
  const again = await cost(3000, { lists: [list.id], tags: ["all"] });
  expect(bare.writes).toBeLessThan(4.2);
  expect(grouped.writes).toBeLessThan(6.4);
  expect(again.writes).toBeLessThan(0.05);
  expect(bare.reads).toBeLessThan(4);
}, 60_000);
