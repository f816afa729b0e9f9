// Event files: each event is in exactly one, whatever happens to the workers.
import { afterAll, beforeAll, expect, test } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { insertMany, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock, now } from "../../shared/clock.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { upsertRows } from "../../shared/domain/audience/contacts/upserts.ts";
import { writeEventFiles } from "../../shared/domain/delivery-events/event-files.ts";
import { closesAt, type EventHour, type HourId } from "../../shared/domain/webhooks/event-hours.ts";
import { compress } from "../../shared/kernel/compressed-values.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { createContact, createTestSite } from "../support/contacts.ts";
import {
  crashAtEveryStep,
  interruptedAtSomeSteps,
  interruptions,
} from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  type SentMails,
  sentItem,
} from "../support/delivery-events.ts";
import { type EventFiles, type FiledEvent, startEventFiles } from "../support/event-stream.ts";
import { listAllKeys } from "../support/memory-dynamodb.ts";
import { measureUnits } from "../support/request-units.ts";
import { deadLetters, runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

let stream: EventFiles;
beforeAll(async () => {
  stream = startEventFiles();
  await useVirtualQueues();
});
afterAll(() => {
  stream.stop();
  expect(deadLetters).toEqual([]);
});

const workers = [drain, forward, jobs];
const longEnough = 3600 + 1200;
const runAll = () => runWorkers(workers, { forSeconds: longEnough });
const currentHour = () => now().toISOString().slice(0, 13);
const hourIn = ({ file }: FiledEvent) => file.replace(/.*day=(.*)\/hour=(\d\d).*/, "$1T$2");
const idsOf = (events: FiledEvent[]) => events.map(({ eventId }) => eventId).toSorted();
const openHours = ({ orgId, siteId }: { orgId: number; siteId: number }) =>
  queryAll<EventHour>(ranges.eventHours(orgId, siteId), { consistent: true });

/** The clock stands at the start of an hour, so that the events of a test are of one hour. */
const startHour = () => advanceClock(3600 - (now().getTime() % 3_600_000) / 1000 + 1);

/** Applies one event of each kind to each mail. Returns the ids of the events. */
async function applyEvents({ orgId, sendIds }: SentMails): Promise<number[]> {
  const message = await createEventMessage(
    orgId,
    sendIds.flatMap((id) => [createEvent(id, "delivered", 5), createEvent(id, "open", 60)]),
  );
  await applyMessages(message);
  return message.body.events.map(({ id }) => id);
}

test("an hour becomes a file with the events that were stored in it", async () => {
  startHour();
  const mails = await createSentMails(3);
  const first = currentHour();
  const ids = await applyEvents(mails);
  startHour();
  const second = currentHour();
  const more = await createEventMessage(mails.orgId, [createEvent(mails.sendIds[0]!, "click", 70)]);
  await applyMessages(more);
  expect(stream.read(mails.orgId)).toEqual([]);
  await runAll();
  const events = stream.read(mails.orgId);
  expect(idsOf(events.filter((event) => hourIn(event) === first))).toEqual(ids.toSorted());
  expect(idsOf(events.filter((event) => hourIn(event) === second))).toEqual([
    more.body.events[0]!.id,
  ]);
  expect(events[0]).toEqual({
    file: `events/organization=${mails.orgId}/site=${mails.siteId}/day=${first.slice(0, 10)}/hour=${first.slice(11)}/00000.ndjson.gz`,
    eventId: ids[0],
    organizationId: mails.orgId,
    siteId: mails.siteId,
    event: "delivered",
    sendId: mails.sendIds[0],
    contactId: null,
    email: mails.item(mails.sendIds[0]!).toEmail,
    timestamp: expect.any(String),
    provider: "postmark",
    providerMessageId: null,
    campaignId: null,
    variantId: null,
    sequenceId: null,
    stepId: null,
    holidayId: null,
    batchId: null,
    metadata: null,
    tags: [],
    data: {},
  });
  expect(await openHours(mails)).toEqual([]);
});

test.each(interruptions)(
  "each event is in one file when the worker that commits it %s at any step",
  async (how) => {
    await interruptedAtSomeSteps(how, async (interrupt) => {
      startHour();
      // A pause lasts into the next hour, whose predecessor is closed by then.
      advanceClock(3500);
      const mails = await createSentMails(2);
      const [early, late] = await Promise.all(
        [0, 100].map((from) =>
          createEventMessage(
            mails.orgId,
            mails.sendIds.map((id) => createEvent(id, "open", from)),
          ),
        ),
      );
      await applyMessages(early!);
      const closed = currentHour();
      await interrupt(
        () => applyMessages(late!).catch(ignoreContention),
        async () => {
          await runWorkers(workers, { forSeconds: 1000 });
          expect(stream.read(mails.orgId).some((event) => hourIn(event) === closed)).toBe(true);
        },
      );
      await applyMessages(late!);
      await runAll();
      const ids = [early!, late!].flatMap(({ body }) => body.events.map(({ id }) => id));
      expect(idsOf(stream.read(mails.orgId))).toEqual(ids.toSorted());
      expect(await openHours(mails)).toEqual([]);
    });
  },
);

/** The queue delivers the message again. */
const ignoreContention = (error: Error) => {
  if (!error.message.includes("too many requests at once")) throw error;
};

test.each(interruptions)("a file is the same when its worker %s at any step", async (how) => {
  const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
    startHour();
    const mails = await createSentMails(2);
    const hour = currentHour();
    const ids = await applyEvents(mails);
    await createContact({ ...mails }, "ada@example.com");
    advanceClock(longEnough);
    const work = () => writeEventFiles({ orgId: mails.orgId, siteId: mails.siteId, hour });
    await interrupt(work, work);
    const events = stream.read(mails.orgId);
    expect(events.map(({ event }) => event).toSorted()).toEqual([
      "contact.created",
      "delivered",
      "delivered",
      "open",
      "open",
    ]);
    expect(idsOf(events)).toEqual(expect.arrayContaining(ids));
    expect(await openHours(mails)).toEqual([]);
    const left = (await listAllKeys()).filter(({ pk }) =>
      pk.startsWith(`${mails.orgId}#${mails.siteId}#RECORDEVENTS`),
    );
    expect(left).toEqual([]);
  });
  expect(steps).toContain("before PutObject");
});

