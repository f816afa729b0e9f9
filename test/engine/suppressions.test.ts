import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import * as exports from "../../shared/domain/suppression-exports.ts";
import * as imports from "../../shared/domain/suppression-imports.ts";
import * as pages from "../../shared/domain/suppression-pages.ts";
import type { Reason, Suppression } from "../../shared/domain/suppressions.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { metered } from "../../shared/doors/meter.ts";
import { write } from "../../shared/doors/table.ts";

const organization = () => randomInt(1e6, 1e12);
const entry = (email: string, reason: Reason = "manual") => ({ email, reason, source: "test" });
const addresses = (n: number, name = "a") => Array.from({ length: n }, (_, i) => `${name}${i}@example.com`);
const rows = (emails: unknown[]) => emails.map((email, i) => ({ row: i + 1, given: { email } }));
const everything = async (org: number) => (await pages.all(org, { limit: 100_000, maxBytes: 1e9 })).items;
const none = { bounce: 0, spam_report: 0, unsubscribe: 0, manual: 0, import: 0 };

/** What the counters should say. */
async function tally(org: number) {
  const found: Record<string, number> = { ...none };
  for (const { reason } of await everything(org)) found[reason]!++;
  return found;
}

/** All pages by cursor; `between` happens after each. */
async function walk(org: number, limit: number, reason?: Reason, between = async () => {}) {
  const seen: Suppression[] = [];
  let cursor: string | undefined;
  do {
    const { items, pagination } = await pages.list(org, { limit, cursor, reason });
    seen.push(...items);
    cursor = pagination.nextCursor ?? undefined;
    await between();
  } while (cursor);
  return seen;
}

test("an address that many suppress at once is suppressed and counted once", async () => {
  const org = organization();
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, i) => suppressions.suppress(org, entry(i % 2 ? "A@x.com" : "a@X.com"))),
  );
  expect(outcomes.filter(({ added }) => added)).toHaveLength(1);
  expect(await suppressions.counts(org)).toEqual({ ...none, manual: 1 });
  expect((await pages.list(org, { limit: 10 })).items.map(({ email }) => email)).toEqual(["a@x.com"]);
});

test("the counts are exact, however adding, raising, importing and removing race", async () => {
  const org = organization();
  const emails = addresses(6);
  const unlessTooBusy = (error: { kind?: string }) => expect(["missing", "conflict"]).toContain(error.kind);
  const acts = Array.from({ length: 60 }, (_, i) => {
    const email = emails[i % 6]!;
    const act = [
      () => suppressions.suppress(org, entry(email, "unsubscribe")),
      () => suppressions.suppress(org, entry(email, "bounce")),
      () => imports.add(org, rows(emails)),
      () => suppressions.remove(org, email),
    ][randomInt(4)]!;
    return act().then(() => {}, unlessTooBusy);
  });
  await Promise.all(acts);
  expect(await suppressions.counts(org)).toEqual(await tally(org));
});

test("an unsubscribe gives way to a reason that blocks all mail, keeps its place, and never the other way round", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("a@x.com", "unsubscribe"));
  const before = await suppressions.find(org, "a@x.com");
  const raised = await suppressions.suppress(org, { ...entry("a@x.com", "bounce"), detail: "550 no such user" });
  expect(raised).toMatchObject({ added: true, suppression: { reason: "bounce", createdAt: before!.createdAt } });
  for (const reason of ["unsubscribe", "manual", "spam_report"] as const) {
    const { added, suppression } = await suppressions.suppress(org, entry("a@x.com", reason));
    expect({ added, reason: suppression.reason, detail: suppression.detail }).toEqual({
      added: false,
      reason: "bounce",
      detail: "550 no such user",
    });
  }
  expect(await suppressions.counts(org)).toEqual({ ...none, bounce: 1 });
  const shown = await pages.list(org, { limit: 10, reason: "bounce" });
  expect(shown.items).toHaveLength(1);
  expect((await pages.list(org, { limit: 10, reason: "unsubscribe" })).items).toEqual([]);
});

test("the writes of a suppression are made with others, and fail when the address has changed since it was read", async () => {
  const org = organization();
  const step = { wanted: entry("a@x.com", "bounce"), current: undefined };
  await write(...suppressions.suppressing(org, [step, { wanted: entry("b@x.com", "spam_report"), current: undefined }]));
  expect(await suppressions.counts(org)).toEqual({ ...none, bounce: 1, spam_report: 1 });
  await expect(write(...suppressions.suppressing(org, [step]))).rejects.toMatchObject({ index: 0 });
  expect(suppressions.suppressing(org, [{ wanted: entry("a@x.com"), current: await suppressions.find(org, "a@x.com") }])).toEqual([]);
  expect(await suppressions.counts(org)).toEqual({ ...none, bounce: 1, spam_report: 1 });
});

