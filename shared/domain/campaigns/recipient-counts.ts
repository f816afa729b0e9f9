// Counts how many contacts of an audience would get marketing mail now, and how many not, by
// reason. The fan-out decides by the same function.
import * as z from "zod";
import { all, type Condition, equals, not, oneOf } from "../../adapters/dynamodb/conditions.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { Count } from "../../kernel/record-fields.ts";
import { emailShards } from "../../keys.ts";
import * as contactReader from "../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { snoozedCondition } from "../audience/contacts/snooze-state.ts";
import { createMailReader } from "../audience/mail-counts/mail-counts.ts";
import * as suppressionLookups from "../audience/suppressions/suppression-lookups.ts";
import { subscribedCondition } from "../audience/topics/topic-subscription.ts";
import { addMailsForCap, getExclusionReason } from "../sending/eligibility.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { getAudienceExclusion } from "./engine/broadcast-plan.ts";
import { type CandidateQuery, readCandidates, shardsOf } from "./engine/candidates.ts";
import type { ResendAudience } from "./engine/resend-audience.ts";

/** Up to this number, every candidate is checked against the suppression list. */
const maxExactCandidates = 10_000;

export const RecipientCounts = z.object({
  candidates: Count.describe("Contacts in the audience."),
  wouldReceive: Count.describe("Contacts who would get the campaign now."),
  suppressed: Count.describe(
    "Candidates not sent to because their email address is on the suppression list.",
  ),
  unsubscribed: Count.describe(
    "Candidates not sent to because they unsubscribed or have not confirmed yet.",
  ),
  notInTopic: Count.describe(
    "Candidates not sent to because they are not subscribed to the topic of the campaign.",
  ),
  snoozed: Count.describe(
    "Candidates not sent to because they paused marketing email on the preference page.",
  ),
  capped: Count.describe(
    "Candidates not sent to because they got marketing email within " +
      "`sendFrequencyCapDays` of the site.",
  ),
  heldOut: Count.describe(
    "Candidates not sent to because they are in the hold-out group of the campaign.",
  ),
  exact: z
    .boolean()
    .describe(
      `false above ${maxExactCandidates.toLocaleString("en")} candidates: then only the ` +
        "status of each contact is checked, which can lag behind new suppressions.",
    ),
});
export type RecipientCounts = z.output<typeof RecipientCounts>;
type Tally = Omit<RecipientCounts, "exact">;

export interface RecipientQuery extends CandidateQuery {
  capDays: number;
}

export interface ExcludedContact {
  contact: ContactItem;
  reason: mailSources.ExclusionReason;
}
type VisitExcluded = (excluded: ExcludedContact[]) => Promise<void>;

/** `visit` gets each contact who gets no mail, if every candidate is checked. */
export async function countRecipients(
  query: RecipientQuery,
  visit?: VisitExcluded,
): Promise<RecipientCounts> {
  if ("resendOf" in query.audience) return countResend(query, { ...query.audience, visit });
  const candidates = await contactReader.countContacts(query, query.contactQuery);
  const exact = candidates <= maxExactCandidates;
  return {
    ...(await (exact ? countExactly(query, visit) : countByStatus(query, candidates))),
    exact,
  };
}

/** Above the limit, the counters of the first campaign tell how many candidates there are. */
async function countResend(
  query: RecipientQuery,
  { resendOf: id, to, visit }: ResendAudience & { visit: VisitExcluded | undefined },
): Promise<RecipientCounts> {
  const { all: first } = await mailSources.getSourceTotals(query.orgId, { kind: "campaign", id });
  if (first.accepted <= maxExactCandidates)
    return { ...(await countExactly(query, visit)), exact: true };
  const { uniqueOpened = 0 } = first.events;
  const unopened = Math.max(0, first.sent + first.delivered - uniqueOpened);
  const candidates = to === "failed" ? first.failed : unopened;
  return { ...noCounts(), candidates, wouldReceive: candidates, exact: false };
}

const noCounts = (): Tally => ({
  candidates: 0,
  wouldReceive: 0,
  suppressed: 0,
  unsubscribed: 0,
  notInTopic: 0,
  snoozed: 0,
  capped: 0,
  heldOut: 0,
});

