// Finds what the fan-out of a campaign decided about one contact. The log has about 3 bytes for
// each contact of a shard: reading it costs about 25 read units for a campaign to a million.
import { emailShardOf, emailShards } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import { type ExclusionReason, exclusionReasons } from "../../sending/mail-sources.ts";
import { movedShard } from "./fan-out-cursors.ts";
import * as fanOutLog from "./fan-out-log.ts";

export type Decision =
  | { sendId: number; reason?: undefined }
  | { sendId?: undefined; reason: ExclusionReason };

interface CampaignRef {
  orgId: number;
  id: number;
}

/**
 * Undefined if it was no candidate. A contact whose address changed, or that others were merged
 * into, may have been decided about at another address.
 */
export async function findDecision(
  campaign: CampaignRef,
  { id, email, movedAt, merged = [] }: ContactItem,
): Promise<Decision | undefined> {
  const own = emailShardOf(email);
  const hasOthers = movedAt !== undefined || merged.length > 0;
  const others = hasOthers ? emailShards.filter((shard) => shard !== own) : [];
  const contactIds = [id, ...merged.map((one) => one.id)];
  for (const shard of [own, movedShard, ...others]) {
    const decision = await findInShard(campaign, shard, contactIds);
    if (decision) return decision;
  }
  return undefined;
}

async function findInShard(
  { orgId, id }: CampaignRef,
  shard: string,
  contactIds: number[],
): Promise<Decision | undefined> {
  let after: string | undefined;
  do {
    const campaign = { orgId, kind: "campaign" as const, id };
    const { items, next } = await fanOutLog.listLogEntries(campaign, shard, after);
    for (const entry of items) {
      const decisions = await fanOutLog.readDecisions(entry);
      const found = contactIds.map((contactId) => decisionIn(entry, decisions, contactId));
      const decision = found.find((one) => one !== undefined);
      if (decision) return decision;
    }
    after = next;
  } while (after !== undefined);
  return undefined;
}

function decisionIn(
  { blocks }: fanOutLog.FanOutLogEntry,
  { mailed, excluded }: fanOutLog.Decisions,
  contactId: number,
): Decision | undefined {
  for (const [k, contactIds] of mailed.entries()) {
    const i = contactIds.indexOf(contactId);
    if (i >= 0) return { sendId: chunks.sendIdOf(blocks[k]![0], { i }) };
  }
  const reason = exclusionReasons.find((one) => excluded[one]?.includes(contactId));
  return reason && { reason };
}
