// Recurring campaigns: when they are due, and that each date has exactly one campaign.
import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as campaignList from "../../shared/domain/campaigns/campaign-list.ts";
import * as occurrences from "../../shared/domain/campaigns/series/occurrences.ts";
import { runSeries } from "../../shared/domain/campaigns/series/run-series.ts";
import * as series from "../../shared/domain/campaigns/series/series.ts";
import { NewSeries, SeriesChanges } from "../../shared/domain/campaigns/series/series-schema.ts";
import { removeWithUses } from "../../shared/domain/campaigns/usages.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  expectNoDuplicates,
  insertListMembers,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";

beforeAll(useVirtualQueues);

const aDay = 24 * 3600;
const everyDay = {
  frequency: "weekly",
  weekdays: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
  time: "09:00",
};
const create = (from: CampaignSender, fields: object = {}) =>
  series.create(
    from.caller,
    NewSeries.parse({
      siteId: from.siteId,
      name: "Daily news",
      schedule: everyDay,
      templateId: from.templateId,
      listId: from.listId,
      sendingConfigId: from.configId,
      ...fields,
    }),
  );
const runs = (from: CampaignSender, id: number) => series.listRuns(from.caller, id);
const nextDays = (days: number) => runWorkers({ forSeconds: days * aDay });

/** Other tests move the same clock. */
async function end(from: CampaignSender): Promise<void> {
  const { series: all } = await series.list(from.caller, { page: 1, limit: 10 }, undefined);
  for (const { id } of all) await series.pause(from.caller, id);
  await from.provider.stop();
}

const listDates = (schedule: object, timezone: string, from: string, n: number): string[] => {
  const timing = { schedule: occurrences.SeriesSchedule.parse(schedule), timezone };
  const times: string[] = [];
  let date = from;
  for (let i = 0; i < n; i++) {
    times.push(occurrences.startsAt(timing, date).toISOString());
    date = occurrences.nextDate(timing.schedule, date);
  }
  return times;
};
const monthly = (dayOfMonth: number) => ({ frequency: "monthly", dayOfMonth, time: "09:00" });

test("months without the day use their last day", () => {
  expect(listDates(monthly(31), "UTC", "2027-12-31", 5).map((at) => at.slice(0, 10))).toEqual([
    ...["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"],
  ]);
  expect(listDates(monthly(30), "UTC", "2027-01-30", 3).map((at) => at.slice(0, 10))).toEqual([
    ...["2027-01-30", "2027-02-28", "2027-03-30"],
  ]);
});

test("the hour stays when the clocks change, also an hour that is skipped or comes twice", () => {
  const sundays = (time: string) => ({ frequency: "weekly", weekdays: ["sunday"], time });
  expect(listDates(sundays("09:00"), "Europe/Berlin", "2027-03-21", 2)).toEqual([
    ...["2027-03-21T08:00:00.000Z", "2027-03-28T07:00:00.000Z"],
  ]);
  expect(listDates(sundays("02:30"), "Europe/Berlin", "2027-03-28", 1)).toEqual([
    "2027-03-28T01:30:00.000Z",
  ]);
  expect(listDates(sundays("02:30"), "Europe/Berlin", "2027-10-31", 1)).toEqual([
    "2027-10-31T00:30:00.000Z",
  ]);
});

test("at the hour of the contact, it starts in the first time zone of the world", () => {
  const schedule = { ...everyDay, timeZone: "contact" };
  expect(listDates(schedule, "Europe/Berlin", "2027-03-21", 1)).toEqual([
    "2027-03-20T19:00:00.000Z",
  ]);
});

test("chosen weekdays are sent on these days only", () => {
  const schedule = { frequency: "weekly", weekdays: ["monday", "thursday"], time: "18:30" };
  expect(listDates(schedule, "UTC", "2027-03-01", 4)).toEqual([
    ...["2027-03-01T18:30:00.000Z", "2027-03-04T18:30:00.000Z"],
    ...["2027-03-08T18:30:00.000Z", "2027-03-11T18:30:00.000Z"],
  ]);
});