async function countExactly(
  query: RecipientQuery,
  visit: VisitExcluded | undefined,
): Promise<Tally> {
  const counts = noCounts();
  const listReasons = createReasonLister(query);
  const shards = shardsOf(query);
  await inParallel(shards.length, shards, async (shard) => {
    for await (const { items } of readCandidates(query, shard)) {
      const reasons = await listReasons(items);
      counts.candidates += items.length;
      for (const reason of reasons) counts[(reason ?? "wouldReceive") as keyof Tally]++;
      const excluded = items.flatMap((contact, i) => {
        const reason = reasons[i];
        return reason ? [{ contact, reason }] : [];
      });
      await visit?.(excluded);
    }
  });
  return counts;
}

export function createReasonLister({
  orgId,
  siteId,
  capDays,
  topic,
  isNotice,
  holdOut,
}: Pick<RecipientQuery, "orgId" | "siteId" | "capDays" | "topic" | "isNotice" | "holdOut">) {
  const readMails = createMailReader({ orgId, siteId });
  return async (items: ContactItem[]) => {
    const emails = items.map(({ email }) => email);
    const [suppressed, counted] = await Promise.all([
      suppressionLookups.filterSuppressed(orgId, emails, {
        purpose: isNotice ? "transactional" : "marketing",
      }),
      addMailsForCap(readMails, items, capDays),
    ]);
    return counted.map((contact) =>
      getAudienceExclusion(contact, suppressed, { capDays, topic, isNotice, holdOut }),
    );
  };
}

/** Counts by the stored status of the contacts, without reading them out. */
async function countByStatus(query: RecipientQuery, candidates: number): Promise<Tally> {
  const { orgId, siteId, contactQuery, capDays, topic, isNotice } = query;
  const count = (condition: Condition) =>
    contactReader.countContacts(
      { orgId, siteId },
      {
        ...contactQuery,
        filter: contactQuery.filter ? all(contactQuery.filter, condition) : condition,
      },
    );
  const isReachable = all(
    equals("status", "subscribed"),
    ...(topic ? [subscribedCondition(topic)] : []),
  );
  const [suppressed, unsubscribed, notInTopic, snoozed, capped] = await Promise.all([
    count(equals("status", "suppressed")),
    count(isNotice ? equals("status", "pending") : not(oneOf("status", subscribedOrSuppressed))),
    topic ? count(all(equals("status", "subscribed"), not(subscribedCondition(topic)))) : 0,
    isNotice ? 0 : count(all(isReachable, snoozedCondition())),
    capDays ? countCapped(query) : 0,
  ]);
  const eligible = candidates - suppressed - unsubscribed - notInTopic - snoozed - capped;
  const heldOut = Math.round((Math.max(0, eligible) * (query.holdOut?.percent ?? 0)) / 100);
  return {
    candidates,
    wouldReceive: eligible - heldOut,
    suppressed,
    unsubscribed,
    notInTopic,
    snoozed,
    capped,
    heldOut,
  };
}

const subscribedOrSuppressed = ["suppressed", "subscribed"];

/** The candidates who are left out only because of the frequency cap. */
async function countCapped({ orgId, siteId, contactQuery, capDays, topic }: RecipientQuery) {
  const { test, attributes = [] } = contactQuery;
  const readsAll = test && !contactQuery.attributes;
  const projection = readsAll ? undefined : [...new Set([...cappedAttributes, ...attributes])];
  const readMails = createMailReader({ orgId, siteId });
  let capped = 0;
  await inParallel(emailShards.length, emailShards, async (shard) => {
    const pages = contactReader.readShard({ orgId, siteId }, shard, {
      ...contactQuery,
      projection,
    });
    for await (const { items } of pages)
      for (const contact of await readMails(items))
        if (getExclusionReason(contact, new Set(), { capDays, topic }) === "capped") capped++;
  });
  return capped;
}

/** What `getExclusionReason` reads. */
const cappedAttributes = [
  "id",
  "email",
  "status",
  "switchedTopics",
  "snoozedUntil",
  "lastMarketingAt",
  "merged",
];
