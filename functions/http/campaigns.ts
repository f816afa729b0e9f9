import * as z from "zod";
import * as campaign from "../../shared/domain/campaigns/campaign.ts";
import * as details from "../../shared/domain/campaigns/detail.ts";
import * as state from "../../shared/domain/campaigns/state.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import * as records from "../../shared/domain/campaigns.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const { Campaign, CampaignDetail, Variant } = campaign;
const notEditable = "The campaign is not a draft or scheduled (`campaign_status`)";
const unready = "What is needed to send it is missing: the message names it";

export const campaigns = group("campaigns", [
  route("GET /campaigns", "List campaigns", {
    level: "site",
    query: PageQuery.extend({
      siteId: z.coerce.number().int().positive().optional(),
      status: z.enum(campaign.campaignStatuses).optional(),
    }),
    returns: paged("campaigns", Campaign),
    handle: ({ caller, query: { siteId, status, ...page } }) => records.list(caller, page, { siteId, status }),
  }),
  route("POST /campaigns", "Create a campaign, as a draft", {
    level: "site",
    body: campaign.NewCampaign,
    returns: Campaign,
    status: 201,
    errors: { 404: "There is no such site, template, list, tag, segment or sending config" },
    handle: ({ caller, body }) => records.create(caller, body),
  }),
  route("GET /campaigns/:id", "One campaign with its variants, its stats and where everybody stands", {
    level: "site",
    returns: CampaignDetail,
    handle: ({ caller, params }) => details.detail(caller, params.id),
  }),
  route("PUT /campaigns/:id", "Change a campaign while it is a draft or scheduled", {
    level: "site",
    body: campaign.CampaignChanges,
    returns: Campaign,
    errors: { 409: notEditable },
    handle: ({ caller, params, body }) => records.change(caller, params.id, body),
  }),
  route("DELETE /campaigns/:id", "Delete a campaign; its sends stay", {
    level: "site",
    returns: Deleted,
    errors: { 409: "Mail of it is on its way: cancel it first (`campaign_running`)" },
    handle: async ({ caller, params: { id } }) => {
      await records.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /campaigns/:id/schedule", "Schedule a campaign, also anew, or one that was held", {
    level: "site",
    limit: "send",
    body: campaign.Schedule,
    returns: Campaign,
    errors: { 400: unready, 409: "It has begun already, or is over (`campaign_status`)" },
    handle: ({ caller, params, body }) => state.schedule(caller, params.id, body),
  }),
  route("POST /campaigns/:id/send", "Send a campaign now", {
    level: "site",
    limit: "send",
    returns: Campaign,
    errors: {
      400: unready,
      402: "Not a single mail is left of plan and credits",
      409: "It has begun already, or is over (`campaign_status`)",
    },
    handle: ({ caller, params }) => state.send(caller, params.id),
  }),
  route("POST /campaigns/:id/cancel", "Cancel a campaign for good, also while it is sending: within seconds nothing more goes", {
    level: "site",
    returns: Campaign,
    errors: { 409: "It is over (`campaign_status`)" },
    handle: ({ caller, params }) => state.cancel(caller, params.id),
  }),
  route("POST /campaigns/:id/pause", "Hold back what has not been handed over, until the campaign is resumed", {
    level: "site",
    returns: Campaign,
    errors: { 409: "It is not sending (`campaign_status`)" },
    handle: ({ caller, params }) => state.pause(caller, params.id),
  }),
  route("POST /campaigns/:id/resume", "Go on with a paused campaign", {
    level: "site",
    returns: Campaign,
    errors: { 409: "It is not paused (`campaign_status`)" },
    handle: ({ caller, params }) => state.resume(caller, params.id),
  }),
  route("GET /campaigns/:id/variants", "List the variants of a campaign, oldest first, with their rates", {
    level: "site",
    returns: z.object({ variants: z.array(Variant) }),
    handle: async ({ caller, params }) => ({ variants: await variants.list(caller, params.id) }),
  }),
  route("POST /campaigns/:id/variants", "Add a variant: another subject, template or html", {
    level: "site",
    body: campaign.NewVariant,
    returns: Variant,
    status: 201,
    errors: { 409: `${notEditable}, or has ${campaign.maxVariants} variants already (\`too_many_variants\`)` },
    handle: ({ caller, params, body }) => variants.create(caller, params.id, body),
  }),
  route("GET /campaigns/:id/variants/:variantId", "One variant with its html and its rates", {
    level: "site",
    returns: Variant,
    handle: ({ caller, params }) => variants.find(caller, params.id, params.variantId),
  }),
  route("PUT /campaigns/:id/variants/:variantId", "Change a variant", {
    level: "site",
    body: campaign.VariantChanges,
    returns: Variant,
    errors: { 409: notEditable },
    handle: ({ caller, params, body }) => variants.change(caller, params.id, params.variantId, body),
  }),
  route("DELETE /campaigns/:id/variants/:variantId", "Delete a variant; with the last one the A/B test is off", {
    level: "site",
    returns: Deleted,
    errors: { 409: notEditable },
    handle: async ({ caller, params: { id, variantId } }) => {
      await variants.remove(caller, id, variantId);
      return { id: variantId, deleted: true as const };
    },
  }),
]);
export const { handler } = campaigns;
