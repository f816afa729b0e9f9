import { describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { getMany, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { type Import, NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as runs from "../../shared/domain/audience/imports/run-import.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import { type Key, keys } from "../../shared/keys.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  readContactCount,
  readGroupMembers,
  type TestSite,
} from "../support/contacts.ts";
import {
  interceptClients,
  interruptedAtSomeSteps,
  interruptions,
  runUntilCrash,
} from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

interceptClients();

type ImportOptions = Partial<NewImport>;
const begin = (shop: TestSite, file: string | Uint8Array, options: ImportOptions = {}) =>
  imports.start(shop.caller, NewImport.parse({ siteId: shop.siteId, ...options }), {
    bytes: Buffer.from(file),
  });

/** Runs the import to its end. */
async function runToEnd(
  shop: TestSite,
  file: string | Uint8Array,
  options: ImportOptions = {},
): Promise<Import> {
  const { id } = await begin(shop, file, options);
  await runs.runImport(shop.orgId, id);
  return imports.find(shop.caller, id);
}

const readContactsByEmail = async (shop: TestSite) => {
  const all = await contacts.toApiAll(shop.orgId, (await readAllContacts(shop)) as never);
  return new Map(all.map((one) => [one.email, one]));
};
const rows = (n: number, of = (i: number) => `p${i}@x.com,Ann ${i}`) =>
  `email,firstName\n${Array.from({ length: n }, (_, i) => of(i)).join("\n")}\n`;

describe("a file", () => {
  test("creates and updates contacts, counts every row, and reports row errors", async () => {
    const shop = await createTestSite();
    const existing = await createContact(shop, "ann@x.com", {
      firstName: "Ann",
      customFields: { plan: "free", seats: 1 },
      tags: ["old"],
    });
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
    const imported = await runToEnd(shop, file, {
      tags: ["imported"],
      lists: [list.id],
      filename: "people.csv",
    });
    expect(imported).toMatchObject({
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
        { row: 6, email: "", message: "email is required" },
      ],
    });
    const all = await readContactsByEmail(shop);
    expect(all.get("ann@x.com")).toMatchObject({
      id: existing.id,
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
    expect(all.get("cy@x.com")).toMatchObject({
      firstName: "Cy",
      status: "subscribed",
      source: "import",
      lists: [{ name: "News" }],
    });
    expect(await readContactCount(shop)).toBe(3);
    expect((await readGroupMembers(shop, "LIST", list.id)).count).toBe(3);
  });

  test("has rows with many tags, and names those that are too many", async () => {
    const shop = await createTestSite();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
    const names = (n: number) => Array.from({ length: n }, (_, i) => `t${i}`).join("|");
    const file = [
      "email,tags",
      `ann@x.com,${names(45)}|t0|t1`,
      `bob@x.com,${names(58)}`,
      `cy@x.com,${names(60)}`,
    ].join("\n");
    const imported = await runToEnd(shop, file, { tags: ["imported"], lists: [list.id] });
    expect(imported).toMatchObject({
      created: 2,
      failed: 1,
      errors: [
        {
          email: "cy@x.com",
          message: "tags: has 60, but at most 58 are possible, without t58, t59",
        },
      ],
    });
    const all = await readContactsByEmail(shop);
    expect(all.get("ann@x.com")!.tags).toHaveLength(46);
    expect(all.get("bob@x.com")!.tags).toHaveLength(59);
    // A contact that exists gets as many again.
    const more = await runToEnd(shop, `email,tags\nann@x.com,${names(60)}`);
    expect(more).toMatchObject({ updated: 1, failed: 0 });
    expect((await readContactsByEmail(shop)).get("ann@x.com")!.tags).toHaveLength(61);
  });

  test("has addresses with international domains, in either spelling", async () => {
    const shop = await createTestSite();
    const file = "email\nann@müller.example\nbob@xn--mller-kva.example\nANN@MÜLLER.example\n";
    expect(await runToEnd(shop, file)).toMatchObject({ created: 2, failed: 0 });
    expect([...(await readContactsByEmail(shop)).keys()].map((one) => one.toLowerCase())).toEqual(
      expect.arrayContaining(["ann@müller.example", "bob@müller.example"]),
    );
  });

  test("is read correctly in any encoding", async () => {
    const text = "email,firstName\nann@x.com,Zoë – €\n";
    const bytes = {
      "utf-8": Buffer.from(`\uFEFF${text}`),
      "utf-16le": Buffer.from(`\uFEFF${text}`, "utf16le"),
      "utf-16be": Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
      "windows-1252": Buffer.from(text.replace("–", "\x96").replace("€", "\x80"), "latin1"),
    };
    for (const [encoding, file] of Object.entries(bytes)) {
      const shop = await createTestSite();
      expect(await runToEnd(shop, file)).toMatchObject({
        status: "completed",
        encoding,
        created: 1,
      });
      expect((await readContactsByEmail(shop)).get("ann@x.com")!.firstName).toBe("Zoë – €");
    }
  });

  test("with one byte at its end that is not UTF-8 is read as windows-1252", async () => {
    const shop = await createTestSite();
    const file = Buffer.concat([
      Buffer.from(rows(3)),
      Buffer.from("last@x.com,Jos\xe9\n", "latin1"),
    ]);
    expect(await runToEnd(shop, file)).toMatchObject({ encoding: "windows-1252", created: 4 });
    expect((await readContactsByEmail(shop)).get("last@x.com")!.firstName).toBe("José");
  });

  test.for([
    ["email,name\n", { status: "completed", total: 0, processed: 0, progress: 100 }],
    [
      "\n\n",
      {
        status: "failed",
        error:
          "The file is empty: its first row must name the columns, and one of them must be email",
      },
    ],
    [
      "name,city\nAnn,Graz\n",
      {
        status: "failed",
        error:
          "No column was recognized as the email address: set it in mapping. The columns are: name, city",
      },
    ],
    [
      "ann@x.com,Ann\nbob,Bob\n",
      {
        status: "failed",
        error:
          "The file has no header: its first row must name the columns, and one of them must be email",
      },
    ],
    [
      'email\nann@x.com\n"bob@x.com\n',
      { status: "failed", error: 'Row 3: a quote (") is opened but not closed' },
    ],
  ] as const)(
    "with the content %j creates no contacts and ends with %j",
    async ([file, expected]) => {
      const shop = await createTestSite();
      expect(await runToEnd(shop, file)).toMatchObject(expected);
      expect(await readContactCount(shop)).toBe(0);
    },
  );

  test("fails before it changes a contact if a column may be about consent", async () => {
    const shop = await createTestSite();
    const lines = ["email,GDPR", ...Array.from({ length: 30 }, (_, i) => `a${i}@example.com,`)];
    const file = [...lines, "no@example.com,no"].join("\n");
    const refused = await runToEnd(shop, file);
    expect(refused).toMatchObject({
      status: "failed",
      error: expect.stringContaining('"GDPR" may say who gets email and who does not'),
      processed: 0,
    });
    const answered = await runToEnd(shop, file, { mapping: { GDPR: "subscribed" } });
    expect(answered).toMatchObject({ status: "completed", created: 31 });
    const contacts = await readContactsByEmail(shop);
    expect(contacts.get("no@example.com")!.status).toBe("unsubscribed");
  });

  test("subscribes nobody who has no yes in a column of consent", async () => {
    const shop = await createTestSite();
    const file = (cell: string) =>
      `email,Newsletter\nknown@example.com,${cell}\nnew-${cell}@example.com,${cell}\n` +
      "yes@example.com,yes\nno@example.com,no";
    await runToEnd(shop, file("yes"));
    expect(await runToEnd(shop, file(""))).toMatchObject({ created: 1, updated: 3, failed: 0 });
    const contacts = await readContactsByEmail(shop);
    const statuses = [...contacts].map(([email, { status }]) => [email, status]).toSorted();
    expect(statuses).toEqual([
      ["known@example.com", "subscribed"],
      ["new-@example.com", "unsubscribed"],
      ["new-yes@example.com", "subscribed"],
      ["no@example.com", "unsubscribed"],
      ["yes@example.com", "subscribed"],
    ]);
  });

  test("with an address twice keeps the last row", async () => {
    const shop = await createTestSite();
    const file = rows(2100, (i) => (i % 700 ? `p${i}@x.com,Ann` : `Twice@x.com,Ann ${i}`));
    expect(await runToEnd(shop, file)).toMatchObject({
      total: 2100,
      created: 2098,
      updated: 2,
      failed: 0,
    });
    expect(await readContactsByEmail(shop)).toHaveProperty("size", 2098);
    expect(
      [...(await readContactsByEmail(shop)).values()].find(({ email }) => /twice/i.test(email))!
        .firstName,
    ).toBe("Ann 1400");
    expect(await readContactCount(shop)).toBe(2098);
  });

  test("starts sequences of its tags and lists only with startSequences", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const list = await groups.create("LIST", caller, { siteId, name: "News" });
    const waiting = [
      { triggerType: "tag_add", triggerConfig: { tagName: "customer" } },
      { triggerType: "list_join", triggerConfig: { listId: list.id } },
    ];
    const ids = await inParallel(1, waiting, async (trigger) => {
      const { id } = await sequences.create(
        caller,
        NewSequence.parse({ siteId, name: "Way", ...trigger }),
      );
      await steps.add(caller, id, AddStepsRequest.parse({ type: "delay", delayMinutes: 60 }));
      await sequences.change(caller, id, { status: "active" });
      return id;
    });
    const enrolled = async () => {
      const pages = await inParallel(2, ids, (id) =>
        enrollmentListing.list(caller, { limit: 50 }, { sequenceId: id }),
      );
      return pages.map(({ items }) => items.length);
    };
    const file = (from: number) =>
      `email,tags\n${[0, 1].map((i) => `p${from + i}@x.com,customer`).join("\n")}\n`;
    expect(await runToEnd(shop, file(0), { lists: [list.id] })).toMatchObject({
      created: 2,
      startSequences: false,
    });
    expect(await enrolled()).toEqual([0, 0]);
    const given = { lists: [list.id], startSequences: true };
    expect(await runToEnd(shop, file(1), given)).toMatchObject({
      created: 1,
      updated: 1,
      startSequences: true,
    });
    // Contacts that already have the tag and list do not start the sequence.
    expect(await enrolled()).toEqual([1, 1]);
  });

  test("can only create or only update contacts", async () => {
    const shop = await createTestSite();
    await createContact(shop, "p0@x.com", { firstName: "Old" });
    const file = rows(3, (i) => `p${i % 2}@x.com,New ${i}`);
    expect(await runToEnd(shop, file, { mode: "create" })).toMatchObject({
      created: 1,
      updated: 0,
      skipped: 2,
    });
    expect((await readContactsByEmail(shop)).get("p0@x.com")!.firstName).toBe("Old");
    expect((await readContactsByEmail(shop)).get("p1@x.com")!.firstName).toBe("New 1");
    const more = rows(3, (i) => `p${i}@x.com,Newer ${i}`);
    expect(await runToEnd(shop, more, { mode: "update" })).toMatchObject({
      created: 0,
      updated: 2,
      skipped: 1,
    });
    expect((await readContactsByEmail(shop)).get("p0@x.com")!.firstName).toBe("Newer 0");
    expect(await readContactCount(shop)).toBe(2);
  });

  test("resubscribes contacts only with resubscribe", async () => {
    const shop = await createTestSite();
    await createContact(shop, "left@x.com", { status: "unsubscribed" });
    for (const email of ["gone@x.com", "new@x.com"])
      await suppressions.suppress(shop.orgId, {
        ...suppressions.NewSuppression.parse({ email, reason: "spam_report" }),
        source: "test",
      });
    await createContact(shop, "gone@x.com");
    const file =
      "email,status\nleft@x.com,subscribed\ngone@x.com,subscribed\nnew@x.com,\nfresh@x.com,\nquiet@x.com,unsubscribed\n";
    const statuses = async () =>
      Object.fromEntries(
        [...(await readContactsByEmail(shop)).values()].map(({ email, status }) => [email, status]),
      );
    expect(await runToEnd(shop, file, { status: "pending" })).toMatchObject({
      created: 3,
      updated: 2,
    });
    const before = {
      "left@x.com": "unsubscribed",
      "gone@x.com": "suppressed",
      "new@x.com": "suppressed",
      "fresh@x.com": "pending",
      "quiet@x.com": "unsubscribed",
    };
    expect(await statuses()).toEqual(before);
    const bound = { ...shop, caller: { ...shop.caller, siteIds: [shop.siteId] } };
    await runToEnd(bound, file, { resubscribe: true });
    expect(await statuses()).toEqual({ ...before, "left@x.com": "subscribed" });
    await runToEnd(shop, file, { resubscribe: true });
    expect(await statuses()).toMatchObject({
      "gone@x.com": "subscribed",
      "fresh@x.com": "pending",
      "quiet@x.com": "unsubscribed",
    });
    expect(await suppressions.find(shop.orgId, "gone@x.com")).toBeUndefined();
  });

  test("that was uploaded can be imported until the upload expires", async () => {
    const shop = await createTestSite();
    const blob = `uploads/${shop.orgId}/file`;
    await blobs.put(blob, Buffer.from(rows(1)), "text/csv");
    const expires = clock.epochSeconds() + 60;
    await write(
      put(keys.upload(shop.orgId, "file"), {
        blob,
        filename: "people.csv",
        size: rows(1).length,
        expires,
      }),
    );
    const take = () =>
      imports.start(shop.caller, NewImport.parse({ siteId: shop.siteId }), { uploadId: "file" });
    expect(await take()).toMatchObject({ status: "queued", filename: "people.csv" });
    await blobs.put(blob, Buffer.from(rows(2)), "text/csv");
    const declared = `not the ${rows(1).length} that were declared`;
    await expect(take()).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(declared),
    });
    clock.advanceClock(61);
    await expect(take()).rejects.toMatchObject({
      kind: "invalid",
      message: "uploadId does not name a finished upload: PUT the file to its uploadUrl first",
    });
  });

  test("shows its first 100 errors, and lists all of them", async () => {
    const shop = await createTestSite();
    const imported = await runToEnd(
      shop,
      rows(2500, (i) => (i % 2 ? `p${i}@x.com,Ann` : `wrong ${i},Ann`)),
    );
    expect(imported).toMatchObject({ created: 1250, failed: 1250, total: 2500 });
    expect(imported.errors).toHaveLength(100);
    expect(imported.errors[99]).toEqual({
      row: 200,
      email: "wrong 198",
      message: "email: must be one valid email address",
    });
    const { rows: all, next } = await imports.listErrors(shop.caller, imported.id, undefined);
    expect(all.map(({ row }) => row)).toEqual(Array.from({ length: 1250 }, (_, i) => 2 + 2 * i));
    expect(next).toBeUndefined();
    expect((await imports.listErrors(shop.caller, imported.id, "1001")).rows[0]!.row).toBe(1002);
    clock.advanceClock(91 * 24 * 3600);
    expect((await imports.listErrors(shop.caller, imported.id, undefined)).rows).toEqual([]);
    clock.advanceClock(-91 * 24 * 3600);
  });

  test("tolerates a deleted list and fails for a deleted site", async () => {
    const shop = await createTestSite();
    const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
    const { id } = await begin(shop, rows(2), { lists: [list.id] });
    await groups.removeGroup("LIST", shop.caller, list.id);
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      created: 2,
      failed: 0,
    });
    await expect(begin(shop, rows(2), { lists: [list.id] })).rejects.toMatchObject({
      kind: "missing",
    });
  });
});