test("workers that write the same hour at once write each event once", async () => {
  startHour();
  const mails = await createSentMails(5);
  const hour = currentHour();
  const ids = await applyEvents(mails);
  advanceClock(longEnough);
  const id = { orgId: mails.orgId, siteId: mails.siteId, hour };
  await Promise.all([1, 2, 3].map(() => writeEventFiles(id)));
  await writeEventFiles(id);
  expect(idsOf(stream.read(mails.orgId))).toEqual(ids.toSorted());
});

test("an hour that is not over has no file", async () => {
  startHour();
  const mails = await createSentMails(1);
  const hour = currentHour();
  await applyEvents(mails);
  advanceClock(3600);
  await writeEventFiles({ orgId: mails.orgId, siteId: mails.siteId, hour });
  expect(stream.read(mails.orgId)).toEqual([]);
  expect(closesAt(hour) > now()).toBe(true);
  await runAll();
  expect(stream.read(mails.orgId)).toHaveLength(2);
});

test("hours that nobody wrote for a day are written afterwards", async () => {
  const mails = await createSentMails(1);
  const [sendId] = mails.sendIds as [number];
  const hours: string[] = [];
  for (let n = 0; n < 24; n++) {
    startHour();
    hours.push(currentHour());
    await applyMessages(await createEventMessage(mails.orgId, [createEvent(sendId, "open", n)]));
  }
  await runAll();
  expect(stream.read(mails.orgId).map(hourIn)).toEqual(hours);
});

