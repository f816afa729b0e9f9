import * as z from "zod";
import * as campaignAudit from "../../shared/domain/campaigns/audit/campaign-audit.ts";
import * as campaignActions from "../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignDetail } from "../../shared/domain/campaigns/campaign-detail-schema.ts";
import * as campaignLinks from "../../shared/domain/campaigns/campaign-links.ts";
import * as campaignList from "../../shared/domain/campaigns/campaign-list.ts";
import { CampaignAttachmentFile } from "../../shared/domain/campaigns/campaign-mail-fields.ts";
import * as campaignSchema from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaignTimeline from "../../shared/domain/campaigns/campaign-timeline.ts";
import {
  listLocalTimeWarnings,
  listWarnings,
} from "../../shared/domain/campaigns/campaign-warnings.ts";
import * as records from "../../shared/domain/campaigns/campaigns.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as variantSchema from "../../shared/domain/campaigns/variant-schema.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { maxLinks } from "../../shared/domain/sending/clicked-links.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, NameSearch, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { QueryTime } from "../../shared/kernel/record-fields.ts";

const { CampaignAudit } = campaignAudit;
const { Campaign } = campaignSchema;
const { CampaignVariant } = variantSchema;
const notEditable = "The campaign is not a draft or scheduled (`campaign_status`)";
const noticeForbidden =
  "The campaign is a notice, and the caller lacks the right `marketing:notice`.";
const notSendable = "The campaign is not complete: the message names what is missing.";

