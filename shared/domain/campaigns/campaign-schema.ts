// Schemas of campaigns and their variants, in the API and as stored.

import * as z from "zod";
import { singleLineText } from "../../kernel/email-fields.ts";
import {
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  Timestamp,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import { TopicId } from "../audience/topics/topic-schema.ts";
import { OwnContent } from "../content/own-content.ts";
import { mailSenderFields } from "../senders/mail-sender.ts";
import { PreviewText, Utm, utmDescription } from "../sending/rendering/utm.ts";
import { AbTest, AbTestWinner } from "./ab-test-schema.ts";
import {
  CampaignAttachment,
  CampaignAttachmentInputs,
  campaignArchiveState,
  campaignMailFields,
} from "./campaign-mail-fields.ts";
import { CampaignConversion } from "./conversions/conversion-schema.ts";
import type { BroadcastStatus } from "./engine/broadcast.ts";

export const broadcastStatuses = [
  "draft",
  "scheduled",
  "held",
  "sending",
  "paused",
  "sent",
  "cancelled",
  "failed",
] as const satisfies BroadcastStatus[];

const id = z.int().positive();

export const ResendTarget = z
  .enum(["failed", "unopened"])
  .describe(
    "`failed`: recipients whose email bounced or was refused. `unopened`: recipients whose email " +
      "was handed to the provider and who have neither opened nor clicked; opens by machines do " +
      "not count. Who is suppressed or unsubscribed by now, or over the frequency cap, gets " +
      "nothing.",
  );
export type ResendTarget = z.output<typeof ResendTarget>;

const AudienceIds = z.array(id).max(10).default([]);
const audienceMembers = {
  lists: AudienceIds.describe("Ids of up to 10 lists."),
  tags: AudienceIds.describe("Ids of up to 10 tags."),
  segments: AudienceIds.describe("Ids of up to 10 segments."),
};

const countMembers = ({
  lists,
  tags,
  segments,
}: Record<"lists" | "tags" | "segments", unknown[]>) =>
  lists.length + tags.length + segments.length;

export const CampaignAudience = z
  .object({
    all: z
      .boolean()
      .default(false)
      .describe(
        "`true`: all contacts of the site, without lists, tags and segments. As with every " +
          "audience, only subscribed contacts get marketing email.",
      ),
    ...audienceMembers,
    match: z
      .enum(["any", "all"])
      .default("any")
      .describe("`any`: contacts in at least one of them. `all`: contacts in each of them."),
    exclude: z
      .object(audienceMembers)
      .default({ lists: [], tags: [], segments: [] })
      .describe("Contacts in any of these get nothing."),
  })
  .refine(({ all, ...members }) => all || countMembers(members) > 0, {
    error: "must have at least one list, tag or segment, or all: true",
    path: ["lists"],
  })
  .refine(({ all, ...members }) => !all || countMembers(members) === 0, {
    error: "must be false with lists, tags or segments",
    path: ["all"],
  })
  .meta({ id: "CampaignAudience" });
export type CampaignAudience = z.output<typeof CampaignAudience>;

const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the campaign."),
  subject: singleLineText(998)
    .min(1)
    .nullable()
    .describe("Subject line, with Liquid. `null`: the subject of the template."),
  templateId: id
    .nullable()
    .describe(
      "Template of the email. Required to send, unless each variant has a `templateId` or `html`.",
    ),
  listId: id
    .nullable()
    .describe(
      "Sends to the contacts on this list. Give exactly one of `listId`, `tagId`, " +
        "`segmentId` and `audience` before you send.",
    ),
  tagId: id
    .nullable()
    .describe(
      "Sends to the contacts with this tag. Give exactly one of `listId`, `tagId`, " +
        "`segmentId` and `audience` before you send.",
    ),
  segmentId: id
    .nullable()
    .describe(
      "Sends to the contacts that match this segment when sending starts. Give exactly one " +
        "of `listId`, `tagId`, `segmentId` and `audience` before you send.",
    ),
  audience: CampaignAudience.nullable().describe(
    "Several lists, tags and segments, or all contacts, and others whose contacts are left out. " +
      "Replaces `listId`, `tagId` and `segmentId`. Everyone gets one email.",
  ),
  sendingConfigId: id.nullable().describe("Sending config to send with. Required to send."),
  ...mailSenderFields,
  ...campaignMailFields,
  topicId: TopicId,
  previewText: PreviewText.nullable(),
  utm: Utm.nullable().describe(`${utmDescription} \`null\`: links stay unchanged.`),
  strict: z
    .boolean()
    .describe(
      "`true`: POST /campaigns/:id/send, /schedule and /resend refuse variables that no contact " +
        "of the site has a field for, or that one of the up to ten samples of the preview has no " +
        "value for (400 `variables_missing`). Variables with the filter `default` or in a " +
        "condition may be missing. Other contacts without a value still get the email, with an " +
        "empty place.",
    ),
  abTest: AbTest.nullable().describe(
    "A/B test: part of the audience gets the variants, the rest gets the winner. Needs at " +
      "least two variants. `null`: every variant is sent at once, by weight.",
  ),
  conversion: CampaignConversion.nullable().describe(
    "Custom event that counts as a conversion of the campaign. `null`: none is counted.",
  ),
  holdOutPercent: z
    .int()
    .min(1)
    .max(50)
    .nullable()
    .describe(
      "Percentage of the audience that gets no email, drawn at random among those who could get " +
        "it. With `conversion`, `conversions.holdOut` compares them with the others. `null`: none.",
    ),
};