test("each time has a campaign of its own, with its own results", async () => {
  const from = await createCampaignSender();
  await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
  await insertListMembers(from, 2);
  const { id, nextAt } = await create(from);
  expect(nextAt).toMatch(/T00:00:00\.000Z$/);
  await nextDays(3);
  const past = await runs(from, id);
  expect(past).toHaveLength(3);
  expect(past.map(({ outcome }) => outcome)).toEqual(["campaign", "campaign", "campaign"]);
  const sent = past.flatMap(({ campaigns: all }) => all);
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(["sent"]));
  expect(sent[0]!.name).toBe(`Daily news ${past[0]!.date}`);
  for (const one of sent)
    expect(await readConsistentNumbers(from, one.id)).toMatchObject({ candidates: 2, sent: 2 });
  expect(from.provider.mails).toHaveLength(6);
  const ofSeries = await campaignList.list(from.caller, { page: 1, limit: 10 }, { seriesId: id });
  expect(ofSeries.campaigns.map((one) => one.id)).toEqual(sent.map((one) => one.id));
  expect(await series.find(from.caller, id)).toMatchObject({
    status: "active",
    lastCampaignId: sent[0]!.id,
    lastError: null,
  });
  await end(from);
});

test.each(interruptions)("each date has one campaign when the worker %s", async (how) => {
  const from = await createCampaignSender();
  await insertListMembers(from, 2);
  const { id } = await create(from);
  let dates = 0;
  const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
    const { nextAt } = await series.find(from.caller, id);
    const waitSeconds = (Date.parse(nextAt!) - clock.now().getTime()) / 1000;
    clock.advanceClock(waitSeconds + 1);
    await interrupt(
      () => runSeries(from.caller.orgId, id),
      () => runWorkers({ forSeconds: 3600 }),
    );
    const past = await runs(from, id);
    expect(past).toHaveLength(++dates);
    expect(past[0]!.campaigns).toMatchObject([{ status: "sent" }]);
    expect(from.provider.mails).toHaveLength(2 * dates);
    expectNoDuplicatesOf(past);
  });
  expect(steps.length).toBeGreaterThan(3);
  await end(from);
});

function expectNoDuplicatesOf(past: Awaited<ReturnType<typeof series.listRuns>>): void {
  const dates = past.map(({ date }) => date);
  expect(new Set(dates).size).toBe(dates.length);
}

test("several workers at once start one campaign", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 2);
  const { id, nextAt } = await create(from);
  clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + 1);
  await Promise.all(Array.from({ length: 4 }, () => runSeries(from.caller.orgId, id)));
  await runWorkers({ forSeconds: 3600 });
  expect(await runs(from, id)).toHaveLength(1);
  expect(expectNoDuplicates(from)).toHaveLength(2);
  const { campaigns: all } = await campaignList.list(from.caller, { page: 1, limit: 10 }, {});
  expect(all).toHaveLength(1);
  await end(from);
});

test("after an outage, one campaign takes the place of all that were missed", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 1);
  const { id } = await create(from);
  clock.advanceClock(9 * aDay);
  await runWorkers({ forSeconds: 3600 });
  const past = await runs(from, id);
  expect(past).toHaveLength(1);
  expect(past[0]!.campaigns).toMatchObject([{ status: "sent" }]);
  const { nextAt } = await series.find(from.caller, id);
  expect(Date.parse(nextAt!)).toBeGreaterThan(clock.now().getTime());
  await end(from);
});

