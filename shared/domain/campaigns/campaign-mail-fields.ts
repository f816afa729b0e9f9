// Fields of a campaign that add to its email: headers, attachments and variables.
import * as z from "zod";
import { config } from "../../config.ts";
import { exactlyOneOf } from "../../kernel/either-or.ts";
import { findUrlFault, maxUrlLength } from "../../kernel/public-urls.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import { AttachmentInput } from "../sending/accept/attachment-input.ts";
import { MarketingHeaders } from "../sending/accept/mail-headers.ts";
import {
  hasUniqueContentIds,
  maxAttachments,
  Variables,
} from "../sending/accept/message-fields.ts";

export const campaignMailFields = {
  headers: MarketingHeaders.describe(
    "Up to 20 further email headers, for every recipient. Headers that the service or the " +
      "provider sets are refused.",
  ),
  variables: Variables.describe(
    "Values for the Liquid variables that all recipients share, at most 10,000 bytes of JSON. A " +
      "contact's field of the same name takes precedence.",
  ),
  purpose: z
    .enum(["marketing", "notice"])
    .describe(
      "`marketing`: only subscribed contacts get it. `notice`: a legal or service notice, which " +
        "contacts who unsubscribed get too. Frequency cap and topic do not apply, and the email " +
        "offers no unsubscribe. Suppressed addresses, such as bounced ones, and contacts who " +
        "have not confirmed get nothing. Sending one needs the right `marketing:notice` and " +
        "`confirm`. Can be changed only in a draft.",
    ),
  archive: z
    .boolean()
    .describe(
      "Whether the public archive of the site shows its email, once it is being sent: without a " +
        "recipient, so fields of contacts have their defaults. A campaign with an A/B test shows " +
        "that of the winner.",
    ),
  feedUrl: z
    .string()
    .max(maxUrlLength)
    .superRefine((url, context) => {
      const problem = findUrlFault(url, config.allowLoopbackWebhooks);
      if (problem) context.addIssue({ code: "custom", message: problem });
    })
    .nullable()
    .describe(
      "URL of a JSON object or list that the template shows as `feed`. Must be https on port 443 " +
        "or 8443, at a public address. It is requested with GET when sending starts, and every " +
        "recipient gets the same: at most 1 MB, within 10 seconds, without redirects. A " +
        "scheduled campaign tries it for some minutes, and is `held` if that fails. `null`: no " +
        "feed.",
    ),
};

/** In responses only. */
export const campaignArchiveState = {
  archiveUrl: z
    .string()
    .nullable()
    .describe(
      "Page in the public archive of the site, or `null`. It is found while `archive` of the " +
        "site is `true`.",
    ),
  archiveError: z
    .string()
    .nullable()
    .describe("Why the archive does not show the email, or `null`."),
};

const { shape } = AttachmentInput;

const CampaignAttachmentInput = exactlyOneOf(
  z.object({
    ...shape,
    filename: shape.filename
      .optional()
      .describe("Name of the file, without slashes. Required unless `id` is given."),
    id: z.int().positive().optional().describe("Keeps this attachment of the campaign as it is."),
  }),
  ["content", "uploadId", "id"],
)
  .refine(({ id, filename }) => id !== undefined || filename !== undefined, {
    error: "is required unless id is given",
    path: ["filename"],
  })
  .meta({ id: "CampaignAttachmentInput" });
export type CampaignAttachmentInput = z.output<typeof CampaignAttachmentInput>;

export const CampaignAttachmentInputs = z
  .array(CampaignAttachmentInput)
  .max(maxAttachments)
  .refine(hasUniqueContentIds, "must have a different contentId each")
  .describe(
    "Up to 20 files that every recipient gets, 2 MB in total. Give each file as `content` or as " +
      "`uploadId`, or name one that the campaign already has by its `id`: files that are not " +
      "given are removed.",
  );

export const CampaignAttachment = z
  .object({
    id: RecordId.describe("Id of the attachment in this campaign."),
    filename: z.string().describe("Name of the file."),
    type: z.string().describe("Content type of the file."),
    size: Count.describe("Size of the file in bytes."),
    contentId: z
      .string()
      .nullable()
      .describe("Content id of an image that the HTML shows, or `null`."),
  })
  .meta({ id: "CampaignAttachment" });

export const CampaignAttachmentFile = CampaignAttachment.extend({
  content: z.string().describe("The file, as base64."),
}).meta({ id: "CampaignAttachmentFile" });
export type CampaignAttachmentFile = z.output<typeof CampaignAttachmentFile>;
