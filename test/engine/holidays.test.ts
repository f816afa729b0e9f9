// Holidays: on their day everybody who is active in a sequence gets one mail, and deleted they leave nothing behind.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as remains from "../../shared/domain/broadcasts/remains.ts";
import * as calendar from "../../shared/domain/holidays/calendar.ts";
import { HolidayChanges, NewHoliday } from "../../shared/domain/holidays/holiday.ts";
import * as holidays from "../../shared/domain/holidays.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import * as feed from "../../shared/domain/sending/feed.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import { blockOf } from "../../shared/keys.ts";
import { numbers, onceEach, opened, people, type Shop, settle, shop } from "../support/campaigners.ts";
import { atSomeSteps } from "../support/killer.ts";

vi.setConfig({ testTimeout: 300_000 });
beforeAll(opened);

const aDay = 24 * 3600;
const dayAfter = (days: number): string =>
  clock
    .after(days * aDay)
    .toISOString()
    .slice(0, 10);
const make = (from: Shop, fields: Partial<NewHoliday> = {}) =>
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
const enrolled = { sequences: new Set([7]) };
const look = (from: Shop, id: number) => holidays.detail(from.caller, id);

test.each([
  ["2026-12-24", 9, "UTC", "2026-12-24T09:00:00.000Z"],
  ["2026-12-24", 9, "Europe/Berlin", "2026-12-24T08:00:00.000Z"],
  ["2026-07-04", 9, "America/New_York", "2026-07-04T13:00:00.000Z"],
  ["2026-12-24", 9, "Pacific/Kiritimati", "2026-12-23T19:00:00.000Z"],
  ["2026-12-24", 24, "Asia/Kolkata", "2026-12-24T18:30:00.000Z"],
  ["2026-03-29", 9, "Europe/Berlin", "2026-03-29T07:00:00.000Z"],
  ["2026-10-25", 24, "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
])("%s at %i in %s is %s", (date, hour, timezone, instant) => {
  expect(calendar.instantOf(date, hour, timezone).toISOString()).toBe(instant);
});

test("it goes at nine of its day where the organization is, once to everybody who is active in a sequence", async () => {
  const from = await shop();
  await organizations.change(from.caller, { timezone: "Asia/Tokyo" });
  await people(from, 6, (i) => (i < 4 ? enrolled : {}));
  const date = dayAfter(2);
  const { id, status } = await make(from, { date });
  expect(status).toBe("scheduled");
  const nine = Date.parse(`${date}T00:00:00Z`);
  await settle({ forSeconds: (nine - clock.now().getTime()) / 1000 - 30 });
  expect(from.provider.mails).toHaveLength(0);
  await settle({ forSeconds: 600 });
  expect(onceEach(from)).toHaveLength(4);
  expect(await numbers(from, id, "holiday")).toMatchObject({ candidates: 4, sent: 4 });
  expect(await look(from, id)).toMatchObject({ status: "sent", stats: { recipients: 4, sent: 4 }, startedAt: expect.any(String) });
  const { sends: all } = await sends.list(from.caller, { limit: 10 }, {});
  expect(all.map(({ holidayId }) => holidayId)).toEqual([id, id, id, id]);
  await from.provider.stop();
});

test("today's goes at once when it is past nine; a day that is over is refused", async () => {
  const from = await shop();
  await people(from, 1, () => enrolled);
  // Somewhere it is always between nine and midnight.
  const hour = clock.now().getUTCHours();
  const ahead = (14 - hour + 24) % 24;
  const timezone = ahead <= 12 ? `Etc/GMT-${ahead}` : `Etc/GMT+${24 - ahead}`;
  await organizations.change(from.caller, { timezone });
  const today = await organizations.today(from.caller.orgId);
  const { id } = await make(from, { date: today });
  await settle({ forSeconds: 60 });
  expect((await look(from, id)).status).toBe("sent");
  const yesterday = new Date(Date.parse(today) - aDay * 1000).toISOString().slice(0, 10);
  await expect(make(from, { date: yesterday })).rejects.toMatchObject({ kind: "invalid", details: [{ path: "date" }] });
  await from.provider.stop();
});

test("an outage over its day cancels it with the reason; so does a sender that is missing", async () => {
  const from = await shop();
  await people(from, 1, () => enrolled);
  const { id } = await make(from, { date: dayAfter(1) });
  clock.advance(3 * aDay);
  await settle({ forSeconds: 600 });
  expect(await look(from, id)).toMatchObject({ status: "cancelled", statusReason: expect.stringContaining("the day is over") });
  const { id: other } = await make(from, { date: dayAfter(1), sendingConfigId: null });
  await settle({ forSeconds: 2 * aDay });
  expect(await look(from, other)).toMatchObject({
    status: "cancelled",
    statusReason: expect.stringContaining("no verified sending config"),
  });
  const config = await sendingConfigs.find(from.caller, from.configId);
  await sendingConfigs.noteVerified(from.caller, config, true);
  const { id: third } = await make(from, { date: dayAfter(1), sendingConfigId: null });
  await settle({ forSeconds: 2 * aDay });
  expect((await look(from, third)).status).toBe("sent");
  await from.provider.stop();
});

test("changed it goes on its new day with its new template; cancelled it stops within seconds", async () => {
  const from = await shop();
  await people(from, 30, () => enrolled);
  const { id } = await make(from, { date: dayAfter(1) });
  expect(await holidays.change(from.caller, id, { date: dayAfter(5), name: "Later" })).toMatchObject({ name: "Later", date: dayAfter(5) });
  await settle({ forSeconds: 3 * aDay });
  expect((await look(from, id)).status).toBe("scheduled");
  from.provider.trouble = () => (from.provider.mails.length < 4 ? undefined : { status: 429, headers: { "retry-after": "20" } });
  await settle({ forSeconds: (Date.parse(`${dayAfter(2)}T09:00:00Z`) - clock.now().getTime()) / 1000 + 60 });
  expect((await look(from, id)).status).toBe("sending");
  await expect(holidays.change(from.caller, id, { name: "Too late" })).rejects.toMatchObject({ kind: "conflict" });
  await expect(holidays.remove(from.caller, id)).rejects.toMatchObject({ code: "holiday_running" });
  const stopped = await holidays.change(from.caller, id, HolidayChanges.parse({ status: "cancelled" }));
  expect(stopped.status).toBe("cancelled");
  const gone = from.provider.mails.length;
  from.provider.trouble = () => undefined;
  await settle({ forSeconds: 3600 });
  const told = await numbers(from, id, "holiday");
  expect(told).toMatchObject({ queued: 0, sending: 0, candidates: 30 });
  // The call that the provider had put off was under way.
  expect(from.provider.mails.length - gone).toBeLessThanOrEqual(10);
  expect(told.sent + told.cancelled).toBe(30);
  await holidays.change(from.caller, id, HolidayChanges.parse({ status: "cancelled" }));
  await from.provider.stop();
});

/** Everything that says something of holidays, of sends, or of these blocks of them. */
async function leftOf({ caller: { orgId } }: Shop, blocks: number[]): Promise<string[]> {
  const items: string[] = [];
  let start: Record<string, never> | undefined;
  do {
    const page = await new DynamoDBClient({}).send(
      new ScanCommand({ TableName: process.env.TABLE_NAME, ProjectionExpression: "pk, sk", ...(start && { ExclusiveStartKey: start }) }),
    );
    for (const { pk, sk } of page.Items ?? []) items.push(`${pk!.S}|${sk!.S}`);
    start = page.LastEvaluatedKey as typeof start;
  } while (start);
  return items.filter((item) => new RegExp(`^${orgId}#(S\\d+|B(${blocks.join("|")})|[NFH]holiday#\\d+|\\d+#SENDS|HOLIDAY)\\|`).test(item));
}

test("deleted it takes its sends along, whoever dies over it, and those of others stay", async () => {
  const from = await shop();
  await people(from, 2, () => enrolled);
  const steps = await atSomeSteps(4, async (kill) => {
    const { id } = await make(from);
    await settle({ forSeconds: 2 * aDay });
    expect((await look(from, id)).status).toBe("sent");
    expect(await feed.total(from.caller.orgId, [from.siteId])).toBe(2);
    const blocks = (await sends.list(from.caller, { limit: 50 }, {})).sends.map((send) => blockOf(send.id));
    await holidays.remove(from.caller, id);
    await expect(look(from, id)).rejects.toMatchObject({ kind: "missing" });
    await kill(() => remains.clear({ orgId: from.caller.orgId, kind: "holiday", id }));
    await settle({ forSeconds: 3600 });
    expect(await leftOf(from, blocks)).toEqual([]);
    expect(await feed.total(from.caller.orgId, [from.siteId])).toBe(0);
    expect((await sends.list(from.caller, { limit: 10 }, {})).sends).toEqual([]);
  });
  expect(steps.length).toBeGreaterThan(10);
  await from.provider.stop();
});
