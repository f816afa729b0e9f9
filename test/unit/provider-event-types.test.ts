// The types of all events that each provider documents, in their minimal form.
import { describe, expect, it } from "vitest";
import { type EventFields, readEvent, recipientEmail } from "../support/minimal-provider-events.ts";

/** Formats an event as its type, hard or soft, and whether it is automated. */
const short = (key: string, row: EventFields): string =>
  readEvent(key, row)
    .map(({ type, data, automated }) =>
      [type, data.bounceType, automated && "by machine"].filter(Boolean).join(" "),
    )
    .join(", ");

const sesBounce = (bounceType: string, bounceSubType: string) => ({
  eventType: "Bounce",
  bounce: { bounceType, bounceSubType, bouncedRecipients: [{ emailAddress: recipientEmail }] },
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
    [{ event: "bounce" }, "bounce soft"],
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
    [sesBounce("Permanent", "Suppressed"), "dropped"],
    [sesBounce("Permanent", "OnTenantSuppressionList"), "dropped"],
    [sesBounce("Permanent", "UnsubscribedRecipient"), "dropped"],
    [sesBounce("Transient", "ContentRejected"), "bounce soft"],
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
      "dropped",
    ],
    [{ eventType: "Rendering Failure", failure: { errorMessage: "no name" } }, "dropped"],
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
    ...["Unknown", "VirusNotification", "SpamNotification", "Blocked"].map(
      (Type): [EventFields, string] => [{ RecordType: "Bounce", Type }, "bounce soft"],
    ),
    [{ RecordType: "Bounce", Type: "OpenRelayTest" }, "deferred"],
    [{ RecordType: "Bounce", Type: "SpamComplaint" }, "spam_report"],
    [{ RecordType: "Bounce", Type: "Unsubscribe" }, "unsubscribe"],
    ...["ManuallyDeactivated", "Unconfirmed", "SMTPApiError", "TemplateRenderingFailed"].map(
      (Type): [EventFields, string] => [{ RecordType: "Bounce", Type }, "dropped"],
    ),
    ...["Subscribe", "AddressChange", "ChallengeVerification", "InboundError"].map(
      (Type): [EventFields, string] => [{ RecordType: "Bounce", Type }, ""],
    ),
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
    [failed("suppress-complaint"), "dropped"],
    [failed("generic", { code: 605 }), "dropped"],
    [failed("generic", { code: 625, "bounce-type": "hard" }), "dropped"],
    [failed("generic", { code: 550, "bounce-type": "soft" }), "bounce soft"],
    [failed("old"), "bounce soft"],
    [failed("bounce", { code: 602 }), "bounce soft"],
    [failed("generic", { "enhanced-code": "5.1.1" }), "bounce hard"],
    [failed("generic", { message: "5.4.4 host not found" }), "bounce hard"],
    [failed("generic", { message: "550 5.2.1 disabled" }), "bounce hard"],
    [failed("generic", { message: "5.2.12 other" }), "bounce soft"],
    [failed("bounce"), "bounce hard"],
    [failed("generic", {}, { flags: { "is-delayed-bounce": true } }), "bounce hard"],
    [failed("espblock", { code: 499 }), "bounce soft"],
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
    ...["1", "20", "21", "22", "23", "24", "40", "50", "51", "52", "53", "54", "70", "999"].map(
      (one): [EventFields, string] => [classed(one), "bounce soft"],
    ),
    [{ type: "bounce" }, "bounce soft"],
    ...["25", "26"].map((one): [EventFields, string] => [classed(one), "dropped"]),
    ...["60", "80", "100"].map((one): [EventFields, string] => [classed(one), ""]),
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
    [{ event: "blocked" }, "dropped"],
    [{ event: "complaint" }, "spam_report"],
    [{ event: "list_addition" }, ""],
  ],
  mailjet: [
    [{ event: "bounce", hard_bounce: true, error: "greylisted" }, "bounce hard"],
    [{ event: "bounce", error: "greylisted" }, "deferred"],
    [{ event: "bounce" }, "bounce soft"],
    [{ event: "blocked", error: "preblocked" }, "dropped"],
  ],
  mandrill: [
    [{ event: "hard_bounce" }, "bounce hard"],
    [{ event: "deferral" }, "deferred"],
    [{ type: "blacklist", action: "add" }, ""],
  ],
  resend: [
    [{ type: "email.bounced", bounce: { type: "Permanent", subType: "NoEmail" } }, "bounce hard"],
    [
      { type: "email.bounced", bounce: { type: "Permanent", subType: "OnAccountSuppressionList" } },
      "dropped",
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
      "dropped",
    ],
    [{ type: "email.bounced", bounce: { message: "full" } }, "bounce soft"],
    [{ type: "email.bounced" }, "bounce soft"],
    [{ type: "email.scheduled" }, ""],
    [{ type: "email.received" }, ""],
    [{ type: "domain.updated" }, ""],
  ],
  smtp2go: [
    [{ event: "bounce" }, "bounce soft"],
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
