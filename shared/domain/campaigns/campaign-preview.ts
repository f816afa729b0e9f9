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
import * as staging from "../sending/intake/stage-chunks.ts";
import { compose, mergeVariables } from "../sending/rendering/compose.ts";
import { loadMailParts, type MailParts } from "../sending/rendering/mail-content.ts";
import { buildCampaignPlan } from "./campaign-plan.ts";
import type { StoredCampaign } from "./campaign-schema.ts";
import { listPlanWarnings } from "./campaign-warnings.ts";
import * as campaigns from "./campaigns.ts";
import * as plans from "./engine/broadcast-plan.ts";
import { createPartMessageBuilder } from "./engine/part-messages.ts";
import { countRecipients, RecipientCounts, type RecipientQuery } from "./recipient-counts.ts";
import { buildRecipientQuery, describeSampleGaps, readSampleContacts } from "./sample-contacts.ts";

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
function fingerprintOf({ at, ...plan }: plans.BroadcastPlan): string {
  return sha256(JSON.stringify(plan));
}

// Keeps the response below the limit of API Gateway.
const maxSampleBytes = 4_000_000;

async function renderSamples(
  campaign: StoredCampaign,
  query: RecipientQuery & plans.BroadcastPlan,
): Promise<PreviewSample[]> {
  const contacts = await readSampleContacts(query);
  const render = await createSampleRenderer(campaign, query);
  const samples: PreviewSample[] = [];
  let bytes = 0;
  for (const contact of contacts) {
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
