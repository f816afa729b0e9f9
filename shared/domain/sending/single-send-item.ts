// The stored item of a single send until it is settled and counted.
import { absent, all, equals } from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import type { CompressedValue } from "../../kernel/compressed-values.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../keys.ts";
import type { ProviderAdapter } from "../../providers/provider-adapter.ts";
import { sourceOf } from "./mail-sources.ts";
import type { IdempotencyWindow } from "./provider-calls/provider-call.ts";
import type { SendItem } from "./sends.ts";

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
  /** Absent while a share of the account watches over the send. */
  duesk?: string;
  /** The status that is stored, but not yet counted in the statistics and on the contact. */
  uncounted?: "sent" | "failed" | "uncertain" | "cancelled" | undefined;
  /** The run that counts `uncounted`; see outcome-runs.ts. */
  run?: string;
  /** Set while the mail is uncertain and its provider can be asked; see uncertain-sends.ts. */
  lookUp?: LookUpProgress | undefined;
  /** It counts as uncertain until its new outcome is counted. */
  wasUncertain?: true;
}

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

/**
 * The send is as it was read. `by` distinguishes the claims of a mail that was uncertain and is
 * handed over again: its attempts are counted from 1.
 */
export const unchangedCondition = ({ status, attempt, turnAt, by }: SingleSendItem) =>
  all(
    equals("status", status),
    attempt === undefined ? absent("attempt") : equals("attempt", attempt),
    turnAt === undefined ? absent("turnAt") : equals("turnAt", turnAt),
    by === undefined ? absent("by") : equals("by", by),
  );

/** Whether the send still has to be handed over, settled or counted. */
const isUnfinished = (
  { status, attempt, uncounted, run }: SingleSendItem,
  committedRuns: Set<string>,
): boolean =>
  status === "queued" ||
  attempt !== undefined ||
  (uncounted !== undefined && !(run && committedRuns.has(run)));

export const isBulk = (send: SendItem): boolean =>
  send.batchId != null || sourceOf(send) !== undefined;

/** Puts an unfinished single send on the due index, unless it has an entry. Safe to repeat. */
export async function makeDueIfUnfinished(
  orgId: number,
  send: SingleSendItem,
  committedRuns: Set<string>,
): Promise<void> {
  const key = keys.send(orgId, send.id);
  let current: SingleSendItem | undefined = send;
  while (current && current.duesk === undefined && !isBulk(current)) {
    if (!isUnfinished(current, committedRuns)) return;
    const { uncounted } = current;
    const isDue = await transact(
      update(
        key,
        { set: dueAttributes(orgId, send.id, now()) },
        {
          if: all(
            unchangedCondition(current),
            absent("duesk"),
            uncounted === undefined ? absent("uncounted") : equals("uncounted", uncounted),
          ),
        },
      ),
    );
    if (isDue) return;
    current = await get<SingleSendItem>(key);
  }
}