describe("a running import", () => {
  const seven = rows(7, (i) => (i === 3 ? "wrong,Ann" : `p${i % 5}@x.com,Ann ${i}`));

  test.each(interruptions)(
    "whose worker %s at any step is completed by another, which counts each row once",
    async (how) => {
      const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
        const shop = await createTestSite();
        await createContact(shop, "p2@x.com");
        const { id } = await begin(shop, seven, { tags: ["a"], mode: "upsert" });
        await interrupt(
          () => runs.runImport(shop.orgId, id),
          async () => {
            // The lease of the interrupted worker expires.
            clock.advanceClock(200);
            await runs.runImport(shop.orgId, id);
            await runs.runImport(shop.orgId, id);
          },
        );
        expect(await imports.find(shop.caller, id)).toMatchObject({
          status: "completed",
          total: 7,
          processed: 7,
          created: 3,
          updated: 3,
          failed: 1,
          errors: [{ row: 5 }],
        });
        const all = await readContactsByEmail(shop);
        expect(all.size).toBe(4);
        expect(all.get("p0@x.com")!.firstName).toBe("Ann 5");
        expect(await readContactCount(shop)).toBe(4);
        const tag = (await groups.getOrCreateTags(shop.caller, shop.siteId, ["a"])).get("a")!;
        expect(await readGroupMembers(shop, "TAG", tag)).toEqual({
          ids: [...all.values()].map((one) => one.id).toSorted((a, b) => a - b),
          count: 4,
        });
      });
      expect(steps.length).toBeGreaterThan(20);
    },
    300_000,
  );

  test.each(interruptions)(
    "that only creates contacts skips the same rows again if its worker %s at any step",
    async (how) => {
      await interruptedAtSomeSteps(how, async (interrupt) => {
        const shop = await createTestSite();
        await createContact(shop, "p2@x.com");
        const { id } = await begin(shop, seven, { mode: "create" });
        await interrupt(
          () => runs.runImport(shop.orgId, id),
          () => {
            clock.advanceClock(200);
            return runs.runImport(shop.orgId, id);
          },
        );
        expect(await imports.find(shop.caller, id)).toMatchObject({
          status: "completed",
          created: 3,
          updated: 0,
          skipped: 3,
          failed: 1,
        });
        expect(await readContactCount(shop)).toBe(4);
      });
    },
    300_000,
  );

  test("is found by the due index after a crash during its creation", async () => {
    const shop = await createTestSite();
    for (let n = 1; ; n++) {
      const crash = await runUntilCrash(n, "after", () => begin(shop, rows(1)));
      const { items } = await imports.list(shop.caller, { limit: 1 }, undefined);
      const [due] = await getMany<Key & { duesk?: string }>(
        items.map(({ id }) => keys.importRun(shop.orgId, id)),
        { consistent: true },
      );
      if (items.length) expect(due!.duesk).toBeDefined();
      if (!crash.crashed) break;
    }
  });

  test("loses, repeats and miscounts no row over many crashes", async () => {
    const shop = await createTestSite();
    const rowCount = everything ? 5000 : 1500;
    for (let i = 0; i < 50; i++) await createContact(shop, `p${i * 7}@x.com`);
    const file = rows(rowCount + 200, (i) =>
      i % 100 === 99 ? `wrong ${i},Ann` : `p${i % rowCount}@x.com,Ann ${i}`,
    );
    const { id } = await begin(shop, file, { tags: ["all"] });
    let crashCount = 0;
    for (let n = 3; crashCount < 12; n += everything ? 9 : 3) {
      const { crashed } = await runUntilCrash(n, n % 2 ? "after" : "before", () =>
        runs.runImport(shop.orgId, id),
      );
      if (!crashed) break;
      crashCount++;
      clock.advanceClock(200);
    }
    expect(crashCount).toBeGreaterThan(5);
    await runs.runImport(shop.orgId, id);
    const wrongRows = (rowCount + 200) / 100;
    const created = rowCount - rowCount / 100 - 50;
    const again = await readContactsByEmail(shop);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      total: rowCount + 200,
      processed: rowCount + 200,
      failed: wrongRows,
      created: again.size - 50,
      updated: rowCount + 200 - wrongRows - (again.size - 50),
    });
    expect(again.size).toBeGreaterThanOrEqual(created);
    expect(await readContactCount(shop)).toBe(again.size);
    expect(again.get("p100@x.com")!.firstName).toBe(`Ann ${rowCount + 100}`);
    const tag = (await groups.getOrCreateTags(shop.caller, shop.siteId, ["all"])).get("all")!;
    expect((await readGroupMembers(shop, "TAG", tag)).count).toBe(
      new Set([...again.values()].filter(({ tags }) => tags.length).map((one) => one.id)).size,
    );
  });

  test("stores a file once with two concurrent workers and repeated messages", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(1500));
    await Promise.all([
      runs.runImport(shop.orgId, id),
      runs.runImport(shop.orgId, id),
      runs.runImport(shop.orgId, id),
    ]);
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      created: 1500,
      updated: 0,
      processed: 1500,
    });
    expect(await readContactCount(shop)).toBe(1500);
  });

  test("ignores the writes of a worker that has lost its lease", async () => {
    for (let n = 1, isHeld = true; isHeld; n++) {
      const shop = await createTestSite();
      const { id } = await begin(shop, rows(3));
      const holding = pauseCall("UpdateItem", n);
      const slow = runs.runImport(shop.orgId, id);
      isHeld = await Promise.race([holding.reached.then(() => true), slow.then(() => false)]);
      if (!isHeld) removePauses();
      clock.advanceClock(200);
      await runs.runImport(shop.orgId, id);
      holding.release();
      await slow;
      removePauses();
      clock.advanceClock(200);
      await runs.runImport(shop.orgId, id);
      expect(await imports.find(shop.caller, id)).toMatchObject({
        status: "completed",
        created: 3,
        updated: 0,
        processed: 3,
      });
      expect(await readContactCount(shop)).toBe(3);
      if (!isHeld) expect(n).toBeGreaterThan(3);
    }
  });

  test("is continued by another message when the time is up", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(3500));
    // Each call of the table takes seconds of the clock.
    const end = interceptCalls("dynamodb", (_, passThrough) => {
      clock.advanceClock(10);
      return passThrough();
    });
    await runs.runImport(shop.orgId, id).finally(end);
    const turns: (string | number)[] = [];
    for (
      let imported = await imports.find(shop.caller, id);
      imported.status !== "completed";
      imported = await imports.find(shop.caller, id)
    ) {
      turns.push(imported.processed);
      await runs.runImport(shop.orgId, id);
      expect(turns.length).toBeLessThan(20);
    }
    expect(turns.length).toBeGreaterThan(0);
    expect(await imports.find(shop.caller, id)).toMatchObject({ created: 3500, processed: 3500 });
  });

  test("does not create a contact again that changed its address before a replay", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(3));
    // The worker crashes when all contacts are stored and the progress is not.
    let created = false;
    for (let n = 5; !created; n++) {
      await runUntilCrash(n, "before", () => runs.runImport(shop.orgId, id));
      clock.advanceClock(200);
      created = (await readAllContacts(shop)).length === 3;
    }
    const [first] = [...(await readContactsByEmail(shop)).values()];
    await contacts.change(shop.caller, first!.id, { email: "moved@x.com" });
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      created: 3,
      processed: 3,
    });
    expect((await readContactsByEmail(shop)).size).toBe(3);
    expect((await contacts.find(shop.caller, first!.id)).email).toBe("moved@x.com");
    expect(await readContactCount(shop)).toBe(3);
  });

  test("fails if the file was replaced or deleted", async () => {
    const shop = await createTestSite();
    const { id } = await begin(shop, rows(3));
    await runUntilCrash(7, "before", () => runs.runImport(shop.orgId, id));
    clock.advanceClock(200);
    await blobs.put(
      `uploads/${shop.orgId}/import-${id}`,
      Buffer.from(rows(3, (i) => `q${i}@x.com,Bob ${i}`)),
      "text/csv",
    );
    await runs.runImport(shop.orgId, id);
    expect(await imports.find(shop.caller, id)).toMatchObject({
      status: "failed",
      error: "The file was replaced while it was being read: start the import again",
    });
    const other = await begin(shop, rows(3));
    await blobs.remove(`uploads/${shop.orgId}/import-${other.id}`);
    await runs.runImport(shop.orgId, other.id);
    expect(await imports.find(shop.caller, other.id)).toMatchObject({
      status: "failed",
      error: "The file is no longer stored: upload it again",
    });
  });
});

test("a new contact costs about four write units, with a list and a tag six", async () => {
  const shop = await createTestSite();
  const list = await groups.create("LIST", shop.caller, { siteId: shop.siteId, name: "News" });
  const n = everything ? 3000 : 1000;
  const cost = async (from: number, options: ImportOptions) => {
    const { id } = await begin(
      shop,
      rows(n, (i) => `c${from + i}@x.com,Ann`),
      options,
    );
    const { usage } = await measureUnits(() => runs.runImport(shop.orgId, id));
    return { writes: usage.writeUnits / n, reads: usage.readUnits / n };
  };
  const bare = await cost(0, {});
  const grouped = await cost(3000, { lists: [list.id], tags: ["all"] });
  const again = await cost(3000, { lists: [list.id], tags: ["all"] });
  expect(bare.writes).toBeLessThan(4.2);
  expect(grouped.writes).toBeLessThan(6.4);
  expect(again.writes).toBeLessThan(0.05);
  expect(bare.reads).toBeLessThan(4);
});
