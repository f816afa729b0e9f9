import { beforeAll, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { query, queryAll, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as folds from "../../shared/domain/analytics/daily-rollups.ts";
import * as insightDays from "../../shared/domain/analytics/daily-totals.ts";
import { getDashboard } from "../../shared/domain/analytics/dashboard.ts";
import { getDeliverability } from "../../shared/domain/analytics/deliverability.ts";
import { getOverview } from "../../shared/domain/analytics/overview.ts";
import {
  type ContactCounter,
  growthSince,
} from "../../shared/domain/audience/contacts/contact-growth.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as due from "../../shared/domain/due-work.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as days from "../../shared/domain/sending/daily-counters.ts";
import { indexes, type Key, ranges } from "../../shared/keys.ts";
import {
  readContactCount as countedContacts,
  createContact,
  createTestSite,
  readAllContacts,
} from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import { createForm, submitForm } from "../support/forms.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(virtual.useVirtualQueues);

const shop = createTestSite;
type Shop = Awaited<ReturnType<typeof shop>>;
const counted = async ({ orgId, siteId }: Shop, date: string, n = 20) => {
  for (let i = 0; i < n; i++)
    await write(
      ...days.dayCounterWrites(orgId, { siteId, date, shardSeed: i }, [
        { configId: 5 + (i % 2), counts: { sent: 3 } },
        {
          configId: 5,
          domain: `d${i % 4}.example`,
          counts: { delivered: 2, uniqueOpened: 1, opened: 2 },
        },
      ]),
    );
};
const read = async ({ orgId, siteId }: Shop, date: string) => {
  const { days: found, domains } = await insightDays.getTotalsWithDomains(orgId, [siteId], {
    from: date,
    to: date,
  });
  return { whole: found.get(date), domains: Object.fromEntries([...domains].sort()) };
};
const raw = async ({ orgId, siteId }: Shop, date: string) => ({
  whole: (await queryAll<Key>(ranges.dayItems(orgId, siteId, date), { consistent: true })).map(
    ({ sk }) => sk,
  ),
  domains: (
    await queryAll<Key>(ranges.dayDomainCounters(orgId, siteId, date), { consistent: true })
  ).length,
});
const dueDays = async () => {
  const found = await Promise.all(
    [0, 1, 2, 3].map((shard) => query(indexes.due("DAY", shard), { limit: 100 })),
  );
  return found.flatMap(({ items }) => items).length;
};
const drained = async () => {
  for (const shard of [0, 1, 2, 3]) await due.drain("DAY", shard);
};

describe("a day", () => {
  test("is not rolled up before it is over in every time zone", async () => {
    const site = await shop();
    const date = await organizations.getToday(site.orgId);
    await counted(site, date);
    expect(Date.parse(days.rollupDueAt(date)) - Date.parse(`${date}T23:59:59Z`)).toBeGreaterThan(
      13 * 3_600_000,
    );
    await folds.rollUpDay(site.orgId, site.siteId, date);
    expect((await raw(site, date)).whole).toHaveLength(8);
  });

  test("reads the same before, during and after a rollup that crashes at any step", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const site = await shop();
      const date = await organizations.getToday(site.orgId);
      await counted(site, date);
      const before = await read(site, date);
      expect(before.whole).toMatchObject({
        sent: 60,
        delivered: 40,
        "g.5.sent": 30,
        "g.6.sent": 30,
      });
      expect(before.domains["d0.example"]).toEqual({ delivered: 10, uniqueOpened: 5, opened: 10 });
      clock.advanceClock(3 * 86_400);
      await crash(() => folds.rollUpDay(site.orgId, site.siteId, date));
      expect(await read(site, date)).toEqual(before);
      // Its due entries start it again until it is done.
      clock.advanceClock(600);
      await drained();
      expect(await read(site, date)).toEqual(before);
      expect(await raw(site, date)).toEqual({ whole: [date], domains: 0 });
      expect(await dueDays()).toBe(0);
      await folds.rollUpDay(site.orgId, site.siteId, date);
      expect(await read(site, date)).toEqual(before);
    });
    expect(steps.length).toBeGreaterThan(8);
  });

  test("is rolled up once by two concurrent workers", async () => {
    const site = await shop();
    const date = await organizations.getToday(site.orgId);
    await counted(site, date);
    const before = await read(site, date);
    clock.advanceClock(3 * 86_400);
    await Promise.all([1, 2, 3].map(() => folds.rollUpDay(site.orgId, site.siteId, date)));
    expect(await read(site, date)).toEqual(before);
    expect(await raw(site, date)).toEqual({ whole: [date], domains: 0 });
  });

  test("keeps counts that were added between two rollups", async () => {
    const site = await shop();
    const date = await organizations.getToday(site.orgId);
    await counted(site, date);
    clock.advanceClock(3 * 86_400);
    const slow = pauseCall("TransactWriteItems");
    const late = folds.rollUpDay(site.orgId, site.siteId, date);
    await slow.reached;
    await folds.rollUpDay(site.orgId, site.siteId, date);
    await counted(site, date, 1);
    slow.release();
    await late;
    removePauses();
    expect((await read(site, date)).whole).toMatchObject({ sent: 63, delivered: 42 });
    await drained();
  });

  test("includes counts that are added after its rollup", async () => {
    const site = await shop();
    const date = await organizations.getToday(site.orgId);
    await counted(site, date);
    clock.advanceClock(3 * 86_400);
    await folds.rollUpDay(site.orgId, site.siteId, date);
    await counted(site, date, 1);
    await drained();
    expect((await read(site, date)).whole).toMatchObject({ sent: 63, delivered: 42 });
    expect(await dueDays()).toBe(0);
  });
});

