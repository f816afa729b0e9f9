// Amazon EventBridge: puts events on the bus of the installation.
import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from "@aws-sdk/client-eventbridge";
import { config } from "../../config.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { clientOptions } from "../aws-requests.ts";

let client: EventBridgeClient | undefined;
export const eventBridge = (): EventBridgeClient => {
  client ??= new EventBridgeClient(clientOptions());
  return client;
};

export interface BusEvent {
  source: string;
  /** At most 128 characters. */
  detailType: string;
  /** JSON. */
  detail: string;
  time: Date;
}

/** One call has at most ten events, and all its events together 256 KB. */
const maxEntries = 10;
export const maxBusBytes = 250_000;

interface FailedEvents {
  /** Places in the events that were to be put. */
  places: number[];
  /** The first error. Undefined if no event failed. */
  error?: Error;
}

/** Puts events on the bus. Returns those that failed; the bus has all others. */
export async function putEvents(events: BusEvent[]): Promise<FailedEvents> {
  const failures = await inParallel(4, splitByLimits(events), putBatch);
  const failed = failures.flat();
  return { places: failed.map(({ place }) => place), ...(failed[0] && { error: failed[0].error }) };
}

interface Entry {
  place: number;
  bytes: number;
  entry: PutEventsRequestEntry;
}

function splitByLimits(events: BusEvent[]): Entry[][] {
  const batches: Entry[][] = [];
  let bytesLeft = 0;
  for (const [place, event] of events.entries()) {
    const bytes = Buffer.byteLength(event.detail) + event.source.length + event.detailType.length;
    const isFull = batches.at(-1)?.length === maxEntries;
    if (isFull || bytes > bytesLeft) {
      batches.push([]);
      bytesLeft = maxBusBytes;
    }
    batches.at(-1)!.push({ place, bytes, entry: toEntry(event) });
    bytesLeft -= bytes;
  }
  return batches;
}

const toEntry = ({ source, detailType, detail, time }: BusEvent): PutEventsRequestEntry => ({
  EventBusName: config.eventBus,
  Source: source,
  DetailType: detailType,
  Detail: detail,
  Time: time,
});

async function putBatch(batch: Entry[]): Promise<{ place: number; error: Error }[]> {
  try {
    const { Entries = [] } = await eventBridge().send(
      new PutEventsCommand({ Entries: batch.map(({ entry }) => entry) }),
    );
    return batch.flatMap(({ place }, i) => {
      const { ErrorCode, ErrorMessage } = Entries[i] ?? { ErrorCode: "NoResult" };
      return ErrorCode ? [{ place, error: new Error(`${ErrorCode}: ${ErrorMessage ?? ""}`) }] : [];
    });
  } catch (error) {
    return batch.map(({ place }) => ({ place, error: error as Error }));
  }
}
