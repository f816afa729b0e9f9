// Proofs: test mails of a campaign to people who review it. They use the quota, but do not count in
// the campaign's statistics.
import * as z from "zod";
import { get } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { invalid, missing } from "../../errors.ts";
import { EmailAddress, normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { acceptSingle } from "../sending/accept/accept-single.ts";
import { loadIntake } from "../sending/accept/intake.ts";
import { toTestMessage } from "../sending/accept/test-message.ts";
import { toMailFiles } from "./campaign-attachments.ts";
import { buildCampaignPlan } from "./campaign-plan.ts";
import { createSampleRenderer } from "./campaign-preview.ts";
import * as campaigns from "./campaigns.ts";
import type * as broadcastPlan from "./engine/broadcast-plan.ts";
import { buildCandidateQuery, readFirstCandidates } from "./engine/candidates.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

const maxEmails = 10;

export const ProofRequest = z
  .object({
    emails: z.array(EmailAddress).min(1).max(maxEmails).describe("1 to 10 email addresses."),
    variantId: z
      .int()
      .positive()
      .optional()
      .describe("Variant to send. If omitted, each address gets every variant."),
  })
  .meta({ examples: [{ emails: ["ada@example.com"] }] });
export type ProofRequest = z.output<typeof ProofRequest>;

export const Proofs = z.object({
  proofs: z
    .array(
      z.object({
        email: z.string().describe("Email address of the recipient."),
        variantId: RecordId.nullable().describe(
          "Variant that is sent. `null`: the campaign has none.",
        ),
        sendId: RecordId.describe("Send of the proof, for GET /sends/:id."),
        status: z
          .enum(["queued", "scheduled", "failed"])
          .describe("`failed`: the email address is suppressed."),
      }),
    )
    .describe("One entry per email and variant."),
});
export type Proofs = z.output<typeof Proofs>;

/**
 * Renders each proof for the contact with that address, or else for a contact of the audience. The
 * unsubscribe links do not work. Throws 400 that names what the campaign is missing.
 */
export async function sendProofs(
  caller: Caller,
  id: number,
  { emails, variantId }: ProofRequest,
): Promise<Proofs> {
  const campaign = await campaigns.findStored(caller, id);
  const plan = await buildCampaignPlan(campaign);
  const parts =
    variantId === undefined ? plan.parts : plan.parts.filter((part) => part.id === variantId);
  if (!parts.length) throw missing("The variant does not exist");
  const [render, fallbackContact] = await Promise.all([
    createSampleRenderer(campaign, plan),
    pickAudienceContact(campaign, plan),
  ]);
  const distinct = [...new Map(emails.map((email) => [normalizeEmail(email), email])).values()];
  const wanted = distinct.flatMap((email) => parts.map((part) => ({ email, part })));
  const renderedProofs = await inParallel(4, wanted, async ({ email, part }) => {
    const contact =
      (await get<ContactItem>(
        keys.contact(caller.orgId, campaign.siteId, normalizeEmail(email)),
      )) ?? fallbackContact;
    return render(contact, part);
  });
  const failedProof = renderedProofs.find(({ error }) => error !== null);
  if (failedProof)
    throw invalid(`The campaign cannot be rendered for ${failedProof.email}: ${failedProof.error}`);
  // One after the other, so that a repeated request uses the same ids in the same order.
  const proofs: Proofs["proofs"] = [];
  for (const [i, { email, part }] of wanted.entries()) {
    const { fromEmail, fromName, replyTo } = renderedProofs[i]!;
    const message = {
      ...toTestMessage(renderedProofs[i]!, {
        siteId: campaign.siteId,
        metadata: { proofOf: campaign.name },
      }),
      to: email,
      sendingConfigId: plan.configId,
      fromEmail,
      ...(fromName !== null && { fromName }),
      ...(replyTo !== null && { replyTo: [replyTo] }),
      headers: campaign.headers ?? {},
    };
    const context = await loadIntake(caller, message, { emails: [email] });
    const { id: sendId, status } = await acceptSingle(caller, message, {
      context: { ...context, files: toMailFiles(campaign.attachments) },
    });
    proofs.push({ email, variantId: part.id ?? null, sendId, status });
  }
  return { proofs };
}

async function pickAudienceContact(
  { orgId }: StoredCampaign,
  plan: broadcastPlan.BroadcastPlan,
): Promise<ContactItem> {
  for await (const [first] of readFirstCandidates(await buildCandidateQuery(orgId, plan)))
    if (first) return first;
  return {
    id: 0,
    email: "ada@example.com",
    firstName: "Ada",
    lastName: "Lovelace",
  } as ContactItem;
}
