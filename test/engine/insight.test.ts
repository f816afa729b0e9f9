import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { ContactRow } from "../../shared/domain/contacts/contact.ts";
import { type Counter, grownSince } from "../../shared/domain/contacts/growth.ts";
import { upsert } from "../../shared/domain/contacts/upserts.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as days from "../../shared/domain/days.ts";
import { dashboard } from "../../shared/domain/insight/dashboard.ts";
import * as insightDays from "../../shared/domain/insight/days.ts";
import { deliverability } from "../../shared/domain/insight/deliverability.ts";
import * as folds from "../../shared/domain/insight/folds.ts";
import { overview } from "../../shared/domain/insight/overview.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import * as due from "../../shared/domain/sending/due.ts";
import { metered } from "../../shared/doors/meter.ts";
import { query, queryAll, write } from "../../shared/doors/table.ts";
import { type Address, ranges, shelves } from "../../shared/keys.ts";
import { audience, counted as countedContacts, create, stored } from "../support/audience.ts";
import { fill, newForm } from "../support/forms.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { atEveryStep, atSomeSteps } from "../support/killer.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(virtual.opened);

const shop = audience;
type Shop = Awaited<ReturnType<typeof shop>>;
const counted = async ({ orgId, siteId }: Shop, date: string, n = 20) => {
  for (let i = 0; i < n; i++)
    await write(
      ...days.counting(orgId, siteId, date, i, [
        { configId: 5 + (i % 2), counts: { sent: 3 } },
        { configId: 5, domain: `d${i % 4}.example`, counts: { delivered: 2, uniqueOpened: 1, opened: 2 } },
      ]),
    );
};
const read = async ({ orgId, siteId }: Shop, date: string) => {
  const { days: found, domains } = await insightDays.withDomains(orgId, [siteId], { from: date, to: date });
  return { whole: found.get(date), domains: Object.fromEntries([...domains].sort()) };
};
const raw = async ({ orgId, siteId }: Shop, date: string) => ({
  whole: (await queryAll<Address>(ranges.dayInAll(orgId, siteId, date), { consistent: true })).map(({ sk }) => sk),
  domains: (await queryAll<Address>(ranges.dayDomains(orgId, siteId, date), { consistent: true })).length,
});
const dueDays = async () => {
  const found = await Promise.all([0, 1, 2, 3].map((shard) => query(shelves.due("DAY", shard), { limit: 100 })));
  return found.flatMap(({ items }) => items).length;
};
const drained = async () => {
  for (const shard of [0, 1, 2, 3]) await due.drain("DAY", shard);
};

describe("a day", () => {
  test("is not folded before it is over everywhere, whatever the organization's timezone becomes", async () => {
    const site = await shop();
    const date = await organizations.today(site.orgId);
    await counted(site, date);
    expect(Date.parse(days.foldedFrom(date)) - Date.parse(`${date}T23:59:59Z`)).toBeGreaterThan(13 * 3_600_000);
    await folds.fold(site.orgId, site.siteId, date);
    expect((await raw(site, date)).whole).toHaveLength(8);
  });

  test("reads the same before, while and after it is folded by whoever dies over it", async () => {
    const steps = await atEveryStep(async (kill) => {
      const site = await shop();
      const date = await organizations.today(site.orgId);
      await counted(site, date);
      const before = await read(site, date);
      expect(before.whole).toMatchObject({ sent: 60, delivered: 40, "g.5.sent": 30, "g.6.sent": 30 });
      expect(before.domains["d0.example"]).toEqual({ delivered: 10, uniqueOpened: 5, opened: 10 });
      clock.advance(3 * 86_400);
      await kill(() => folds.fold(site.orgId, site.siteId, date));
      expect(await read(site, date)).toEqual(before);
      // Its due entries bring it up again until all is done.
      clock.advance(600);
      await drained();
      expect(await read(site, date)).toEqual(before);
      expect(await raw(site, date)).toEqual({ whole: [date], domains: 0 });
      expect(await dueDays()).toBe(0);
      await folds.fold(site.orgId, site.siteId, date);
      expect(await read(site, date)).toEqual(before);
    });
    expect(steps.length).toBeGreaterThan(8);
  }, 240_000);

  test("folded by two at once is folded once", async () => {
    const site = await shop();
    const date = await organizations.today(site.orgId);
    await counted(site, date);
    const before = await read(site, date);
    clock.advance(3 * 86_400);
    await Promise.all([1, 2, 3].map(() => folds.fold(site.orgId, site.siteId, date)));
    expect(await read(site, date)).toEqual(before);
    expect(await raw(site, date)).toEqual({ whole: [date], domains: 0 });
  });

  test("folded by somebody late keeps what was counted since it was folded", async () => {
    const site = await shop();
    const date = await organizations.today(site.orgId);
    await counted(site, date);
    clock.advance(3 * 86_400);
    const slow = heldUp(TransactWriteCommand);
    const late = folds.fold(site.orgId, site.siteId, date);
    await slow.reached;
    await folds.fold(site.orgId, site.siteId, date);
    await counted(site, date, 1);
    slow.release();
    await late;
    letGo();
    expect((await read(site, date)).whole).toMatchObject({ sent: 63, delivered: 42 });
    await drained();
  });

  test("into which somebody counts after all still has it in its sum", async () => {
    const site = await shop();
    const date = await organizations.today(site.orgId);
    await counted(site, date);
    clock.advance(3 * 86_400);
    await folds.fold(site.orgId, site.siteId, date);
    await counted(site, date, 1);
    await drained();
    expect((await read(site, date)).whole).toMatchObject({ sent: 63, delivered: 42 });
    expect(await dueDays()).toBe(0);
  });
});

