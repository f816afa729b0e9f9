import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import * as exports from "../../shared/domain/audience/suppressions/suppression-exports.ts";
import * as imports from "../../shared/domain/audience/suppressions/suppression-imports.ts";
import {
  createMarketingLookup,
  filterSuppressed,
} from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import * as pages from "../../shared/domain/audience/suppressions/suppression-pages.ts";
import type {
  Suppression,
  SuppressionReason,
} from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { emailShardOf } from "../../shared/keys.ts";
import { createContact, createTestSite } from "../support/contacts.ts";
import { randomOfTest } from "../support/seeded-random.ts";

const organization = () => randomInt(1e6, 1e12);
const entry = (email: string, reason: SuppressionReason = "manual") => ({
  email,
  reason,
  source: "test",
});
const addresses = (n: number, name = "a") =>
  Array.from({ length: n }, (_, i) => `${name}${i}@example.com`);
const rows = (emails: unknown[]) => emails.map((email, i) => ({ row: i + 1, given: { email } }));
const everything = async (org: number) =>
  (await pages.readAll(org, { limit: 100_000, maxBytes: 1e9 })).items;
const none = { bounce: 0, spam_report: 0, unsubscribe: 0, manual: 0, import: 0 };

/** The expected counters. */
async function tally(org: number) {
  const found: Record<string, number> = { ...none };
  for (const { reason } of await everything(org)) found[reason]!++;
  return found;
}

/** All pages by cursor; `between` happens after each. */
async function readAllPages(
  org: number,
  limit: number,
  reason?: SuppressionReason,
  between = async () => {},
) {
  const seen: Suppression[] = [];
  let cursor: string | undefined;
  do {
    const { items, pagination } = await pages.list({ orgId: org }, { limit, cursor, reason });
    seen.push(...items);
    cursor = pagination.nextCursor ?? undefined;
    await between();
  } while (cursor);
  return seen;
}

test("an address that is suppressed concurrently is stored and counted once", async () => {
  const org = organization();
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      suppressions.suppress(org, entry(i % 2 ? "A@x.com" : "a@X.com")),
    ),
  );
  expect(outcomes.filter(({ added }) => added)).toHaveLength(1);
  expect(await suppressions.getCounts(org)).toEqual({ ...none, manual: 1 });
  expect((await pages.list({ orgId: org }, { limit: 10 })).items.map(({ email }) => email)).toEqual(
    ["a@x.com"],
  );
});

test("counts are exact after concurrent additions, changes of the reason, imports and removals", async () => {
  const org = organization();
  const emails = addresses(6);
  const unlessTooBusy = (error: { kind?: string }) =>
    expect(["missing", "conflict"]).toContain(error.kind);
  const random = randomOfTest("suppressions at once");
  const acts = Array.from({ length: 60 }, (_, i) => {
    const email = emails[i % 6]!;
    const act = [
      () => suppressions.suppress(org, entry(email, "unsubscribe")),
      () => suppressions.suppress(org, entry(email, "bounce")),
      () => imports.importRows(org, rows(emails)),
      () => suppressions.remove(org, email),
    ][Math.floor(random() * 4)]!;
    return act().then(() => {}, unlessTooBusy);
  });
  await Promise.all(acts);
  expect(await suppressions.getCounts(org)).toEqual(await tally(org));
});

test("a reason that blocks all mail replaces unsubscribe and keeps its position, never the reverse", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("a@x.com", "unsubscribe"));
  const before = await suppressions.find(org, "a@x.com");
  const raised = await suppressions.suppress(org, {
    ...entry("a@x.com", "bounce"),
    detail: "550 no such user",
  });
  expect(raised).toMatchObject({
    added: true,
    suppression: { reason: "bounce", createdAt: before!.createdAt },
  });
  for (const reason of ["unsubscribe", "manual", "spam_report"] as const) {
    const { added, suppression } = await suppressions.suppress(org, entry("a@x.com", reason));
    expect({ added, reason: suppression.reason, detail: suppression.detail }).toEqual({
      added: false,
      reason: "bounce",
      detail: "550 no such user",
    });
  }
  expect(await suppressions.getCounts(org)).toEqual({ ...none, bounce: 1 });
  const shown = await pages.list({ orgId: org }, { limit: 10, reason: "bounce" });
  expect(shown.items).toHaveLength(1);
  expect((await pages.list({ orgId: org }, { limit: 10, reason: "unsubscribe" })).items).toEqual(
    [],
  );
});

