// The answer to "why did this contact not get the campaign?". The sends to the address and the log
// of the fan-out decide, not what is true by now.

import { get } from "../../../adapters/dynamodb/table.ts";
import type { Caller } from "../../../caller.ts";
import { invalid, undefinedIfMissing } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import { keys } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { listMarketingBarriers } from "../../delivery-events/delivery-answers.ts";
import { explainSend } from "../../delivery-events/send-answers.ts";
import { findDetail, type SendDetail } from "../../delivery-events/send-history.ts";
import { answerWhy, type Why } from "../../delivery-events/why.ts";
import type { DeliveryAnswer } from "../../delivery-events/why-reasons.ts";
import { findHold, type MailHold } from "../../sending/mail-holds.ts";
import type { ExclusionReason } from "../../sending/mail-sources.ts";
import { listCursors } from "../engine/fan-out-cursors.ts";
import { findDecision } from "../engine/find-decision.ts";
import { isNotice } from "../notices.ts";
import type { StoredCampaign } from "../stored-campaign.ts";

interface WhyQuestion {
  email: string;
  siteId?: number | undefined;
  campaignId?: number | undefined;
}

/**
 * Like `answerWhy`, about one campaign if `campaignId` is given. Throws 404 for a campaign that
 * does not exist, and 400 if it is of another site.
 */
export async function answerWhyOf(
  caller: Caller,
  { campaignId, ...question }: WhyQuestion,
): Promise<Why> {
  if (campaignId === undefined) return answerWhy(caller, question);
  const campaign = await records.find<StoredCampaign>("CAMPAIGN", caller, campaignId);
  const { siteId, name } = campaign;
  if (question.siteId !== undefined && question.siteId !== siteId)
    throw invalid("campaignId is of another site", {
      details: [{ path: "campaignId", message: "is of another site" }],
    });
  const why = await answerWhy(caller, { ...question, siteId });
  const { sendId, answer, hold = null } = await explainCampaign(caller, campaign, why);
  return {
    ...why,
    nextRequest: null,
    ...answer,
    alsoApplies: listBarriers(why).filter((barrier) => barrier !== answer.reason),
    campaign: { id: campaignId, name, sendId },
    hold,
  };
}

const listBarriers = ({ suppression, contact }: Why) =>
  listMarketingBarriers({
    suppression: suppression ?? undefined,
    contactStatus: contact?.status,
    otherTopics: contact?.otherTopics.map(({ name }) => name) ?? [],
    snoozedUntil: contact?.snoozedUntil ?? undefined,
    cappedUntil: contact?.cappedUntil ?? undefined,
  });

interface CampaignAnswer {
  sendId: number | null;
  answer: DeliveryAnswer;
  hold?: MailHold | undefined;
}

async function explainCampaign(
  caller: Caller,
  campaign: StoredCampaign,
  why: Why,
): Promise<CampaignAnswer> {
  const known = why.sends.find(({ campaignId }) => campaignId === campaign.id);
  if (known) return explainEmail(caller, known);
  if (!campaign.startedAt) return { sendId: null, answer: explainUnsent(campaign) };
  const contact = await get<ContactItem>(keys.contact(caller.orgId, campaign.siteId, why.email));
  const decision =
    contact && (await findDecision({ orgId: caller.orgId, id: campaign.id }, contact));
  if (decision?.sendId !== undefined) return explainStored(caller, decision.sendId);
  const answer = decision
    ? explainExclusion(decision.reason, campaign, why.email)
    : await explainAbsence(caller.orgId, campaign, why);
  return { sendId: null, answer };
}

async function explainStored(caller: Caller, sendId: number): Promise<CampaignAnswer> {
  const send = await findDetail(caller, sendId).catch(undefinedIfMissing);
  return send ? explainEmail(caller, send) : { sendId, answer: expiredAnswer };
}

const expiredAnswer: DeliveryAnswer = {
  reason: "cancelled",
  answer:
    "The email of the campaign is no longer stored: it was not handed over within 60 days, or it " +
    "was sent long ago.",
  nextStep: "Send it again, if the recipient still needs it.",
};

async function explainEmail({ orgId }: Caller, send: SendDetail): Promise<CampaignAnswer> {
  const isWaiting = send.status === "queued" || send.status === "sending";
  const hold = isWaiting ? await findHold(orgId, send) : undefined;
  return { sendId: send.id, answer: explainSend(send, hold, "email of the campaign"), hold };
}

const explainUnsent = ({ name, status }: StoredCampaign): DeliveryAnswer => ({
  reason: "not_sent",
  answer: `The campaign “${name}” has not been sent to anyone: it is ${status}.`,
  nextStep: "Send or schedule the campaign.",
  nextRequest: "POST /campaigns/:id/send",
});

const exclusions: Record<ExclusionReason, [DeliveryAnswer["reason"], why: string, step: string]> = {
  suppressed: [
    "suppressed",
    "the address was on the suppression list",
    "When the mailbox works and its owner wants the email, remove the address from the " +
      "suppression list.",
  ],
  unsubscribed: [
    "unsubscribed",
    "the contact was not subscribed",
    "Only the recipient should undo this, with a form or on your own page.",
  ],
  notInTopic: [
    "not_in_topic",
    "the contact was not subscribed to its topic",
    "Only the recipient should join the topic, on the preference page.",
  ],
  snoozed: [
    "snoozed",
    "the contact had paused marketing email on the preference page",
    "Nothing: the contact gets marketing email again when the pause ends.",
  ],
  capped: [
    "capped",
    "the contact had got marketing email within the frequency cap of the site",
    "Send the next campaign later, or shorten the frequency cap in the settings of the site.",
  ],
  duplicate: [
    "duplicate",
    "another contact with the same address was in the audience already",
    "Nothing: the address got the email once.",
  ],
  invalid: ["invalid_address", "the address is not valid", "Correct the address of the contact."],
  heldOut: [
    "held_out",
    "the contact was in the hold-out group, which gets no email for comparison,",
    "Nothing: the next campaign draws another hold-out group.",
  ],
};

/** A notice goes to contacts who unsubscribed, but not to those who never confirmed. */
const unconfirmed: (typeof exclusions)[ExclusionReason] = [
  "unconfirmed",
  "the contact had not confirmed its subscription",
  "Ask the recipient to open the link in the confirmation email.",
];

function explainExclusion(
  excluded: ExclusionReason,
  campaign: StoredCampaign,
  email: string,
): DeliveryAnswer {
  const { name } = campaign;
  const isUnconfirmed = excluded === "unsubscribed" && isNotice(campaign);
  const [reason, cause, nextStep] = isUnconfirmed ? unconfirmed : exclusions[excluded];
  const answer = `The campaign “${name}” left ${email} out, because ${cause} when it was sent.`;
  return { reason, answer, nextStep };
}

async function explainAbsence(
  orgId: number,
  campaign: StoredCampaign,
  { email, contact }: Why,
): Promise<DeliveryAnswer> {
  const { id, name, finishedAt } = campaign;
  const cursors = finishedAt ? [] : await listCursors({ orgId, kind: "campaign", id });
  if (contact && cursors.some(({ done }) => !done))
    return {
      reason: "queued",
      answer: `The campaign “${name}” is being sent, and has not come to ${email} yet.`,
      nextStep: "Ask again in a few minutes.",
    };
  return {
    reason: "not_in_audience",
    answer:
      `${email} was not in the audience of the campaign “${name}” when it was sent` +
      `${contact ? "" : ", and no contact of the site has this address"}.`,
    nextStep:
      "Check the lists, tags and segments of the campaign, and when the contact was added to them.",
  };
}