test("a paused series sends nothing, and goes on with the next time", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 1);
  const { id } = await create(from);
  expect(await series.pause(from.caller, id)).toMatchObject({ status: "paused", nextAt: null });
  expect(await series.pause(from.caller, id)).toMatchObject({ status: "paused" });
  await nextDays(3);
  expect(await runs(from, id)).toEqual([]);
  const { nextAt } = await series.resume(from.caller, id);
  expect(Date.parse(nextAt!)).toBeGreaterThan(clock.now().getTime());
  await nextDays(1);
  expect(await runs(from, id)).toHaveLength(1);
  await series.remove(from.caller, id);
  await nextDays(2);
  expect(from.provider.mails).toHaveLength(1);
  await end(from);
});

test("a changed schedule does not send twice on a date", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 1);
  const { id } = await create(from);
  await nextDays(1);
  const [last] = await runs(from, id);
  const schedule = { ...everyDay, time: "23:59" };
  await series.change(from.caller, id, SeriesChanges.parse({ schedule }));
  await nextDays(1);
  const past = await runs(from, id);
  expectNoDuplicatesOf(past);
  expect(past.at(-1)!.date).toBe(last!.date);
  await end(from);
});

test("nothing new: sends nothing while the content is the same", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 1);
  const { id } = await create(from, { skipUnchanged: true });
  await nextDays(3);
  expect((await runs(from, id)).map(({ outcome }) => outcome)).toEqual([
    ...["unchanged", "unchanged", "campaign"],
  ]);
  const { version } = await templates.find(from.caller, from.templateId);
  await templates.change(from.caller, from.templateId, {
    html: "<p>New</p>",
    version,
  } as Parameters<typeof templates.change>[2]);
  await nextDays(1);
  expect((await runs(from, id))[0]!.outcome).toBe("campaign");
  expect(from.provider.mails).toHaveLength(2);
  await end(from);
});

test("at the hour of each contact, every time zone gets it at its time", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 2, (i) => ({
    timezone: ["Asia/Tokyo", "America/New_York"][i],
  }));
  const { id } = await create(from, { schedule: { ...everyDay, timeZone: "contact" } });
  await nextDays(3);
  const past = await runs(from, id);
  const [done] = past
    .flatMap(({ campaigns: all }) => all)
    .filter(({ status }) => status === "sent");
  expect(await readConsistentNumbers(from, done!.id)).toMatchObject({ sent: 2 });
  await end(from);
});

test("takes the content of a draft, and refuses one with variants", async () => {
  const from = await createCampaignSender();
  const draft = await createDraft(from, { subject: "Weekly" });
  const made = await series.create(
    from.caller,
    NewSeries.parse({ campaignId: draft.id, name: "Weekly", schedule: everyDay, subject: "Own" }),
  );
  expect(made).toMatchObject({
    subject: "Own",
    templateId: from.templateId,
    listId: from.listId,
    sendingConfigId: from.configId,
  });
  await createVariant(from, draft.id, { subject: "A" });
  await expect(create(from, { campaignId: draft.id })).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "campaignId", message: expect.stringContaining("variants") }],
  });
  await end(from);
});

test("an incomplete series is refused and names the field", async () => {
  const from = await createCampaignSender();
  await expect(create(from, { listId: null })).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "listId" }],
  });
  const { id } = await create(from);
  await expect(
    series.change(from.caller, id, SeriesChanges.parse({ templateId: null })),
  ).rejects.toMatchObject({ kind: "invalid", details: [{ path: "templateId" }] });
  expect((await series.find(from.caller, id)).templateId).toBe(from.templateId);
  expect(
    NewSeries.safeParse({ name: "A", schedule: { frequency: "monthly", time: "9" } }).success,
  ).toBe(false);
  await end(from);
});

test("a series pauses when its list is deleted", async () => {
  const from = await createCampaignSender();
  const { id } = await create(from);
  const notes = await removeWithUses(from.caller, {
    kind: "LIST",
    id: from.listId,
    ifUnused: false,
    remove: async () => {},
  });
  expect(notes[0]).toContain("recurring campaign");
  expect(await series.find(from.caller, id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringContaining("was deleted"),
  });
  await end(from);
});
