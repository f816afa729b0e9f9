// Preview of a campaign: how many contacts would get it now, and rendered samples.

import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import * as liquid from "../../email/liquid.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { sha256 } from "../../keys.ts";
import { fillMergeText } from "../../providers/provider-adapter.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as stageChunks from "../sending/accept/stage-chunks.ts";
import { inactiveBrowserLink } from "../sending/rendering/browser-links.ts";
import { compose, mergeVariables } from "../sending/rendering/compose.ts";
import { loadFeed } from "../sending/rendering/feeds.ts";
import { type LiquidMail, loadLiquidMail } from "../sending/rendering/mail-content.ts";
import { getRecentFeed } from "./campaign-feed.ts";
import { buildCampaignPlan } from "./campaign-plan.ts";
import { listPlanWarnings } from "./campaign-warnings.ts";
import * as campaigns from "./campaigns.ts";
import * as broadcastPlan from "./engine/broadcast-plan.ts";
import { createPartMessageBuilder } from "./engine/part-messages.ts";
import { countRecipients, RecipientCounts, type RecipientQuery } from "./recipient-counts.ts";
import { buildRecipientQuery, describeSampleGaps, readSampleContacts } from "./sample-contacts.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

export const PreviewSample = z
  .object({
    contactId: RecordId.describe("Contact that the email is rendered for."),
    email: z.string().describe("Email address of the contact."),
    variantId: RecordId.nullable().describe(
      "Variant that was rendered. `null`: the campaign has no variants, or the contact would " +
        "wait for the winner and the first variant is shown.",
    ),
    fromEmail: z.string().describe("Email address of the sender."),
    fromName: z.string().nullable().describe("Name of the sender, or `null`."),
    replyTo: z
      .string()
      .nullable()
      .describe("Email address that replies go to. `null`: that of the sender."),
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
  })
  .meta({ id: "PreviewSample" });
export type PreviewSample = z.output<typeof PreviewSample>;

export const CampaignPreview = z
  .object({
    ...RecipientCounts.shape,
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

/** Throws 400 that names what the campaign is missing. */
export async function preview(
  who: CallerScope,
  id: number,
): Promise<CampaignPreview & { warnings: string[] }> {
  const campaign = await campaigns.findStored(who, id);
  const plan = await buildCampaignPlan(campaign);
  const query = await buildRecipientQuery(who.orgId, plan);
  const [counts, samples, warnings] = await Promise.all([
    countRecipients(query),
    renderSamples(campaign, query),
    listPlanWarnings(campaign, plan),
  ]);
  const gaps = describeSampleGaps(samples.map(({ missingVariables }) => missingVariables));
  return {
    ...counts,
    fingerprint: fingerprintOf(plan),
    samples,
    warnings: [...(gaps === undefined ? [] : [gaps]), ...warnings],
  };
}

/** The plan names the version of each template and of each html. */
function fingerprintOf({ at, ...plan }: broadcastPlan.BroadcastPlan): string {
  return sha256(JSON.stringify(plan));
}

// Keeps the response below the limit of API Gateway.
const maxSampleBytes = 4_000_000;

export async function renderSamples(
  campaign: Parameters<typeof createSampleRenderer>[0],
  query: RecipientQuery & broadcastPlan.BroadcastPlan,
  feed?: unknown,
): Promise<PreviewSample[]> {
  const contacts = await readSampleContacts(query);
  const render = await createSampleRenderer(campaign, query, feed);
  const samples: PreviewSample[] = [];
  let bytes = 0;
  for (const contact of contacts) {
    const sample = await render(contact, broadcastPlan.assignPart(campaign, query, contact.id));
    bytes += Buffer.byteLength(sample.html ?? "") + Buffer.byteLength(sample.text);
    if (bytes > maxSampleBytes) break;
    samples.push(sample);
  }
  return samples;
}

async function findFeed(
  orgId: number,
  { feedUrl, feed }: broadcastPlan.BroadcastPlan,
): Promise<unknown> {
  if (feedUrl !== undefined) return getRecentFeed(orgId, feedUrl);
  return feed === undefined ? undefined : loadFeed(feed);
}

/** Returns a function that renders a part of the plan for a contact, with this value of `feed`. */
export async function createSampleRenderer(
  { orgId, id }: Pick<StoredCampaign, "orgId" | "id" | "kind">,
  plan: broadcastPlan.BroadcastPlan,
  givenFeed?: unknown,
) {
  const [buildMessage, feed] = await Promise.all([
    createPartMessageBuilder({ orgId, kind: "campaign", id }, plan),
    givenFeed ?? findFeed(orgId, plan),
  ]);
  const pool = liquid.newPool();
  return async (
    contact: ContactItem,
    part: broadcastPlan.BroadcastPart | undefined,
  ): Promise<PreviewSample> => {
    const budget = new liquid.Budget({ pool });
    const content = {
      ...(await stageChunks.buildMarketingContent({
        ...(await buildMessage(part)),
        startedAt: now(),
      })),
      locale: contact.locale ?? undefined,
    };
    const fields = {
      ...(await loadLiquidMail(orgId, content)),
      ...(feed !== undefined && { feed }),
    };
    // This page explains that the link of a preview does not work.
    const inactiveLink = `${config.publicUrl}/api/v1/unsubscribe/preview`;
    const linksOf = () => ({
      unsubscribePage: inactiveLink,
      preferencePage: `${inactiveLink}?view=preferences`,
      oneClickUnsubscribe: inactiveLink,
      browserPage: inactiveBrowserLink,
      contactToken: () => "preview",
    });
    const { common, renderRecipient } = compose(
      content,
      { ...fields, ...(fields.marketing && { marketing: { ...fields.marketing, linksOf } }) },
      [],
    );
    const { from, replyTo } = content;
    const who = {
      ...{ contactId: contact.id, email: contact.email, variantId: part?.id ?? null },
      ...{ fromEmail: from.email, fromName: from.name ?? null },
      replyTo: [replyTo].flat()[0] ?? null,
    };
    try {
      const { name, variables } = stageChunks.toChunkRecipient(contact, 0);
      const one = renderRecipient(
        { sendId: 0, to: contact.email, name, variables, contactId: contact.id },
        budget,
      );
      const text = fillMergeText(common.text ?? [], one);
      const missingVariables = listMissingVariables(
        fields,
        {
          ...mergeVariables(content, { to: contact.email, name, variables }),
          ...{ feed, brandLook: fields.brandLook },
        },
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
  { subject, html, text, snippets = {} }: LiquidMail,
  variables: liquid.LiquidVariables,
  at: string,
): string[] {
  const parts = Object.entries({ subject, html, text }).flatMap(([field, source]) =>
    source ? [{ field, source }] : [],
  );
  const missing = parts.flatMap(
    ({ field, source }) =>
      liquid.render(
        liquid.compile(source, {
          ...{ escape: field === "html", field },
          snippets: field === "subject" ? undefined : snippets,
        }),
        variables,
        { now: new Date(at) },
      ).missing,
  );
  return [...new Set(missing)].filter((name) => !builtInVariables.has(name));
}

const builtInVariables = new Set([
  ...["unsubscribeUrl", "preferencesUrl", "browserUrl", "contactToken", "postalAddress"],
]);
