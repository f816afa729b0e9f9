// Imports of contact files: our own export, Mailchimp's and listmonk's.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as fields from "../../shared/domain/audience/contacts/contact-fields.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { type Import, NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as runs from "../../shared/domain/audience/imports/run-import.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import type { TopicState } from "../../shared/domain/audience/topics/topic-choice-schemas.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import {
  createContact,
  createTestSite,
  readAllContacts,
  readContactCount,
  type TestSite,
} from "../support/contacts.ts";
import { exportInline } from "../support/inline-export.ts";

async function imported(
  shop: TestSite,
  file: string,
  options: Partial<NewImport> = {},
): Promise<Import> {
  const given = NewImport.parse({ siteId: shop.siteId, ...options });
  const { id } = await imports.start(shop.caller, given, { bytes: Buffer.from(file) });
  await runs.runImport(shop.orgId, id);
  return imports.find(shop.caller, id);
}
const exported = async (shop: TestSite, bom?: boolean): Promise<string> =>
  (await exportInline(shop.caller, {
    type: "contacts",
    format: "csv",
    filter: { siteId: shop.siteId },
    bom,
  }))!;
async function contactsOf(shop: TestSite) {
  const all = await contacts.toApiAll(shop.orgId, (await readAllContacts(shop)) as never);
  return new Map(
    all.map((one) => [one.email, { ...one, tags: one.tags.map(({ name }) => name).toSorted() }]),
  );
}
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/imports", `${name}.csv`), "utf8");
const suppress = (shop: TestSite, email: string) =>
  suppressions.suppress(shop.orgId, {
    ...suppressions.NewSuppression.parse({ email, reason: "spam_report" }),
    source: "test",
  });

const createTopic = async (
  { caller, siteId }: TestSite,
  name: string,
  defaultSubscription: NewTopic["defaultSubscription"],
): Promise<number> =>
  (await topics.create(caller, NewTopic.parse({ siteId, name, defaultSubscription }))).id;

/** The choices of each contact, by the names of topics. */
async function topicsOf(shop: TestSite) {
  const stateOf = ({ subscribed, left }: TopicState) => {
    if (subscribed) return "joined";
    return left ? "left" : "none";
  };
  return Object.fromEntries(
    [...(await contactsOf(shop))].map(([email, one]) => [
      email,
      Object.fromEntries(one.topics.map((topic) => [topic.name, stateOf(topic)])),
    ]),
  );
}

describe("columns of topics", () => {
  const importTo = (shop: TestSite, cell: string, options: Partial<NewImport> = {}) =>
    imported(shop, `email,topics.news,Deals\nann@x.com,${cell},${cell}`, {
      mapping: { Deals: "topics.Offers" },
      ...options,
    });

  async function createShop(): Promise<TestSite> {
    const shop = await createTestSite();
    await createTopic(shop, "News", "subscribed");
    await createTopic(shop, "Offers", "unsubscribed");
    return shop;
  }
  const annIn = async (shop: TestSite) => (await topicsOf(shop))["ann@x.com"];

  test("join and leave topics, and the log names the import", async () => {
    const shop = await createShop();
    for (const cell of ["yes", "no", ""]) {
      const result = await importTo(shop, cell);
      expect(result).toMatchObject({ status: "completed", failed: 0 });
    }
    expect(await annIn(shop)).toEqual({ News: "left", Offers: "left" });
    const { id } = (await contactsOf(shop)).get("ann@x.com")!;
    const { log } = await contactTopics.find(shop.caller, id, { limit: 10 });
    expect(log.map(({ source }) => source)).toEqual(["import", "import"]);
  });

  test("join no topic again that the contact left, without resubscribe", async () => {
    const shop = await createShop();
    await importTo(shop, "left");
    await importTo(shop, "subscribed");
    expect(await annIn(shop)).toEqual({ News: "left", Offers: "left" });
    await importTo(shop, "Subscribed", { resubscribe: true });
    expect(await annIn(shop)).toEqual({ News: "joined", Offers: "joined" });
  });

  test("with another word fail the row, and without such a topic the import", async () => {
    const shop = await createShop();
    expect(await importTo(shop, "perhaps")).toMatchObject({
      status: "completed",
      failed: 1,
      errors: [{ message: "topics.Offers: must be subscribed, left, yes or no" }],
    });
    const mapping = { Deals: "topics.Travel" } as const;
    expect(await importTo(shop, "yes", { mapping })).toMatchObject({
      status: "failed",
      error: 'The site has no topic "Travel": create it, or set its column to ignore in mapping',
    });
    const twice = { Deals: "topics.NEWS" } as const;
    expect(await importTo(shop, "yes", { mapping: twice })).toMatchObject({
      status: "failed",
      error: 'Two columns map to the topic "News"',
    });
    expect((await contactsOf(shop)).size).toBe(0);
  });
});

