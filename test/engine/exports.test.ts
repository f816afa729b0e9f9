import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as exports from "../../shared/domain/analytics/exports/exports.ts";
import { runExport } from "../../shared/domain/analytics/exports/run-export.ts";
import { exportSources } from "../../shared/domain/analytics/exports/sources.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { unguarded } from "../../shared/kernel/csv-cells.ts";
import * as formats from "../../shared/kernel/table-export.ts";
import { keys } from "../../shared/keys.ts";
import {
  createContact,
  createTestSite,
  insertContacts,
  type TestSite,
} from "../support/contacts.ts";
import {
  crashAtSomeSteps,
  interceptClients,
  interruptedAtSomeSteps,
  interruptions,
  runUntilCrash,
} from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import fc from "../support/fast-check.ts";
import { exportInline } from "../support/inline-export.ts";

interceptClients();

const request = (
  { siteId }: TestSite,
  more: Partial<exports.ExportRequest> = {},
): exports.ExportRequest => ({
  type: "contacts",
  format: "csv",
  filter: { siteId },
  ...more,
});
async function downloaded({ caller }: TestSite, id: number): Promise<string> {
  const { downloadUrl } = await exports.find(caller, id);
  return (await fetch(downloadUrl!)).text();
}
const rowsOf = (text: string) => parse(text, { columns: true }) as Record<string, string>[];

describe("an inline export", () => {
  test("has every field, a column per custom field, and no formulas", async () => {
    const shop = await createTestSite();
    const nasty = '=HYPERLINK("http://x"), "quoted"\nline';
    await createContact(shop, "+ann@x.com", {
      firstName: "-Ann",
      customFields: { plan: nasty, seats: -3, trial: true, none: null },
      tags: ["a", "b"],
    });
    await createContact(shop, "bob@x.com", { customFields: { other: "@home" } });
    const text = (await exportInline(shop.caller, request(shop)))!;
    const rows = rowsOf(text);
    expect(Object.keys(rows[0]!).slice(-5)).toEqual(
      ["none", "other", "plan", "seats", "trial"].map((name) => `customFields.${name}`),
    );
    const ann = rows.find(({ email }) => email === "'+ann@x.com")!;
    expect(ann).toMatchObject({
      firstName: "'-Ann",
      "customFields.plan": `'${nasty}`,
      "customFields.seats": "-3",
      "customFields.trial": "true",
      "customFields.other": "",
    });
    expect(ann.tags!.split("; ").toSorted()).toEqual(["a", "b"]);
    const json = JSON.parse(
      (await exportInline(shop.caller, request(shop, { format: "json" })))!,
    ) as {
      data: { contacts: { email: string }[] };
    };
    expect(json.data.contacts.map(({ email }) => email).toSorted()).toEqual([
      "+ann@x.com",
      "bob@x.com",
    ]);
  });

  test("has at most 10,000 contacts, counted after the filter", async () => {
    const shop = await createTestSite();
    await insertContacts(shop, 10_000, (i) => ({ company: i < 5 ? "few" : "many" }));
    expect(rowsOf((await exportInline(shop.caller, request(shop)))!)).toHaveLength(10_000);
    await createContact(shop, "one-more@x.com");
    expect(await exportInline(shop.caller, request(shop))).toBeUndefined();
    const filter = { siteId: shop.siteId, search: "one-more" };
    expect(rowsOf((await exportInline(shop.caller, request(shop, { filter })))!)).toHaveLength(1);
  });

  test("without contacts is a header or an empty list", async () => {
    const shop = await createTestSite();
    expect((await exportInline(shop.caller, request(shop)))!.split("\n")).toHaveLength(2);
    expect(
      JSON.parse((await exportInline(shop.caller, request(shop, { format: "json" })))!),
    ).toEqual({ data: { contacts: [] } });
  });
});

test("a CSV parses to the same values, with a guard before formulas", () => {
  const cell = fc.string({ unit: "grapheme" });
  const row = fc.array(cell, { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const shape: formats.ExportTable = {
        jsonName: "rows",
        columns: ["a", "b", "c"],
        cells: (given) => given.cells as string[],
      };
      const text = formats.formatTable({
        format: "csv",
        shape,
        rows: rows.map((cells) => ({ cells })),
      });
      const read = parse(text, {
        columns: false,
        skip_empty_lines: false,
        relax_column_count: false,
      }) as string[][];
      expect(read.map((cells) => cells.map(unguarded))).toEqual([["a", "b", "c"], ...rows]);
      for (const one of read.flat())
        expect(one).not.toMatch(/(^|[;\t\r\n])[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/);
    }),
  );
});