export const campaigns = routeGroup("campaigns", [
  route("GET /campaigns", "List campaigns", {
    description: "Returns campaigns, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
      status: z
        .enum(campaignSchema.broadcastStatuses)
        .optional()
        .describe("Only items with this status."),
      seriesId: QueryId.optional().describe("Only campaigns of this series."),
      from: QueryTime.optional().describe(
        "Only campaigns that started at this time or later, or are scheduled to.",
      ),
      to: QueryTime.optional().describe(
        "Only campaigns that started before this time, or are scheduled to.",
      ),
      withStats: z
        .enum(["true", "false"])
        .optional()
        .describe("`true`: each campaign that has started has its `stats`."),
    }),
    returns: pagedSchema("campaigns", campaignList.ListedCampaign),
    handle: ({ caller, query: { siteId, status, seriesId, from, to, withStats, ...page } }) =>
      campaignList.list(caller, page, {
        ...{ siteId, status, seriesId, from, to },
        withStats: withStats === "true",
      }),
  }),
  route("POST /campaigns", "Create a campaign", {
    description:
      "Creates a draft. Send it with POST /campaigns/:id/send or schedule it with POST " +
      "/campaigns/:id/schedule.",
    level: "site",
    body: campaignSchema.NewCampaign,
    auditedValues: ["purpose"],
    returns: Campaign,
    status: 201,
    errors: { 404: "The site, template, list, tag, segment or sending config does not exist." },
    handle: ({ caller, body }) => records.create(caller, body),
  }),
  route("GET /campaigns/:id", "Get a campaign", {
    description: "Returns the campaign with its variants, stats and accounting.",
    level: "site",
    returns: CampaignDetail,
    handle: ({ caller, params }) => records.findCampaignDetail(caller, params.id),
  }),
  route("GET /campaigns/:id/attachments/:attachmentId", "Get a file of a campaign", {
    operationId: "getCampaignAttachment",
    description: "Returns the attachment with its content.",
    level: "site",
    returns: CampaignAttachmentFile,
    errors: { 404: "The campaign does not exist, or has no such attachment." },
    handle: ({ caller, params }) => records.readAttachment(caller, params.id, params.attachmentId),
  }),
  route("PUT /campaigns/:id", "Update a campaign", {
    description:
      "Updates the given fields while the status is `draft` or `scheduled`. A scheduled " +
      "campaign must stay complete.",
    level: "site",
    body: campaignSchema.CampaignChanges,
    auditedValues: ["purpose"],
    returns: Campaign,
    errors: { 403: noticeForbidden, 409: `${notEditable}.` },
    handle: ({ caller, params, body }) => records.updateCampaign(caller, params.id, body),
  }),
  route("DELETE /campaigns/:id", "Delete a campaign", {
    description: "Its sends stay. Cancel a campaign that is being sent before you delete it.",
    level: "site",
    returns: Deleted,
    errors: {
      409:
        "The campaign is being sent: cancel it first and wait until no email is on its way " +
        "(`campaign_running`).",
    },
    handle: async ({ caller, params: { id } }) => {
      await records.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /campaigns/:id/schedule", "Schedule a campaign", {
    description:
      "Also moves a scheduled campaign to another time, and schedules one that was held. With " +
      "`localTime`, each contact gets the email at that time in its own time zone.",
    level: "site",
    rateLimit: "send",
    body: campaignSchema.CampaignSchedule,
    auditedValues: ["confirm"],
    returns: Campaign,
    errors: {
      400: notSendable,
      403: noticeForbidden,
      409: "The campaign has already started or ended (`campaign_status`).",
    },
    handle: async ({ caller, params, body, reply }) => {
      const warnings = await listWarnings(caller, params.id);
      const campaign = await campaignActions.schedule(caller, params.id, body);
      reply.warnings.push(...warnings, ...listLocalTimeWarnings(body));
      return campaign;
    },
  }),
  route("POST /campaigns/:id/send", "Send a campaign", {
    description:
      "Starts sending at once. The status becomes `sending`, then `sent` when no email is " +
      "queued or sending any more. A notice needs `confirm`, which the audit log keeps.",
    level: "site",
    rateLimit: "send",
    body: campaignSchema.CampaignStart,
    auditedValues: ["confirm"],
    returns: Campaign,
    errors: {
      400: notSendable,
      403: noticeForbidden,
      402: "The plan's emails and the credits are used up.",
      409: "The campaign has already started or ended (`campaign_status`).",
    },
    handle: async ({ caller, params, body, reply }) => {
      const warnings = await listWarnings(caller, params.id);
      const campaign = await campaignActions.sendNow(caller, params.id, body);
      reply.warnings.push(...warnings);
      return campaign;
    },
  }),
  route("POST /campaigns/:id/unschedule", "Make a scheduled campaign a draft again", {
    description: "Removes the time of a scheduled or held campaign. Safe to repeat.",
    level: "site",
    returns: Campaign,
    errors: { 409: "The campaign has started or was cancelled (`campaign_status`)." },
    handle: ({ caller, params }) => campaignActions.unschedule(caller, params.id),
  }),
  route("POST /campaigns/:id/cancel", "Cancel a campaign", {
    description:
      "Cancels for good. Within seconds no further email is handed to a provider; email that " +
      "was handed over before stays sent. Safe to repeat.",
    level: "site",
    returns: Campaign,
    errors: { 409: "The campaign has already ended (`campaign_status`)." },
    handle: ({ caller, params }) => campaignActions.cancel(caller, params.id),
  }),
  route("POST /campaigns/:id/pause", "Pause a campaign", {
    description:
      "Holds back email that has not been handed to a provider yet. Resume within 60 days: " +
      "after that, held email counts as cancelled.",
    level: "site",
    returns: Campaign,
    errors: { 409: "The campaign is not being sent (`campaign_status`)." },
    handle: ({ caller, params }) => campaignActions.pause(caller, params.id),
  }),
  route("POST /campaigns/:id/resume", "Resume a campaign", {
    description: "Continues a paused campaign.",
    level: "site",
    returns: Campaign,
    errors: { 409: "The campaign is not paused (`campaign_status`)." },
    handle: ({ caller, params }) => campaignActions.resume(caller, params.id),
  }),
  route("POST /campaigns/:id/resend", "Send a campaign again", {
    operationId: "resendCampaign",
    description:
      "Creates a campaign with the same content, current template and sending config, for " +
      "recipients whose email failed or who have not opened it, and sends it. A campaign can be " +
      "sent again once to each of the two. After an A/B test, it has the content of the winner. " +
      "With `draft` it waits for you: POST /campaigns/:id/preview shows how many would get it.",
    level: "site",
    rateLimit: "send",
    body: resends.ResendRequest,
    returns: Campaign,
    status: 201,
    errors: {
      400: notSendable,
      402: "The plan's emails and the credits are used up.",
      409:
        "The campaign has not been sent or has not ended yet (`campaign_status`), or was already " +
        "sent again to these recipients (`already_resent`).",
    },
    handle: async ({ caller, params, body, reply }) => {
      const warnings = await resends.listWarnings(caller, params.id, body);
      const campaign = await resends.resend(caller, params.id, body);
      reply.warnings.push(...warnings);
      return campaign;
    },
  }),
  route("GET /campaigns/:id/links", "List the clicked links of a campaign", {
    operationId: "listCampaignLinks",
    description:
      "Returns the links that recipients clicked, the most clicked first, in total and by " +
      `variant. The first ${maxLinks} links of a campaign are counted one by one, the others ` +
      "together. The counts are exact. They include links in the footer if the provider tracks " +
      "them.",
    level: "site",
    returns: campaignLinks.CampaignLinks,
    handle: ({ caller, params }) => campaignLinks.list(caller, params.id),
  }),
  route("GET /campaigns/:id/timeline", "Get the figures of a campaign over time", {
    operationId: "getCampaignTimeline",
    description:
      "Returns the emails, opens and clicks of the first days by hour, and of all days. Each is " +
      "in the hour in which the service counted it, and counts once per recipient, as in `stats` " +
      "of GET /campaigns/:id. Opens and clicks that come more than 60 days after the email are " +
      "in `stats` only, as is everything that was counted before the service had this endpoint.",
    level: "site",
    returns: campaignTimeline.CampaignTimeline,
    handle: ({ caller, params }) => campaignTimeline.getTimeline(caller, params.id),
  }),
  route("GET /campaigns/:id/audit", "Get the audit of a campaign", {
    operationId: "getCampaignAudit",
    description: [
      "Every candidate of a campaign has exactly one outcome. When the campaign has ended, " +
        "all rows are read once; this returns the stored result with the counts by outcome and " +
        "a hash. Before that it returns the counts so far. Contacts that the audience excludes " +
        "are no candidates.",
      "Export the rows with POST /exports and the type `campaign-audit`. Each has `page`, " +
        "`contactId`, `sendId` (empty for candidates who were left out when the campaign was " +
        "prepared), `outcome` and `error`, the words of the provider. The hash covers all but " +
        "`error`, which is the only field that can name an email address. So the erasure of a " +
        "person removes `error` and changes neither the counts nor the hash.",
      "To recompute the hash, take the rows of each page in the order of the file, and write " +
        "each as `contactId,sendId,outcome` and a line feed. The SHA-256 of this text, in " +
        "lower-case hexadecimal digits, is the hash of the page. Start with the SHA-256 of the " +
        "empty text. Then go through the pages in the order of their names, compared byte by " +
        "byte: the next hash is the SHA-256 of the hash so far, a line feed, `page,number of " +
        "rows,hash of the page` and a line feed. The last one is the hash of the audit. " +
        "`pennymail verify-audit FILE` does this.",
    ].join("\n\n"),
    level: "site",
    returns: CampaignAudit,
    handle: ({ caller, params }) => campaignAudit.getAudit(caller, params.id),
  }),
  route("POST /campaigns/:id/audit", "Audit a campaign again", {
    operationId: "checkCampaignAudit",
    description:
      "Reads all rows of an ended campaign again and compares them with the counters and with " +
      "the earlier audit. If anything stored has changed, other than uncertain emails that were " +
      "settled, the status becomes `inconsistent`. Read the result with GET " +
      "/campaigns/:id/audit.",
    level: "site",
    status: 202,
    returns: CampaignAudit,
    errors: { 409: "The campaign has not ended (`campaign_status`)." },
    handle: ({ caller, params }) => campaignAudit.auditAgain(caller, params.id),
  }),
  route("GET /campaigns/:id/variants", "List campaign variants", {
    description:
      "Returns the variants of a campaign with their rates, oldest first, without `html`.",
    level: "site",
    returns: z.object({
      variants: z.array(CampaignVariant).describe("Variants of the campaign, oldest first."),
    }),
    handle: async ({ caller, params }) => ({ variants: await variants.list(caller, params.id) }),
  }),
  route("POST /campaigns/:id/variants", "Create a campaign variant", {
    description:
      "Adds another subject, template or html to an A/B test. A campaign can have up to 10 " +
      "variants.",
    level: "site",
    body: variantSchema.NewVariant,
    returns: CampaignVariant,
    status: 201,
    errors: {
      409:
        `${notEditable}, or has ${variantSchema.maxVariants} variants already ` +
        "(`too_many_variants`).",
    },
    handle: ({ caller, params, body }) => variants.create(caller, params.id, body),
  }),
  route("GET /campaigns/:id/variants/:variantId", "Get a campaign variant", {
    description: "Returns the variant with its html and its rates.",
    level: "site",
    returns: CampaignVariant,
    handle: ({ caller, params }) => variants.find(caller, params.id, params.variantId),
  }),
  route("PUT /campaigns/:id/variants/:variantId", "Update a campaign variant", {
    description: "Updates the given fields.",
    level: "site",
    body: variantSchema.VariantChanges,
    returns: CampaignVariant,
    errors: { 409: `${notEditable}.` },
    handle: ({ caller, params, body }) =>
      variants.updateVariant(caller, { campaignId: params.id, variantId: params.variantId }, body),
  }),
  route("DELETE /campaigns/:id/variants/:variantId", "Delete a campaign variant", {
    description: "Deleting the last variant turns off the A/B test.",
    level: "site",
    returns: Deleted,
    errors: { 409: `${notEditable}.` },
    handle: async ({ caller, params: { id, variantId } }) => {
      await variants.remove(caller, id, variantId);
      return { id: variantId, deleted: true as const };
    },
  }),
]);
export const { handler } = campaigns;
