// The contacts that stand for the audience of a campaign, in its preview and its warnings.
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as sites from "../identity/sites.ts";
import type { BroadcastPlan } from "./engine/broadcast-plan.ts";
import { buildCandidateQuery, readFirstCandidates } from "./engine/candidates.ts";
import { createReasonLister, type RecipientQuery } from "./recipient-counts.ts";

const maxSamples = 10;
// More than the 17 shards of a resend, each of which has a page of its own.
const maxSamplePages = 20;

export async function buildRecipientQuery(
  orgId: number,
  plan: BroadcastPlan,
): Promise<BroadcastPlan & RecipientQuery> {
  const [candidateQuery, site] = await Promise.all([
    buildCandidateQuery(orgId, plan),
    sites.find({ orgId }, plan.siteId),
  ]);
  return { ...candidateQuery, capDays: plan.isNotice ? 0 : (site.sendFrequencyCapDays ?? 0) };
}

/** The first contacts who would get the campaign now, up to ten. */
export async function readSampleContacts(query: RecipientQuery): Promise<ContactItem[]> {
  const listReasons = createReasonLister(query);
  const found: ContactItem[] = [];
  let pages = 0;
  for await (const items of readFirstCandidates(query)) {
    const reasons = await listReasons(items);
    found.push(...items.filter((_, i) => !reasons[i]));
    if (found.length >= maxSamples || ++pages >= maxSamplePages) break;
  }
  return found.slice(0, maxSamples);
}

/** Undefined if every sample has a value for each variable. */
export function describeSampleGaps(missingBySample: string[][]): string | undefined {
  const names = new Set(missingBySample.flat());
  if (!names.size) return undefined;
  const n = missingBySample.filter((missing) => missing.length).length;
  return (
    `These variables have no value in ${n} of ${missingBySample.length} samples: ` +
    `${[...names].slice(0, 20).join(", ")}`
  );
}
