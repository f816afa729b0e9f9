// The types of all events that each provider documents, in their minimal form.
import { describe, expect, it } from "vitest";
import { type EventFields, readEvent, recipientEmail } from "../support/minimal-provider-events.ts";

/** Formats an event as its type, hard or soft or its cause, and whether it is automated. */
const short = (key: string, row: EventFields): string =>
  readEvent(key, row)
    .map(({ type, data, automated }) =>
      [type, data.bounceType, data.cause, automated && "by machine"].filter(Boolean).join(" "),
    )
    .join(", ");

const sesBounce = (bounceType: string, bounceSubType: string, diagnosticCode?: string) => ({
  eventType: "Bounce",
  bounce: {
    bounceType,
    bounceSubType,
    bouncedRecipients: [
      { emailAddress: recipientEmail, ...(diagnosticCode && { diagnosticCode }) },
    ],
  },
});
const sesTopics = (newTopicPreferences: object) => ({
  eventType: "Subscription",
  subscription: { newTopicPreferences },
});
const complained = [{ emailAddress: recipientEmail }];
const failed = (reason: string | null, status: object = {}, more: object = {}) => ({
  event: "failed",
  severity: "permanent",
  reason,
  "delivery-status": status,
  ...more,
});
const classed = (bounce_class: string) => ({ type: "bounce", bounce_class });

