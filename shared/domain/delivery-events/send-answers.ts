// What happened to one email, in words: why it waits, or what its status means.
import { describeProviderHold, type MailHold } from "../sending/mail-holds.ts";
import type { EmailEvent } from "./email-event.ts";
import type { SendDetail } from "./send-history.ts";
import type { DeliveryAnswer, WhyReason } from "./why-reasons.ts";

export const capStep = "Send later, or shorten the frequency cap in the settings of the site.";
export const siteRequest = "PUT /sites/:id";

export function explainSend(
  send: SendDetail,
  hold: MailHold | undefined,
  noun = "latest email",
): DeliveryAnswer {
  const about = `The ${noun}, “${send.subject}” of ${toTime(send.createdAt)},`;
  const [reason, rest, nextStep, nextRequest] = hold
    ? holdAnswers[hold.kind](hold)
    : statusAnswers[send.status](send);
  return { reason, answer: `${about} ${rest}`, nextStep, ...(nextRequest && { nextRequest }) };
}

type Answer = [reason: WhyReason, rest: string, nextStep: string, nextRequest?: string];

const untilText = (until: string | null): string => (until ? ` until ${toTime(until)}` : "");

const holdAnswers: Record<MailHold["kind"], (hold: MailHold) => Answer> = {
  paused: () => [
    "paused",
    "waits because its campaign, sequence or holiday email is paused.",
    "Resume it.",
  ],
  provider_failing: (hold) => [
    "held_by_provider",
    `waits${untilText(hold.until)}, because ${describeProviderHold(hold)}`,
    "Nothing: it is tried again by itself for 24 hours. Check the provider's status page.",
  ],
  provider_limit: (hold) => [
    "held_by_provider",
    `waits${untilText(hold.until)}, because ${describeProviderHold(hold)}`,
    "Check at the provider whether the account has emails or credits left. If it has, nothing: " +
      "it is handed over by itself. A higher limit there makes it faster.",
  ],
  warm_up: ({ until }) => [
    "held_by_warm_up",
    `waits${untilText(until)}, because the warm-up of its sending config has reached the limit ` +
      "of today.",
    "Nothing: it goes out on the next day. To send sooner, change the warm-up of the sending " +
      "config.",
    "PUT /sending-configs/:id",
  ],
  domain: ({ until }) => [
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
    if (deferral?.data.cause === "auto_reply")
      return [
        "sent",
        `was accepted by ${send.provider}, and the recipient's system answered by itself` +
          `${quote(deferral.data.reason)}.`,
        "Nothing: an automatic reply, such as during a vacation, shows that the mailbox works.",
      ];
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
      bounce.data.bounceType === "hard"
        ? "Correct the address, or ask its owner. The server's words say why."
        : "Send it again later: the mailbox takes no email for now. The server's words say why.",
    ];
  const refused = findEvent(send, "dropped");
  const explained = refused && refusalAnswers[refused.data.cause ?? ""];
  if (explained) return explained(send);
  const excluded = exclusionAnswers[send.error ?? ""];
  if (excluded) return excluded;
  return [
    "refused",
    `was never accepted by ${send.provider}${quote(send.error)}.`,
    "Solve what the message names, then send again.",
  ];
}

/** By the cause of a dropped email. */
const refusalAnswers: Record<string, (send: SendDetail) => Answer> = {
  message: ({ error }) => [
    "refused",
    `was refused because of its content, its size or an attachment${quote(error)}.`,
    "Change the email, then send it again. The address is not suppressed.",
  ],
  sender: ({ error }) => [
    "refused",
    `was refused because of its sender${quote(error)}.`,
    "Check the DNS records of the sender's domain, its reputation and the limits of the account " +
      "at the provider, then send it again. The address is not suppressed.",
  ],
  suppressed: ({ provider, error }) => [
    "refused",
    `was not sent by ${provider}, which has the address on its own suppression list` +
      `${quote(error)}.`,
    "When the mailbox works and its owner wants the email, remove the address from that list, " +
      "then send again.",
  ],
};

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
  snoozed: [
    "snoozed",
    "was not sent, because the contact had paused marketing email on the preference page.",
    "Nothing: the contact gets marketing email again when the pause ends.",
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
export const toTime = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