describe("an export of Pennymail", () => {
  const customFields = {
    plan: "5",
    zip: "01234",
    seats: 5,
    ratio: -0.5,
    paid: true,
    word: "true",
    formula: "=1+1",
    negative: "-5",
    quoted: "'-5",
    padded: " a ",
    cell: "a;=1\tb\n+c",
  };
  const kept = ({
    id: _,
    siteId: __,
    createdAt: ___,
    updatedAt: ____,
    lists: _____,
    ...rest
  }: Record<string, unknown>) => rest;

  test("imports unchanged into an empty site of another organization, and into its own site again", async () => {
    const [from, to] = [await createTestSite(), await createTestSite()];
    const tags = ["plain", "with, comma", 'with "quotes"; and more', "'=tag"];
    await createContact(from, "ann@x.com", {
      firstName: "-Ann",
      phone: "+49 30",
      company: "5",
      customFields,
      tags,
    });
    await createContact(from, "+mixed@x.com", {
      customFields: { plan: 5, seats: "x", zip: "80331" },
    });
    await createContact(from, "left@x.com", { status: "unsubscribed" });
    await createContact(from, "waits@x.com", { status: "pending" });
    await createContact(from, "gone@x.com");
    await suppress(from, "gone@x.com");
    const before = await contactsOf(from);
    const file = await exported(from);
    for (const shop of [to, from]) {
      const result = await imported(shop, file);
      expect(result).toMatchObject({ status: "completed", failed: 0, error: null });
      const after = await contactsOf(shop);
      expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted());
      for (const [email, contact] of before) {
        const source = shop === from ? {} : { source: "import" };
        expect(kept(after.get(email)!)).toEqual({ ...kept(contact), ...source });
      }
    }
    expect(await suppressions.find(to.orgId, "gone@x.com")).toMatchObject({ reason: "import" });
    expect(await suppressions.find(from.orgId, "gone@x.com")).toMatchObject({
      reason: "spam_report",
    });
  });

  test("has a column per topic, and an import gives every contact the same choices", async () => {
    const [from, to] = [await createTestSite(), await createTestSite()];
    const ids = new Map<TestSite, { news: number; offers: number }>();
    for (const shop of [from, to]) {
      const news = await createTopic(shop, "News, weekly", "subscribed");
      const offers = await createTopic(shop, "Offers", "unsubscribed");
      ids.set(shop, { news, offers });
    }
    const { news, offers } = ids.get(from)!;
    const choose = (email: string, ...choices: [id: number, subscribed: boolean][]) =>
      createContact(from, email, {
        topics: choices.map(([id, subscribed]) => ({ id, subscribed })),
      });
    await choose("leaver@x.com", [news, false], [offers, false]);
    await choose("joiner@x.com", [offers, true]);
    await choose("silent@x.com");
    const file = await exported(from);
    expect(file.split("\n")[0]).toContain('"topics.News, weekly",topics.Offers');
    expect(await imported(to, file)).toMatchObject({ status: "completed", created: 3, failed: 0 });
    const [before, after] = [await topicsOf(from), await topicsOf(to)];
    expect(before["leaver@x.com"]).toEqual({ "News, weekly": "left", Offers: "left" });
    expect(before["joiner@x.com"]).toEqual({ "News, weekly": "joined", Offers: "joined" });
    expect(before["silent@x.com"]).toEqual({ "News, weekly": "joined", Offers: "none" });
    expect(after).toEqual(before);
  });

  test("begins with a byte order mark on request, and can be imported with it", async () => {
    const [from, to] = [await createTestSite(), await createTestSite()];
    await createContact(from, "zoe@x.com", { firstName: "Zoë" });
    expect((await exported(from)).startsWith("id,email")).toBe(true);
    const file = await exported(from, true);
    expect(file.startsWith("\uFEFFid,email")).toBe(true);
    expect(await imported(to, file)).toMatchObject({ created: 1, failed: 0 });
    expect((await contactsOf(to)).get("zoe@x.com")!.firstName).toBe("Zoë");
  });

  test("can have more than 100 custom fields; a row with more than 100 fails", async () => {
    const shop = await createTestSite();
    const fields = Array.from({ length: 150 }, (_, i) => `customFields.f${i}`);
    const row = (email: string, n: number) =>
      [email, ...fields.map((_, i) => (i < n ? i : ""))].join(",");
    const file = [`email,${fields.join(",")}`, row("few@x.com", 100), row("many@x.com", 101)].join(
      "\n",
    );
    expect(await imported(shop, file)).toMatchObject({
      created: 1,
      failed: 1,
      errors: [{ email: "many@x.com", message: "customFields: must have at most 100 fields" }],
    });
  });
});

