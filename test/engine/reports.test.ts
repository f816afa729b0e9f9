import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as report } from "../../functions/queue/report.ts";
import { worker as send } from "../../functions/queue/send.ts";
import { put, update, write, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as reportedContacts from "../../shared/domain/analytics/contact-reports.ts";
import * as schedules from "../../shared/domain/analytics/report-schedules.ts";
import * as mailing from "../../shared/domain/analytics/send-report.ts";
import * as reportedSequences from "../../shared/domain/analytics/sequence-reports.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { createItem } from "../../shared/domain/audience/contacts/contact-writes.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import type { EnrollmentItem } from "../../shared/domain/automation/enrollment-schema.ts";
import * as sequenceRecords from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as days from "../../shared/domain/sending/daily-counters.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { nextContactIds } from "../../shared/ids.ts";
import { emailShards, keys } from "../../shared/keys.ts";
import { createTestSite, newContact, type TestSite } from "../support/contacts.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { exportInline } from "../support/inline-export.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as mailTest from "../support/sending.ts";
import * as virtual from "../support/virtual-queues.ts";

beforeAll(virtual.useVirtualQueues);
beforeEach(() => void virtual.pendingMessages.splice(0));
const workers = [drain, report, send];

async function sender(): Promise<mailTest.TestSender> {
  const from = await mailTest.createSender("postmark");
  await sendingConfigs.setVerified(
    from.caller,
    await sendingConfigs.find(from.caller, from.configId),
    true,
  );
  return from;
}
// Tests share the clock, so remaining schedules would be due in the next test.
const undoSteps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  removePauses();
  for (const undo of undoSteps.splice(0)) await undo();
});
async function schedule(from: mailTest.TestSender, fields: object = {}) {
  const inputFields = {
    siteId: from.siteId,
    frequency: "daily",
    recipient: "team@shop.example",
    ...fields,
  };
  const one = await schedules.create(from.caller, schedules.NewReportSchedule.parse(inputFields));
  undoSteps.push(() => schedules.remove(from.caller, one.id).catch(() => {}));
  return one;
}
const find = (from: mailTest.TestSender, { id }: { id: number }) => schedules.find(from.caller, id);
/** Moves the clock just past the next due time. */
const advanceUntilDue = async (from: mailTest.TestSender, one: { id: number }, late = 60) => {
  const { nextAt } = await find(from, one);
  clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + late);
};
const subjects = ({ provider }: mailTest.TestSender) =>
  provider.mails.map(({ subject }) => subject);

