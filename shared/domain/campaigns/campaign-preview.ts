// Preview of a campaign: how many contacts would get it now, and rendered samples.

import * as z from "zod";
import { all, type Condition, equals, not, oneOf } from "../../adapters/dynamodb/conditions.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import * as liquid from "../../email/liquid.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import { emailShards, sha256 } from "../../keys.ts";
import { fillMergeText } from "../../providers/provider-adapter.ts";
import * as reader from "../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { createMailReader } from "../audience/mail-counts/mail-counts.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { subscribedCondition } from "../audience/topics/topic-subscription.ts";
import * as sites from "../identity/sites.ts";
import { addMailsForCap, getExclusionReason } from "../sending/eligibility.ts";
import * as staging from "../sending/intake/stage-chunks.ts";
import * as sources from "../sending/mail-sources.ts";
import { compose, mergeVariables } from "../sending/rendering/compose.ts";
import { loadMailParts, type MailParts } from "../sending/rendering/mail-content.ts";
import { buildCampaignPlan } from "./campaign-plan.ts";
import type { StoredCampaign } from "./campaign-schema.ts";
import { listPlanWarnings } from "./campaign-warnings.ts";
import * as campaigns from "./campaigns.ts";
import * as plans from "./engine/broadcast-plan.ts";
import {
  buildCandidateQuery,
  type CandidateQuery,
  readCandidates,
  readFirstCandidates,
  shardsOf,
} from "./engine/candidates.ts";
import { createPartMessageBuilder } from "./engine/part-messages.ts";
import type { ResendAudience } from "./engine/resend-audience.ts";

const PreviewSample = z.object({
  contactId: RecordId.describe("Contact that the email is rendered for."),
  email: z.string().describe("Email address of the contact."),
  variantId: RecordId.nullable().describe(
    "Variant that was rendered. `null`: the campaign has no variants, or the contact would " +
      "wait for the winner and the first variant is shown.",
  ),
  subject: z.string().describe("Rendered subject line."),
  html: z
    .string()
    .nullable()
    .describe("Rendered HTML part. `null` without one, or if `error` is set."),
  text: z.string().describe("Rendered plain text part."),
  missingVariables: z
    .array(z.string())
    .describe("Variables that have no value for this contact and so rendered empty."),
  error: z
    .string()
    .nullable()
    .describe("Why the email cannot be rendered for this contact. Its send would fail."),
});
type PreviewSample = z.output<typeof PreviewSample>;

const maxSamples = 10;
/** Up to this number, every candidate is checked against the suppression list. */
const maxExactCandidates = 10_000;

export const CampaignPreview = z
  .object({
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
    capped: Count.describe(
      "Candidates not sent to because they got marketing email within " +
        "`sendFrequencyCapDays` of the site.",
    ),
    exact: z
      .boolean()
      .describe(
        `false above ${maxExactCandidates.toLocaleString("en")} candidates: then only the ` +
          "status of each contact is checked, which can lag behind new suppressions.",
      ),
    fingerprint: z
      .string()
      .describe(
        "Changes when the content, the sender or the definition of the audience changes, also in " +
          "a template or a segment.",
      ),
    samples: z
      .array(PreviewSample)
      .describe("Up to ten rendered emails. Their unsubscribe links do not work."),
  })
  .meta({ id: "CampaignPreview" });
export type CampaignPreview = z.output<typeof CampaignPreview>;

type PreviewCounts = Pick<
  CampaignPreview,
  "candidates" | "wouldReceive" | "suppressed" | "unsubscribed" | "notInTopic" | "capped"
>;

/** Throws 400 that names what the campaign is missing. */
export async function preview(
  who: CallerScope,
  id: number,
): Promise<CampaignPreview & { warnings: string[] }> {
  const campaign = await campaigns.findStored(who, id);
  const plan = await buildCampaignPlan(campaign);
  const [candidateQuery, site] = await Promise.all([
    buildCandidateQuery(who.orgId, plan),
    sites.find(who, campaign.siteId),
  ]);
  const query: PreviewQuery = { ...candidateQuery, capDays: site.sendFrequencyCapDays ?? 0 };
  const [counts, samples, warnings] = await Promise.all([
    countRecipients(query),
    renderSamples(campaign, query),
    listPlanWarnings(campaign, plan),
  ]);
  return {
    ...counts,
    fingerprint: fingerprintOf(plan),
    samples,
    warnings: [...listVariableWarnings(samples), ...warnings],
  };
}