const table: Record<string, [row: EventFields, becomes: string][]> = {
  sendgrid: [
    [{ event: "bounce", status: "5.1.1" }, "bounce hard"],
    [{ event: "bounce", status: "4.2.2" }, "bounce soft"],
    [{ event: "bounce", status: "5.7.1" }, "dropped sender"],
    [{ event: "bounce" }, "bounce soft"],
    [{ event: "bounce", type: "bounce" }, "bounce hard"],
    [{ event: "bounce", type: "bounce", bounce_classification: "Content" }, "dropped message"],
    [{ event: "bounce", type: "bounce", bounce_classification: "Unclassified" }, "bounce hard"],
    ...[
      ["Reputation", "dropped sender"],
      ["Frequency or Volume Too High", "dropped sender"],
      ["CONTENT", "dropped message"],
      ["Mailbox Unavailable", "bounce soft"],
      ["Technical Failure", "bounce soft"],
    ].map(([bounce_classification = "", becomes = ""]): [EventFields, string] => [
      { event: "bounce", type: "blocked", bounce_classification },
      becomes,
    ]),
    [{ event: "bounce", type: "blocked", status: "5.3.4" }, "dropped message"],
    [
      { event: "bounce", type: "blocked", reason: "554 5.7.1 listed by a blocklist" },
      "dropped sender",
    ],
    [{ event: "bounce", type: "blocked" }, "bounce soft"],
    [{ event: "dropped", reason: "Bounced Address" }, "dropped suppressed"],
    [{ event: "dropped", reason: "Spam Content" }, "dropped message"],
    [{ event: "dropped", reason: "Invalid" }, "dropped"],
    [{ event: "cancel_drop" }, "dropped"],
    [{ event: "unsubscribe" }, "unsubscribe"],
    [{ event: "open", sg_machine_open: true }, "open by machine"],
    [{ event: "open", sg_machine_open: false }, "open"],
    [{ event: "spam_report" }, ""],
    [{ event: "processed" }, ""],
  ],
  ses: [
    [sesBounce("Permanent", "General"), "bounce hard"],
    [sesBounce("Permanent", "NoEmail"), "bounce hard"],
    [sesBounce("Permanent", "Suppressed"), "dropped suppressed"],
    [sesBounce("Permanent", "OnTenantSuppressionList"), "dropped suppressed"],
    [sesBounce("Permanent", "UnsubscribedRecipient"), "dropped suppressed"],
    ...[
      ["ContentRejected", "dropped message"],
      ["MessageTooLarge", "dropped message"],
      ["AttachmentRejected", "dropped message"],
      ["MailboxFull", "bounce soft"],
      ["CustomTimeoutExceeded", "bounce soft"],
      ["General", "deferred auto_reply"],
      ["Newest", "bounce soft"],
    ].map(([subType = "", becomes = ""]): [EventFields, string] => [
      sesBounce("Transient", subType),
      becomes,
    ]),
    [sesBounce("Transient", "General", "smtp; 452 4.2.2 full"), "bounce soft"],
    [sesBounce("Transient", "General", "smtp; 554 5.7.1 listed"), "dropped sender"],
    [sesBounce("Undetermined", "Undetermined"), "bounce soft"],
    [sesBounce("Undetermined", "Undetermined", "smtp; 552 5.3.4 too big"), "dropped message"],
    [
      {
        eventType: "Complaint",
        complaint: { complainedRecipients: complained, complaintFeedbackType: "abuse" },
      },
      "spam_report",
    ],
    [
      {
        eventType: "Complaint",
        complaint: {
          complainedRecipients: complained,
          complaintSubType: "OnAccountSuppressionList",
        },
      },
      "dropped suppressed",
    ],
    [{ eventType: "Rendering Failure", failure: { errorMessage: "no name" } }, "dropped message"],
    [{ eventType: "Click", click: { link: "https://example.net" } }, "click"],
    [
      sesTopics({
        unsubscribeAll: false,
        topicSubscriptionStatus: [{ subscriptionStatus: "OptIn" }],
      }),
      "",
    ],
    [sesTopics({ unsubscribeAll: false, topicSubscriptionStatus: [] }), ""],
    [{ notificationType: "Received" }, ""],
    [
      {
        notificationType: "Delivery",
        delivery: { recipients: [recipientEmail, "ben@example.net"] },
      },
      "delivered, delivered",
    ],
  ],
  postmark: [
    ...["HardBounce", "BadEmailAddress"].map((Type): [EventFields, string] => [
      { RecordType: "Bounce", Type },
      "bounce hard",
    ]),
    ...[
      ["SoftBounce", "bounce soft"],
      ["Unknown", "bounce soft"],
      ["VirusNotification", "dropped message"],
      ["SpamNotification", "dropped message"],
      ["Blocked", "dropped sender"],
      ["DMARCPolicy", "dropped sender"],
      ["AutoResponder", "deferred auto_reply"],
      ["ChallengeVerification", "deferred auto_reply"],
      ["ManuallyDeactivated", "dropped suppressed"],
      ["Unconfirmed", "dropped suppressed"],
      ["SMTPApiError", "dropped message"],
      ["TemplateRenderingFailed", "dropped message"],
    ].map(([Type = "", becomes = ""]): [EventFields, string] => [
      { RecordType: "Bounce", Type },
      becomes,
    ]),
    [
      { RecordType: "Bounce", Type: "SoftBounce", Details: "smtp;552 5.3.4 too big" },
      "dropped message",
    ],
    [{ RecordType: "Bounce", Type: "OpenRelayTest" }, "deferred"],
    [{ RecordType: "Bounce", Type: "SpamComplaint" }, "spam_report"],
    [{ RecordType: "Bounce", Type: "Unsubscribe" }, "unsubscribe"],
    ...["Subscribe", "AddressChange", "InboundError"].map((Type): [EventFields, string] => [
      { RecordType: "Bounce", Type },
      "",
    ]),
    [{ RecordType: "Bounce", Type: "Newest", Inactive: true }, "bounce hard"],
    [{ RecordType: "Bounce", Type: "Newest", Inactive: false }, "bounce soft"],
    [{ RecordType: "Bounce" }, "bounce soft"],
    [
      { RecordType: "SubscriptionChange", SuppressSending: true, SuppressionReason: "HardBounce" },
      "",
    ],
    [
      {
        RecordType: "SubscriptionChange",
        SuppressSending: true,
        SuppressionReason: "ManualSuppression",
        Origin: "Admin",
      },
      "unsubscribe",
    ],
    [{ RecordType: "Inbound" }, ""],
  ],
  mailgun: [
    [{ event: "failed", severity: "temporary" }, "deferred"],
    [failed("suppress-complaint"), "dropped suppressed"],
    [failed("generic", { code: 605 }), "dropped suppressed"],
    [failed("generic", { code: 625, "bounce-type": "hard" }), "dropped suppressed"],
    [failed("generic", { code: 550, "bounce-type": "soft" }), "bounce soft"],
    [failed("old"), "bounce soft"],
    [failed("bounce", { code: 602 }), "bounce soft"],
    [failed("generic", { "enhanced-code": "5.1.1" }), "bounce hard"],
    [failed("generic", { message: "5.4.4 host not found" }), "bounce hard"],
    [failed("generic", { message: "550 5.2.1 disabled" }), "bounce hard"],
    [failed("generic", { message: "5.2.12 other" }), "bounce soft"],
    [failed("bounce"), "bounce hard"],
    [failed("generic", {}, { flags: { "is-delayed-bounce": true } }), "bounce hard"],
    [failed("espblock", { code: 499 }), "dropped sender"],
    [failed("generic", { "bounce-type": "soft", message: "552 5.3.4 big" }), "dropped message"],
    [failed("bounce", { "enhanced-code": "5.7.1", message: "spam content" }), "dropped message"],
    [failed("generic", { "enhanced-code": "4.7.1", message: "Greylisted" }), "bounce soft"],
    [{ event: "rejected", reject: { reason: "no" } }, "dropped"],
    [{ event: "blocked" }, "dropped"],
    [
      {
        event: "rejected",
        recipient: undefined,
        message: { headers: { to: "Ann <ann@example.net>" } },
      },
      "dropped",
    ],
    [{ event: "opened", "client-info": { bot: "apple" } }, "open by machine"],
    [{ event: "clicked", "client-info": { bot: "generic" } }, "click by machine"],
    [{ event: "opened", "client-info": { bot: "" } }, "open"],
    [{ event: "opened", "client-info": { bot: null } }, "open"],
    [{ event: "list_member_uploaded" }, ""],
  ],
  sparkpost: [
    ...["10", "30"].map((one): [EventFields, string] => [classed(one), "bounce hard"]),
    ...["1", "20", "21", "22", "24", "40", "70", "999"].map((one): [EventFields, string] => [
      classed(one),
      "bounce soft",
    ]),
    ...["23", "52", "53"].map((one): [EventFields, string] => [classed(one), "dropped message"]),
    ...["50", "51", "54"].map((one): [EventFields, string] => [classed(one), "dropped sender"]),
    [{ ...classed("1"), raw_reason: "550 5.7.26 unauthenticated" }, "dropped sender"],
    [{ type: "bounce" }, "bounce soft"],
    [classed("25"), "dropped"],
    [classed("26"), "dropped suppressed"],
    ...["60", "100"].map((one): [EventFields, string] => [classed(one), "deferred auto_reply"]),
    [classed("80"), ""],
    [{ type: "policy_rejection", bounce_class: "25" }, "dropped"],
    [{ type: "open", user_agent_parsed: { is_prefetched: true } }, "open by machine"],
    [{ type: "open", user_agent_parsed: { is_prefetched: false, is_proxy: true } }, "open"],
    [{ type: "amp_initial_open" }, ""],
    [{ type: "relay_message" }, ""],
  ],
  brevo: [
    [{ event: "proxy_open" }, "open by machine"],
    [{ event: "unique_proxy_open" }, "open by machine"],
    [{ event: "opened" }, "open"],
    [{ event: "soft_bounce" }, "bounce soft"],
    [{ event: "soft_bounce", reason: "452-4.2.2 over quota" }, "bounce soft"],
    [{ event: "soft_bounce", reason: "550-5.7.26 unauthenticated" }, "dropped sender"],
    [{ event: "soft_bounce", reason: "552-5.2.3 too long" }, "dropped message"],
    [{ event: "hard_bounce", reason: "550-5.1.1 unknown" }, "bounce hard"],
    [{ event: "blocked" }, "dropped"],
    [{ event: "blocked", reason: "blocked : due to unsubscribed user" }, "dropped suppressed"],
    [{ event: "error" }, "dropped message"],
    [{ event: "complaint" }, "spam_report"],
    [{ event: "list_addition" }, ""],
  ],
  mailjet: [
    [{ event: "bounce", hard_bounce: true, error: "greylisted" }, "bounce hard"],
    [{ event: "bounce", error: "greylisted" }, "deferred"],
    [{ event: "bounce" }, "bounce soft"],
    [{ event: "bounce", error: "quota exceeded" }, "bounce soft"],
    [{ event: "bounce", error: "sender blocked" }, "dropped sender"],
    [{ event: "bounce", error: "content blocked", hard_bounce: true }, "dropped message"],
    [{ event: "bounce", error: "", error_related_to: "policy issue" }, "dropped sender"],
    [{ event: "bounce", error: "system issue", comment: "552 5.3.4 big" }, "dropped message"],
    [{ event: "blocked", error: "preblocked" }, "dropped suppressed"],
    [{ event: "blocked", error: "content blocked" }, "dropped message"],
    [{ event: "blocked", error: "duplicate in campaign" }, "dropped"],
  ],
  mandrill: [
    [{ event: "hard_bounce" }, "bounce hard"],
    [{ event: "soft_bounce" }, "bounce soft"],
    [{ event: "soft_bounce", msg: { bgtools_code: 23 } }, "dropped message"],
    [{ event: "soft_bounce", msg: { bgtools_code: 51 } }, "dropped sender"],
    [{ event: "soft_bounce", msg: { bgtools_code: 60 } }, "deferred auto_reply"],
    [{ event: "soft_bounce", msg: { diag: "smtp;550 5.7.1 denied" } }, "dropped sender"],
    [{ event: "reject", msg: { reject: { reason: "unsub" } } }, "dropped suppressed"],
    [{ event: "reject", msg: { reject: { reason: "unsigned" } } }, "dropped sender"],
    [{ event: "deferral" }, "deferred"],
    [{ type: "blacklist", action: "add" }, ""],
  ],
  resend: [
    [{ type: "email.bounced", bounce: { type: "Permanent", subType: "NoEmail" } }, "bounce hard"],
    [
      { type: "email.bounced", bounce: { type: "Permanent", subType: "OnAccountSuppressionList" } },
      "dropped suppressed",
    ],
    [
      { type: "email.bounced", bounce: { message: "the provider sent a hard bounce message" } },
      "bounce hard",
    ],
    [
      {
        type: "email.bounced",
        bounce: { message: "Resend has suppressed sending to this address" },
      },
      "dropped suppressed",
    ],
    ...[
      ["MailboxFull", "bounce soft"],
      ["MessageTooLarge", "dropped message"],
      ["ContentRejected", "dropped message"],
      ["General", "deferred auto_reply"],
    ].map(([subType = "", becomes = ""]): [EventFields, string] => [
      { type: "email.bounced", bounce: { type: "Transient", subType } },
      becomes,
    ]),
    [{ type: "email.failed" }, "dropped sender"],
    [{ type: "email.bounced", bounce: { message: "full" } }, "bounce soft"],
    [{ type: "email.bounced" }, "bounce soft"],
    [{ type: "email.scheduled" }, ""],
    [{ type: "email.received" }, ""],
    [{ type: "domain.updated" }, ""],
  ],
  smtp2go: [
    [{ event: "bounce" }, "bounce soft"],
    [{ event: "bounce", bounce: "soft", message: "550 5.7.1 spam" }, "dropped message"],
    [{ event: "bounce", bounce: "hard", message: "550 5.1.1 unknown" }, "bounce hard"],
    [{ event: "reject", context: "Recipient is on the suppression list" }, "dropped suppressed"],
    [{ event: "open" }, "open"],
    [{ event: "clicked", click_url: "https://example.net" }, "click"],
    [{ event: "unsubscribe" }, "unsubscribe"],
    [{ event: "rejected" }, "dropped"],
    [{ event: "resubscribed" }, ""],
  ],
};

describe.each(Object.entries(table))("%s", (key, rows) => {
  it.each(rows)("%j is read as: %s", (row, becomes) => {
    expect(short(key, row)).toBe(becomes);
  });
});