test("several suppressions are one transaction, which fails if an address has changed", async () => {
  const org = organization();
  const step = { wanted: entry("a@x.com", "bounce"), current: undefined };
  await suppressions.commitSuppressions(org, [
    step,
    { wanted: entry("b@x.com", "spam_report"), current: undefined },
  ]);
  expect(await suppressions.getCounts(org)).toEqual({ ...none, bounce: 1, spam_report: 1 });
  await expect(suppressions.commitSuppressions(org, [step])).rejects.toMatchObject({ index: 0 });
  await suppressions.commitSuppressions(org, [
    { wanted: entry("a@x.com"), current: await suppressions.find(org, "a@x.com") },
  ]);
  expect(await suppressions.getCounts(org)).toEqual({ ...none, bounce: 1, spam_report: 1 });
});

test("unsubscribe blocks marketing mail only; every other reason blocks all mail", async () => {
  const org = organization();
  const all = addresses(250);
  await suppressions.suppress(org, entry(all[0]!, "unsubscribe"));
  for (const i of [101, 249])
    await suppressions.suppress(org, entry(all[i]!.toUpperCase(), "bounce"));
  const emails = all.map((email, i) => (i % 2 ? ` ${email.toUpperCase()}` : email));
  expect(await filterSuppressed(org, emails, { purpose: "transactional" })).toEqual(
    new Set([all[101], all[249]]),
  );
  expect(await filterSuppressed(org, emails, { purpose: "marketing" })).toEqual(
    new Set([all[0], all[101], all[249]]),
  );
  expect(await filterSuppressed(organization(), emails, { purpose: "marketing" })).toEqual(
    new Set(),
  );
});

test("a removed address gets mail again and can be suppressed again", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("a@x.com"));
  await suppressions.remove(org, "A@X.com");
  expect(await filterSuppressed(org, ["a@x.com"], { purpose: "marketing" })).toEqual(new Set());
  await expect(suppressions.remove(org, "a@x.com")).rejects.toMatchObject({ kind: "missing" });
  expect((await suppressions.suppress(org, entry("a@x.com", "import"))).added).toBe(true);
  expect(await suppressions.getCounts(org)).toEqual({ ...none, import: 1 });
  expect(await readAllPages(org, 5)).toHaveLength(1);
});

test("pages by cursor give every entry once, newest first, while others come and go", async () => {
  const org = organization();
  await imports.importRows(org, rows(addresses(180)));
  for (const email of addresses(20, "late")) await suppressions.suppress(org, entry(email));
  const lasting = (await everything(org))
    .map(({ email }) => email)
    .filter((email) => !email.startsWith("a17"));
  let turn = 0;
  const seen = await readAllPages(org, 7, undefined, async () => {
    await suppressions.suppress(org, entry(`new${turn}@example.com`));
    if (turn < 10) await suppressions.remove(org, `a17${turn}@example.com`);
    turn++;
  });
  const emails = seen.map(({ email }) => email);
  expect(new Set(emails).size).toBe(emails.length);
  expect(lasting.filter((email) => !emails.includes(email))).toEqual([]);
  expect(seen.map(({ createdAt }) => createdAt)).toEqual(
    seen
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .toReversed(),
  );
});

test("a page has the exact total, and pages by number have no gaps", async () => {
  const org = organization();
  await imports.importRows(org, rows(addresses(45)));
  const read = (page: number) => pages.list({ orgId: org }, { page, limit: 20 });
  const three = await Promise.all([read(1), read(2), read(3), read(4)]);
  expect(three.map(({ items }) => items.length)).toEqual([20, 20, 5, 0]);
  expect(new Set(three.flatMap(({ items }) => items.map(({ email }) => email))).size).toBe(45);
  expect(three.map(({ pagination }) => pagination)).toMatchObject(
    Array(4).fill({ total: 45, totalPages: 3 }),
  );
  expect(three.map(({ pagination: { nextCursor } }) => nextCursor !== null)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect((await pages.list({ orgId: org }, { page: 100, limit: 100 })).items).toEqual([]);
  await expect(pages.list({ orgId: org }, { page: 101, limit: 100 })).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "page" }],
  });
  await expect(pages.list({ orgId: org }, { limit: 5, cursor: "%%%" })).rejects.toMatchObject({
    details: [{ path: "cursor" }],
  });
});