/** The plan names the version of each template and of each html. */
function fingerprintOf({ at, ...plan }: plans.BroadcastPlan): string {
  return sha256(JSON.stringify(plan));
}

function listVariableWarnings(samples: PreviewSample[]): string[] {
  const names = new Set(samples.flatMap(({ missingVariables }) => missingVariables));
  if (!names.size) return [];
  const n = samples.filter(({ missingVariables }) => missingVariables.length).length;
  return [
    `These variables have no value in ${n} of ${samples.length} samples: ` +
      `${[...names].slice(0, 20).join(", ")}`,
  ];
}

async function countRecipients(
  query: PreviewQuery,
): Promise<PreviewCounts & Pick<CampaignPreview, "exact">> {
  if ("resendOf" in query.audience) return countResend(query, query.audience);
  const candidates = await reader.countContacts(query, query.contactQuery);
  const exact = candidates <= maxExactCandidates;
  return { ...(await (exact ? countExactly(query) : countByStatus(query, candidates))), exact };
}

/** Above the limit, the counters of the first campaign tell how many candidates there are. */
async function countResend(
  query: PreviewQuery,
  { resendOf: id, to }: ResendAudience,
): Promise<PreviewCounts & Pick<CampaignPreview, "exact">> {
  const { all: first } = await sources.getSourceTotals(query.orgId, { kind: "campaign", id });
  if (first.accepted <= maxExactCandidates) return { ...(await countExactly(query)), exact: true };
  const { uniqueOpened = 0 } = first.events;
  const unopened = Math.max(0, first.sent + first.delivered - uniqueOpened);
  const candidates = to === "failed" ? first.failed : unopened;
  return { ...noCounts(), candidates, wouldReceive: candidates, exact: false };
}

const noCounts = (): PreviewCounts => ({
  candidates: 0,
  wouldReceive: 0,
  suppressed: 0,
  unsubscribed: 0,
  notInTopic: 0,
  capped: 0,
});

interface PreviewQuery extends CandidateQuery {
  capDays: number;
}

async function countExactly(query: PreviewQuery): Promise<PreviewCounts> {
  const counts = noCounts();
  const listReasons = createReasonLister(query);
  const shards = shardsOf(query);
  await inParallel(shards.length, shards, async (shard) => {
    for await (const { items } of readCandidates(query, shard)) {
      const reasons = await listReasons(items);
      counts.candidates += items.length;
      for (const reason of reasons) counts[(reason ?? "wouldReceive") as keyof PreviewCounts]++;
    }
  });
  return counts;
}

function createReasonLister({
  orgId,
  siteId,
  capDays,
  topic,
}: Pick<PreviewQuery, "orgId" | "siteId" | "capDays" | "topic">) {
  const readMails = createMailReader({ orgId, siteId });
  return async (items: ContactItem[]) => {
    const emails = items.map(({ email }) => email);
    const [suppressed, counted] = await Promise.all([
      suppressions.filterSuppressed(orgId, emails, { purpose: "marketing" }),
      addMailsForCap(readMails, items, capDays),
    ]);
    return counted.map((contact) => getExclusionReason(contact, suppressed, { capDays, topic }));
  };
}

/** Counts by the stored status of the contacts, without reading them out. */
async function countByStatus(query: PreviewQuery, candidates: number): Promise<PreviewCounts> {
  const { orgId, siteId, contactQuery, capDays, topic } = query;
  const count = (condition: Condition) =>
    reader.countContacts(
      { orgId, siteId },
      {
        ...contactQuery,
        filter: contactQuery.filter ? all(contactQuery.filter, condition) : condition,
      },
    );
  const [suppressed, unsubscribed, notInTopic, capped] = await Promise.all([
    count(equals("status", "suppressed")),
    count(not(oneOf("status", ["suppressed", "subscribed"]))),
    topic ? count(all(equals("status", "subscribed"), not(subscribedCondition(topic)))) : 0,
    capDays ? countCapped(query) : 0,
  ]);
  return {
    candidates,
    wouldReceive: candidates - suppressed - unsubscribed - notInTopic - capped,
    suppressed,
    unsubscribed,
    notInTopic,
    capped,
  };
}