test("someone who only unsubscribed gets transactional mail and no marketing; everyone else on the list gets neither", async () => {
  const org = organization();
  const all = addresses(250);
  await suppressions.suppress(org, entry(all[0]!, "unsubscribe"));
  for (const i of [101, 249]) await suppressions.suppress(org, entry(all[i]!.toUpperCase(), "bounce"));
  const asked = all.map((email, i) => (i % 2 ? ` ${email.toUpperCase()}` : email));
  expect(await suppressions.among(org, asked, "transactional")).toEqual(new Set([all[101], all[249]]));
  expect(await suppressions.among(org, asked, "marketing")).toEqual(new Set([all[0], all[101], all[249]]));
  expect(await suppressions.among(organization(), asked, "marketing")).toEqual(new Set());
});

test("an address that was taken off is written to again, and can be suppressed anew", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("a@x.com"));
  await suppressions.remove(org, "A@X.com");
  expect(await suppressions.among(org, ["a@x.com"], "marketing")).toEqual(new Set());
  await expect(suppressions.remove(org, "a@x.com")).rejects.toMatchObject({ kind: "missing" });
  expect((await suppressions.suppress(org, entry("a@x.com", "import"))).added).toBe(true);
  expect(await suppressions.counts(org)).toEqual({ ...none, import: 1 });
  expect(await walk(org, 5)).toHaveLength(1);
});

