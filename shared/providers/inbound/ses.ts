// Amazon SES events through SNS (docs.aws.amazon.com/ses, event publishing and notification
// contents).
// Reads both formats: events of a configuration set, which carry our tags, and the older
// notifications of an identity, which do not.
import {
  addressBad,
  autoReply,
  type FailureDetails,
  listedByProvider,
  mailboxUnwell,
  messageRefused,
  readReply,
  readSoftBounce,
} from "./failed-deliveries.ts";
import type { InboundAdapter, ProviderEvent } from "./inbound-adapter.ts";
import {
  asArray,
  asIsoTime,
  asObject,
  asObjects,
  asText,
  type EventDetails,
  firstText,
  headerValue,
  ownValue,
  parseJson,
  toProviderEvents,
  type UntrustedJson,
} from "./normalize.ts";
import { equalsSecret } from "./signatures.ts";
import * as sns from "./sns.ts";

export const ses: InboundAdapter = {
  async verify(request, secret, { now, fetchCertificate }) {
    const message = equalsSecret(request.querySecret, secret)
      ? sns.parseSnsMessage(request)
      : undefined;
    return message !== undefined && sns.isSignedBySns(message, now, fetchCertificate);
  },
  readEvents(request) {
    const message = sns.parseSnsMessage(request);
    const snsTopic = message?.TopicArn;
    if (!message || !snsTopic) return { events: [] };
    const subscribeUrl =
      message.Type === "SubscriptionConfirmation" ? sns.subscribeUrl(message) : undefined;
    // An UnsubscribeConfirmation has a SubscribeURL too, but opening it would subscribe again.
    const events = message.Type === "Notification" ? toEvents(message) : [];
    return { events, snsTopic, ...(subscribeUrl && { subscribeUrl }) };
  },
  // SNS gives up after any 4xx.
  statuses: { rejected: 401, retryLater: 503 },
  rejectionAdvice:
    "Check that config_id and the secret in the URL are those of the sending config, that raw " +
    "message delivery is off at the SNS subscription, and that all events of the sending config " +
    "come from one SNS topic.",
  // The limit of a message of SNS.
  maxBodyBytes: 256 * 1024,
};

function toEvents(message: sns.SnsEnvelope): ProviderEvent[] {
  const event = asObject(parseJson(message.Message));
  const mail = asObject(event.mail);
  const kind = ownValue(kindsByType, event.eventType ?? event.notificationType);
  if (!kind) return [];
  const detail = asObject(event[kind.field]);
  return kind.toDetails(detail, asArray(mail.destination)).flatMap((details) =>
    toProviderEvents({
      ...details,
      sendId: asArray(asObject(mail.tags).sendId)[0] ?? headerValue(mail.headers, "x-send-id"),
      messageId: mail.messageId,
      eventId: identify(message, { mail, detail, details }),
      at: asIsoTime(detail.timestamp) ?? asIsoTime(message.Timestamp),
    }),
  );
}

interface EventParts {
  mail: UntrustedJson;
  detail: UntrustedJson;
  details: EventDetails & { email: unknown };
}

/**
 * SES events have no ids, and SNS gives each copy of an event its own MessageId: per topic, and per
 * format. Bounces and complaints have a feedbackId; other events differ by time, link and client.
 */
function identify(message: sns.SnsEnvelope, { mail, detail, details }: EventParts): unknown[] {
  const { type, email, url, ip, userAgent } = details;
  const which = asText(detail.feedbackId) ?? detail.timestamp;
  const messageId = asText(mail.messageId) ?? message.MessageId;
  return [type, messageId, email, which, url, ip, userAgent];
}

interface SesKind {
  /** Name of the field with the details. */
  field: string;
  toDetails(detail: UntrustedJson, destination: unknown[]): (EventDetails & { email: unknown })[];
}