describe("a file export", () => {
  test.each(interruptions)(
    "whose worker %s at any step is completed by another and has each contact once",
    async (how) => {
      const shop = await createTestSite();
      await insertContacts(shop, 20, (i) => ({ customFields: { [`f${i % 3}`]: i } }));
      const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
        const { id, status } = await exports.start(shop.caller, request(shop));
        expect(status).toBe("queued");
        await interrupt(
          () => runExport(shop.orgId, id),
          async () => {
            // The lease of the interrupted worker expires.
            clock.advanceClock(400);
            await runExport(shop.orgId, id);
            await runExport(shop.orgId, id);
          },
        );
        expect(await exports.find(shop.caller, id)).toMatchObject({
          status: "completed",
          progress: 100,
          rows: 20,
          error: null,
        });
        const rows = rowsOf(await downloaded(shop, id));
        expect(new Set(rows.map(({ email }) => email)).size).toBe(20);
        expect(rows).toHaveLength(20);
        expect(Object.keys(rows[0]!).slice(-3)).toEqual([
          "customFields.f0",
          "customFields.f1",
          "customFields.f2",
        ]);
      });
      expect(steps.length).toBeGreaterThan(20);
    },
    120_000,
  );

  test("of many parts is complete after a crash in the middle", async () => {
    const shop = await createTestSite();
    const filler = "x".repeat(1900);
    // A part has at least 5 MB.
    const contactCount = everything ? 6000 : 3000;
    await insertContacts(shop, contactCount, () => ({ customFields: { a: filler, b: filler } }));
    const { id } = await exports.start(shop.caller, request(shop, { format: "json" }));
    const readExport = () =>
      get<{ written?: { parts: string[] } }>(keys.record(shop.orgId, "EXPORT", id));
    for (let n = 4; !(await readExport())?.written?.parts.length; n += 2) {
      clock.advanceClock(400);
      await runUntilCrash(n, "after", () => runExport(shop.orgId, id));
    }
    expect(await exports.find(shop.caller, id)).toMatchObject({
      status: "running",
      rows: null,
      downloadUrl: null,
    });
    clock.advanceClock(400);
    await runExport(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed" });
    const { data } = JSON.parse(await downloaded(shop, id)) as {
      data: { contacts: { id: number }[] };
    };
    expect(new Set(data.contacts.map((one) => one.id)).size).toBe(contactCount);
    expect(data.contacts).toHaveLength(contactCount);
  });

  test("has a column for a field that only one contact has, also after a crash", async () => {
    const shop = await createTestSite();
    // The columns are sampled from the first 100 contacts of each shard.
    await insertContacts(shop, 2400, () => ({ customFields: { common: 1 } }));
    await createContact(shop, "zoe@zoo.example", { customFields: { rare: "yes" } });
    await crashAtSomeSteps(async (crash) => {
      const { id } = await exports.start(shop.caller, request(shop));
      await crash(() => runExport(shop.orgId, id));
      clock.advanceClock(400);
      await runExport(shop.orgId, id);
      const rows = rowsOf(await downloaded(shop, id));
      const count = (field: string, value: string) =>
        rows.filter((row) => row[`customFields.${field}`] === value).length;
      expect([rows.length, count("common", "1"), count("rare", "yes")]).toEqual([2401, 2400, 1]);
    });
  });

  test("is written once by two concurrent workers", async () => {
    const shop = await createTestSite();
    await insertContacts(shop, 50);
    const { id } = await exports.start(shop.caller, request(shop));
    await Promise.all([
      runExport(shop.orgId, id),
      runExport(shop.orgId, id),
      runExport(shop.orgId, id),
    ]);
    expect(rowsOf(await downloaded(shop, id))).toHaveLength(50);
  });

  test("fails if its filter names something that was deleted", async () => {
    const shop = await createTestSite();
    const rules = {
      match: "all" as const,
      conditions: [{ field: "company", operator: "equals" as const, value: "x" }],
    };
    const segment = await segments.create(
      shop.caller,
      segments.NewSegment.parse({ siteId: shop.siteId, name: "S", rules }),
    );
    const { id } = await exports.start(
      shop.caller,
      request(shop, { filter: { siteId: shop.siteId, segmentId: segment.id } }),
    );
    await segments.remove(shop.caller, segment.id);
    await runExport(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({
      status: "failed",
      error: "The segment does not exist",
      downloadUrl: null,
    });
  });

  test("of suppressions can be filtered by reason", async () => {
    const shop = await createTestSite();
    for (const [i, reason] of (["bounce", "manual", "bounce"] as const).entries())
      await suppressions.suppress(shop.orgId, {
        ...suppressions.NewSuppression.parse({ email: `p${i}@x.com`, reason }),
        source: "test",
      });
    const { id } = await exports.start(shop.caller, {
      type: "suppressions",
      format: "csv",
      filter: { reason: "bounce" },
    });
    await runExport(shop.orgId, id);
    expect(
      rowsOf(await downloaded(shop, id))
        .map(({ email }) => email)
        .toSorted(),
    ).toEqual(["p0@x.com", "p2@x.com"]);
  });

  test("is invisible to other organizations and sites, and has no download after seven days", async () => {
    const [shop, other] = [await createTestSite(), await createTestSite()];
    const { id } = await exports.start(shop.caller, request(shop));
    await runExport(shop.orgId, id);
    await expect(exports.find(other.caller, id)).rejects.toMatchObject({ kind: "missing" });
    await expect(
      exports.find({ ...shop.caller, siteIds: [shop.siteId + 1] }, id),
    ).rejects.toMatchObject({ code: "site_forbidden" });
    clock.advanceClock(7 * 24 * 3600 + 60);
    expect(await exports.find(shop.caller, id)).toMatchObject({
      status: "completed",
      downloadUrl: null,
    });
  });
});

test("custom fields beyond 500 share a column", async () => {
  const shop = await createTestSite();
  const source = await exportSources.contacts(
    shop.orgId,
    pages.ContactFilter.parse({ siteId: shop.siteId }),
  );
  const fields = Array.from({ length: 502 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  const { columns, cells } = source.tableFor({ fields });
  expect(columns.at(-2)).toBe("customFields.f499");
  const customFields = { f000: 1, f500: "x", f501: true };
  expect(cells({ customFields, tags: [], lists: [] }).at(-1)).toBe('{"f500":"x","f501":true}');
  expect(cells({ customFields: {}, tags: [], lists: [] }).at(-1)).toBe(null);
});
