// Counts the contacts that would get a campaign now, and why others would not. Drafts need no
// content.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { Count } from "../../kernel/record-fields.ts";
import * as suppressionLookups from "../audience/suppressions/suppression-lookups.ts";
import type * as suppressions from "../audience/suppressions/suppressions.ts";
import * as sites from "../identity/sites.ts";
import { buildAudiencePlan } from "./campaign-plan.ts";
import * as campaigns from "./campaigns.ts";
import { buildCandidateQuery } from "./engine/candidates.ts";
import { countRecipients, type ExcludedContact, RecipientCounts } from "./recipient-counts.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

const reasons = [
  "bounced",
  "complained",
  "suppressed",
  "unsubscribed",
  "pending",
  "notInTopic",
  "snoozed",
  "capped",
  "heldOut",
] as const;
type Reason = (typeof reasons)[number];

export const CampaignReach = z
  .object({
    matched: Count.describe("Contacts in the audience."),
    mailed: Count.describe("Contacts who would get the campaign now."),
    notMailed: z
      .array(
        z.object({
          reason: z
            .enum(reasons)
            .describe(
              "`bounced`, `complained`, `suppressed`: the address is on the suppression list, " +
                "after a bounce, after a spam report, or otherwise. `unsubscribed`, `pending`: " +
                "the contact left, or has not confirmed yet. `notInTopic`: it is not in the " +
                "topic. `snoozed`: it paused marketing email on the preference page. `capped`: " +
                "it got marketing email within `sendFrequencyCapDays`. `heldOut`: it is in the " +
                "hold-out group.",
            ),
          count: Count.describe("Contacts who do not get it for this reason."),
          message: z.string().describe("The reason as a sentence."),
        }),
      )
      .describe("Why contacts would not get it, most first. Each contact has one reason."),
    message: z.string().describe("The result as a sentence."),
    exact: RecipientCounts.shape.exact,
  })
  .meta({ id: "CampaignReach" });
export type CampaignReach = z.output<typeof CampaignReach>;

/** Throws 400 if a part of the audience does not exist any more. */
export async function getReach(caller: CallerScope, id: number): Promise<CampaignReach> {
  const campaign = await campaigns.findStored(caller, id);
  if (!hasAudience(campaign)) return noAudience;
  const [plan, site] = await Promise.all([
    buildAudiencePlan(campaign),
    sites.find(caller, campaign.siteId),
  ]);
  const capDays = plan.isNotice ? 0 : (site.sendFrequencyCapDays ?? 0);
  const query = { ...(await buildCandidateQuery(caller.orgId, plan)), capDays };
  const counts = new Map<Reason, number>();
  const add = (reason: Reason, n: number) => counts.set(reason, (counts.get(reason) ?? 0) + n);
  const result = await countRecipients(query, async (excluded) => {
    for (const reason of await explain(caller.orgId, excluded)) add(reason, 1);
  });
  const { candidates: matched, wouldReceive: mailed, exact } = result;
  if (!exact) for (const reason of countedReasons) add(reason, result[reason]);
  const notMailed = [...counts]
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => ({ reason, count, message: sentences[reason](capDays) }));
  return { matched, mailed, notMailed, message: summarize(matched, mailed), exact };
}

const countedReasons = [
  "suppressed",
  "unsubscribed",
  "notInTopic",
  "snoozed",
  "capped",
  "heldOut",
] as const;

const noAudience: CampaignReach = {
  matched: 0,
  mailed: 0,
  notMailed: [],
  message: "The campaign has no audience yet.",
  exact: true,
};

const hasAudience = ({ listId, tagId, segmentId, audience, resendOf }: StoredCampaign): boolean =>
  [listId, tagId, segmentId, audience, resendOf].some((given) => given != null);

const bySuppression: Record<suppressions.SuppressionReason, Reason> = {
  bounce: "bounced",
  spam_report: "complained",
  unsubscribe: "unsubscribed",
  manual: "suppressed",
  import: "suppressed",
};

/** One reason for each contact, in the order given. */
async function explain(orgId: number, excluded: ExcludedContact[]): Promise<Reason[]> {
  const suppressed = excluded.filter(({ reason }) => reason === "suppressed");
  const suppressionReasons = await suppressionLookups.getReasons(
    orgId,
    suppressed.map(({ contact }) => contact.email),
  );
  return excluded.map(({ contact, reason }) => {
    if (reason === "unsubscribed") return contact.status === "pending" ? "pending" : reason;
    if (reason !== "suppressed") return reason as Reason;
    const found = suppressionReasons.get(normalizeEmail(contact.email));
    return found ? bySuppression[found] : reason;
  });
}

const sentences: Record<Reason, (capDays: number) => string> = {
  bounced: () => "Email to them bounced.",
  complained: () => "They reported email as spam.",
  suppressed: () => "Their address is on the suppression list.",
  unsubscribed: () => "They unsubscribed.",
  pending: () => "They have not confirmed their subscription.",
  notInTopic: () => "They are not subscribed to the topic of the campaign.",
  snoozed: () => "They paused marketing email on the preference page.",
  capped: (days) =>
    "They got marketing email within the frequency cap of the site: " +
    `${days} ${days === 1 ? "day" : "days"}.`,
  heldOut: () => "They are in the hold-out group, which gets no email.",
};

function summarize(matched: number, mailed: number): string {
  const count = (n: number) => n.toLocaleString("en");
  if (matched === 0) return "The audience is empty.";
  if (mailed === 0) return `None of the ${count(matched)} contacts would get the campaign.`;
  return `${count(mailed)} of ${count(matched)} contacts would get the campaign.`;
}