const kindsByType: Record<string, SesKind> = {
  Delivery: {
    field: "delivery",
    toDetails: ({ recipients }) =>
      asArray(recipients).map((email) => ({ type: "delivered", email })),
  },
  DeliveryDelay: {
    field: "deliveryDelay",
    toDetails: ({ delayedRecipients, delayType }) =>
      asObjects(delayedRecipients).map(({ emailAddress: email, diagnosticCode, status }) => ({
        type: "deferred",
        email,
        reason: firstText(diagnosticCode, status, delayType),
      })),
  },
  Bounce: {
    field: "bounce",
    toDetails: (detail) =>
      asObjects(detail.bouncedRecipients).map(
        ({ emailAddress: email, diagnosticCode, status }) => ({
          ...bounce(detail, [diagnosticCode, status]),
          email,
          reason: firstText(
            diagnosticCode,
            status,
            [detail.bounceType, detail.bounceSubType].filter(asText).join(": "),
          ),
        }),
      ),
  },
  Complaint: {
    field: "complaint",
    toDetails: (detail) => {
      const details = complaint(detail);
      return details
        ? asObjects(detail.complainedRecipients).map(({ emailAddress: email }) => ({
            ...details,
            email,
          }))
        : [];
    },
  },
  Reject: {
    field: "reject",
    toDetails: ({ reason }, to) => to.map((email) => ({ ...messageRefused, email, reason })),
  },
  "Rendering Failure": {
    field: "failure",
    toDetails: ({ errorMessage, templateName }, to) =>
      to.map((email) => ({
        ...messageRefused,
        email,
        reason: firstText(errorMessage, templateName),
      })),
  },
  // A mail to several recipients would not tell who opened it. Our mails have one recipient.
  Open: {
    field: "open",
    toDetails: ({ ipAddress: ip, userAgent }, [email]) => [{ type: "open", email, ip, userAgent }],
  },
  Click: {
    field: "click",
    toDetails: ({ ipAddress: ip, userAgent, link }, [email]) => [
      { type: "click", email, ip, userAgent, url: link },
    ],
  },
  Subscription: {
    field: "subscription",
    toDetails: (detail, [email]) => (hasOptedOut(detail) ? [{ type: "unsubscribe", email }] : []),
  },
};

/** Permanent "bounces" of addresses on a suppression list of Amazon; the mails were never sent. */
const suppressedSubtypes = new Set<unknown>([
  "Suppressed",
  "OnAccountSuppressionList",
  "OnTenantSuppressionList",
  "EmailValidationSuppressed",
  "UnsubscribedRecipient",
]);

/**
 * Transient bounces by `bounceSubType` (docs.aws.amazon.com/ses, "Bounce types"). SES has given up
 * these mails.
 */
const transientKinds: Record<string, (texts: unknown[]) => FailureDetails> = {
  MailboxFull: () => mailboxUnwell,
  CustomTimeoutExceeded: () => mailboxUnwell,
  MessageTooLarge: () => messageRefused,
  ContentRejected: () => messageRefused,
  AttachmentRejected: () => messageRefused,
  // Also what SES reports an automatic reply as, with no code or a code without meaning.
  General: (texts) => readReply(...texts) ?? autoReply,
};

function bounce({ bounceType, bounceSubType }: UntrustedJson, texts: unknown[]): FailureDetails {
  if (bounceType === "Permanent")
    return suppressedSubtypes.has(bounceSubType) ? listedByProvider : addressBad;
  const known = bounceType === "Transient" ? ownValue(transientKinds, bounceSubType) : undefined;
  return known?.(texts) ?? readSoftBounce(...texts);
}

function complaint({
  complaintFeedbackType,
  complaintSubType,
}: UntrustedJson): EventDetails | undefined {
  if (complaintFeedbackType === "not-spam") return undefined;
  return suppressedSubtypes.has(complaintSubType)
    ? { ...listedByProvider, reason: complaintSubType }
    : { type: "spam_report" };
}

/** Whether the recipient has unsubscribed from all topics. */
function hasOptedOut({ newTopicPreferences }: UntrustedJson): boolean {
  const { unsubscribeAll, topicSubscriptionStatus } = asObject(newTopicPreferences);
  const topics = asObjects(topicSubscriptionStatus);
  return (
    unsubscribeAll === true ||
    (topics.length > 0 && topics.every(({ subscriptionStatus }) => subscriptionStatus === "OptOut"))
  );
}
