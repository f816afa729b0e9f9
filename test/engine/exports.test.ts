import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as pages from "../../shared/domain/contacts/pages.ts";
import * as formats from "../../shared/domain/exports/formats.ts";
import * as inline from "../../shared/domain/exports/inline.ts";
import { sources } from "../../shared/domain/exports/sources.ts";
import * as exports from "../../shared/domain/exports.ts";
import * as segments from "../../shared/domain/segments.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { get } from "../../shared/doors/table.ts";
import { keys } from "../../shared/keys.ts";
import { type Audience, audience, create, crowd } from "../support/audience.ts";
import { armed, atSomeSteps, killed } from "../support/killer.ts";

armed();

const wish = ({ siteId }: Audience, more: Partial<exports.Wish> = {}): exports.Wish => ({
  type: "contacts",
  format: "csv",
  filter: { siteId },
  ...more,
});
async function downloaded({ caller }: Audience, id: number): Promise<string> {
  const { downloadUrl } = await exports.find(caller, id);
  return (await fetch(downloadUrl!)).text();
}
const rowsOf = (text: string) => parse(text, { columns: true }) as Record<string, string>[];

describe("in one answer", () => {
  test("every field is there, custom fields have columns of their own, and no cell is a formula", async () => {
    const shop = await audience();
    const nasty = '=HYPERLINK("http://x"), "quoted"\nline';
    await create(shop, "+ann@x.com", {
      firstName: "-Ann",
      customFields: { plan: nasty, seats: -3, trial: true, none: null },
      tags: ["a", "b"],
    });
    await create(shop, "bob@x.com", { customFields: { other: "@home" } });
    const text = (await inline.text(shop.caller, wish(shop)))!;
    const rows = rowsOf(text);
    expect(Object.keys(rows[0]!).slice(-5)).toEqual(["none", "other", "plan", "seats", "trial"].map((name) => `customFields.${name}`));
    const ann = rows.find(({ email }) => email === "'+ann@x.com")!;
    expect(ann).toMatchObject({
      firstName: "'-Ann",
      "customFields.plan": `'${nasty}`,
      "customFields.seats": "-3",
      "customFields.trial": "true",
      "customFields.other": "",
    });
    expect(ann.tags!.split("; ").toSorted()).toEqual(["a", "b"]);
    const json = JSON.parse((await inline.text(shop.caller, wish(shop, { format: "json" })))!) as {
      data: { contacts: { email: string }[] };
    };
    expect(json.data.contacts.map(({ email }) => email).toSorted()).toEqual(["+ann@x.com", "bob@x.com"]);
  });

  test("10,000 contacts are, one more is not; a filter counts what it lets pass", async () => {
    const shop = await audience();
    await crowd(shop, 10_000, (i) => ({ company: i < 5 ? "few" : "many" }));
    expect(rowsOf((await inline.text(shop.caller, wish(shop)))!)).toHaveLength(10_000);
    await create(shop, "one-more@x.com");
    expect(await inline.text(shop.caller, wish(shop))).toBeUndefined();
    const filter = { siteId: shop.siteId, search: "one-more" };
    expect(rowsOf((await inline.text(shop.caller, wish(shop, { filter })))!)).toHaveLength(1);
  }, 60_000);

  test("nobody is a header, or an empty list", async () => {
    const shop = await audience();
    expect((await inline.text(shop.caller, wish(shop)))!.split("\n")).toHaveLength(2);
    expect(JSON.parse((await inline.text(shop.caller, wish(shop, { format: "json" })))!)).toEqual({ data: { contacts: [] } });
  });
});

test("what goes into a CSV comes out of it, but for the apostrophe before a formula", () => {
  const cell = fc.string({ unit: "grapheme" });
  const row = fc.array(cell, { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const shape: formats.Shape = { plural: "rows", columns: ["a", "b", "c"], cells: (given) => given.cells as string[] };
      const text = formats.whole(
        "csv",
        shape,
        rows.map((cells) => ({ cells })),
      );
      const read = parse(text, { columns: false, skip_empty_lines: false, relax_column_count: false }) as string[][];
      const guarded = (value: string) => (/^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/.test(value) ? `'${value}` : value);
      expect(read).toEqual([["a", "b", "c"], ...rows.map((cells) => cells.map(guarded))]);
    }),
  );
});

