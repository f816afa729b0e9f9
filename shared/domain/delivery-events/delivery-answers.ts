// The answer to "why did this email not arrive?", from the facts about an address. The first cause
// that applies decides: the address gets no email, its latest email waits, or what happened to it.
import type { ContactStatus } from "../audience/contacts/contact-schema.ts";
import type { Suppression, SuppressionReason } from "../audience/suppressions/suppressions.ts";
import type { MailHold } from "../sending/mail-holds.ts";
import { sourceOf } from "../sending/mail-sources.ts";
import type { EmailEvent } from "./email-event.ts";
import type { SendDetail } from "./send-history.ts";

export const whyReasons = [
  "suppressed",
  "unsubscribed",
  "unconfirmed",
  "not_in_topic",
  "capped",
  "scheduled",
  "paused",
  "held_by_provider",
  "held_by_warm_up",
  "held_by_domain",
  "queued",
  "cancelled",
  "refused",
  "bounced",
  "uncertain",
  "deferred",
  "sent",
  "delivered",
  "opened",
  "not_sent",
  "unknown_address",
  "duplicate",
  "invalid_address",
  "not_in_audience",
] as const;
export type WhyReason = (typeof whyReasons)[number];

export interface DeliveryFacts {
  email: string;
  suppression: Suppression | undefined;
  /** The status of the contact of the site; undefined if there is none. */
  contactStatus: ContactStatus | undefined;
  /** Names of the topics that the contact is not subscribed to. */
  otherTopics: string[];
  /** Until when the frequency cap leaves the contact out of marketing email (ISO 8601). */
  cappedUntil: string | undefined;
  /** The latest send to the address. */
  latest: SendDetail | undefined;
  /** Set for a latest send that waits. */
  hold: MailHold | undefined;
}

export interface DeliveryAnswer {
  reason: WhyReason;
  answer: string;
  /** For people. */
  nextStep: string;
  /** The request of the API that does it. */
  nextRequest?: string;
}

export function explainDelivery(facts: DeliveryFacts): DeliveryAnswer {
  const { suppression, latest } = facts;
  if (suppression && suppression.reason !== "unsubscribe") return explainSuppression(suppression);
  const refusal = !latest || sourceOf(latest) ? explainRefusal(facts) : undefined;
  if (refusal) return refusal;
  return latest ? explainSend(latest, facts.hold) : explainNoSend(facts);
}

export const marketingBarriers = [
  "suppressed",
  "unsubscribed",
  "unconfirmed",
  "not_in_topic",
  "capped",
] as const satisfies WhyReason[];
type MarketingBarrier = (typeof marketingBarriers)[number];