describe("an export of Mailchimp", () => {
  test("of subscribed members keeps tags with commas, and zip codes as text", async () => {
    const shop = await createTestSite();
    expect(await imported(shop, fixture("mailchimp-subscribed"))).toMatchObject({
      created: 2,
      failed: 0,
    });
    const all = await contactsOf(shop);
    expect(all.get("ada@example.com")).toMatchObject({
      firstName: "Ada",
      lastName: "Lovelace",
      status: "subscribed",
      timezone: "Europe/London",
      tags: ["Paris, France", "VIP"],
      customFields: { ZIP: "01234", MEMBER_RATING: 4 },
    });
    expect(all.get("grace@example.com")).toMatchObject({
      tags: [],
      customFields: { ZIP: "80331", NOTES: "Met at a talk" },
    });
  });

  test("of unsubscribed and cleaned members creates no contacts that get mail", async () => {
    const shop = await createTestSite();
    expect(await imported(shop, fixture("mailchimp-unsubscribed"))).toMatchObject({
      created: 1,
      failed: 0,
    });
    expect(await imported(shop, fixture("mailchimp-cleaned"))).toMatchObject({
      created: 1,
      failed: 0,
    });
    const all = await contactsOf(shop);
    expect(all.get("left@example.com")).toMatchObject({ status: "unsubscribed", tags: ["Old"] });
    expect(all.get("bounced@example.com")).toMatchObject({ status: "suppressed" });
  });

  test.for([
    ["Subscribed", "subscribed"],
    ["Unsubscribed", "unsubscribed"],
    ["Non-Subscribed", "unsubscribed"],
    ["Transactional", "unsubscribed"],
    ["Archived", "unsubscribed"],
    ["Pending", "pending"],
    ["Cleaned", "suppressed"],
  ])("status %s is %s", async ([given, expected]) => {
    const shop = await createTestSite();
    await imported(shop, `Email Address,Email Marketing Status\np@x.com,${given}\n`);
    expect((await contactsOf(shop)).get("p@x.com")).toMatchObject({ status: expected });
  });

  test("an API key of one site suppresses no address: the contact is unsubscribed", async () => {
    const shop = await createTestSite();
    const bound = { ...shop, caller: { ...shop.caller, siteIds: [shop.siteId] } };
    await imported(bound, fixture("mailchimp-cleaned"));
    expect((await contactsOf(shop)).get("bounced@example.com")).toMatchObject({
      status: "unsubscribed",
    });
    expect(await suppressions.find(shop.orgId, "bounced@example.com")).toBeUndefined();
  });

  test("resubscribe does not remove a cleaned address from the suppression list", async () => {
    const shop = await createTestSite();
    await imported(shop, fixture("mailchimp-cleaned"), { resubscribe: true });
    expect((await contactsOf(shop)).get("bounced@example.com")).toMatchObject({
      status: "suppressed",
    });
  });
});

