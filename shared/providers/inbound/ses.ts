// Amazon SES events through SNS (docs.aws.amazon.com/ses, event publishing and notification contents). Both formats are read: the
// published events of a configuration set, which carry our tags, and the older notifications of an identity, which do not.
import type { Inbound, ProviderEvent } from "./inbound.ts";
import { entry, event, type Fields, fields, firstText, type Happening, headerIn, json, list, rows, text, time } from "./reading.ts";
import { same } from "./signatures.ts";
import * as sns from "./sns.ts";

export const ses: Inbound = {
  proof: "secret",
  async genuine(notice, secret, now, certificate) {
    const message = same(notice.querySecret, secret) ? sns.message(notice) : undefined;
    return message !== undefined && sns.genuine(message, now, certificate);
  },
  read(notice) {
    const message = sns.message(notice);
    const source = message?.TopicArn;
    if (!message || !source) return { events: [] };
    const confirm = message.Type === "SubscriptionConfirmation" ? sns.subscribeUrl(message) : undefined;
    // An UnsubscribeConfirmation carries a SubscribeURL too: opening it would subscribe again.
    const events = message.Type === "Notification" ? eventsOf(message) : [];
    return { events, source, ...(confirm && { confirm }) };
  },
  // SNS gives up on any 4xx.
  statuses: { forged: 401, busy: 503 },
};

function eventsOf(message: sns.Message): ProviderEvent[] {
  const told = fields(json(message.Message));
  const mail = fields(told.mail);
  const kind = entry(kinds, told.eventType ?? told.notificationType);
  if (!kind) return [];
  const detail = fields(told[kind.field]);
  return kind.happenings(detail, list(mail.destination)).flatMap((happening) =>
    event({
      ...happening,
      sendId: list(fields(mail.tags).sendId)[0] ?? headerIn(mail.headers, "x-send-id"),
      messageId: mail.messageId,
      eventId: typeof happening.email === "string" ? `${message.MessageId}|${happening.email}` : undefined,
      at: time(detail.timestamp) ?? time(message.Timestamp),
    }),
  );
}

interface Kind {
  /** Under which the details are found. */
  field: string;
  happenings(detail: Fields, destination: unknown[]): (Happening & { email: unknown })[];
}

const kinds: Record<string, Kind> = {
  Delivery: { field: "delivery", happenings: ({ recipients }) => list(recipients).map((email) => ({ type: "delivered", email })) },
  DeliveryDelay: {
    field: "deliveryDelay",
    happenings: ({ delayedRecipients, delayType }) =>
      rows(delayedRecipients).map(({ emailAddress: email, diagnosticCode, status }) => ({
        type: "deferred",
        email,
        reason: firstText(diagnosticCode, status, delayType),
      })),
  },
  Bounce: {
    field: "bounce",
    happenings: (detail) =>
      rows(detail.bouncedRecipients).map(({ emailAddress: email, diagnosticCode, status }) => ({
        ...bounce(detail),
        email,
        reason: firstText(diagnosticCode, status, [detail.bounceType, detail.bounceSubType].filter(text).join(": ")),
      })),
  },
  Complaint: {
    field: "complaint",
    happenings: (detail) => {
      const happening = complaint(detail);
      return happening ? rows(detail.complainedRecipients).map(({ emailAddress: email }) => ({ ...happening, email })) : [];
    },
  },
  Reject: { field: "reject", happenings: ({ reason }, to) => to.map((email) => ({ type: "dropped", email, reason })) },
  "Rendering Failure": {
    field: "failure",
    happenings: ({ errorMessage, templateName }, to) =>
      to.map((email) => ({ type: "dropped", email, reason: firstText(errorMessage, templateName) })),
  },
  // Of a mail to several nobody knows who it was. Ours have one recipient.
  Open: { field: "open", happenings: ({ ipAddress: ip, userAgent }, [email]) => [{ type: "open", email, ip, userAgent }] },
  Click: {
    field: "click",
    happenings: ({ ipAddress: ip, userAgent, link }, [email]) => [{ type: "click", email, ip, userAgent, url: link }],
  },
  Subscription: { field: "subscription", happenings: (detail, [email]) => (leaves(detail) ? [{ type: "unsubscribe", email }] : []) },
};

/** Permanent "bounces" that never left Amazon, since the address is on one of its lists. */
const listed = new Set<unknown>([
  "Suppressed",
  "OnAccountSuppressionList",
  "OnTenantSuppressionList",
  "EmailValidationSuppressed",
  "UnsubscribedRecipient",
]);

function bounce({ bounceType, bounceSubType }: Fields): Happening {
  if (bounceType !== "Permanent") return { type: "bounce", bounceType: "soft" };
  return listed.has(bounceSubType) ? { type: "dropped" } : { type: "bounce", bounceType: "hard" };
}

function complaint({ complaintFeedbackType, complaintSubType }: Fields): Happening | undefined {
  if (complaintFeedbackType === "not-spam") return undefined;
  return listed.has(complaintSubType) ? { type: "dropped", reason: complaintSubType } : { type: "spam_report" };
}

/** Whether someone has left the last of the topics. */
function leaves({ newTopicPreferences }: Fields): boolean {
  const { unsubscribeAll, topicSubscriptionStatus } = fields(newTopicPreferences);
  const topics = rows(topicSubscriptionStatus);
  return unsubscribeAll === true || (topics.length > 0 && topics.every(({ subscriptionStatus }) => subscriptionStatus === "OptOut"));
}