describe("a scheduled report", () => {
  test("is mailed once per day through the organization's provider and is no send of the site", async () => {
    const from = await sender();
    const one = await schedule(from);
    for (let n = 1; n <= 3; n++) {
      await advanceUntilDue(from, one);
      await virtual.runWorkers(workers);
      expect(from.provider.mails).toHaveLength(n);
    }
    const [mail] = from.provider.mails;
    expect(mail).toMatchObject({
      to: "team@shop.example",
      subject: "Shop: daily report, nothing was sent",
      trackOpens: false,
    });
    const { lastSendId, lastError } = await find(from, one);
    expect(lastError).toBeNull();
    expect(await findDetail(from.caller, lastSendId!)).toMatchObject({
      status: "sent",
      toEmail: "team@shop.example",
    });
    expect(await listSends(from.caller, { limit: 10 }, {})).toMatchObject({
      sends: [],
      pagination: { total: 0 },
    });
    expect(subjects(from)).toEqual(Array(3).fill("Shop: daily report, nothing was sent"));
    await removeSite(from.caller, from.siteId);
    expect(mail!.html).toContain("Contacts now");
    expect(mail!.text).toContain(`/api/v1/reports/schedules/${one.id}`);
    await from.provider.stop();
  });

  test.each(interruptions)(
    "is mailed once when its worker %s at any step",
    async (how) => {
      const from = await sender();
      const one = await schedule(from);
      let mailed = 0;
      const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
        // Three days late, so that the report covers another day.
        await advanceUntilDue(from, one, 3 * 86_400);
        await interrupt(
          () => mailing.sendDueReport(from.caller.orgId, one.id),
          async () => {
            clock.advanceClock(600);
            await virtual.runWorkers(workers, { forSeconds: 900 });
          },
        );
        expect(from.provider.mails).toHaveLength(++mailed);
      });
      expect(steps.length).toBeGreaterThan(20);
      await from.provider.stop();
    },
    240_000,
  );

  test("is mailed once by concurrent workers", async () => {
    const from = await sender();
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    await Promise.all(
      Array.from({ length: 6 }, () => mailing.sendDueReport(from.caller.orgId, one.id)),
    );
    await mailing.sendDueReport(from.caller.orgId, one.id);
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toHaveLength(1);
    await from.provider.stop();
  });

  test.each([
    ["daily", 2.5, 1],
    ["daily", 21, 1],
    ["weekly", 21, 7],
    ["monthly", 95, 31],
  ])(
    "%s, after a stop of %d days, is mailed once and of the latest days",
    async (frequency, stoppedDays, oldestDays) => {
      const from = await sender();
      const one = await schedule(from, { frequency });
      await advanceUntilDue(from, one, stoppedDays * 86_400);
      await virtual.runWorkers(workers);
      expect(subjects(from)).toHaveLength(1);
      const { lastSendId, nextAt } = await find(from, one);
      const { metadata } = await findDetail(from.caller, lastSendId!);
      const before =
        clock.now().getTime() - Date.parse(`${(metadata as { to: string }).to}T24:00:00Z`);
      expect(before / 86_400_000).toBeLessThan(oldestDays + 1);
      expect(Date.parse(nextAt!)).toBeGreaterThan(clock.now().getTime());
      await from.provider.stop();
    },
  );

  test("is mailed at 7:00 in the organization's time zone, on Mondays or on the first", async () => {
    const from = await sender();
    await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
    const at = async (frequency: string) => new Date((await schedule(from, { frequency })).nextAt!);
    const [weekly, monthly] = [await at("weekly"), await at("monthly")];
    // 22:00 in UTC, the day before.
    expect([weekly, monthly].map((when) => when.toISOString().slice(11, 16))).toEqual([
      "22:00",
      "22:00",
    ]);
    expect(weekly.getUTCDay()).toBe(0);
    expect(new Date(monthly.getTime() + 86_400_000).getUTCDate()).toBe(1);
    await from.provider.stop();
  });

  test("without a verified sending config stores the error and waits for the next due date", async () => {
    const from = await mailTest.createSender("postmark");
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    await virtual.runWorkers(workers);
    expect(await find(from, one)).toMatchObject({
      lastError: expect.stringContaining("no verified sending config"),
      lastSentAt: null,
    });
    expect(Date.parse((await find(from, one)).nextAt!)).toBeGreaterThan(clock.now().getTime());
    await from.provider.stop();
  });

  test("to a suppressed address is not mailed and stores the error", async () => {
    const from = await sender();
    await suppressions.suppress(from.caller.orgId, {
      email: "team@shop.example",
      reason: "manual",
      source: "test",
    });
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toEqual([]);
    expect(await find(from, one)).toMatchObject({
      lastError: "The recipient is on the suppression list",
    });
    await from.provider.stop();
  });

  test("is not mailed while inactive or deleted, and missed reports are not mailed later", async () => {
    const from = await sender();
    const [paused, deleted] = [await schedule(from), await schedule(from)];
    await schedules.change(from.caller, paused.id, { active: false });
    expect(await find(from, paused)).toMatchObject({ active: false, nextAt: null });
    await schedules.remove(from.caller, deleted.id);
    clock.advanceClock(3 * 86_400);
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toEqual([]);
    await schedules.change(from.caller, paused.id, { active: true });
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toEqual([]);
    await advanceUntilDue(from, paused);
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toHaveLength(1);
    await from.provider.stop();
  });

  test("with a changed frequency starts over and is mailed at most once per day in any time zone", async () => {
    const from = await sender();
    await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    await virtual.runWorkers(workers);
    const { lastOn } = await find(from, one);
    // In this time zone, the due time of that day is still ahead.
    await organizations.change(from.caller, { timezone: "America/Los_Angeles" });
    await schedules.change(from.caller, one.id, { frequency: "monthly" });
    expect((await find(from, one)).dueOn).toMatch(/-01$/);
    await schedules.change(from.caller, one.id, { frequency: "daily" });
    expect((await find(from, one)).dueOn > lastOn!).toBe(true);
    await schedules.change(from.caller, one.id, { active: false });
    expect(await find(from, one)).not.toHaveProperty("duepk");
    await from.provider.stop();
  });

  test.each<[string, mails: number, (from: mailTest.TestSender, id: number) => Promise<unknown>]>([
    ["switched off", 1, (from, id) => schedules.change(from.caller, id, { active: false })],
    [
      "given another interval",
      1,
      (from, id) => schedules.change(from.caller, id, { frequency: "monthly" }),
    ],
    [
      "mailed by others, and the day after too",
      2,
      async (from, id) => {
        await mailing.sendDueReport(from.caller.orgId, id);
        await advanceUntilDue(from, { id });
        await mailing.sendDueReport(from.caller.orgId, id);
      },
    ],
  ])("that is %s while it is mailed stays so", async (_, mails, meanwhile) => {
    const from = await sender();
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    const ending = pauseCall(
      "UpdateItem",
      (input) =>
        input.UpdateExpression!.includes("REMOVE") && /REPORT/.test(JSON.stringify(input.Key)),
    );
    const slow = mailing.sendDueReport(from.caller.orgId, one.id);
    await ending.reached;
    await meanwhile(from, one.id);
    const changed = await find(from, one);
    ending.release();
    await slow;
    expect(await find(from, one)).toEqual(changed);
    await virtual.runWorkers(workers);
    expect(from.provider.mails).toHaveLength(mails);
    await from.provider.stop();
  });

  test("shows any names of campaigns and sites unchanged", async () => {
    const from = await sender();
    const nasty = `{{ email }} {% if %} <b>"&`;
    await write(
      update(keys.record(from.caller.orgId, "SITE", from.siteId), { set: { name: nasty } }),
    );
    const date = await organizations.getToday(from.caller.orgId);
    const counts = {
      sent: 1000,
      delivered: 700,
      bouncedHard: 150,
      "reason.hard.blocked": 150,
      complained: 4,
    };
    await write(
      ...days.dayCounterWrites(from.caller.orgId, { siteId: from.siteId, date, shardSeed: 1 }, [
        { configId: from.configId, counts },
      ]),
    );
    const one = await schedule(from);
    await advanceUntilDue(from, one);
    await virtual.runWorkers(workers);
    const [mail] = from.provider.mails;
    expect(mail!.subject).toBe(`${nasty}: daily report, 1,000 sent, 0 % opened`);
    expect(mail!.html).toContain("{{ email }} {% if %} &lt;b&gt;&quot;&amp;");
    expect(mail!.html).toContain("15 % of the mails bounced (150).");
    await from.provider.stop();
  });
});

