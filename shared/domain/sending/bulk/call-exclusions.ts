// Recipients who get no mail: excluded between the acceptance of a chunk and the claim of their
// call.

import { getMany } from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { keys } from "../../../keys.ts";
import { isCovered } from "../../audience/contacts/departures.ts";
import * as suppressionLookups from "../../audience/suppressions/suppression-lookups.ts";
import * as eligibility from "../eligibility.ts";
import type { MailSource } from "../mail-sources.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import type { ChunkTransport, PreparedChunk } from "./prepared-chunk.ts";
import type { CallClaim } from "./queued-chunk.ts";

interface RecipientLook {
  recipients: ChunkRecipient[];
  /** Undefined: all recipients are read again. */
  fanOutReadAt: string | undefined;
}

/**
 * By index: why recipients get no mail. They were cancelled or suppressed since acceptance, or
 * their mail cannot be rendered.
 */
export async function listExclusions(
  prepared: PreparedChunk,
  { listFlaws }: ChunkTransport,
  { recipients, fanOutReadAt }: RecipientLook,
): Promise<CallClaim["skip"]> {
  const reasons = await (prepared.source
    ? listMarketingExclusions(prepared, prepared.source, { recipients, fanOutReadAt })
    : listTransactionalExclusions(prepared, recipients));
  const flaws = await listFlaws(recipients);
  return Object.fromEntries(
    recipients
      .flatMap(({ i }, k) => [[String(i), reasons[k] ?? flaws[k]]])
      .filter(([, reason]) => reason),
  );
}

async function listMarketingExclusions(
  prepared: PreparedChunk,
  source: MailSource,
  { recipients, fanOutReadAt }: RecipientLook,
): Promise<(string | undefined)[]> {
  const { orgId, head } = prepared;
  const { siteId, capDays, topic, isNotice } = head;
  const limits = { orgId, siteId, capDays, topic, isNotice };
  const isRecent = fanOutReadAt !== undefined;
  const [state, reasons, departed] = await Promise.all([
    prepared.runner.readSourceState(source),
    // The departures name suppressed addresses. The frequency cap depends on mail that other
    // campaigns have sent since.
    isRecent && !head.capDays
      ? []
      : eligibility.listExclusionReasons(limits, recipients, { readsSuppressions: !isRecent }),
    isRecent ? listDepartedReasons(prepared, recipients, fanOutReadAt) : new Map<number, string>(),
  ]);
  return recipients.map(({ i }, k) =>
    state === "cancelled" ? "cancelled" : (departed.get(i) ?? reasons[k]),
  );
}

async function listTransactionalExclusions(
  { orgId, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
): Promise<(string | undefined)[]> {
  const emails = recipients.map(({ to }) => to);
  // A send that was cancelled before the hand-over has an item of its own.
  const [suppressed, cancelledSends] = await Promise.all([
    suppressionLookups.filterSuppressed(orgId, emails, { purpose: "transactional" }),
    queued.cancels
      ? getMany(
          recipients.map((one) => keys.send(orgId, chunks.sendIdOf(queued.block, one))),
          { consistent: true },
        )
      : [],
  ]);
  return recipients.map(({ to }, k) => {
    if (cancelledSends[k]) return "cancelled";
    return suppressed.has(normalizeEmail(to)) ? "suppressed" : undefined;
  });
}

/**
 * By index: why recipients of marketing mail get none, of those that left since they were read at
 * `readAt`. Without it, all of them are read. Every change that was answered before this call
 * counts.
 */
export async function listDepartedReasons(
  { orgId, head: { siteId, topic, isNotice }, runner }: PreparedChunk,
  recipients: ChunkRecipient[],
  readAt: string | undefined,
): Promise<Map<number, string>> {
  const departed =
    readAt === undefined ? recipients : await runner.departures.filterDeparted(recipients, readAt);
  if (!departed.length) return new Map();
  const limits = { orgId, siteId, topic, isNotice };
  const reasons = await eligibility.listExclusionReasons(limits, departed, { consistent: true });
  return new Map(
    departed.flatMap(({ i }, k): [number, string][] => (reasons[k] ? [[i, reasons[k]]] : [])),
  );
}

/**
 * When the fan-out read the recipients, if the departure log covers the time since. Undefined for
 * chunks of sequences and for old chunks.
 */
export const getFanOutReadAt = ({ head: { readAt } }: PreparedChunk): string | undefined =>
  readAt !== undefined && isCovered(readAt) ? readAt : undefined;
