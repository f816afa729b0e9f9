// The documented requests about records: one schema for each type.
import * as z from "zod";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import type { RecordEventType } from "./event-types.ts";

const commonFields = {
  sendId: z.null().describe("Always `null`: the event is not about an email."),
  timestamp: Timestamp.describe("When it happened."),
};
const contactFields = {
  contactId: RecordId.describe("Id of the contact."),
  email: z.string().describe("Email address of the contact."),
  siteId: RecordId.describe("Site of the contact."),
};
const noContact = {
  contactId: z.null().describe("Always `null`: the event is not about a contact."),
  email: z.null().describe("Always `null`: the event is not about a contact."),
};

const Text = z.string().nullable();
const ContactData = z
  .object({
    firstName: Text.describe("First name, or `null`."),
    lastName: Text.describe("Last name, or `null`."),
    phone: Text.describe("Phone number, or `null`."),
    company: Text.describe("Company, or `null`."),
    timezone: Text.describe("IANA time zone, or `null`."),
    locale: Text.describe("Language as a BCP 47 tag, or `null`."),
    customFields: z.record(z.string(), z.unknown()).describe("Custom fields by name."),
    status: z
      .enum(["subscribed", "unsubscribed", "pending", "suppressed"])
      .describe("Status after the event."),
    source: Text.describe("Where the contact came from, or `null`."),
    externalId: Text.describe("Id of the contact in your own system, or `null`."),
    createdAt: Timestamp.describe("When the contact was created."),
  })
  .meta({ id: "WebhookContactData" });
const ChangedContactData = ContactData.extend({
  changed: z.array(z.string()).describe("Names of the fields that changed."),
}).meta({ id: "WebhookChangedContactData" });
const DeletedContactData = ContactData.extend({
  mergedInto: RecordId.nullable().describe("Contact that it was merged into, or `null`."),
}).meta({ id: "WebhookDeletedContactData" });
const CampaignData = z
  .object({
    name: z.string().describe("Name of the campaign."),
    status: z.enum(["sent", "paused"]).describe("Status of the campaign."),
    statusReason: Text.describe("Why the service paused the campaign, or `null`."),
  })
  .meta({ id: "WebhookCampaignData" });
const EnrollmentData = z
  .object({ enrollmentId: RecordId.describe("Id of the enrollment.") })
  .meta({ id: "WebhookEnrollmentData" });
const SubmissionData = z
  .object({
    submissionId: RecordId.describe("Id of the submission, as in GET /forms/:id/submissions."),
    status: z
      .enum(["pending", "accepted"])
      .describe("`pending`: waits for confirmation by email. `accepted`: is applied."),
    fields: z.record(z.string(), z.unknown()).describe("Values that were given, by field."),
  })
  .meta({ id: "WebhookSubmissionData" });
const ReplyData = z
  .object({
    inboundEmailId: RecordId.describe("Id of the reply, for GET /inbound-emails/:id."),
    subject: z.string().describe("Subject line of the reply."),
    matchedBy: z
      .enum(["reference", "address", "sender"])
      .describe("How the send was found, as in GET /inbound-emails."),
    attachmentCount: Count.describe("Number of files of the reply."),
  })
  .meta({ id: "WebhookReplyData" });
const DomainData = z
  .object({
    domainId: RecordId.describe("Id of the domain."),
    name: z.string().describe("Name of the domain."),
  })
  .meta({ id: "WebhookDomainData" });
const SendingConfigData = z
  .object({
    sendingConfigId: RecordId.describe("Id of the sending config."),
    reason: z.string().describe("Why it is paused."),
    pausedUntil: Timestamp.describe("When the service tries again."),
  })
  .meta({ id: "WebhookSendingConfigData" });

const about = <T extends RecordEventType, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({
    event: z.literal(type).describe("Type of the event."),
    ...commonFields,
    ...fields,
  });

const campaignFields = {
  ...noContact,
  siteId: RecordId.describe("Site of the campaign."),
  campaignId: RecordId.describe("Id of the campaign."),
  data: CampaignData,
};
const enrollmentFields = {
  ...contactFields,
  sequenceId: RecordId.describe("Id of the sequence."),
  data: EnrollmentData,
};
const contact = { ...contactFields, data: ContactData };

/** The body of the request for each type of event about a record. */
export const recordEventPayloads = {
  "contact.created": about("contact.created", contact).meta({ id: "ContactCreatedWebhookEvent" }),
  "contact.updated": about("contact.updated", { ...contactFields, data: ChangedContactData }).meta({
    id: "ContactUpdatedWebhookEvent",
  }),
  "contact.unsubscribed": about("contact.unsubscribed", contact).meta({
    id: "ContactUnsubscribedWebhookEvent",
  }),
  "contact.deleted": about("contact.deleted", { ...contactFields, data: DeletedContactData }).meta({
    id: "ContactDeletedWebhookEvent",
  }),
  "campaign.sent": about("campaign.sent", campaignFields).meta({ id: "CampaignSentWebhookEvent" }),
  "campaign.paused": about("campaign.paused", campaignFields).meta({
    id: "CampaignPausedWebhookEvent",
  }),
  "sequence.enrolled": about("sequence.enrolled", enrollmentFields).meta({
    id: "SequenceEnrolledWebhookEvent",
  }),
  "sequence.completed": about("sequence.completed", enrollmentFields).meta({
    id: "SequenceCompletedWebhookEvent",
  }),
  "form.submitted": about("form.submitted", {
    contactId: z.null().describe("Always `null`: the contact may not exist yet."),
    email: z.string().describe("Email address that was given."),
    siteId: RecordId.describe("Site of the form."),
    formId: RecordId.describe("Id of the form."),
    data: SubmissionData,
  }).meta({ id: "FormSubmittedWebhookEvent" }),
  "email.replied": z
    .object({
      event: z.literal("email.replied").describe("Type of the event."),
      sendId: RecordId.describe("Id of the send that the contact replied to."),
      contactId: RecordId.nullable().describe("Id of the contact, or `null` without one."),
      email: z.string().describe("Email address that the reply came from."),
      timestamp: Timestamp.describe("When the reply was received."),
      siteId: RecordId.describe("Site that got the reply."),
      campaignId: RecordId.nullable().describe("Campaign of the send, or `null`."),
      sequenceId: RecordId.nullable().describe("Sequence of the send, or `null`."),
      stepId: RecordId.nullable().describe("Step of the sequence, or `null`."),
      data: ReplyData,
    })
    .meta({ id: "EmailRepliedWebhookEvent" }),
  "domain.verified": about("domain.verified", { ...noContact, data: DomainData }).meta({
    id: "DomainVerifiedWebhookEvent",
  }),
  "sending_config.paused": about("sending_config.paused", {
    ...noContact,
    data: SendingConfigData,
  }).meta({ id: "SendingConfigPausedWebhookEvent" }),
} satisfies Record<RecordEventType, z.ZodType>;
