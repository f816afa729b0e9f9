// What the hand-over of a chunk gets from the runner of its lane, and what it returns to it.

import type { DepartureReader } from "../../audience/contacts/departures.ts";
import type { SourceStateReader } from "../mail-sources.ts";
import type { HandOverDelay } from "../provider-calls/rate-limiter.ts";
import type { CallResult } from "./call-results.ts";
import type { ParallelCalls } from "./parallel-calls.ts";

/** The state of the runner that hands a chunk over. */
export interface Runner {
  /** False when its time is up: it starts no further calls. */
  shouldContinue(): boolean;
  /** False when its lease has expired: another runner may have the lane. */
  holdsLease(): boolean;
  /** When its lease ends. */
  end: Date;
  /** Since when the provider has accepted nothing of the lane (ISO 8601). */
  stalledSince: string | undefined;
  departures: DepartureReader;
  readSourceState: SourceStateReader;
  /** The calls in flight of all chunks that are handed over at the same time. */
  calls: ParallelCalls;
}

/** What came of handing over a chunk, or one of its calls. */
export interface HandOverResult {
  done: boolean;
  delay?: HandOverDelay | undefined;
  /** The provider accepted or refused some of it. */
  hasProgress: boolean;
  /** The rest can be handed over after this time, and the chunks behind it need not wait. */
  resumeAfterSeconds?: number | undefined;
  /** Absent while the call has no result and will be repeated with the same content. */
  results?: CallResult[] | undefined;
}
