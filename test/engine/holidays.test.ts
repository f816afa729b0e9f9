// Holidays: on the day of a holiday, each contact in an active sequence gets one mail.
import { beforeAll, expect, test } from "vitest";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as remains from "../../shared/domain/campaigns/engine/cleanup.ts";
import { HolidayChanges, NewHoliday } from "../../shared/domain/campaigns/holiday-schema.ts";
import * as holidays from "../../shared/domain/campaigns/holidays.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { countSends } from "../../shared/domain/identity/site-send-counts.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { instantOf } from "../../shared/kernel/time-zones.ts";
import { blockOf, keys } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  expectNoDuplicates,
  insertListMembers,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { listAllKeys } from "../support/memory-dynamodb.ts";

beforeAll(useVirtualQueues);

const aDay = 24 * 3600;
const dayAfter = (days: number): string =>
  clock
    .addSeconds(days * aDay)
    .toISOString()
    .slice(0, 10);
const make = (from: CampaignSender, fields: Partial<NewHoliday> = {}) =>
  holidays.create(
    from.caller,
    NewHoliday.parse({
      siteId: from.siteId,
      name: "New year",
      date: dayAfter(1),
      templateId: from.templateId,
      sendingConfigId: from.configId,
      ...fields,
    }),
  );
/** Fields of a contact that is in a sequence of this status. */
async function enrolledIn(
  { caller, siteId }: CampaignSender,
  status: "active" | "paused" = "active",
) {
  const { id } = await sequences.create(caller, NewSequence.parse({ siteId, name: status }));
  await write(update(keys.record(caller.orgId, "SEQUENCE", id), { set: { status } }));
  return { sequences: new Set([id]) };
}
const look = (from: CampaignSender, id: number) => holidays.findHolidayDetail(from.caller, id);

test.each([
  ["2026-12-24", 9, "UTC", "2026-12-24T09:00:00.000Z"],
  ["2026-12-24", 9, "Europe/Berlin", "2026-12-24T08:00:00.000Z"],
  ["2026-07-04", 9, "America/New_York", "2026-07-04T13:00:00.000Z"],
  ["2026-12-24", 9, "Pacific/Kiritimati", "2026-12-23T19:00:00.000Z"],
  ["2026-12-24", 24, "Asia/Kolkata", "2026-12-24T18:30:00.000Z"],
  ["2026-03-29", 9, "Europe/Berlin", "2026-03-29T07:00:00.000Z"],
  ["2026-10-25", 24, "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
])("%s at %i in %s is %s", (date, hour, timezone, instant) => {
  expect(instantOf(date, hour, timezone).toISOString()).toBe(instant);
});

test("a holiday is sent at 9:00 local time, once to each contact in an active sequence", async () => {
  const from = await createCampaignSender();
  await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
  const [enrolled, paused] = [await enrolledIn(from), await enrolledIn(from, "paused")];
  await insertListMembers(
    from,
    6,
    (i) => [enrolled, enrolled, enrolled, enrolled, paused][i] ?? {},
  );
  const date = dayAfter(2);
  const { id, status } = await make(from, { date });
  expect(status).toBe("scheduled");
  const nine = Date.parse(`${date}T00:00:00Z`);
  await runWorkers({ forSeconds: (nine - clock.now().getTime()) / 1000 - 30 });
  expect(from.provider.mails).toHaveLength(0);
  await runWorkers({ forSeconds: 600 });
  expect(expectNoDuplicates(from)).toHaveLength(4);
  expect(await readConsistentNumbers(from, id, "holiday")).toMatchObject({
    candidates: 4,
    sent: 4,
  });
  expect(await look(from, id)).toMatchObject({
    status: "sent",
    stats: { recipients: 4, sent: 4 },
    startedAt: expect.any(String),
  });
  const { sends: all } = await listSends(from.caller, { limit: 10 }, {});
  expect(all.map(({ holidayId }) => holidayId)).toEqual([id, id, id, id]);
  await from.provider.stop();
});

test("today's holiday is sent at once after 9:00; a past date is refused", async () => {
  const from = await createCampaignSender();
  const enrolled = await enrolledIn(from);
  await insertListMembers(from, 1, () => enrolled);
  // A time zone in which it is now between 9:00 and midnight.
  const hour = clock.now().getUTCHours();
  const ahead = (14 - hour + 24) % 24;
  const timezone = ahead <= 12 ? `Etc/GMT-${ahead}` : `Etc/GMT+${24 - ahead}`;
  await organizations.change(from.caller, { timezone });
  const today = await organizations.getToday(from.caller.orgId);
  const { id } = await make(from, { date: today });
  await runWorkers({ forSeconds: 60 });
  expect((await look(from, id)).status).toBe("sent");
  const yesterday = new Date(Date.parse(today) - aDay * 1000).toISOString().slice(0, 10);
  await expect(make(from, { date: yesterday })).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "date" }],
  });
  await from.provider.stop();
});