const content = OwnContent.describe(
  "Content of its own, for a draft. It becomes a template that only this campaign uses, and its " +
    "id `templateId` and `ownTemplateId`. Edit it with PUT /templates/:id. It is deleted with " +
    "the campaign.",
);

export const Campaign = z
  .object({
    id: RecordId.describe("Id of the campaign, for GET /campaigns/:id."),
    siteId: RecordSiteId,
    ...fields,
    ownTemplateId: RecordId.nullable().describe(
      "Template with the content of its own that `content` gave it, or `null`. It is sent if " +
        "`templateId` has its id too.",
    ),
    attachments: z
      .array(CampaignAttachment)
      .describe("Files that every recipient gets, without their content."),
    status: z
      .enum(broadcastStatuses)
      .describe(
        "`draft`: not scheduled. `scheduled`: waits for `scheduledAt`. `held`: more than an " +
          "hour late, waits for you to schedule or send it. `sending`: being sent. `paused`: " +
          "stopped until it is resumed. `sent`: no email is queued or sending any more. " +
          "`cancelled`: stopped for good. `failed`: could not start or continue.",
      ),
    statusReason: z
      .string()
      .nullable()
      .describe("Why the campaign is held, paused, failed or a draft again. `null` otherwise."),
    scheduledAt: Timestamp.nullable().describe(
      "When sending starts. `null` if it was never scheduled.",
    ),
    localTime: z
      .string()
      .nullable()
      .describe(
        "Local time at which each contact gets the email, without an offset, such as " +
          "`2027-03-20T09:00`. `null`: all get it when sending starts.",
      ),
    sendLate: z
      .boolean()
      .describe("Whether it is sent however late it is, for example after an outage."),
    startedAt: Timestamp.nullable().describe("When sending started, or `null`."),
    finishedAt: Timestamp.nullable().describe(
      "When the service noted that it was sent, cancelled or failed.",
    ),
    resendOf: z
      .object({
        campaignId: RecordId.describe("Campaign that is sent again."),
        to: ResendTarget,
      })
      .meta({ id: "ResendOrigin" })
      .nullable()
      .describe("Set if the campaign sends an earlier one again to some of its recipients."),
    resends: z
      .array(
        z
          .object({
            to: ResendTarget,
            campaignId: RecordId.describe("Campaign that sends this one again."),
          })
          .meta({ id: "CampaignResend" }),
      )
      .describe("Campaigns that POST /campaigns/:id/resend created from this one."),
    seriesId: RecordId.nullable().describe(
      "Series of recurring campaigns that it belongs to, for GET /campaign-series/:id, or `null`.",
    ),
    ...campaignArchiveState,
    winner: AbTestWinner.nullable().describe("Winner of the A/B test. `null` until it is picked."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Campaign" });
export type Campaign = z.output<typeof Campaign>;

export const NewCampaign = z
  .object({
    siteId: NewSiteId,
    name: fields.name,
    subject: fields.subject.default(null),
    templateId: fields.templateId.default(null),
    content: content.optional(),
    listId: fields.listId.default(null),
    tagId: fields.tagId.default(null),
    segmentId: fields.segmentId.default(null),
    audience: fields.audience.default(null),
    sendingConfigId: fields.sendingConfigId.default(null),
    fromEmail: fields.fromEmail.default(null),
    fromName: fields.fromName.default(null),
    replyTo: fields.replyTo.default(null),
    headers: fields.headers.default({}),
    attachments: CampaignAttachmentInputs.default([]),
    variables: fields.variables.default({}),
    feedUrl: fields.feedUrl.default(null),
    archive: fields.archive.default(false),
    purpose: fields.purpose.default("marketing"),
    topicId: fields.topicId.default(null),
    previewText: fields.previewText.default(null),
    utm: fields.utm.default(null),
    strict: fields.strict.default(false),
    abTest: fields.abTest.default(null),
    conversion: fields.conversion.default(null),
    holdOutPercent: fields.holdOutPercent.default(null),
  })
  .meta({ examples: [{ name: "Spring sale", templateId: 1, listId: 1, sendingConfigId: 1 }] });
export type NewCampaign = z.output<typeof NewCampaign>;

export const CampaignChanges = z
  .object({ ...fields, content, attachments: CampaignAttachmentInputs })
  .partial()
  .meta({ examples: [{ name: "Spring sale, second try", segmentId: 1, listId: null }] });
export type CampaignChanges = z.output<typeof CampaignChanges>;

/** Changes of fields that are stored as they are given. */
export type PlainChanges = Omit<CampaignChanges, "attachments" | "content">;

const isLocalTime = (text: string): boolean => {
  const ms = Date.parse(`${text}Z`);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
};

const confirm = z
  .string()
  .max(200)
  .optional()
  .describe("Name of the campaign, as a confirmation. Required for a notice.");

export const CampaignStart = z
  .object({ confirm })
  .meta({ examples: [{}, { confirm: "New terms from May" }] });
export type CampaignStart = z.output<typeof CampaignStart>;

export const CampaignSchedule = z
  .object({
    confirm,
    scheduledAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        "When sending starts, within a minute. At most 365 days ahead. A time of up to one " +
          "minute ago means now; an earlier time is an error. Required without `localTime`.",
      ),
    localTime: z
      .string()
      .max(16, { error: "must be a local time such as 2027-03-20T09:00", abort: true })
      .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/, {
        error: "must be a local time such as 2027-03-20T09:00",
        abort: true,
      })
      .refine(isLocalTime, "must be a time that exists")
      .optional()
      .describe(
        "Instead of `scheduledAt`: date and time on the clock of each contact, without an " +
          "offset, such as `2027-03-20T09:00`. Each contact gets the email at this time in its " +
          "`timezone`, or without one in that of the organization. Audience and time zones are " +
          "those of the start, when the first time zone of the world has this time: 14 hours " +
          "before UTC. Contacts whose time has already passed get the email at the start. A time " +
          "that clocks skip becomes an hour later; of one that comes twice, the first counts. " +
          "Not possible with an A/B test.",
      ),
    sendLate: z
      .boolean()
      .default(false)
      .describe(
        "What happens after an outage of more than an hour. `true`: the campaign is sent " +
          "late. `false`: it gets the status `held`.",
      ),
  })
  .refine(
    ({ scheduledAt, localTime }) => (scheduledAt === undefined) !== (localTime === undefined),
    {
      error: "exactly one of scheduledAt and localTime is required",
      path: ["scheduledAt"],
    },
  )
  .meta({
    examples: [{ scheduledAt: "2027-03-20T09:00:00+01:00" }, { localTime: "2027-03-20T09:00" }],
  });
export type CampaignSchedule = z.output<typeof CampaignSchedule>;