test("a rare reason is found among many others, with its own total", async () => {
  const org = organization();
  const rare = addresses(3, "rare");
  await suppressions.suppress(org, entry(rare[0]!, "spam_report"));
  await imports.importRows(org, rows(addresses(600)));
  for (const email of rare.slice(1)) await suppressions.suppress(org, entry(email, "spam_report"));
  const { items, pagination } = await pages.list(
    { orgId: org },
    { limit: 2, reason: "spam_report" },
  );
  expect(items.map(({ email }) => email)).toEqual([rare[2], rare[1]]);
  expect(pagination).toMatchObject({ total: 3, totalPages: 2 });
  expect((await readAllPages(org, 1, "spam_report")).map(({ email }) => email)).toEqual(
    rare.toReversed(),
  );
  expect(
    (await pages.list({ orgId: org }, { limit: 2, reason: "bounce" })).pagination,
  ).toMatchObject({
    total: 0,
    nextCursor: null,
  });
});

test("a page reads little more than it returns", async () => {
  const org = organization();
  await imports.importRows(org, rows(addresses(1000)));
  const { usage } = await measureUnits(() => pages.list({ orgId: org }, { limit: 50 }));
  // 16 empty shards at half a unit, 50 entries at half a unit, and the counters.
  expect(usage.readUnits).toBeLessThanOrEqual(16 * 0.5 + 50 * 0.5 + 2);
});

test("an import accepts 10,000 rows and rejects 10,001 before it writes any", async () => {
  const org = organization();
  await expect(imports.importRows(org, rows(addresses(10_001)))).rejects.toMatchObject({
    code: "limit_exceeded",
  });
  expect(await suppressions.getCounts(org)).toEqual(none);
  expect(await imports.importRows(org, rows(addresses(10_000)))).toEqual({
    imported: 10_000,
    skipped: 0,
    failed: 0,
    errors: [],
  });
  expect(await suppressions.getCounts(org)).toEqual({ ...none, import: 10_000 });
  expect(await tally(org)).toEqual({ ...none, import: 10_000 });

  const allRows = await exports.readRows(org, {});
  expect([allRows.rows.length, allRows.next]).toEqual([10_000, undefined]);
  await suppressions.suppress(org, entry("one-more@example.com"));
  expect((await exports.readRows(org, {})).next).toBeDefined();
  const first = await exports.readRows(org, { limit: 6000 });
  const second = await exports.readRows(org, { limit: 6000, cursor: first.next });
  expect([first.rows.length, second.rows.length, second.next]).toEqual([6000, 4001, undefined]);
  expect(new Set([...first.rows, ...second.rows].map(({ email }) => email)).size).toBe(10_001);
  await expect(
    exports.readRows(org, { limit: 5, cursor: Buffer.from("elsewhere").toString("base64url") }),
  ).rejects.toMatchObject({
    details: [{ path: "cursor" }],
  });
});

test("an import counts each row once: added, existing, duplicate or invalid", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("there@x.com", "bounce"));
  await suppressions.suppress(org, entry("left@x.com", "unsubscribe"));
  const outcome = await imports.importRows(
    org,
    imports.rowsFromJson(
      JSON.stringify({
        suppressions: [
          { email: "new@x.com", reason: "spam_report", detail: "from elsewhere" },
          { email: "THERE@x.com" },
          { email: "New@x.com" },
          { email: "left@x.com" },
          { email: "nobody" },
          { email: "b@x.com", reason: "dislike" },
          { email: "c@x.com\nBcc: d@x.com" },
          { email: "e@x.com", detail: "x".repeat(301) },
          "f@x.com",
          null,
        ],
      }),
    ),
  );
  expect(outcome).toMatchObject({ imported: 2, skipped: 2, failed: 6 });
  expect(outcome.errors.map(({ row }) => row)).toEqual([5, 6, 7, 8, 9, 10]);
  expect(outcome.errors[0]!.message).toBe("email must be one valid email address");
  expect(await suppressions.getCounts(org)).toEqual({
    ...none,
    bounce: 1,
    spam_report: 1,
    import: 1,
  });
  expect(await suppressions.find(org, "new@x.com")).toMatchObject({
    detail: "from elsewhere",
    source: "import",
  });
});

