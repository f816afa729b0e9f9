import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as report } from "../../functions/queue/report.ts";
import { worker as send } from "../../functions/queue/send.ts";
import * as clock from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/contacts/contact.ts";
import { newItem } from "../../shared/domain/contacts/items.ts";
import * as days from "../../shared/domain/days.ts";
import * as inline from "../../shared/domain/exports/inline.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import * as schedules from "../../shared/domain/report-schedules.ts";
import * as reportedContacts from "../../shared/domain/reports/contacts.ts";
import * as mailing from "../../shared/domain/reports/mailing.ts";
import * as reportedSequences from "../../shared/domain/reports/sequences.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import type { EnrollmentItem } from "../../shared/domain/sequences/enrollment.ts";
import * as sequenceRecords from "../../shared/domain/sequences/record.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { put, update, write, writeMany } from "../../shared/doors/table.ts";
import { takeContacts } from "../../shared/ids.ts";
import { keys, shards } from "../../shared/keys.ts";
import { type Audience, audience, person } from "../support/audience.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { atSomeSteps } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(virtual.opened);
beforeEach(() => void virtual.waiting.splice(0));
const workers = [drain, report, send];

async function sender(): Promise<mailroom.Sender> {
  const from = await mailroom.sender("postmark");
  await sendingConfigs.noteVerified(from.caller, await sendingConfigs.find(from.caller, from.configId), true);
  return from;
}
// The clock is everybody's: what is left would be due in the next test.
const made: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  letGo();
  for (const undo of made.splice(0)) await undo();
});
async function schedule(from: mailroom.Sender, fields: object = {}) {
  const wanted = { siteId: from.siteId, frequency: "daily", recipient: "team@shop.example", ...fields };
  const one = await schedules.create(from.caller, schedules.NewReportSchedule.parse(wanted));
  made.push(() => schedules.remove(from.caller, one.id).catch(() => {}));
  return one;
}
const find = (from: mailroom.Sender, { id }: { id: number }) => schedules.find(from.caller, id);
/** To the next time and a little past it. */
const untilDue = async (from: mailroom.Sender, one: { id: number }, late = 60) => {
  const { nextAt } = await find(from, one);
  clock.advance((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + late);
};
const subjects = ({ provider }: mailroom.Sender) => provider.mails.map(({ subject }) => subject);

describe("a scheduled report", () => {
  test("is mailed once on each day, as a recorded send through the organization's own provider", async () => {
    const from = await sender();
    const one = await schedule(from);
    for (let n = 1; n <= 3; n++) {
      await untilDue(from, one);
      await virtual.settle(workers);
      expect(from.provider.mails).toHaveLength(n);
    }
    const [mail] = from.provider.mails;
    const listed = await mailroom.listed(from);
    expect(mail).toMatchObject({ to: "team@shop.example", subject: "Shop: your day, nothing was sent", trackOpens: false });
    expect(listed).toHaveLength(3);
    expect(await find(from, one)).toMatchObject({ lastSendId: listed[0]!.id, lastError: null });
    // Of the second day the first mail is told.
    expect(subjects(from)[1]).toMatch(/^Shop: your day, 1 sent/);
    expect(mail!.html).toContain("Contacts now");
    expect(mail!.text).toContain(`/api/v1/reports/schedules/${one.id}`);
    await from.provider.stop();
  });

  test("whoever dies over it at any step, is mailed once", async () => {
    const from = await sender();
    const one = await schedule(from);
    let mailed = 0;
    const steps = await atSomeSteps(3, async (kill) => {
      // Some days late, so that it is of another day than it was to be.
      await untilDue(from, one, 3 * 86_400);
      await kill(() => mailing.run(from.caller.orgId, one.id));
      clock.advance(600);
      await virtual.settle(workers, { forSeconds: 900 });
      expect(from.provider.mails).toHaveLength(++mailed);
    });
    expect(steps.length).toBeGreaterThan(20);
    const all = await mailroom.listed(from);
    expect(new Set(all.map(({ id }) => id)).size).toBe(mailed);
    await from.provider.stop();
  }, 240_000);

  test("taken up by many at once is one mail", async () => {
    const from = await sender();
    const one = await schedule(from);
    await untilDue(from, one);
    await Promise.all(Array.from({ length: 6 }, () => mailing.run(from.caller.orgId, one.id)));
    await mailing.run(from.caller.orgId, one.id);
    await virtual.settle(workers);
    expect(from.provider.mails).toHaveLength(1);
    expect(await mailroom.listed(from)).toHaveLength(1);
    await from.provider.stop();
  });

  test.each([
    ["daily", 2.5, 1],
    ["daily", 21, 1],
    ["weekly", 21, 7],
    ["monthly", 95, 31],
  ])("%s, after a stop of %d days, is mailed once and of the latest days", async (frequency, stoppedDays, oldestDays) => {
    const from = await sender();
    const one = await schedule(from, { frequency });
    await untilDue(from, one, stoppedDays * 86_400);
    await virtual.settle(workers);
    expect(subjects(from)).toHaveLength(1);
    const { lastSendId, nextAt } = await find(from, one);
    const { metadata } = await sends.detail(from.caller, lastSendId!);
    const before = clock.now().getTime() - Date.parse(`${(metadata as { to: string }).to}T24:00:00Z`);
    expect(before / 86_400_000).toBeLessThan(oldestDays + 1);
    expect(Date.parse(nextAt!)).toBeGreaterThan(clock.now().getTime());
    await from.provider.stop();
  });

  test("comes at seven where the organization is, on Mondays or on the first", async () => {
    const from = await sender();
    await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
    const at = async (frequency: string) => new Date((await schedule(from, { frequency })).nextAt!);
    const [weekly, monthly] = [await at("weekly"), await at("monthly")];
    // 22:00 in UTC, the day before.
    expect([weekly, monthly].map((when) => when.toISOString().slice(11, 16))).toEqual(["22:00", "22:00"]);
    expect(weekly.getUTCDay()).toBe(0);
    expect(new Date(monthly.getTime() + 86_400_000).getUTCDate()).toBe(1);
    await from.provider.stop();
  });

  test("without a verified sending config says so, and waits for the next", async () => {
    const from = await mailroom.sender("postmark");
    const one = await schedule(from);
    await untilDue(from, one);
    await virtual.settle(workers);
    expect(await find(from, one)).toMatchObject({ lastError: expect.stringContaining("no verified sending config"), lastSentAt: null });
    expect(Date.parse((await find(from, one)).nextAt!)).toBeGreaterThan(clock.now().getTime());
    await from.provider.stop();
  });

  test("to a suppressed address is not mailed, and says so", async () => {
    const from = await sender();
    await suppressions.suppress(from.caller.orgId, { email: "team@shop.example", reason: "manual", source: "test" });
    const one = await schedule(from);
    await untilDue(from, one);
    await virtual.settle(workers);
    expect(from.provider.mails).toEqual([]);
    expect(await find(from, one)).toMatchObject({ lastError: "The recipient is on the suppression list" });
    await from.provider.stop();
  });

  test("that is not active, or deleted, is not mailed; active again it makes up for nothing", async () => {
    const from = await sender();
    const [paused, gone] = [await schedule(from), await schedule(from)];
    await schedules.change(from.caller, paused.id, { active: false });
    expect(await find(from, paused)).toMatchObject({ active: false, nextAt: null });
    await schedules.remove(from.caller, gone.id);
    clock.advance(3 * 86_400);
    await virtual.settle(workers);
    expect(from.provider.mails).toEqual([]);
    await schedules.change(from.caller, paused.id, { active: true });
    await virtual.settle(workers);
    expect(from.provider.mails).toEqual([]);
    await untilDue(from, paused);
    await virtual.settle(workers);
    expect(from.provider.mails).toHaveLength(1);
    await from.provider.stop();
  });

  test("mailed at another interval begins anew, and not twice for one day, wherever the organization has moved to", async () => {
    const from = await sender();
    await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
    const one = await schedule(from);
    await untilDue(from, one);
    await virtual.settle(workers);
    const { lastOn } = await find(from, one);
    // There the morning of that day is yet to come.
    await organizations.change(from.caller, { timezone: "America/Los_Angeles" });
    await schedules.change(from.caller, one.id, { frequency: "monthly" });
    expect((await find(from, one)).dueOn).toMatch(/-01$/);
    await schedules.change(from.caller, one.id, { frequency: "daily" });
    expect((await find(from, one)).dueOn > lastOn!).toBe(true);
    await schedules.change(from.caller, one.id, { active: false });
    expect(await find(from, one)).not.toHaveProperty("duepk");
    await from.provider.stop();
  });

  test.each<[string, mails: number, (from: mailroom.Sender, id: number) => Promise<unknown>]>([
    ["switched off", 1, (from, id) => schedules.change(from.caller, id, { active: false })],
    ["given another interval", 1, (from, id) => schedules.change(from.caller, id, { frequency: "monthly" })],
    [
      "mailed by others, and the day after too",
      2,
      async (from, id) => {
        await mailing.run(from.caller.orgId, id);
        await untilDue(from, { id });
        await mailing.run(from.caller.orgId, id);
      },
    ],
  ])("%s while somebody mails it, stays so", async (_, mails, meanwhile) => {
    const from = await sender();
    const one = await schedule(from);
    await untilDue(from, one);
    const ending = heldUp(
      UpdateCommand,
      ({ input }) => input.UpdateExpression!.includes("REMOVE") && /REPORT/.test(JSON.stringify(input.Key)),
    );
    const slow = mailing.run(from.caller.orgId, one.id);
    await ending.reached;
    await meanwhile(from, one.id);
    const changed = await find(from, one);
    ending.release();
    await slow;
    expect(await find(from, one)).toEqual(changed);
    await virtual.settle(workers);
    expect(from.provider.mails).toHaveLength(mails);
    await from.provider.stop();
  });

  test("names campaigns and sites as they are called, whatever they are called", async () => {
    const from = await sender();
    const nasty = `{{ email }} {% if %} <b>"&`;
    await write(update(keys.record(from.caller.orgId, "SITE", from.siteId), { set: { name: nasty } }));
    const date = await organizations.today(from.caller.orgId);
    const counts = { sent: 1000, delivered: 700, bouncedHard: 150, "reason.hard.blocked": 150, complained: 4 };
    await write(...days.counting(from.caller.orgId, from.siteId, date, 1, [{ configId: from.configId, counts }]));
    const one = await schedule(from);
    await untilDue(from, one);
    await virtual.settle(workers);
    const [mail] = from.provider.mails;
    expect(mail!.subject).toBe(`${nasty}: your day, 1,000 sent, 0 % opened`);
    expect(mail!.html).toContain("{{ email }} {% if %} &lt;b&gt;&quot;&amp;");
    expect(mail!.html).toContain("15 % of the mails bounced (150).");
    await from.provider.stop();
  });
});

/** Contacts as they are stored, with whatever the report asks for. */
async function people({ orgId, siteId }: Audience, all: Partial<ContactItem>[]): Promise<ContactItem[]> {
  const ids = await takeContacts(all.length);
  const items = all.map((more, i) => {
    const { siteId: _, tags: __, lists: ___, ...fields } = person(`p${String(i).padStart(5, "0")}@x.com`);
    return { ...newItem(fields, { orgId, siteId, id: ids[i]!, tags: [], lists: [], suppressed: false }), ...more } as ContactItem;
  });
  await writeMany(items.map((item) => put(item, item)));
  return items;
}

const everyPage = async <T>(list: (cursor: string | undefined) => Promise<{ rows: T[]; next: string | null }>): Promise<T[]> => {
  const rows: T[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await list(cursor);
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
    more = cursor !== undefined;
  }
  return rows;
};

const makeSequence = ({ caller, siteId }: Audience, name: string) =>
  sequences.create(caller, sequenceRecords.NewSequence.parse({ siteId, name }));

describe("a report of contacts", () => {
  test("is exactly those whom its rule means, over all pages, and as CSV", async () => {
    const shop = await audience();
    const [a, b] = [await makeSequence(shop, "A"), await makeSequence(shop, "=B")];
    const statuses = ["subscribed", "unsubscribed", "pending", "suppressed"] as const;
    const all = await people(
      shop,
      Array.from({ length: 400 }, (_, i) => ({
        status: statuses[i % 7 < 4 ? 0 : i % 4]!,
        ...(i % 3 && { sendCount: i % 9 }),
        ...(i % 5 === 0 && { openCount: i % 2 }),
        ...(i % 11 === 0 && { clickCount: 1 }),
        ...(i % 4 && { sequences: new Set(i % 8 === 1 ? [a.id, b.id] : [a.id]) }),
      })),
    );
    const rules: Record<reportedContacts.ContactReport, (one: ContactItem) => boolean> = {
      "multi-sequence": ({ sequences: some }) => (some?.size ?? 0) > 1,
      "unengaged-contacts": ({ status, sendCount = 0, openCount = 0, clickCount = 0 }) =>
        status === "subscribed" && sendCount >= 5 && !openCount && !clickCount,
      "no-sequences": ({ status, sequences: some }) => status === "subscribed" && !some,
    };
    for (const name of reportedContacts.contactReports) {
      const wanted = all.filter(rules[name]).map(({ email }) => email);
      expect(wanted.length).toBeGreaterThan(20);
      const rows = await everyPage(async (cursor) => {
        const { contacts, pagination } = await reportedContacts.list(shop.caller, name, shop.siteId, { limit: 7, cursor });
        return { rows: contacts, next: pagination.nextCursor };
      });
      expect(rows.map(({ email }) => email)).toEqual(wanted.toSorted());
      const csv = (await inline.text(shop.caller, { type: name, format: "csv", filter: { siteId: shop.siteId } }))!;
      expect(
        csv
          .trim()
          .split("\n")
          .slice(1)
          .map((line) => line.split(",")[1]),
      ).toEqual(wanted.toSorted());
      if (name === "multi-sequence") {
        expect(rows[0]!.sequences).toEqual([
          { id: a.id, name: "A" },
          { id: b.id, name: "=B" },
        ]);
        expect(csv).toContain("A; =B");
      }
    }
  });
});

describe("a report of sequences", () => {
  test("names every enrollment that is stalled, and no other, page by page and as CSV", async () => {
    const shop = await audience();
    const made = [await makeSequence(shop, "A"), await makeSequence(shop, "B"), await makeSequence(shop, "Empty")];
    const hours = (n: number) => clock.after(-n * 3600).toISOString();
    const items = made.slice(0, 2).flatMap(({ id: sequenceId }, s) =>
      Array.from({ length: 120 }, (_, i) => {
        const [contactId, home] = [1000 + i, shards[(i * 7) % 16]!];
        const item: EnrollmentItem = {
          ...keys.enrollment(shop.orgId, sequenceId, home, contactId),
          id: s * 1000 + i,
          orgId: shop.orgId,
          siteId: shop.siteId,
          sequenceId,
          contactId,
          email: `p${i}@x.com`,
          home,
          order: 1,
          at: hours(i % 3 === 0 ? 1 : -50),
          lastProgressAt: hours(i % 2 ? 24 + i : 23.9),
          createdAt: hours(500),
          v: 1,
        };
        return item;
      }),
    );
    await writeMany(items.map((item) => put(item, item)));
    for (const { id } of made.slice(0, 2)) {
      await write(update(keys.sequenceCount(shop.orgId, id, 3), { add: { active: 120, completed: 4, cancelled: 1 } }));
      await write(update(keys.stepCount(shop.orgId, id, 9, 3), { add: { reached: 77 } }));
    }
    const rows = await everyPage(async (cursor) => {
      const { enrollments, pagination } = await reportedSequences.listStalled(shop.caller, shop.siteId, { limit: 9, cursor });
      return { rows: enrollments, next: pagination.nextCursor };
    });
    const wanted = items.filter((_, i) => i % 2).map(({ id }) => id);
    expect(rows.map(({ enrollmentId }) => enrollmentId).toSorted((a, b) => a - b)).toEqual(wanted);
    expect(new Set(rows.map(({ why }) => why))).toEqual(new Set(["sequence_not_active"]));
    expect(rows[0]).toMatchObject({ sequenceName: "B", contactId: 1119, stalledHours: 143, nextRunAt: null });
    await write(update(keys.record(shop.orgId, "SEQUENCE", made[1]!.id), { set: { status: "active" } }));
    const { enrollments } = await reportedSequences.listStalled(shop.caller, shop.siteId, { limit: 50 });
    expect(new Set(enrollments.map(({ why }) => why))).toEqual(new Set(["waiting", "overdue"]));
    const csv = (await inline.text(shop.caller, { type: "stalled-enrollments", format: "csv", filter: { siteId: shop.siteId } }))!;
    const lines = csv.trim().split("\n").slice(1);
    expect(lines.map((line) => Number(line.split(",")[0]))).toEqual(rows.map(({ enrollmentId }) => enrollmentId));
    const second = await reportedSequences.listStalled(shop.caller, shop.siteId, { limit: 9, page: 2 });
    expect(second.enrollments.map(({ enrollmentId }) => enrollmentId)).toEqual(rows.slice(9, 18).map(({ enrollmentId }) => enrollmentId));
    expect((await reportedSequences.funnel(shop.caller, shop.siteId, { limit: 50 })).sequences).toMatchObject([
      { name: "Empty", active: 0, total: 0, completionRate: 0 },
      { name: "B", active: 120, completed: 4, cancelled: 1, failed: 0, total: 125, completionRate: 0.8 },
      { name: "A", active: 120 },
    ]);
  });

  test("of a site without sequences is empty, and as CSV a header", async () => {
    const shop = await audience();
    expect((await reportedSequences.listStalled(shop.caller, shop.siteId, { limit: 50 })).enrollments).toEqual([]);
    const csv = await inline.text(shop.caller, { type: "stalled-enrollments", format: "csv", filter: { siteId: shop.siteId } });
    expect(csv!.trim().split("\n")).toHaveLength(1);
  });
});