/** What keeps marketing email from the address now. */
export function listMarketingBarriers({
  suppression,
  contactStatus,
  otherTopics,
  cappedUntil,
}: Pick<
  DeliveryFacts,
  "suppression" | "contactStatus" | "otherTopics" | "cappedUntil"
>): MarketingBarrier[] {
  const hasLeft = suppression?.reason === "unsubscribe" || contactStatus === "unsubscribed";
  const applies: Record<MarketingBarrier, boolean> = {
    suppressed: suppression !== undefined && suppression.reason !== "unsubscribe",
    unsubscribed: hasLeft,
    unconfirmed: contactStatus === "pending",
    not_in_topic: otherTopics.length > 0,
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

/** Why the address gets no marketing email. */
function explainRefusal({
  email,
  suppression,
  contactStatus,
}: DeliveryFacts): DeliveryAnswer | undefined {
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
const capStep = "Send later, or shorten the frequency cap in the settings of the site.";
const siteRequest = "PUT /sites/:id";

const explainCap = (email: string, until?: string): DeliveryAnswer => ({
  reason: "capped",
  answer:
    `${email} is left out by the frequency cap of the site, because it got marketing email ` +
    `shortly before${until ? `. The cap ends on ${toTime(until)}` : ""}.`,
  nextStep: capStep,
  nextRequest: siteRequest,
});

export function explainSend(
  send: SendDetail,
  hold: MailHold | undefined,
  noun = "latest email",
): DeliveryAnswer {
  const about = `The ${noun}, “${send.subject}” of ${toTime(send.createdAt)},`;
  const [reason, rest, nextStep, nextRequest] = hold
    ? holdAnswers[hold.kind](hold.until)
    : statusAnswers[send.status](send);
  return { reason, answer: `${about} ${rest}`, nextStep, ...(nextRequest && { nextRequest }) };
}

type Answer = [reason: WhyReason, rest: string, nextStep: string, nextRequest?: string];

const untilText = (until: string | null): string => (until ? ` until ${toTime(until)}` : "");

const holdAnswers: Record<MailHold["kind"], (until: string | null) => Answer> = {
  paused: () => [
    "paused",
    "waits because its campaign, sequence or holiday email is paused.",
    "Resume it.",
  ],
  provider_failing: (until) => [
    "held_by_provider",
    `waits${untilText(until)}, because the provider of its sending config fails.`,
    "Nothing: it is tried again by itself for 24 hours. Check the provider's status page.",
  ],
  provider_limit: (until) => [
    "held_by_provider",
    `waits${untilText(until)}, because the provider limits how fast it accepts email.`,
    "Nothing: it is handed over by itself. For more speed, ask the provider for a higher limit.",
  ],
  warm_up: (until) => [
    "held_by_warm_up",
    `waits${untilText(until)}, because the warm-up of its sending config has reached the limit ` +
      "of today.",
    "Nothing: it goes out on the next day. To send sooner, change the warm-up of the sending " +
      "config.",
    "PUT /sending-configs/:id",
  ],
  domain: (until) => [
    "held_by_domain",
    `waits${untilText(until)}, because the recipient's domain deferred several emails.`,
    "Nothing: it goes out when the pause of the domain ends.",
  ],
};

const statusAnswers: Record<SendDetail["status"], (send: SendDetail) => Answer> = {
  scheduled: ({ scheduledAt, campaignId }) => [
    "scheduled",
    `is scheduled for ${toTime(scheduledAt!)}.`,
    ...(campaignId === null
      ? ([
          "Wait, or cancel it and send it again without a time.",
          "POST /sends/:id/cancel",
        ] as const)
      : (["Wait: its campaign mails each contact at the local time of the contact."] as const)),
  ],
  queued: () => [
    "queued",
    "waits for its turn: the emails before it in its sending config go first.",
    "Wait a few minutes. If nothing moves, look at the sending health of the organization.",
    "GET /org/health",
  ],
  sending: () => ["queued", "is being handed to the provider right now.", "Ask again in a minute."],
  sent: (send) => {
    const deferral = findEvent(send, "deferred");
    return deferral
      ? [
          "deferred",
          `was accepted by ${send.provider}, but the recipient's server defers it` +
            `${quote(deferral.data.reason)}.`,
          "Nothing: the provider tries again, usually for up to three days.",
        ]
      : [
          "sent",
          `was accepted by ${send.provider} on ${toTime(send.sentAt!)}, and the provider has ` +
            "reported nothing since.",
          "If no email of this sending config is ever reported as delivered, set its webhook at " +
            "the provider. Otherwise ask the provider, and name its id of the email.",
        ];
  },
  delivered: (send) =>
    send.openedAt || send.clickedAt
      ? [
          "opened",
          `arrived and was opened on ${toTime((send.openedAt ?? send.clickedAt)!)}.`,
          "Nothing: a person has seen it.",
        ]
      : [
          "delivered",
          "was accepted by the recipient's server on " +
            `${toTime(send.deliveredAt ?? send.updatedAt)}.`,
          "Look in the spam folder and in other folders. The time and the provider's id of the " +
            "email help the administrator of the recipient's server.",
        ],
  failed: explainFailure,
  uncertain: () => [
    "uncertain",
    "may or may not have reached the provider: the connection broke before it answered.",
    "Wait: an event, or a search at the provider, may still settle it. If you know whether it " +
      "was sent, say so. From 72 hours on, it can be sent again.",
    "POST /sends/:id/resolve",
  ],
  cancelled: () => ["cancelled", "was cancelled before it was handed over.", "Send it again."],
};

function explainFailure(send: SendDetail): Answer {
  const bounce = findEvent(send, "bounce");
  if (bounce)
    return [
      "bounced",
      `bounced: the recipient's server refused it${quote(bounce.data.reason ?? send.error)}.`,
      "Correct the address, or ask its owner. The server's words say why.",
    ];
  const excluded = exclusionAnswers[send.error ?? ""];
  if (excluded) return excluded;
  return [
    "refused",
    `was never accepted by ${send.provider}${quote(send.error)}.`,
    "Solve what the message names, then send again.",
  ];
}

const exclusionAnswers: Record<string, Answer> = {
  suppressed: [
    "suppressed",
    "was not sent, because the address was on the suppression list. It is no longer there.",
    "Send it again.",
  ],
  unsubscribed: [
    "unsubscribed",
    "was not sent, because the contact was not subscribed when its turn came.",
    "Nothing, unless the recipient subscribed again.",
  ],
  notInTopic: [
    "not_in_topic",
    "was not sent, because the contact was not subscribed to its topic when its turn came.",
    "Nothing, unless the recipient joins the topic on the preference page.",
  ],
  capped: [
    "capped",
    "was left out by the frequency cap of the site, because other marketing email went out before.",
    capStep,
    siteRequest,
  ],
};

const findEvent = ({ events }: SendDetail, type: EmailEvent["type"]): EmailEvent | undefined =>
  events.findLast((event) => event.type === type);

const quote = (words: string | null | undefined): string => (words ? `: “${words}”` : "");

/** `2026-12-01 09:00 UTC` */
const toTime = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