test("an outage for the whole day or a missing sender cancels a holiday with the reason", async () => {
  const from = await createCampaignSender();
  const enrolled = await enrolledIn(from);
  await insertListMembers(from, 1, () => enrolled);
  const { id } = await make(from, { date: dayAfter(1) });
  clock.advanceClock(3 * aDay);
  await runWorkers({ forSeconds: 600 });
  expect(await look(from, id)).toMatchObject({
    status: "cancelled",
    statusReason: expect.stringContaining("that day is over"),
  });
  const { id: other } = await make(from, { date: dayAfter(1), sendingConfigId: null });
  await runWorkers({ forSeconds: 2 * aDay });
  expect(await look(from, other)).toMatchObject({
    status: "cancelled",
    statusReason: expect.stringContaining("no verified sending config"),
  });
  const config = await sendingConfigs.find(from.caller, from.configId);
  await sendingConfigs.setVerified(from.caller, config, true);
  const { id: third } = await make(from, { date: dayAfter(1), sendingConfigId: null });
  await runWorkers({ forSeconds: 2 * aDay });
  expect((await look(from, third)).status).toBe("sent");
  await from.provider.stop();
});

test("a changed holiday uses its new date and template; a cancelled one stops in seconds", async () => {
  const from = await createCampaignSender();
  const enrolled = await enrolledIn(from);
  await insertListMembers(from, 30, () => enrolled);
  const { id } = await make(from, { date: dayAfter(1) });
  expect(
    await holidays.updateHoliday(from.caller, id, { date: dayAfter(5), name: "Later" }),
  ).toMatchObject({
    name: "Later",
    date: dayAfter(5),
  });
  await runWorkers({ forSeconds: 3 * aDay });
  expect((await look(from, id)).status).toBe("scheduled");
  from.provider.faultFor = () =>
    from.provider.mails.length < 4 ? undefined : { status: 429, headers: { "retry-after": "20" } };
  await runWorkers({
    forSeconds: (Date.parse(`${dayAfter(2)}T09:00:00Z`) - clock.now().getTime()) / 1000 + 60,
  });
  expect((await look(from, id)).status).toBe("sending");
  await expect(holidays.updateHoliday(from.caller, id, { name: "Too late" })).rejects.toMatchObject(
    { kind: "conflict" },
  );
  await expect(holidays.remove(from.caller, id)).rejects.toMatchObject({ code: "holiday_running" });
  const stopped = await holidays.updateHoliday(
    from.caller,
    id,
    HolidayChanges.parse({ status: "cancelled" }),
  );
  expect(stopped.status).toBe("cancelled");
  const sentBefore = from.provider.mails.length;
  from.provider.faultFor = () => undefined;
  await runWorkers({ forSeconds: 3600 });
  const totals = await readConsistentNumbers(from, id, "holiday");
  expect(totals).toMatchObject({ queued: 0, sending: 0, candidates: 30 });
  // One call was in flight, because the provider had asked for a pause.
  expect(from.provider.mails.length - sentBefore).toBeLessThanOrEqual(10);
  expect(totals.sent + totals.cancelled).toBe(30);
  await holidays.updateHoliday(from.caller, id, HolidayChanges.parse({ status: "cancelled" }));
  await from.provider.stop();
});

/** Lists the stored items of holidays, of sends and of these blocks. */
async function listRemaining(
  { caller: { orgId } }: CampaignSender,
  blocks: number[],
): Promise<string[]> {
  const items = (await listAllKeys()).map(({ pk, sk }) => `${pk}|${sk}`);
  return items.filter((item) =>
    new RegExp(
      `^${orgId}#(S\\d+|B(${blocks.join("|")})|[NFH]holiday#\\d+|\\d+#SENDS|HOLIDAY)\\|`,
    ).test(item),
  );
}

test.each(interruptions)(
  "deleting a holiday deletes its sends and no others when the worker %s",
  async (how) => {
    const from = await createCampaignSender();
    const enrolled = await enrolledIn(from);
    await insertListMembers(from, 2, () => enrolled);
    const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
      const { id } = await make(from);
      await runWorkers({ forSeconds: 2 * aDay });
      expect((await look(from, id)).status).toBe("sent");
      expect(await countSends(from.caller.orgId, [from.siteId])).toBe(2);
      const blocks = (await listSends(from.caller, { limit: 50 }, {})).sends.map((send) =>
        blockOf(send.id),
      );
      await holidays.remove(from.caller, id);
      await expect(look(from, id)).rejects.toMatchObject({ kind: "missing" });
      await interrupt(
        () => remains.cleanUpBroadcast({ orgId: from.caller.orgId, kind: "holiday", id }),
        () => runWorkers({ forSeconds: 3600 }),
      );
      expect(await listRemaining(from, blocks)).toEqual([]);
      expect(await countSends(from.caller.orgId, [from.siteId])).toBe(0);
      expect((await listSends(from.caller, { limit: 10 }, {})).sends).toEqual([]);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  },
);