describe("as a file", () => {
  test("dead at any step, whoever takes it up ends it, and everybody is in it once", async () => {
    const shop = await audience();
    await crowd(shop, 20, (i) => ({ customFields: { [`f${i % 3}`]: i } }));
    const steps = await atSomeSteps(3, async (kill) => {
      const { id, status } = await exports.start(shop.caller, wish(shop));
      expect(status).toBe("queued");
      await kill(() => exports.run(shop.orgId, id));
      // The lease of whoever died runs out.
      clock.advance(400);
      await exports.run(shop.orgId, id);
      await exports.run(shop.orgId, id);
      expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed", progress: 100, rows: 20, error: null });
      const rows = rowsOf(await downloaded(shop, id));
      expect(new Set(rows.map(({ email }) => email)).size).toBe(20);
      expect(rows).toHaveLength(20);
      expect(Object.keys(rows[0]!).slice(-3)).toEqual(["customFields.f0", "customFields.f1", "customFields.f2"]);
    });
    expect(steps.length).toBeGreaterThan(20);
  }, 120_000);

  test("of many parts, taken up after a death in their midst, it is whole", async () => {
    const shop = await audience();
    const filler = "x".repeat(1900);
    await crowd(shop, 6000, () => ({ customFields: { a: filler, b: filler } }));
    const { id } = await exports.start(shop.caller, wish(shop, { format: "json" }));
    const stored = () => get<{ survey?: object; written?: { parts: string[] } }>(keys.record(shop.orgId, "EXPORT", id));
    // Far enough to have counted all, then not so far as to be done.
    for (let n = 10; !(await stored())?.survey; n += 4) {
      clock.advance(400);
      await killed(n, "before", () => exports.run(shop.orgId, id));
    }
    for (let n = 4; !(await stored())?.written?.parts.length; n += 2) {
      clock.advance(400);
      await killed(n, "after", () => exports.run(shop.orgId, id));
    }
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "running", rows: 6000, downloadUrl: null });
    clock.advance(400);
    await exports.run(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed" });
    const { data } = JSON.parse(await downloaded(shop, id)) as { data: { contacts: { id: number }[] } };
    expect(new Set(data.contacts.map((one) => one.id)).size).toBe(6000);
    expect(data.contacts).toHaveLength(6000);
  }, 120_000);

  test("two workers at once write one file", async () => {
    const shop = await audience();
    await crowd(shop, 50);
    const { id } = await exports.start(shop.caller, wish(shop));
    await Promise.all([exports.run(shop.orgId, id), exports.run(shop.orgId, id), exports.run(shop.orgId, id)]);
    expect(rowsOf(await downloaded(shop, id))).toHaveLength(50);
  });

  test("what it is filtered by is gone: it fails and says so", async () => {
    const shop = await audience();
    const rules = { match: "all" as const, conditions: [{ field: "company", operator: "equals" as const, value: "x" }] };
    const segment = await segments.create(shop.caller, segments.NewSegment.parse({ siteId: shop.siteId, name: "S", rules }));
    const { id } = await exports.start(shop.caller, wish(shop, { filter: { siteId: shop.siteId, segmentId: segment.id } }));
    await segments.remove(shop.caller, segment.id);
    await exports.run(shop.orgId, id);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "failed", error: "There is no such segment", downloadUrl: null });
  });

  test("the suppression list by reason is one too", async () => {
    const shop = await audience();
    for (const [i, reason] of (["bounce", "manual", "bounce"] as const).entries())
      await suppressions.suppress(shop.orgId, { ...suppressions.NewSuppression.parse({ email: `p${i}@x.com`, reason }), source: "test" });
    const { id } = await exports.start(shop.caller, { type: "suppressions", format: "csv", filter: { reason: "bounce" } });
    await exports.run(shop.orgId, id);
    expect(
      rowsOf(await downloaded(shop, id))
        .map(({ email }) => email)
        .toSorted(),
    ).toEqual(["p0@x.com", "p2@x.com"]);
  });

  test("of another organization or site nobody sees it, and after seven days there is nothing to download", async () => {
    const [shop, other] = [await audience(), await audience()];
    const { id } = await exports.start(shop.caller, wish(shop));
    await exports.run(shop.orgId, id);
    await expect(exports.find(other.caller, id)).rejects.toMatchObject({ kind: "missing" });
    await expect(exports.find({ ...shop.caller, siteId: shop.siteId + 1 }, id)).rejects.toMatchObject({ code: "site_forbidden" });
    clock.advance(7 * 24 * 3600 + 60);
    expect(await exports.find(shop.caller, id)).toMatchObject({ status: "completed", downloadUrl: null });
  });
});

test("custom fields past the five hundredth share a column", async () => {
  const shop = await audience();
  const source = await sources.contacts(shop.orgId, pages.Filter.parse({ siteId: shop.siteId }));
  const fields = Array.from({ length: 502 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  const { columns, cells } = source.shape(fields);
  expect(columns.at(-2)).toBe("customFields.f499");
  const customFields = { f000: 1, f500: "x", f501: true };
  expect(cells({ customFields, tags: [], lists: [] }).at(-1)).toBe('{"f500":"x","f501":true}');
  expect(cells({ customFields: {}, tags: [], lists: [] }).at(-1)).toBe(null);
});
