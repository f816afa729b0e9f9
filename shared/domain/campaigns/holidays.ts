// Holiday mailings: one mail on one day to every contact in an active sequence of the site.

import { all, any, equals, oneOf, present } from "../../adapters/dynamodb/conditions.ts";
import { ConditionFailed, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, invalid } from "../../errors.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import * as topics from "../audience/topics/topics.ts";
import { findChosenTemplate } from "../content/own-content.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { toMailingStats } from "../sending/mailing-stats.ts";
import { contentReferences } from "./campaign-references.ts";
import * as broadcast from "./engine/broadcast.ts";
import * as cleanup from "./engine/cleanup.ts";
import * as transitions from "./engine/transitions.ts";
import { getHolidayTimes } from "./holiday-plan.ts";
import {
  type Holiday,
  type HolidayChanges,
  type HolidayDetail,
  type NewHoliday,
  type StoredHoliday,
  toApi,
} from "./holiday-schema.ts";

/** Throws 400 for a day in the past. A holiday of today starts at once after nine o'clock. */
export async function create(
  who: CallerScope,
  { siteId: given, ...fields }: NewHoliday,
): Promise<Holiday> {
  const siteId = await sites.resolveSiteId(who, given);
  const startsAt = await checkReferences(who, { siteId, ...fields });
  const base = {
    ...(await records.newRecordFields("HOLIDAY")),
    orgId: who.orgId,
    kind: "holiday" as const,
    siteId,
    revision: 1,
  };
  const holiday: StoredHoliday = {
    ...base,
    ...fields,
    status: "scheduled",
    ...broadcast.broadcastDueAttributes(base.id, startsAt),
  };
  const created = await records.insert<StoredHoliday>("HOLIDAY", who, { record: holiday });
  if (startsAt <= now()) await broadcast.enqueuePoll(created);
  return toApi(created);
}

const findStored = (who: CallerScope, id: number): Promise<StoredHoliday> =>
  records.find<StoredHoliday>("HOLIDAY", who, id);

export async function findHolidayDetail(who: CallerScope, id: number): Promise<HolidayDetail> {
  const [holiday, { all: numbers }] = await Promise.all([
    findStored(who, id),
    mailSources.getSourceTotals(who.orgId, { kind: "holiday", id }),
  ]);
  const missing = await records.listMissing(who, contentReferences(holiday));
  return { ...toApi(holiday), stats: toMailingStats(numbers), accounting: numbers, missing };
}

/** Newest first. */
export async function list(who: CallerScope, request: PageRequest, siteId: number | undefined) {
  const filter = { siteIds: await sites.siteFilter(who, siteId) };
  const { items, pagination } = await records.list<StoredHoliday>("HOLIDAY", who, {
    ...request,
    ...filter,
  });
  return { holidays: items.map(toApi), pagination };
}

/** Once it has started, only cancelling is possible: other changes throw 409. */
export async function updateHoliday(
  who: CallerScope,
  id: number,
  { status, ...changes }: HolidayChanges,
): Promise<HolidayDetail> {
  if (Object.values(changes).some((value) => value !== undefined))
    await updateStored(who, id, changes);
  if (status === "cancelled") await cancel(who, id);
  return findHolidayDetail(who, id);
}

const updateStored = (
  who: CallerScope,
  id: number,
  changes: Omit<HolidayChanges, "status">,
): Promise<void> =>
  retryOnConflict("The holiday", async () => {
    const current = await findStored(who, id);
    if (current.status !== "scheduled")
      throw conflict(
        `The holiday is ${current.status}: it can be changed only while it is scheduled`,
      );
    const next = { ...current, ...changes } as StoredHoliday;
    const startsAt = await checkReferences(who, next, changes);
    const set = {
      ...changes,
      revision: current.revision + 1,
      ...broadcast.broadcastDueAttributes(id, startsAt),
    };
    const unchangedCondition = all(
      equals("revision", current.revision),
      equals("status", "scheduled"),
    );
    await write(broadcast.updateWrite(current, { set }, { if: unchangedCondition }));
    if (startsAt <= now()) await broadcast.enqueuePoll(current);
  });

/** A repeated cancel succeeds. */
const cancel = (who: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The holiday", async () => {
    const current = await findStored(who, id);
    if (current.status === "cancelled") return;
    if (current.status === "sent")
      throw conflict("The holiday is already sent and can no longer be cancelled");
    if (!(await transitions.cancel(current))) throw new ConditionFailed(0);
  });

/** Deletes its sends too, in the background. Throws 409 while mail is being sent. */
export async function remove(who: CallerScope, id: number): Promise<void> {
  const { siteId, startedAt } = await findStored(who, id);
  const key: broadcast.BroadcastRef = { orgId: who.orgId, kind: "holiday", id };
  const deletableCondition = any(
    oneOf("status", ["scheduled", "sent"]),
    all(equals("status", "cancelled"), present("finishedAt")),
  );
  const stillRunning = conflict(
    "The holiday still has mail to send: cancel it, and delete it when finishedAt is set",
    {
      code: "holiday_running",
    },
  );
  await write(
    ...records.removeWrites("HOLIDAY", who, {
      id,
      siteId,
      condition: { if: deletableCondition, orThrow: stillRunning },
    }),
    ...(startedAt ? [cleanup.createCleanupWrite(key)] : []),
  );
  if (startedAt) await broadcast.enqueuePoll(key);
}

/** Checks the changed fields and returns when sending starts. */
async function checkReferences(
  who: CallerScope,
  {
    siteId,
    date,
    templateId,
    sendingConfigId,
    topicId,
  }: Pick<StoredHoliday, "siteId" | "date" | "templateId" | "sendingConfigId" | "topicId">,
  changes: HolidayChanges = { date, templateId, sendingConfigId, topicId },
): Promise<Date> {
  const [{ startsAt, endsAt }] = await Promise.all([
    getHolidayTimes(who.orgId, date),
    changes.templateId === undefined
      ? undefined
      : findChosenTemplate(who, { id: templateId, siteId, path: "templateId" }),
    changes.topicId && topics.findOfSite(who, { id: changes.topicId, siteId }),
    changes.sendingConfigId && sendingConfigs.findWithSender(who, changes.sendingConfigId),
  ]);
  if (changes.date !== undefined && now() >= endsAt)
    throw invalid("date must be today or later, in the organization's timezone", {
      details: [{ path: "date", message: "is in the past" }],
    });
  return startsAt;
}
