// Proofs: single mails that read as a campaign will, to people who are to judge it. They are counted for nobody but the plan.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { get } from "../../doors/table.ts";
import { canonical, EmailAddress } from "../../email.ts";
import { invalid, missing } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import * as plans from "../broadcasts/plan.ts";
import * as campaigns from "../campaigns.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as reader from "../contacts/reader.ts";
import { gather } from "../sending/accept.ts";
import { single } from "../sending/accept-single.ts";
import type { SingleMessage } from "../sending/message.ts";
import type { StoredCampaign } from "./campaign.ts";
import { planOf } from "./plan.ts";
import { renderer } from "./preview.ts";

const mostEmails = 10;

export const ProofRequest = z
  .object({
    emails: z.array(EmailAddress).min(1).max(mostEmails),
    variantId: z.int().positive().optional().describe("Absent: each address gets every variant"),
  })
  .meta({ examples: [{ emails: ["ada@example.com"] }] });
export type ProofRequest = z.output<typeof ProofRequest>;

export const Proofs = z.object({
  proofs: z.array(
    z.object({
      email: z.string(),
      variantId: z.int().nullable(),
      sendId: z.int(),
      status: z.enum(["queued", "scheduled", "failed"]).describe("`failed`: the address is suppressed"),
    }),
  ),
});
export type Proofs = z.output<typeof Proofs>;

/**
 * Each reads as it would to the contact of that address, else to one of the audience. The link to unsubscribe leads nowhere. Throws
 * 400 that names what is missing to send it.
 */
export async function send(caller: Caller, id: number, { emails, variantId }: ProofRequest): Promise<Proofs> {
  const campaign = await campaigns.item(caller, id);
  const plan = await planOf(campaign);
  const parts = variantId === undefined ? plan.parts : plan.parts.filter((part) => part.id === variantId);
  if (!parts.length) throw missing("There is no such variant of this campaign");
  const [render, standIn] = await Promise.all([renderer(campaign, plan), anybody(campaign, plan)]);
  const distinct = [...new Map(emails.map((email) => [canonical(email), email])).values()];
  const wanted = distinct.flatMap((email) => parts.map((part) => ({ email, part })));
  const read = await inParallel(4, wanted, async ({ email, part }) => {
    const contact = (await get<ContactItem>(keys.contact(caller.orgId, campaign.siteId, canonical(email)))) ?? standIn;
    return render(contact, part);
  });
  const broken = read.find(({ error }) => error !== null);
  if (broken) throw invalid(`It cannot be rendered for ${broken.email}: ${broken.error}`);
  // One after the other: ids are taken in the same order when the request is made again.
  const proofs: Proofs["proofs"] = [];
  for (const [i, { email, part }] of wanted.entries()) {
    const message = messageOf(campaign, email, plan.configId, read[i]!);
    const { id: sendId, status } = await single(caller, message, await gather(caller, message, [email]));
    proofs.push({ email, variantId: part.id ?? null, sendId, status });
  }
  return { proofs };
}

/** What is rendered already stands in variables, so that nothing of it is taken for Liquid again. */
function messageOf(
  { siteId, name }: StoredCampaign,
  to: string,
  sendingConfigId: number,
  said: { subject: string; html: string | null; text: string },
): SingleMessage {
  const { html, ...rest } = said;
  return {
    to,
    siteId,
    sendingConfigId,
    subject: "[Test] {{ proof.subject }}",
    ...(html !== null && { html: "{{ proof.html | raw }}" }),
    text: "{{ proof.text }}",
    variables: { proof: { subject: rest.subject, html, text: rest.text } },
    headers: {},
    tags: [],
    metadata: { proofOf: name },
    attachments: [],
  };
}

async function anybody(campaign: StoredCampaign, plan: plans.Plan): Promise<ContactItem> {
  const { items } = await reader.page(campaign.orgId, campaign.siteId, { limit: 1 }, await plans.wantedOf(campaign.orgId, plan));
  return items[0] ?? ({ id: 0, email: "ada@example.com", firstName: "Ada", lastName: "Lovelace" } as ContactItem);
}