test("pages by cursor give every entry exactly once, newest first, while others are added and removed", async () => {
  const org = organization();
  await imports.add(org, rows(addresses(180)));
  for (const email of addresses(20, "late")) await suppressions.suppress(org, entry(email));
  const lasting = (await everything(org)).map(({ email }) => email).filter((email) => !email.startsWith("a17"));
  let turn = 0;
  const seen = await walk(org, 7, undefined, async () => {
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

test("a page has the exact total, and pages by number meet without gap", async () => {
  const org = organization();
  await imports.add(org, rows(addresses(45)));
  const read = (page: number) => pages.list(org, { page, limit: 20 });
  const three = await Promise.all([read(1), read(2), read(3), read(4)]);
  expect(three.map(({ items }) => items.length)).toEqual([20, 20, 5, 0]);
  expect(new Set(three.flatMap(({ items }) => items.map(({ email }) => email))).size).toBe(45);
  expect(three.map(({ pagination }) => pagination)).toMatchObject(Array(4).fill({ total: 45, totalPages: 3 }));
  expect(three.map(({ pagination: { nextCursor } }) => nextCursor !== null)).toEqual([true, true, false, false]);
  expect((await pages.list(org, { page: 100, limit: 100 })).items).toEqual([]);
  await expect(pages.list(org, { page: 101, limit: 100 })).rejects.toMatchObject({ kind: "invalid", details: [{ path: "page" }] });
  await expect(pages.list(org, { limit: 5, cursor: "%%%" })).rejects.toMatchObject({ details: [{ path: "cursor" }] });
});

test("a rare reason is found among many others, with its own total", async () => {
  const org = organization();
  const rare = addresses(3, "rare");
  await suppressions.suppress(org, entry(rare[0]!, "spam_report"));
  await imports.add(org, rows(addresses(600)));
  for (const email of rare.slice(1)) await suppressions.suppress(org, entry(email, "spam_report"));
  const { items, pagination } = await pages.list(org, { limit: 2, reason: "spam_report" });
  expect(items.map(({ email }) => email)).toEqual([rare[2], rare[1]]);
  expect(pagination).toMatchObject({ total: 3, totalPages: 2 });
  expect((await walk(org, 1, "spam_report")).map(({ email }) => email)).toEqual(rare.toReversed());
  expect((await pages.list(org, { limit: 2, reason: "bounce" })).pagination).toMatchObject({ total: 0, nextCursor: null });
});

test("a page reads little more than what it shows", async () => {
  const org = organization();
  await imports.add(org, rows(addresses(1000)));
  const { usage } = await metered(() => pages.list(org, { limit: 50 }));
  // 16 shelves at half a unit, 50 entries at half a unit, and the counters.
  expect(usage.readUnits).toBeLessThanOrEqual(16 * 0.5 + 50 * 0.5 + 2);
});

test("an import takes 10,000 rows and refuses one more, before it writes any", async () => {
  const org = organization();
  await expect(imports.add(org, rows(addresses(10_001)))).rejects.toMatchObject({ code: "limit_exceeded" });
  expect(await suppressions.counts(org)).toEqual(none);
  expect(await imports.add(org, rows(addresses(10_000)))).toEqual({ imported: 10_000, skipped: 0, failed: 0, errors: [] });
  expect(await suppressions.counts(org)).toEqual({ ...none, import: 10_000 });
  expect(await tally(org)).toEqual({ ...none, import: 10_000 });

  const whole = await exports.rows(org, {});
  expect([whole.rows.length, whole.next]).toEqual([10_000, undefined]);
  await suppressions.suppress(org, entry("one-more@example.com"));
  expect((await exports.rows(org, {})).next).toBeDefined();
  const first = await exports.rows(org, { limit: 6000 });
  const second = await exports.rows(org, { limit: 6000, cursor: first.next });
  expect([first.rows.length, second.rows.length, second.next]).toEqual([6000, 4001, undefined]);
  expect(new Set([...first.rows, ...second.rows].map(({ email }) => email)).size).toBe(10_001);
  await expect(exports.rows(org, { limit: 5, cursor: Buffer.from("elsewhere").toString("base64url") })).rejects.toMatchObject({
    details: [{ path: "cursor" }],
  });
}, 60_000);

test("an import counts what is new, what was there, what came twice and what is wrong, each row once", async () => {
  const org = organization();
  await suppressions.suppress(org, entry("there@x.com", "bounce"));
  await suppressions.suppress(org, entry("left@x.com", "unsubscribe"));
  const outcome = await imports.add(
    org,
    imports.fromJson(
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
  expect(await suppressions.counts(org)).toEqual({ ...none, bounce: 1, spam_report: 1, import: 1 });
  expect(await suppressions.find(org, "new@x.com")).toMatchObject({ detail: "from elsewhere", source: "import" });
});

test("the same import made twice at once adds everything once", async () => {
  const org = organization();
  const both = await Promise.all([imports.add(org, rows(addresses(300))), imports.add(org, rows(addresses(300)))]);
  expect(both[0]!.imported + both[1]!.imported).toBe(300);
  expect(await suppressions.counts(org)).toEqual({ ...none, import: 300 });
});

test("of the rows that fail the first hundred are told", async () => {
  const { failed, errors } = await imports.add(organization(), rows(addresses(150).map((email) => email.replace("@", " "))));
  expect([failed, errors.length, errors.at(-1)!.row]).toEqual([150, 100, 100]);
});

test.each([
  [
    "a header, in any order",
    "Name,E-Mail,Reason\nAda,a@x.com,Spam report\nBob,b@x.com,\n",
    [{ email: "a@x.com", reason: "spam_report" }, { email: "b@x.com" }],
  ],
  ["no header", "a@x.com,Ada\r\nb@x.com,Bob\r\n", [{ email: "a@x.com" }, { email: "b@x.com" }]],
  ["semicolons and a byte order mark", '\uFEFFemail;detail\na@x.com;"gone; for good"\n', [{ email: "a@x.com", detail: "gone; for good" }]],
  ["tabs", "recipient\ttype\na@x.com\tbounce\n", [{ email: "a@x.com", reason: "bounce" }]],
  ["empty lines", "\n\na@x.com\n\n\nb@x.com\n", [{ email: "a@x.com" }, { email: "b@x.com" }]],
  ["a detail of several lines", 'email,detail\na@x.com,"line\nline"\n', [{ email: "a@x.com", detail: "line line" }]],
  ["nothing", "", []],
])("a CSV with %s is read", (_, text, given) => {
  expect(imports.fromCsv(text).map((row) => row.given)).toEqual(given);
});

test("a row of a CSV is named by its line", () => {
  expect(imports.fromCsv("email\na@x.com\n\nb@x.com\n").map(({ row }) => row)).toEqual([2, 4]);
});

test("an exported list can be imported elsewhere, and no cell of it is a formula", async () => {
  const [from, to] = [organization(), organization()];
  const emails = ["+tag@x.com", "-dash@x.com", "plain@x.com"];
  for (const email of emails) await suppressions.suppress(from, { ...entry(email, "bounce"), detail: '=HYPERLINK("http://x"), "quoted"' });
  const text = exports.csv((await exports.rows(from, {})).rows);
  const [header, ...lines] = text.trim().split("\n");
  expect(header).toBe("email,reason,detail,source,createdAt,updatedAt");
  for (const cell of lines.flatMap((line) => line.split(","))) expect(cell).not.toMatch(/^"?[=+\-@]/);
  expect(await imports.add(to, imports.fromCsv(text))).toMatchObject({ imported: 3, failed: 0 });
  expect((await everything(to)).map(({ email, reason, detail }) => [email, reason, detail]).toSorted()).toEqual(
    emails.map((email) => [email, "bounce", '=HYPERLINK("http://x"), "quoted"']).toSorted(),
  );
});

test("an export ends before the answer becomes too large to be carried", async () => {
  const org = organization();
  await imports.add(org, rows(addresses(40)));
  const { items, next } = await pages.all(org, { limit: 100, maxBytes: 2000 });
  expect(items.length).toBeLessThan(40);
  expect(items.length + (await pages.all(org, { limit: 100, maxBytes: 1e9, cursor: next })).items.length).toBe(40);
});
