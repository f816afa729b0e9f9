import * as chunks from "../../sending/bulk/chunks.ts";
import { type ExclusionReason, exclusionReasons } from "../../sending/mail-sources.ts";
import * as readSends from "../../sending/read-sends.ts";
import type { SendItem } from "../../sending/send-schema.ts";
import * as fanOutLog from "../engine/fan-out-log.ts";

/** Where a candidate can end up. Each has exactly one outcome. */
export const candidateOutcomes = [
  "mailed",
  "failed",
  "uncertain",
  "waiting",
  "cancelled",
  ...exclusionReasons,
  "contradictory",
] as const;
export type CandidateOutcome = (typeof candidateOutcomes)[number];

export interface AuditRow {
  contactId: number;
  /** Null for candidates that were left out at the fan-out. */
  sendId: number | null;
  outcome: CandidateOutcome;
  /** Why the mail failed or is uncertain. An erasure removes it. */
  error: string | null;
}

/** The candidates of one advance of the fan-out: first those with a send, by send id. */
export interface AuditPage {
  /** Pages are ordered by their names as text. */
  name: string;
  /** Sort key of its entry in the log. */
  position: string;
  rows: AuditRow[];
}

/**
 * Reads the pages in order, `after` the position of an earlier one. With `shard` only those of one
 * shard.
 */
export async function* readAuditPages(
  { orgId, id }: { orgId: number; id: number },
  { shard, after }: { shard?: string; after?: string | undefined } = {},
): AsyncGenerator<AuditPage> {
  let position = after;
  do {
    const campaign = { orgId, kind: "campaign" as const, id };
    const { items, next } = await fanOutLog.listLogEntries(campaign, shard, position);
    for (const entry of items) yield readPage(orgId, entry);
    position = next;
  } while (position !== undefined);
}

async function readPage(orgId: number, entry: fanOutLog.FanOutLogEntry): Promise<AuditPage> {
  const decisions = await fanOutLog.readDecisions(entry);
  const mails = decisions.mailed.flatMap((contactIds, k) => {
    const [block] = entry.blocks[k]!;
    return contactIds.map((contactId, i) => ({
      contactId,
      sendId: chunks.sendIdOf(block, { i }),
    }));
  });
  const sends = await readSends.getSends(
    orgId,
    mails.map(({ sendId }) => sendId),
    { consistent: true, rendersSubject: false },
  );
  const mailed = mails.map((mail, i) => ({ ...mail, ...toOutcome(sends[i], mail.contactId) }));
  const excluded = Object.entries(decisions.excluded).flatMap(([reason, contactIds]) =>
    contactIds.map((contactId) => ({
      contactId,
      sendId: null,
      outcome: reason as ExclusionReason,
      error: null,
    })),
  );
  return { name: toPageName(entry), position: entry.sk, rows: [...mailed, ...excluded] };
}

/** The shard of a sort key such as LOG#a#0000000000000012. */
export const shardOfPosition = (position: string): string => position.split("#")[1]!;

/** Shard and number of the advance. */
function toPageName({ sk }: fanOutLog.FanOutLogEntry): string {
  const [, shard, n] = sk.split("#");
  return `${shard}-${String(Number(n)).padStart(6, "0")}`;
}

/**
 * Depends on nothing that an erasure removes. What became of a mail after the provider had accepted
 * it, such as a bounce, changes nothing.
 */
function toOutcome(
  send: (SendItem & { events?: unknown[] }) | undefined,
  contactId: number,
): Pick<AuditRow, "outcome" | "error"> {
  // The recipients expired before the hand-over: then the campaign counts them as cancelled.
  if (!send) return { outcome: "cancelled", error: null };
  const { status, sentAt, early, events = [], error = null } = send;
  if (send.contactId && send.contactId !== contactId)
    return { outcome: "contradictory", error: `Send for contact ${send.contactId}` };
  // An event proves that the provider had accepted the mail.
  const isHandedOver = sentAt || early || events.length > 0;
  if (status === "sent" || status === "delivered" || isHandedOver)
    return { outcome: "mailed", error: null };
  if (status === "cancelled") return { outcome: "cancelled", error: null };
  const reason = exclusionReasons.find((one) => one === error);
  if (status === "failed")
    return reason ? { outcome: reason, error: null } : { outcome: status, error };
  return status === "uncertain" ? { outcome: status, error } : { outcome: "waiting", error: null };
}