/** Stored contacts with random values for the fields of the reports. */
async function insertRandomContacts(
  { orgId, siteId }: TestSite,
  all: Partial<ContactItem>[],
): Promise<ContactItem[]> {
  const ids = await nextContactIds(all.length);
  const items = all.map((more, i) => {
    const {
      siteId: _,
      tags: __,
      lists: ___,
      ...fields
    } = newContact(`p${String(i).padStart(5, "0")}@x.com`);
    return {
      ...createItem(fields, { orgId, siteId, id: ids[i]!, tags: [], lists: [], suppressed: false }),
      ...more,
    } as ContactItem;
  });
  await writeMany(items.map((item) => put(item, item)));
  return items;
}

const everyPage = async <T>(
  list: (cursor: string | undefined) => Promise<{ rows: T[]; next: string | null }>,
): Promise<T[]> => {
  const rows: T[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await list(cursor);
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
    more = cursor !== undefined;
  }
  return rows;
};

const makeSequence = ({ caller, siteId }: TestSite, name: string) =>
  sequences.create(caller, sequenceRecords.NewSequence.parse({ siteId, name }));

describe("a report of contacts", () => {
  test("lists exactly the matching contacts, in pages and as CSV", async () => {
    const shop = await createTestSite();
    const [a, b, paused] = [
      await makeSequence(shop, "A"),
      await makeSequence(shop, "=B"),
      await makeSequence(shop, "Paused"),
    ];
    const activate = (id: number) =>
      write(update(keys.record(shop.orgId, "SEQUENCE", id), { set: { status: "active" } }));
    await activate(a.id);
    await activate(b.id);
    const statuses = ["subscribed", "unsubscribed", "pending", "suppressed"] as const;
    const all = await insertRandomContacts(
      shop,
      Array.from({ length: 400 }, (_, i) => ({
        status: statuses[i % 7 < 4 ? 0 : i % 4]!,
        ...(i % 3 && { sendCount: i % 9 }),
        ...(i % 5 === 0 && { openCount: i % 2 }),
        ...(i % 11 === 0 && { clickCount: 1 }),
        ...(i % 4 && {
          sequences: new Set(i % 8 === 1 ? [a.id, b.id] : [i % 8 === 2 ? paused.id : a.id]),
        }),
      })),
    );
    const rules: Record<reportedContacts.ContactReport, (one: ContactItem) => boolean> = {
      "multi-sequence": ({ sequences: some }) => (some?.size ?? 0) > 1,
      "unengaged-contacts": ({ status, sendCount = 0, openCount = 0, clickCount = 0 }) =>
        status === "subscribed" && sendCount >= 5 && !openCount && !clickCount,
      "no-sequences": ({ status, sequences: some }) =>
        status === "subscribed" && (!some || some.has(paused.id)),
    };
    for (const name of reportedContacts.contactReports) {
      const expected = all.filter(rules[name]).map(({ email }) => email);
      expect(expected.length).toBeGreaterThan(20);
      const rows = await everyPage(async (cursor) => {
        const { contacts, pagination } = await reportedContacts.list(
          shop.caller,
          { limit: 7, cursor },
          { report: name, siteId: shop.siteId },
        );
        return { rows: contacts, next: pagination.nextCursor };
      });
      expect(rows.map(({ email }) => email)).toEqual(expected.toSorted());
      const csv = (await exportInline(shop.caller, {
        type: name,
        format: "csv",
        filter: { siteId: shop.siteId },
      }))!;
      expect(
        csv
          .trim()
          .split("\n")
          .slice(1)
          .map((line) => line.split(",")[1]),
      ).toEqual(expected.toSorted());
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
  test("lists exactly the stalled enrollments, in pages and as CSV", async () => {
    const shop = await createTestSite();
    const made = [
      await makeSequence(shop, "A"),
      await makeSequence(shop, "B"),
      await makeSequence(shop, "Empty"),
    ];
    const hours = (n: number) => clock.addSeconds(-n * 3600).toISOString();
    const items = made.slice(0, 2).flatMap(({ id: sequenceId }, s) =>
      Array.from({ length: 120 }, (_, i) => {
        const [contactId, home] = [1000 + i, emailShards[(i * 7) % 16]!];
        const item: EnrollmentItem = {
          ...keys.enrollment(shop.orgId, sequenceId, { shard: home, contactId }),
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
      await write(
        update(keys.sequenceCount(shop.orgId, id, 3), {
          add: { active: 120, completed: 4, cancelled: 1 },
        }),
      );
      await write(
        update(keys.stepCount(shop.orgId, id, { stepId: 9, shard: 3 }), { add: { reached: 77 } }),
      );
    }
    const rows = await everyPage(async (cursor) => {
      const { enrollments, pagination } = await reportedSequences.listStalled(
        shop.caller,
        shop.siteId,
        { limit: 9, cursor },
      );
      return { rows: enrollments, next: pagination.nextCursor };
    });
    const expected = items.filter((_, i) => i % 2).map(({ id }) => id);
    expect(rows.map(({ enrollmentId }) => enrollmentId).toSorted((a, b) => a - b)).toEqual(
      expected,
    );
    expect(new Set(rows.map(({ why }) => why))).toEqual(new Set(["sequence_not_active"]));
    expect(rows[0]).toMatchObject({
      sequenceName: "B",
      contactId: 1119,
      stalledHours: 143,
      nextRunAt: null,
    });
    await write(
      update(keys.record(shop.orgId, "SEQUENCE", made[1]!.id), { set: { status: "active" } }),
    );
    const { enrollments } = await reportedSequences.listStalled(shop.caller, shop.siteId, {
      limit: 50,
    });
    expect(new Set(enrollments.map(({ why }) => why))).toEqual(new Set(["waiting", "overdue"]));
    const csv = (await exportInline(shop.caller, {
      type: "stalled-enrollments",
      format: "csv",
      filter: { siteId: shop.siteId },
    }))!;
    const lines = csv.trim().split("\n").slice(1);
    expect(lines.map((line) => Number(line.split(",")[0]))).toEqual(
      rows.map(({ enrollmentId }) => enrollmentId),
    );
    const second = await reportedSequences.listStalled(shop.caller, shop.siteId, {
      limit: 9,
      page: 2,
    });
    expect(second.enrollments.map(({ enrollmentId }) => enrollmentId)).toEqual(
      rows.slice(9, 18).map(({ enrollmentId }) => enrollmentId),
    );
    expect(
      (await reportedSequences.listFunnels(shop.caller, shop.siteId, { limit: 50 })).sequences,
    ).toMatchObject([
      { name: "Empty", active: 0, total: 0, completionRate: 0 },
      {
        name: "B",
        active: 120,
        completed: 4,
        cancelled: 1,
        failed: 0,
        total: 125,
        completionRate: 0.8,
      },
      { name: "A", active: 120 },
    ]);
  });

  test("of a site without sequences is empty, and a header as CSV", async () => {
    const shop = await createTestSite();
    expect(
      (await reportedSequences.listStalled(shop.caller, shop.siteId, { limit: 50 })).enrollments,
    ).toEqual([]);
    const csv = await exportInline(shop.caller, {
      type: "stalled-enrollments",
      format: "csv",
      filter: { siteId: shop.siteId },
    });
    expect(csv!.trim().split("\n")).toHaveLength(1);
  });
});