test("two concurrent imports of the same rows add each row once", async () => {
  const org = organization();
  const both = await Promise.all([
    imports.importRows(org, rows(addresses(300))),
    imports.importRows(org, rows(addresses(300))),
  ]);
  expect(both[0]!.imported + both[1]!.imported).toBe(300);
  expect(await suppressions.getCounts(org)).toEqual({ ...none, import: 300 });
});

test("an import returns the first 100 errors", async () => {
  const { failed, errors } = await imports.importRows(
    organization(),
    rows(addresses(150).map((email) => email.replace("@", " "))),
  );
  expect([failed, errors.length, errors.at(-1)!.row]).toEqual([150, 100, 100]);
});

const fromCsv = (text: string) => imports.rowsFromCsv(Buffer.from(text));

test.each([
  ["commas", ","],
  ["tabs", "\t"],
  ["letters", "a"],
  ["quotes", '"'],
  ["commas after a header", "email\n", ","],
])("10 MB of %s are refused without blocking the event loop", async (_, first, more = first) => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const reading = fromCsv(first + more.repeat(10_000_000));
  await expect(reading).rejects.toMatchObject({ kind: "invalid", code: "invalid_csv" });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(3);
});

test("an import stops reading a file at the limit of rows", async () => {
  const lines = "\n".repeat(1000) + "a@x.com,,\n".repeat(300_000);
  const found = await fromCsv(lines);
  expect(found.length).toBe(10_002);
  await expect(imports.importRows(organization(), found)).rejects.toMatchObject({
    code: "limit_exceeded",
  });
});

test.each([
  [
    "a header, in any order",
    "Name,E-Mail,Reason\nAda,a@x.com,Spam report\nBob,b@x.com,\n",
    [{ email: "a@x.com", reason: "spam_report" }, { email: "b@x.com" }],
  ],
  ["no header", "a@x.com,Ada\r\nb@x.com,Bob\r\n", [{ email: "a@x.com" }, { email: "b@x.com" }]],
  [
    "semicolons and a byte order mark",
    '\uFEFFemail;detail\na@x.com;"gone; for good"\n',
    [{ email: "a@x.com", detail: "gone; for good" }],
  ],
  ["tabs", "recipient\ttype\na@x.com\tbounce\n", [{ email: "a@x.com", reason: "bounce" }]],
  ["empty lines", "\n\na@x.com\n\n\nb@x.com\n", [{ email: "a@x.com" }, { email: "b@x.com" }]],
  [
    "a detail of several lines",
    'email,detail\na@x.com,"line\nline"\n',
    [{ email: "a@x.com", detail: "line line" }],
  ],
  ["nothing", "", []],
])("a CSV with %s is read", async (_, text, given) => {
  expect((await fromCsv(text)).map((row) => row.given)).toEqual(given);
});

test("an error of a CSV import names the line", async () => {
  expect((await fromCsv("email\na@x.com\n\nb@x.com\n")).map(({ row }) => row)).toEqual([2, 4]);
});

