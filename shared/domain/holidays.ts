// Holidays: one mail on one day to everybody who is active in a sequence of the site.
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { all, any, equals, oneOf, present, where } from "../conditions.ts";
import { claim, write } from "../doors/table.ts";
import { conflict, invalid } from "../errors.ts";
import type { PageRequest } from "../paging.ts";
import * as broadcasts from "./broadcasts/broadcast.ts";
import * as remains from "./broadcasts/remains.ts";
import * as states from "./broadcasts/states.ts";
import { statsOf } from "./campaigns/stats.ts";
import * as calendar from "./holidays/calendar.ts";
import { type Holiday, type HolidayChanges, type HolidayDetail, type NewHoliday, type StoredHoliday, told } from "./holidays/holiday.ts";
import * as records from "./records.ts";
import * as sources from "./sending/sources.ts";
import * as sendingConfigs from "./sending-configs.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

/** 400 for a day that is over; today's goes out at once when it is past nine. */
export async function create(who: Who, { siteId: given, ...fields }: NewHoliday): Promise<Holiday> {
  const siteId = await sites.resolve(who, given);
  const startsAt = await checked(who, siteId, fields);
  const base = { ...(await records.stamp("HOLIDAY")), orgId: who.orgId, kind: "holiday" as const, siteId, revision: 1 };
  const holiday: StoredHoliday = { ...base, ...fields, status: "scheduled", ...broadcasts.dueAt(base.id, startsAt) };
  const made = await records.insert<StoredHoliday>("HOLIDAY", who, holiday);
  if (startsAt <= now()) await broadcasts.kick(made);
  return told(made);
}

const item = (who: Who, id: number): Promise<StoredHoliday> => records.find<StoredHoliday>("HOLIDAY", who, id);

export async function detail(who: Who, id: number): Promise<HolidayDetail> {
  const [holiday, { all: numbers }] = await Promise.all([item(who, id), sources.numbers(who.orgId, { kind: "holiday", id })]);
  return { ...told(holiday), stats: statsOf(numbers), accounting: numbers };
}

/** Newest first. */
export async function list(who: Who, request: PageRequest, siteId: number | undefined) {
  const filter = where({ siteId: await sites.only(who, siteId) });
  const { items, pagination } = await records.list<StoredHoliday>("HOLIDAY", who, request, filter);
  return { holidays: items.map(told), pagination };
}

/** 409 once it is on its way, but for cancelling it. */
export async function change(who: Who, id: number, { status, ...changes }: HolidayChanges): Promise<HolidayDetail> {
  if (Object.values(changes).some((value) => value !== undefined)) await edit(who, id, changes);
  if (status === "cancelled") await cancel(who, id);
  return detail(who, id);
}

async function edit(who: Who, id: number, changes: Omit<HolidayChanges, "status">): Promise<void> {
  for (let tries = 1; tries <= 10; tries++) {
    const current = await item(who, id);
    if (current.status !== "scheduled") throw conflict(`The holiday is ${current.status}: it can be changed only while it is scheduled`);
    const next = { ...current, ...changes } as StoredHoliday;
    const startsAt = await checked(who, current.siteId, next, changes);
    const set = { ...changes, revision: current.revision + 1, ...broadcasts.dueAt(id, startsAt) };
    const asRead = all(equals("revision", current.revision), equals("status", "scheduled"));
    if (!(await claim(broadcasts.changing(current, { set }, { if: asRead })))) continue;
    if (startsAt <= now()) await broadcasts.kick(current);
    return;
  }
  throw conflict("The holiday is being changed by others at the same time");
}

/** Repeated, it is cancelled still. */
async function cancel(who: Who, id: number): Promise<void> {
  for (let tries = 1; tries <= 5; tries++) {
    const current = await item(who, id);
    if (current.status === "cancelled") return;
    if (current.status === "sent") throw conflict("The holiday is sent: it cannot be cancelled any more");
    if (await states.cancel(current)) return;
  }
  throw conflict("The holiday is being changed by others at the same time");
}

/** Its sends go with it, in the background. 409 while mail of it is on its way. */
export async function remove(who: Who, id: number): Promise<void> {
  const { siteId: _, startedAt } = await item(who, id);
  const key: broadcasts.Key = { orgId: who.orgId, kind: "holiday", id };
  const resting = any(oneOf("status", ["scheduled", "sent"]), all(equals("status", "cancelled"), present("finishedAt")));
  const busy = conflict("Mail of the holiday is on its way: cancel it first, and wait until all of it is accounted for", {
    code: "holiday_running",
  });
  await write(...records.removing("HOLIDAY", who, id, { if: resting, otherwise: busy }), ...(startedAt ? [remains.leaving(key)] : []));
  if (startedAt) await broadcasts.kick(key);
}

/** Answers with when it starts. Of a change only what is changed is looked at. */
async function checked(
  who: Who,
  siteId: number,
  { date, templateId, sendingConfigId }: Pick<Holiday, "date" | "templateId" | "sendingConfigId">,
  changes: HolidayChanges = { date, templateId, sendingConfigId },
): Promise<Date> {
  const [{ startsAt, endsAt }] = await Promise.all([
    calendar.dayOf(who.orgId, date),
    changes.templateId === undefined ? undefined : records.ofSite("TEMPLATE", who, templateId, siteId, "templateId"),
    changes.sendingConfigId && sendingConfigs.find(who, changes.sendingConfigId),
  ]);
  if (changes.date !== undefined && now() >= endsAt)
    throw invalid("date must be today or later, in the organization's timezone", { details: [{ path: "date", message: "is over" }] });
  return startsAt;
}