test("the cost of reading depends only on the number of days", async () => {
  const site = await shop();
  const { caller } = site;
  const [period, days] = everything ? (["90d", 95] as const) : (["30d", 35] as const);
  const spent = async () => {
    const asks = [
      () => getOverview(caller, { period, interval: "day" }),
      () => getDeliverability(caller, { period }),
    ];
    return Promise.all(asks.map(async (ask) => (await measureUnits<unknown>(ask)).usage.readUnits));
  };
  const fill = async (n: number) => {
    const date = await organizations.getToday(site.orgId);
    await counted(site, date, n);
    clock.advanceClock(86_400);
    await drained();
  };
  for (let i = 0; i < days; i++) await fill(1);
  const young = await spent();
  for (let i = 0; i < days; i++) await fill(4);
  const old = await spent();
  // The second time there is a complete previous period as well.
  expect(old[0]!).toBeLessThan(young[0]! * 2 + 4);
  expect(old[1]!).toBeLessThan(young[1]! + 8);
  expect(Math.max(...old)).toBeLessThan(40);
});

describe("the number of contacts", () => {
  const counters = ({ orgId, siteId }: Shop) =>
    queryAll<ContactCounter>(ranges.contactCounts(orgId, siteId), { consistent: true });
  const upserted = (site: Shop, emails: string[]) =>
    upsert(
      { caller: site.caller, siteId: site.siteId },
      emails.map((email) => ContactRow.parse({ email })),
    );

  test("is compared with the previous period after contacts were created, deleted and changed", async () => {
    const site = await shop();
    const readFigures = async (period: "7d" | "30d") => {
      const { contacts } = await getOverview(site.caller, { period, interval: "day" });
      expect((await getDashboard(site.caller, { period })).contacts).toEqual(contacts);
      return contacts;
    };
    const ann = await createContact(site, "ann@example.com");
    await upserted(site, [
      "bob@example.com",
      "cid@example.com",
      "dan@example.com",
      "bob@example.com",
    ]);
    expect(await readFigures("7d")).toEqual({ total: 4, previous: 0, change: null });
    clock.advanceClock(20 * 86_400);
    expect(await readFigures("7d")).toEqual({ total: 4, previous: 4, change: 0 });
    await contacts.remove(site.caller, ann.id);
    const [eve] = await upserted(site, ["eve@example.com", "fay@example.com", "dan@example.com"]);
    for (let n = 0; n < 5; n++)
      await contacts.change(site.caller, (eve as { id: number }).id, {
        email: `eve${n}@example.com`,
      });
    await submitForm((await createForm(site)).id, { email: "gus@example.com" });
    expect(await readFigures("7d")).toEqual({ total: 6, previous: 4, change: 0.5 });
    expect(await readFigures("30d")).toEqual({ total: 6, previous: 0, change: null });
  });

  test("is removed for days before the longest period", async () => {
    const site = await shop();
    const emails = (n: number) => Array.from({ length: 60 }, (_, i) => `p${n}-${i}@example.com`);
    for (let n = 0; n < 12; n++) {
      if (n) clock.advanceClock(15 * 86_400);
      await upserted(site, emails(n));
    }
    const last = await counters(site);
    // The days within the last 92, and the total.
    expect(
      last.flatMap((counter) => Object.keys(counter).filter((name) => /^d\d+$/.test(name))).length,
    ).toBeLessThanOrEqual(7 * 16);
    const { contacts: shownContacts } = await getDashboard(site.caller, { period: "90d" });
    expect(shownContacts).toEqual({ total: 720, previous: 360, change: 1 });
  });

  test("stays the sum of the days after crashes", async () => {
    const site = await shop();
    const expectAgreement = async () => {
      const storedCount = (await readAllContacts(site)).length;
      const grown = (await counters(site)).reduce(
        (sum, counter) => sum + growthSince(counter, "2000-01-01"),
        0,
      );
      expect([await countedContacts(site), grown]).toEqual([storedCount, storedCount]);
    };
    const ways: (() => Promise<unknown>)[] = [
      () => createContact(site, `${crypto.randomUUID()}@example.com`),
      () =>
        upserted(
          site,
          Array.from({ length: 3 }, () => `${crypto.randomUUID()}@example.com`),
        ),
      async () => contacts.remove(site.caller, (await readAllContacts(site))[0]!.id),
    ];
    for (const way of ways)
      await crashAtSomeSteps(async (crash) => {
        await crash(way);
        await expectAgreement();
      });
  });
});