test("an export of listmonk keeps names, attributes and statuses", async () => {
  const shop = await createTestSite();
  const result = await imported(shop, fixture("listmonk"));
  expect(result).toMatchObject({
    created: 3,
    failed: 0,
    mapping: { attributes: "customFields", name: "fullName" },
  });
  const all = await contactsOf(shop);
  expect(all.get("john@example.com")).toMatchObject({
    firstName: "John",
    lastName: "Doe",
    status: "subscribed",
    customFields: {
      city: "Bengaluru",
      good: true,
      visits: 3,
      zip: "01234",
      stack: '{"languages":["go"]}',
    },
  });
  expect(all.get("off@example.com")).toMatchObject({ status: "unsubscribed" });
  expect(all.get("blocked@example.com")).toMatchObject({ status: "suppressed" });
});

describe("an import reports what it cannot store:", () => {
  const failure = async (file: string, options: Partial<NewImport> = {}) => {
    const shop = await createTestSite();
    const { status, error } = await imported(shop, file, options);
    expect(await readContactCount(shop)).toBe(status === "failed" ? 0 : 1);
    return error ?? status;
  };
  const wide = (n: number) => {
    const names = Array.from({ length: n }, (_, i) => `c${i}`);
    return `email,${names.join(",")}\nann@x.com,${names.map(() => "x").join(",")}\n`;
  };

  test("more than 100 custom fields are an error, unless mapping ignores the others", async () => {
    expect(await failure(wide(100))).toBe("completed");
    expect(await failure(wide(101))).toMatch(
      /^The file has 101 columns that would become custom fields/,
    );
    expect(await failure(wide(101), { mapping: { c100: "ignore" } })).toBe("completed");
  });

  test("a missing header row is an error, even if every row is an address", async () => {
    const expected =
      "The file has no header: its first row must name the columns, and one of them must be email";
    expect(await failure("ann@x.com,Ann\nbob@x.com,Bob\n")).toBe(expected);
    expect(await failure("Ann,ann@x.com\nBob,bob@x.com\n")).toBe(expected);
    expect(await failure("ann@x.com\n")).toBe(expected);
  });

  test("two columns for one custom field are an error", async () => {
    const long = "x".repeat(100);
    expect(await failure(`email,${long}a,${long}b\nann@x.com,1,2\n`)).toMatch(
      /^Two columns map to customFields.x+/,
    );
  });

  test("a column with leading zeros stays text, and so does a field that has text in the site", async () => {
    const shop = await createTestSite();
    await createContact(shop, "old@x.com", { customFields: { code: "abc", seats: 1 } });
    await imported(
      shop,
      "email,zip,seats,code,price,card\na@x.com,80331,5,77,2.75,4111111111111111\nb@x.com,01234,6,x,1.50,\n",
    );
    const all = await contactsOf(shop);
    expect(all.get("a@x.com")!.customFields).toEqual({
      zip: "80331",
      seats: 5,
      code: "77",
      price: 2.75,
      card: "4111111111111111",
    });
    expect(all.get("b@x.com")!.customFields).toMatchObject({
      zip: "01234",
      seats: 6,
      code: "x",
      price: "1.50",
    });
  });

  test("a field that is declared as text keeps its values as text, and another may have numbers", async () => {
    const shop = await createTestSite();
    await createContact(shop, "old@x.com", { customFields: { seats: "many" } });
    for (const [name, type] of [
      ["plan", "text"],
      ["seats", "number"],
    ] as const)
      await fields.declare(shop.caller, name, { siteId: shop.siteId, label: name, type });
    await imported(shop, "email,plan,seats\na@x.com,5,7\n");
    const { customFields } = (await contactsOf(shop)).get("a@x.com")!;
    expect(customFields).toEqual({ plan: "5", seats: 7 });
  });
});
