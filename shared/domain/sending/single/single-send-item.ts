// The stored item of a single send until it is settled.
import { isDeepStrictEqual } from "node:util";
import { absent, all, type Condition, equals } from "../../../adapters/dynamodb/conditions.ts";
import { addSeconds, now } from "../../../clock.ts";
import type { CompressedValue } from "../../../kernel/compressed-values.ts";
import { endedBy } from "../../../kernel/leases.ts";
import { dueShardOf, indexAttributes, indexes } from "../../../keys.ts";
import type { ProviderAdapter } from "../../../providers/provider-adapter.ts";
import { queues } from "../../../queues.ts";
import { sourceOf } from "../mail-sources.ts";
import type { IdempotencyWindow } from "../provider-calls/provider-call.ts";
import type { SendItem } from "../send-schema.ts";

export interface SingleSendItem extends SendItem {
  content?: CompressedValue;
  /** Number of claims so far. */
  attempt?: number;
  /** Random id of the last claim. */
  by?: string;
  /** When the last claim expires (ISO 8601). */
  lease?: string;
  firstClaimedAt?: string;
  /** The idempotency window of the first call that the provider may have received. */
  key?: IdempotencyWindow;
  /** Revision of the sending config of the last claim. */
  revision?: number;
  /** The provider may have the mail, without confirming it. */
  doubt?: boolean;
  /** When its reserved slot starts (ISO 8601). */
  turnAt?: string;
  /** Absent unless the due index finds the send. */
  duesk?: string;
  /** Set while the mail is uncertain and its provider can be asked; see uncertain-sends.ts. */
  lookUp?: LookUpProgress | undefined;
  /** It is handed over again, and counts as uncertain until it is settled. */
  wasUncertain?: true;
}

/** Attributes that are needed only until the provider has answered. */
export const handOverAttributes = [
  "content",
  "lease",
  "attempt",
  "by",
  "firstClaimedAt",
  "key",
  "revision",
  "doubt",
  "turnAt",
];

/** A call to the provider takes less than a message of the queue may take. */
export const leaseSeconds = queues.send.timeoutSeconds + 90;

interface LookUpProgress {
  /** Number of look-ups so far. */
  n: number;
  /** Since when the mail is uncertain (ISO 8601). */
  at: string;
  /** Revision of the sending config that it was handed over with. Absent: unknown. */
  revision?: number | undefined;
  /** When the provider first did not have the mail, though it should have had it (ISO 8601). */
  missingSince?: string | undefined;
  /** The provider twice did not have the mail. It waits until its campaign is resumed. */
  isMissing?: boolean;
}

/**
 * By then, most searches have the mail. After a crash, it became uncertain up to 9 minutes after
 * its call, and is settled within 15.
 */
const firstLookUpSeconds = 180;

/**
 * The attributes that let a send that becomes uncertain now be looked up. None if the provider
 * cannot be asked.
 */
export function lookUpAttributes(
  orgId: number,
  sendId: number,
  { provider, revision }: { provider: ProviderAdapter; revision: number | undefined },
) {
  if (!provider.lookUp) return {};
  return {
    lookUp: { n: 0, at: now().toISOString(), revision } satisfies LookUpProgress,
    ...uncertainDueAttributes(orgId, sendId, addSeconds(firstLookUpSeconds)),
  };
}

/** The attributes that put an uncertain send on the due index. */
export const uncertainDueAttributes = (orgId: number, sendId: number, at: Date) => ({
  ...indexAttributes(indexes.due("UNCERTAIN", dueShardOf(sendId)), at.toISOString()),
  orgId,
});

/** The attributes that put a send on the due index. */
export const dueAttributes = (orgId: number, sendId: number, at: Date) => ({
  ...indexAttributes(indexes.due("SEND", dueShardOf(sendId)), at.toISOString()),
  orgId,
});

/** Whether no worker has claimed, postponed or settled the send since it was read as `known`. */
export const isUnchanged = (send: SingleSendItem, known: SingleSendItem): boolean =>
  send.status === known.status &&
  send.attempt === known.attempt &&
  send.turnAt === known.turnAt &&
  send.by === known.by;

/**
 * The same for a write. `by` distinguishes the claims of a mail that was uncertain and is handed
 * over again: its attempts are counted from 1.
 */
export const unchangedCondition = ({ status, attempt, turnAt, by }: SingleSendItem) =>
  all(
    equals("status", status),
    attempt === undefined ? absent("attempt") : equals("attempt", attempt),
    turnAt === undefined ? absent("turnAt") : equals("turnAt", turnAt),
    by === undefined ? absent("by") : equals("by", by),
  );

const pendingStatuses: SendItem["status"][] = ["scheduled", "queued", "sending"];

/** The provider's answer is not stored, and no event has shown that it has the mail. */
export const isPending = ({ status }: SendItem): boolean => pendingStatuses.includes(status);

/** The outcome of the send is stored and counted. */
export const isSettled = (send: SingleSendItem): boolean =>
  !isPending(send) && send.attempt === undefined && !send.wasUncertain;

/** A worker that is alive has claimed it. */
export const isLeased = ({ lease = "" }: SingleSendItem): boolean =>
  lease > endedBy(leaseSeconds).toISOString();

export const isBulk = (send: SendItem): boolean =>
  send.batchId != null || sourceOf(send) !== undefined;

type LookUp = SingleSendItem["lookUp"];

/** The mail is uncertain, and this look-up is its latest. */
export const isInLookUp = ({ status, lookUp }: SingleSendItem, known: LookUp): boolean =>
  status === "uncertain" && isDeepStrictEqual(lookUp, known);

export const inLookUpCondition = (known: LookUp): Condition =>
  all(equals("status", "uncertain"), sameLookUpCondition(known));

export const sameLookUpCondition = (known: LookUp): Condition =>
  known ? equals("lookUp", known) : absent("lookUp");