test("an export can be imported again, and no cell of it is a formula", async () => {
  const [from, to] = [organization(), organization()];
  const emails = ["+tag@x.com", "-dash@x.com", "plain@x.com"];
  for (const email of emails)
    await suppressions.suppress(from, {
      ...entry(email, "bounce"),
      detail: '=HYPERLINK("http://x"), "quoted"',
    });
  const text = exports.toCsv((await exports.readRows(from, {})).rows, false);
  const [header, ...lines] = text.trim().split("\n");
  expect(header).toBe("email,reason,bounceType,liftsAt,detail,source,createdAt,updatedAt");
  for (const cell of lines.flatMap((line) => line.split(",")))
    expect(cell).not.toMatch(/^"?[=+\-@]/);
  expect(await imports.importRows(to, await fromCsv(text))).toMatchObject({
    imported: 3,
    failed: 0,
  });
  expect(
    (await everything(to)).map(({ email, reason, detail }) => [email, reason, detail]).toSorted(),
  ).toEqual(
    emails.map((email) => [email, "bounce", '=HYPERLINK("http://x"), "quoted"']).toSorted(),
  );
});

test("an import skips the soft bounces of an export, which would never end", async () => {
  const org = organization();
  const text = "email,reason,bounceType\nsoft@x.com,bounce,soft\nhard@x.com,bounce,hard\n";
  expect(await imports.importRows(org, await fromCsv(text))).toMatchObject({
    imported: 1,
    skipped: 1,
    failed: 0,
  });
  expect((await everything(org)).map(({ email }) => email)).toEqual(["hard@x.com"]);
});

test("a lookup by address and a lookup in the list of the shard find the same suppressions", async () => {
  const org = organization();
  const emails = addresses(60).filter((email) => emailShardOf(email) === "7");
  expect(emails.length).toBeGreaterThan(1);
  const lookup = createMarketingLookup(org, "7");
  expect(await lookup(emails)).toEqual(new Set());
  await suppressions.suppress(org, entry(emails[0]!, "unsubscribe"));
  for (const some of [createMarketingLookup(org, "7"), createMarketingLookup(org, undefined)])
    expect(await some([emails[0]!.toUpperCase(), emails[1]!])).toEqual(new Set([emails[0]]));
  await imports.importRows(org, rows(addresses(400, "b")));
  expect(await createMarketingLookup(org, "7")(emails.slice(0, 2))).toEqual(new Set([emails[0]]));
});

test("an export returns a cursor before the response becomes too large", async () => {
  const org = organization();
  await imports.importRows(org, rows(addresses(40)));
  const { items, next } = await pages.readAll(org, { limit: 100, maxBytes: 2000 });
  expect(items.length).toBeLessThan(40);
  expect(
    items.length +
      (await pages.readAll(org, { limit: 100, maxBytes: 1e9, cursor: next })).items.length,
  ).toBe(40);
});

test("a caller who is limited to sites lists the addresses of their contacts only", async () => {
  const shop = await createTestSite();
  const { orgId, siteId } = shop;
  const other = await sites.create(shop.caller as never, sites.NewSite.parse({ name: "Other" }));
  const all = Array.from({ length: 60 }, (_, i) => `person${i}@example.com`);
  for (const [i, email] of all.entries()) {
    if (i % 3 === 0) await createContact(shop, email);
    if (i % 3 === 1) await createContact({ ...shop, siteId: other.id }, email);
    await suppressions.suppress(orgId, {
      ...{ email, reason: i % 2 ? "bounce" : "manual", detail: null, source: "test" },
    });
  }
  const own = all.filter((_, i) => i % 3 === 0).toSorted();
  const limited = { orgId, siteIds: [siteId] };
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const { items, pagination } = await pages.list(limited, { limit: 7, cursor });
    expect(pagination).toMatchObject({ total: null, totalPages: null });
    found.push(...items.map(({ email }) => email));
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor);
  expect(found.toSorted()).toEqual(own);
  const second = await pages.list(limited, { limit: 7, page: 2 });
  expect(second.items.map(({ email }) => email)).toEqual(found.slice(7, 14));
  const bounced = await pages.list(limited, { limit: 100, reason: "bounce" });
  expect(bounced.items.map(({ email }) => email).toSorted()).toEqual(
    all.filter((_, i) => i % 3 === 0 && i % 2).toSorted(),
  );
  const both = await pages.list({ orgId, siteIds: [siteId, other.id] }, { limit: 100 });
  expect(both.items).toHaveLength(40);
  expect((await pages.list({ orgId }, { limit: 100 })).items).toHaveLength(60);
});