test("reading costs by the days of the period, and not by what happened before or on them", async () => {
  const site = await shop();
  const { caller } = site;
  const spent = async () => {
    const asks = [() => overview(caller, { period: "90d", interval: "day" }), () => deliverability(caller, { period: "90d" })];
    return Promise.all(asks.map(async (ask) => (await metered<unknown>(ask)).usage.readUnits));
  };
  const fill = async (n: number) => {
    const date = await organizations.today(site.orgId);
    await counted(site, date, n);
    clock.advance(86_400);
    await drained();
  };
  for (let i = 0; i < 95; i++) await fill(1);
  const young = await spent();
  for (let i = 0; i < 95; i++) await fill(4);
  const old = await spent();
  // The second time there is a whole period before as well.
  expect(old[0]!).toBeLessThan(young[0]! * 2 + 4);
  expect(old[1]!).toBeLessThan(young[1]! + 8);
  expect(Math.max(...old)).toBeLessThan(40);
}, 240_000);

describe("the number of contacts", () => {
  const counters = ({ orgId, siteId }: Shop) => queryAll<Counter>(ranges.contactCounts(orgId, siteId), { consistent: true });
  const upserted = (site: Shop, emails: string[]) =>
    upsert(
      site.caller,
      site.siteId,
      emails.map((email) => ContactRow.parse({ email })),
    );

  test("is told beside that of the time before, whoever came, went or moved since then", async () => {
    const site = await shop();
    const told = async (period: "7d" | "30d") => {
      const { contacts } = await overview(site.caller, { period, interval: "day" });
      expect((await dashboard(site.caller, { period })).contacts).toEqual(contacts);
      return contacts;
    };
    const ann = await create(site, "ann@example.com");
    await upserted(site, ["bob@example.com", "cid@example.com", "dan@example.com", "bob@example.com"]);
    expect(await told("7d")).toEqual({ total: 4, previous: 0, change: null });
    clock.advance(20 * 86_400);
    expect(await told("7d")).toEqual({ total: 4, previous: 4, change: 0 });
    await contacts.remove(site.caller, ann.id);
    const [eve] = await upserted(site, ["eve@example.com", "fay@example.com", "dan@example.com"]);
    for (let n = 0; n < 5; n++) await contacts.change(site.caller, (eve as { id: number }).id, { email: `eve${n}@example.com` });
    await fill((await newForm(site)).id, { email: "gus@example.com" });
    expect(await told("7d")).toEqual({ total: 6, previous: 4, change: 0.5 });
    expect(await told("30d")).toEqual({ total: 6, previous: 0, change: null });
  });

  test("on days that nobody asks for any more is forgotten", async () => {
    const site = await shop();
    const emails = (n: number) => Array.from({ length: 60 }, (_, i) => `p${n}-${i}@example.com`);
    for (let n = 0; n < 12; n++) {
      if (n) clock.advance(15 * 86_400);
      await upserted(site, emails(n));
    }
    const last = await counters(site);
    // Of twelve days those of the last 92, and the number itself.
    expect(last.flatMap((counter) => Object.keys(counter).filter((name) => /^d\d+$/.test(name))).length).toBeLessThanOrEqual(7 * 16);
    const { contacts: told } = await dashboard(site.caller, { period: "90d" });
    expect(told).toEqual({ total: 720, previous: 360, change: 1 });
  });

  test("is that of the days together, whoever dies", async () => {
    const site = await shop();
    const agree = async () => {
      const there = (await stored(site)).length;
      const grown = (await counters(site)).reduce((sum, counter) => sum + grownSince(counter, "2000-01-01"), 0);
      expect([await countedContacts(site), grown]).toEqual([there, there]);
    };
    const ways: (() => Promise<unknown>)[] = [
      () => create(site, `${crypto.randomUUID()}@example.com`),
      () =>
        upserted(
          site,
          Array.from({ length: 3 }, () => `${crypto.randomUUID()}@example.com`),
        ),
      async () => contacts.remove(site.caller, (await stored(site))[0]!.id),
    ];
    for (const way of ways)
      await atSomeSteps(2, async (kill) => {
        await kill(way);
        await agree();
      });
  });
});