test("events about records are filed once when their request crashes at any step", async () => {
  await crashAtEveryStep(async (crash) => {
    const site = await createTestSite();
    const rows = ["ada", "bob", "cy"].map((name) =>
      ContactRow.parse({ email: `${name}@example.com` }),
    );
    await crash(() => upsertRows(site, rows, { mode: "upsert" }));
    await upsertRows(site, rows, { mode: "upsert" });
    await runAll();
    const created = stream
      .read(site.caller.orgId)
      .filter(({ event }) => event === "contact.created")
      .map(({ email }) => email);
    expect(created.toSorted()).toEqual(["ada@example.com", "bob@example.com", "cy@example.com"]);
  });
});

test("without the setting nothing is written for files", async () => {
  const bucket = process.env.EVENT_FILES_BUCKET;
  delete process.env.EVENT_FILES_BUCKET;
  const mails = await createSentMails(1);
  await applyEvents(mails);
  await createContact({ ...mails }, "ada@example.com");
  process.env.EVENT_FILES_BUCKET = bucket;
  const written = (await listAllKeys()).filter(
    ({ pk }) => pk.startsWith(`${mails.orgId}#`) && /EVENTHOURS|EVENTSEALS|RECORDEVENTS/.test(pk),
  );
  expect(written).toEqual([]);
});

/** Stores sends with one event each, and their commit. The ids of sends and events begin at `base`. */
async function storeCommit({ orgId, siteId, hour }: HourId, base: number, n: number) {
  const ids = Array.from({ length: n }, (_, i) => base + i);
  const at = `${hour}:00:00.000Z`;
  const round = `${at}#${base}#${siteId}#0`;
  const event = { type: "delivered", at, providerEventId: "x", round };
  await insertMany(
    ids.map((id) => ({
      key: keys.send(orgId, id),
      item: { ...sentItem(id, siteId, `p${id}@example.com`), events: [{ ...event, id }] },
    })),
  );
  const key = keys.eventCommit(orgId, siteId, round);
  const rows = ids.map((id) => [id, id, event.type]);
  const commit = { ...(await compress(key, rows)), n, types: { delivered: n } };
  await insertMany([{ key, item: commit }]);
}

test("many events become files of bounded size, for a read unit each", async () => {
  startHour();
  const { orgId, siteId } = await createSentMails(0);
  const id = { orgId, siteId, hour: currentHour() };
  const base = 7_000_000_000;
  for (let commit = 0; commit < 5; commit++) await storeCommit(id, base + 2000 * commit, 2000);
  // The size that is stored with events about records decides where a file ends.
  const records = Array.from({ length: 4 }, (_, n) => base + 10_000 + n);
  for (const eventId of records) {
    const key = keys.recordEvents(orgId, siteId, `${id.hour}:01:00.000Z#${eventId}`);
    const events = [{ id: eventId, event: "contact.created", details: { siteId } }];
    await insertMany([{ key, item: { ...(await compress(key, events)), bytes: 30_000_000 } }]);
  }
  await insertMany([{ key: keys.eventHour(orgId, siteId, id.hour), item: { ...id, part: 0 } }]);
  advanceClock(longEnough);
  const { usage } = await measureUnits(() => writeEventFiles(id));
  const byFile = Map.groupBy(stream.read(orgId), ({ file }) => file.slice(-15));
  expect([...byFile].map(([file, events]) => [file, events.length])).toEqual([
    ["00000.ndjson.gz", 10_002],
    ["00001.ndjson.gz", 2],
  ]);
  const all = [...byFile.values()].flat();
  expect(idsOf(all)).toEqual(Array.from({ length: 10_004 }, (_, n) => base + n));
  expect(usage.readUnits / all.length).toBeLessThan(1.1);
  expect(usage.writeUnits).toBeLessThan(30);
});
