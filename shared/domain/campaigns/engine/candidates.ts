// Reads the contacts of an audience without sending to them, for previews and proofs.
import { emailShards } from "../../../keys.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as broadcastPlan from "./broadcast-plan.ts";
import { logShards, readRecipients } from "./resend-audience.ts";

export interface CandidateQuery extends broadcastPlan.AudiencePlan {
  orgId: number;
  contactQuery: contactReader.ContactQuery;
}

export const buildCandidateQuery = async <P extends broadcastPlan.AudiencePlan>(
  orgId: number,
  plan: P,
): Promise<P & CandidateQuery> => ({
  ...plan,
  orgId,
  contactQuery: await broadcastPlan.buildContactQuery(orgId, plan),
});

/** The shards of `readCandidates`. */
export const shardsOf = ({ audience }: CandidateQuery): string[] =>
  "resendOf" in audience ? logShards : emailShards;

export const readCandidates = (
  { orgId, siteId, audience, contactQuery }: CandidateQuery,
  shard: string,
): AsyncIterable<{ items: ContactItem[] }> =>
  "resendOf" in audience
    ? readRecipients(orgId, audience, { shard })
    : contactReader.readShard({ orgId, siteId }, shard, contactQuery);

/** The first contacts of the audience, page by page. */
export async function* readFirstCandidates(query: CandidateQuery): AsyncGenerator<ContactItem[]> {
  const { orgId, siteId, audience, contactQuery } = query;
  if ("resendOf" in audience) {
    for (const shard of logShards)
      for await (const { items } of readCandidates(query, shard)) yield items;
    return;
  }
  let cursor: string | undefined;
  do {
    const request = { limit: 50, ...(cursor && { cursor }) };
    const { items, next } = await contactReader.readSitePage(
      { orgId, siteId },
      request,
      contactQuery,
    );
    yield items;
    cursor = next;
  } while (cursor !== undefined);
}
