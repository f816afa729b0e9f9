// SES event publishing over SNS (docs.aws.amazon.com/ses, event-publishing-retrieving-sns-contents).
import * as clock from "../../../../shared/clock.ts";
import type { Happening, Webhook } from "../contract.ts";
import { rendered } from "../inbox.ts";
import { accountNumber, type Topics } from "../topics.ts";

export const webhook = (topics: Topics): Webhook => ({
  secret: (account) => account.hex("ses query secret", 32),
  notices: {
    accepted: (at) => event(at, "Send", "send", {}),
    delivered: (at) =>
      event(at, "Delivery", "delivery", {
        timestamp: at.at.toISOString(),
        processingTimeMillis: at.at.getTime() - at.mail.at.getTime(),
        recipients: [at.mail.to.email],
        smtpResponse: "250 2.6.0 Message received",
        reportingMTA: "a8-70.smtp-out.amazonses.com",
        remoteMtaIp: "192.0.2.4",
      }),
    deferred: (at) =>
      event(at, "DeliveryDelay", "deliveryDelay", {
        timestamp: at.at.toISOString(),
        delayType: "TransientCommunicationFailure",
        expirationTime: clock.after(14 * 3600, at.at).toISOString(),
        delayedRecipients: [
          { emailAddress: at.mail.to.email, status: "4.4.1", diagnosticCode: "smtp; 421 4.4.1 Unable to connect to remote host" },
        ],
      }),
    bounced: (at) => bounce(at, "Permanent", "General", "5.1.1", "smtp; 550 5.1.1 user unknown"),
    softbounced: (at) => bounce(at, "Transient", "MailboxFull", "4.2.2", "smtp; 452 4.2.2 Mailbox full"),
    dropped: (at) => bounce(at, "Permanent", "OnAccountSuppressionList", "5.1.1", suppressed),
    complained: (at) =>
      event(at, "Complaint", "complaint", {
        feedbackId: feedbackId(at),
        complaintSubType: null,
        complainedRecipients: [{ emailAddress: at.mail.to.email }],
        timestamp: at.at.toISOString(),
        userAgent: "Pennymail Sandbox Feedback Loop",
        complaintFeedbackType: "abuse",
        arrivalDate: at.at.toISOString(),
      }),
    opened: (at) => event(at, "Open", "open", { ...client, timestamp: at.at.toISOString() }),
    clicked: (at) => event(at, "Click", "click", { ...client, timestamp: at.at.toISOString(), link: at.url, linkTags: null }),
    unsubscribed: (at) =>
      event(at, "Subscription", "subscription", {
        contactList: "pennymail",
        timestamp: at.at.toISOString(),
        source: "UnsubscribeHeader",
        newTopicPreferences: { unsubscribeAll: true, topicSubscriptionStatus: [] },
        oldTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] },
      }),
    unrenderable: (at) => event(at, "Rendering Failure", "failure", { errorMessage: at.mail.unrenderable, templateName: "" }),
  },
  perPost: 1,
  pack: ([one = {}], _hook, account) =>
    topics.notification(account, { ...one, mail: { ...(one.mail as object), sendingAccountId: accountNumber(account) } }),
  retries: (status) => status === 0 || status >= 500 || status === 429,
});

const client = { ipAddress: "203.0.113.9", userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X)" };
const suppressed =
  "Amazon SES did not send the message to this address because it is on the suppression list for your account. For more information about removing addresses from the suppression list, see the Amazon SES Developer Guide.";

const feedbackId = ({ id }: Happening) => `0100018f-${id}-000000`;

const bounce = (at: Happening, bounceType: string, bounceSubType: string, status: string, diagnosticCode: string) =>
  event(at, "Bounce", "bounce", {
    feedbackId: feedbackId(at),
    bounceType,
    bounceSubType,
    bouncedRecipients: [{ emailAddress: at.mail.to.email, action: "failed", status, diagnosticCode }],
    timestamp: at.at.toISOString(),
    reportingMTA: "dns; amazonses.com",
  });

const event = ({ mail }: Happening, eventType: string, name: string, details: object) => ({
  eventType,
  mail: {
    timestamp: mail.at.toISOString(),
    source: mail.from.email,
    sourceArn: `arn:aws:ses:us-east-1:123456789012:identity/${mail.from.email}`,
    messageId: mail.messageId,
    destination: [mail.copyOf ?? [], mail.to].flat().map(({ email }) => email),
    headersTruncated: false,
    headers: Object.entries(mail.headers).map(([name, value]) => ({ name, value })),
    commonHeaders: { from: [mail.from.email], to: [mail.to.email], messageId: mail.messageId, subject: rendered(mail, "subject") },
    tags: mail.metadata,
  },
  [name]: details,
});
