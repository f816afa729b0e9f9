// Writes the events of a closed hour of a site into gzip files with one JSON object per line: first
// those of emails, which commits list, then those about records. The files of an hour begin and end
// at the same events whenever they are written, so a repeated or late worker replaces a file by the
// same one, and each event is in exactly one.
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  queryPages,
  remove,
  transact,
  update,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { putEventFile } from "../../adapters/s3/event-files.ts";
import { addSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { decompress } from "../../kernel/compressed-values.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import { isDeleted } from "../../kernel/site-access.ts";
import { type Key, keys, ranges } from "../../keys.ts";
import { jobSeconds, type OutgoingEvent } from "../../queues.ts";
import {
  closeHour,
  closesAt,
  type EventHour,
  enqueueHour,
  type HourId,
} from "../webhooks/event-hours.ts";
import type { LoggedEvents } from "../webhooks/record-event-log.ts";
import { toStreamedEvent } from "../webhooks/streamed-event.ts";
import { loadCommittedEvents } from "./committed-events.ts";
import { type EventCommit, readCommit } from "./event-commits.ts";
import { toOutgoingEvent } from "./webhook-payload.ts";

const secondsForLastFile = 60;

/**
 * Writes files until the hour is done or the time is up; then another message continues. Safe to
 * repeat, and for two workers at once.
 */
export async function writeEventFiles({ orgId, siteId, hour }: HourId): Promise<void> {
  const id = { orgId, siteId, hour };
  const key = keys.eventHour(orgId, siteId, hour);
  const stored = await get<EventHour>(key);
  if (!stored || now() < closesAt(hour)) return;
  // The operator has turned event files off, or the site is being erased.
  if (!config.writesEventFiles || (siteId && (await isDeleted(orgId, siteId))))
    return void (await transact(remove(key, { if: exists })));
  await closeHour(id);
  const until = addSeconds(jobSeconds["write-event-files"] - secondsForLastFile);
  const batches = readBatches(id, stored.after);
  const toLine = (event: OutgoingEvent) => `${JSON.stringify(toStreamedEvent(orgId, event))}\n`;
  for (let state = stored; !state.isWritten; ) {
    const file = await fillFile(batches, toLine);
    // Events about records are deleted once they are in a file: a worker that read them too late
    // must not write.
    if ((await get<EventHour>(key))?.part !== state.part) return;
    if (file.events) await putEventFile(nameOf(id, state.part), file.bytes);
    const next = {
      part: state.part + 1,
      ...(file.end && { after: file.end }),
      isWritten: file.isLast,
    };
    if (!(await transact(update(key, { set: next }, { if: equals("part", state.part) })))) return;
    state = { ...state, ...next };
    if (now() >= until) return enqueueHour(id);
  }
  await deleteRecordEvents(id);
  await transact(remove(key, { if: exists }));
}

/** Names as Hive partitions. */
function nameOf({ orgId, siteId, hour }: HourId, part: number): string {
  const [day, hourOfDay] = hour.split("T");
  const file = `${String(part).padStart(5, "0")}.ndjson.gz`;
  return `events/organization=${orgId}/site=${siteId}/day=${day}/hour=${hourOfDay}/${file}`;
}

/** Events that were committed together. */
interface EventBatch {
  /** `<source> <sort key>` */
  position: string;
  /** About how long its lines are. Never changes, because files end by it. */
  bytes: number;
  read(): AsyncGenerator<OutgoingEvent[]>;
}

type BatchSource = (id: HourId, after: string | undefined) => AsyncGenerator<EventBatch>;

const sources: BatchSource[] = [readEmailEvents, readRecordEvents];

async function* readBatches(id: HourId, after: string | undefined): AsyncGenerator<EventBatch> {
  const [startSource = "0", startKey] = after?.split(" ") ?? [];
  for (const [n, read] of sources.entries()) {
    if (n < Number(startSource)) continue;
    const from = n === Number(startSource) ? startKey : undefined;
    for await (const batch of read(id, from))
      yield { ...batch, position: `${n} ${batch.position}` };
  }
}

/** Sort keys begin with the time. */
const itemsOf = (hour: string, after: string | undefined) => ({
  between: [hour, `${hour}~`] as [string, string],
  after,
  limit: 20,
  consistent: true,
});

const bytesPerEvent = 600;
const eventsPerRead = 1000;

async function* readEmailEvents(
  { orgId, siteId, hour }: HourId,
  after: string | undefined,
): AsyncGenerator<EventBatch> {
  const range = ranges.eventCommits(orgId, siteId);
  for await (const { items } of queryPages<EventCommit>(range, itemsOf(hour, after)))
    for (const commit of items)
      if (commit.n)
        yield {
          position: commit.sk,
          bytes: commit.n * bytesPerEvent,
          async *read() {
            for (const rows of splitIntoBatches(await readCommit(commit), eventsPerRead)) {
              const found = await loadCommittedEvents(orgId, rows, { consistent: true });
              yield found.map(({ send, event }) => toOutgoingEvent(send, event));
            }
          },
        };
}

async function* readRecordEvents(
  { orgId, siteId, hour }: HourId,
  after: string | undefined,
): AsyncGenerator<EventBatch> {
  const range = ranges.recordEvents(orgId, siteId);
  for await (const { items } of queryPages<LoggedEvents>(range, itemsOf(hour, after)))
    for (const item of items)
      yield {
        position: item.sk,
        bytes: item.bytes,
        async *read() {
          yield await decompress<OutgoingEvent[]>(item);
        },
      };
}

interface FilledFile {
  events: number;
  bytes: Uint8Array;
  /** The position of its last batch. */
  end?: string;
  isLast: boolean;
}

// About 100,000 events; compressed a tenth of it, which is what a worker keeps in memory.
const bytesPerFile = 64_000_000;

/** Reads batches until the file is long enough or the hour ends. */
async function fillFile(
  batches: AsyncGenerator<EventBatch>,
  toLine: (event: OutgoingEvent) => string,
): Promise<FilledFile> {
  const file = openGzip();
  let [events, bytes] = [0, 0];
  let end: string | undefined;
  let isLast = false;
  while (bytes < bytesPerFile && !isLast) {
    const { value: batch, done } = await batches.next();
    if (done) isLast = true;
    else {
      for await (const some of batch.read()) {
        events += some.length;
        await file.write(some.map(toLine).join(""));
      }
      bytes += batch.bytes;
      end = batch.position;
    }
  }
  return { events, bytes: await file.end(), ...(end && { end }), isLast };
}

function openGzip() {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  return {
    write: (text: string) =>
      new Promise<void>((resolve, reject) =>
        gzip.write(text, (error) => (error ? reject(error) : resolve())),
      ),
    async end(): Promise<Uint8Array> {
      gzip.end();
      await finished(gzip);
      return Buffer.concat(chunks);
    },
  };
}

async function deleteRecordEvents({ orgId, siteId, hour }: HourId): Promise<void> {
  const options = { ...itemsOf(hour, undefined), limit: 500, attributes: ["pk", "sk"] };
  for await (const { items } of queryPages<Key>(ranges.recordEvents(orgId, siteId), options))
    await writeMany(items.map((item) => remove(item)));
}