/** The candidates who are left out only because of the frequency cap. */
async function countCapped({ orgId, siteId, contactQuery, capDays, topic }: PreviewQuery) {
  const { test, attributes = [] } = contactQuery;
  const readsAll = test && !contactQuery.attributes;
  const projection = readsAll ? undefined : [...new Set([...cappedAttributes, ...attributes])];
  const readMails = createMailReader({ orgId, siteId });
  let capped = 0;
  await inParallel(emailShards.length, emailShards, async (shard) => {
    const pages = reader.readShard({ orgId, siteId }, shard, { ...contactQuery, projection });
    for await (const { items } of pages)
      for (const contact of await readMails(items))
        if (getExclusionReason(contact, new Set(), { capDays, topic }) === "capped") capped++;
  });
  return capped;
}

/** What `getExclusionReason` reads. */
const cappedAttributes = ["id", "email", "status", "switchedTopics", "lastMarketingAt"];

const maxSamplePages = 10;
// Keeps the response below the limit of API Gateway.
const maxSampleBytes = 4_000_000;

async function renderSamples(
  campaign: StoredCampaign,
  query: PreviewQuery,
): Promise<PreviewSample[]> {
  const listReasons = createReasonLister(query);
  const found: ContactItem[] = [];
  let pages = 0;
  for await (const items of readFirstCandidates(query)) {
    const reasons = await listReasons(items);
    found.push(...items.filter((_, i) => !reasons[i]));
    if (found.length >= maxSamples || ++pages >= maxSamplePages) break;
  }
  const render = await createSampleRenderer(campaign, query);
  const samples: PreviewSample[] = [];
  let bytes = 0;
  for (const contact of found.slice(0, maxSamples)) {
    const sample = await render(contact, plans.assignPart(campaign, query, contact.id));
    bytes += Buffer.byteLength(sample.html ?? "") + Buffer.byteLength(sample.text);
    if (bytes > maxSampleBytes) break;
    samples.push(sample);
  }
  return samples;
}

/** Returns a function that renders a part of the plan for a contact. */
export async function createSampleRenderer(
  { orgId, id }: StoredCampaign,
  plan: plans.BroadcastPlan,
) {
  const buildMessage = await createPartMessageBuilder({ orgId, kind: "campaign", id }, plan);
  const pool = liquid.newPool();
  return async (
    contact: ContactItem,
    part: plans.BroadcastPart | undefined,
  ): Promise<PreviewSample> => {
    const budget = new liquid.Budget({ pool });
    const content = await staging.buildMarketingContent({
      ...(await buildMessage(part)),
      startedAt: now(),
    });
    const parts = await loadMailParts(orgId, content);
    // This page explains that the link of a preview does not work.
    const inactiveLink = `${config.publicUrl}/api/v1/unsubscribe/preview`;
    const linksOf = () => ({
      unsubscribePage: inactiveLink,
      preferencePage: inactiveLink,
      oneClickUnsubscribe: inactiveLink,
      contactToken: () => "preview",
    });
    const { common, renderRecipient } = compose(
      content,
      { ...parts, ...(parts.marketing && { marketing: { ...parts.marketing, linksOf } }) },
      [],
    );
    const who = { contactId: contact.id, email: contact.email, variantId: part?.id ?? null };
    try {
      const { name, variables } = staging.toChunkRecipient(contact, 0);
      const one = renderRecipient(
        { sendId: 0, to: contact.email, name, variables, contactId: contact.id },
        budget,
      );
      const text = fillMergeText(common.text ?? [], one);
      const missingVariables = listMissingVariables(
        parts,
        mergeVariables(content, { to: contact.email, name, variables }),
        content.at,
      );
      const html = common.html ? fillMergeText(common.html, one) : null;
      return {
        ...who,
        subject: fillMergeText(common.subject, one),
        html,
        text,
        missingVariables,
        error: null,
      };
    } catch (error) {
      return {
        ...who,
        subject: "",
        html: null,
        text: "",
        missingVariables: [],
        error: (error as Error).message,
      };
    }
  };
}

/** Uses the same names as the preview of a template. */
function listMissingVariables(
  { subject, html, text }: MailParts,
  variables: liquid.LiquidVariables,
  at: string,
): string[] {
  const parts = Object.entries({ subject, html, text }).flatMap(([field, source]) =>
    source ? [{ field, source }] : [],
  );
  const missing = parts.flatMap(
    ({ field, source }) =>
      liquid.render(liquid.compile(source, { escape: field === "html", field }), variables, {
        now: new Date(at),
      }).missing,
  );
  return [...new Set(missing)].filter((name) => !builtInVariables.has(name));
}

const builtInVariables = new Set(["unsubscribeUrl", "preferencesUrl", "contactToken"]);
