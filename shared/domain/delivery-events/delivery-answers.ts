// The answer to "why did this email not arrive?", from the facts about an address. The first cause
// that applies decides: the address gets no email, its latest email waits, or what happened to it.
import type { ContactStatus } from "../audience/contacts/contact-schema.ts";
import {
  isMarketingOnly,
  isSoft,
  type Suppression,
  type SuppressionReason,
} from "../audience/suppressions/suppressions.ts";
import type { MailHold } from "../sending/mail-holds.ts";
import { sourceOf } from "../sending/mail-sources.ts";
import { capStep, explainSend, siteRequest, toTime } from "./send-answers.ts";
import type { SendDetail } from "./send-history.ts";
import type { DeliveryAnswer, WhyReason } from "./why-reasons.ts";

export interface DeliveryFacts {
  email: string;
  suppression: Suppression | undefined;
  /** The status of the contact of the site; undefined if there is none. */
  contactStatus: ContactStatus | undefined;
  /** Names of the topics that the contact is not subscribed to. */
  otherTopics: string[];
  /** Until when the contact has paused marketing email (ISO 8601). */
  snoozedUntil: string | undefined;
  /** Until when the frequency cap leaves the contact out of marketing email (ISO 8601). */
  cappedUntil: string | undefined;
  /** The latest send to the address. */
  latest: SendDetail | undefined;
  /** Set for a latest send that waits. */
  hold: MailHold | undefined;
}

export function explainDelivery(facts: DeliveryFacts): DeliveryAnswer {
  const { suppression, latest } = facts;
  if (suppression && !isMarketingOnly(suppression)) return explainSuppression(suppression);
  const refusal = !latest || sourceOf(latest) ? explainRefusal(facts) : undefined;
  if (refusal) return refusal;
  return latest ? explainSend(latest, facts.hold) : explainNoSend(facts);
}

export const marketingBarriers = [
  "suppressed",
  "unsubscribed",
  "unconfirmed",
  "not_in_topic",
  "snoozed",
  "capped",
] as const satisfies WhyReason[];
type MarketingBarrier = (typeof marketingBarriers)[number];

/** What keeps marketing email from the address now. */
export function listMarketingBarriers({
  suppression,
  contactStatus,
  otherTopics,
  snoozedUntil,
  cappedUntil,
}: Pick<
  DeliveryFacts,
  "suppression" | "contactStatus" | "otherTopics" | "snoozedUntil" | "cappedUntil"
>): MarketingBarrier[] {
  const hasLeft = suppression?.reason === "unsubscribe" || contactStatus === "unsubscribed";
  const applies: Record<MarketingBarrier, boolean> = {
    suppressed: suppression !== undefined && suppression.reason !== "unsubscribe",
    unsubscribed: hasLeft,
    unconfirmed: contactStatus === "pending",
    not_in_topic: otherTopics.length > 0,
    snoozed: snoozedUntil !== undefined,
    capped: cappedUntil !== undefined,
  };
  return marketingBarriers.filter((barrier) => applies[barrier]);
}

const suppressionCauses: Record<SuppressionReason, string> = {
  bounce: "an email to it bounced",
  spam_report: "the recipient reported an email as spam",
  unsubscribe: "the recipient unsubscribed",
  manual: "it was added by hand",
  import: "it was imported",
};

function explainSuppression({ email, reason, detail, createdAt }: Suppression): DeliveryAnswer {
  const words = detail ? `: “${detail}”` : "";
  return {
    reason: "suppressed",
    answer:
      `${email} is on the suppression list since ${toTime(createdAt)}, because ` +
      `${suppressionCauses[reason]}${words}. It gets no email.`,
    ...(reason === "spam_report"
      ? { nextStep: "Leave it there: the recipient does not want this email." }
      : {
          nextStep:
            "When the mailbox works and its owner wants the email, remove the address from the " +
            "suppression list, then send again.",
          nextRequest: "DELETE /suppressions/:email",
        }),
  };
}

const explainSoftBounce = ({ email, detail, liftsAt }: Suppression): DeliveryAnswer => ({
  reason: "suppressed",
  answer:
    `The mailbox of ${email} takes no email for now${detail ? `: “${detail}”` : ""}. It gets no ` +
    `marketing email until ${toTime(liftsAt!)}, or until an email arrives. Transactional email ` +
    "still goes out.",
  nextStep:
    "Nothing: this ends by itself. If the mailbox works again, remove the address from the " +
    "suppression list.",
  nextRequest: "DELETE /suppressions/:email",
});

/** Why the address gets no marketing email. */
function explainRefusal({
  email,
  suppression,
  contactStatus,
  snoozedUntil,
}: DeliveryFacts): DeliveryAnswer | undefined {
  if (suppression && isSoft(suppression)) return explainSoftBounce(suppression);
  if (suppression || contactStatus === "unsubscribed")
    return {
      reason: "unsubscribed",
      answer:
        `${email} unsubscribed${suppression ? ` on ${toTime(suppression.createdAt)}` : ""} and ` +
        "gets no marketing email. Transactional email still goes out.",
      nextStep: "Only the recipient should undo this, with a form or on your own page.",
    };
  if (contactStatus === "pending")
    return {
      reason: "unconfirmed",
      answer: `${email} has not confirmed its subscription, so it gets no marketing email.`,
      nextStep: "Ask the recipient to open the link in the confirmation email.",
    };
  if (snoozedUntil)
    return {
      reason: "snoozed",
      answer:
        `${email} paused marketing email until ${toTime(snoozedUntil)}, on the preference page. ` +
        "Transactional email still goes out.",
      nextStep: "Only the recipient should end the pause, on the preference page.",
    };
  return undefined;
}

function explainNoSend(facts: DeliveryFacts): DeliveryAnswer {
  const { email, contactStatus, cappedUntil, otherTopics } = facts;
  if (cappedUntil) return explainCap(email, cappedUntil);
  if (otherTopics.length)
    return {
      reason: "not_in_topic",
      answer:
        `No email to ${email} was accepted in the last 90 days. The contact is not subscribed ` +
        `to ${otherTopics.map((name) => `“${name}”`).join(", ")}, and gets no email on that.`,
      nextStep:
        "If the email is on such a topic, only the recipient should join it, on the preference " +
        "page. Otherwise check the audience of the campaign with its preview.",
      nextRequest: previewRequest,
    };
  if (contactStatus)
    return {
      reason: "not_sent",
      answer: `No email to ${email} was accepted in the last 90 days, though nothing prevents it.`,
      nextStep:
        "If a program sends the email, check the response that it got. For a campaign, check the " +
        "audience with its preview.",
      nextRequest: previewRequest,
    };
  return {
    reason: "unknown_address",
    answer:
      `No email to ${email} was accepted in the last 90 days, and no contact of the site has ` +
      "this address.",
    nextStep:
      "Check the spelling and the site. If a program sends the email, check the response that it " +
      "got.",
  };
}

const previewRequest = "POST /campaigns/:id/preview";

const explainCap = (email: string, until?: string): DeliveryAnswer => ({
  reason: "capped",
  answer:
    `${email} is left out by the frequency cap of the site, because it got marketing email ` +
    `shortly before${until ? `. The cap ends on ${toTime(until)}` : ""}.`,
  nextStep: capStep,
  nextRequest: siteRequest,
});
