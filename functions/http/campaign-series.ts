import * as z from "zod";
import * as records from "../../shared/domain/campaigns/series/series.ts";
import {
  CampaignSeries,
  NewSeries,
  SeriesChanges,
  SeriesRun,
} from "../../shared/domain/campaigns/series/series-schema.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";

const incomplete = "Its campaigns would not be complete: the message names what is missing.";

export const campaignSeries = routeGroup("campaign-series", [
  route("GET /campaign-series", "List recurring campaigns", {
    operationId: "listCampaignSeries",
    description: "Returns series of recurring campaigns, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("series", CampaignSeries),
    handle: ({ caller, query: { siteId, ...page } }) => records.list(caller, page, siteId),
  }),
  route("POST /campaign-series", "Create a recurring campaign", {
    operationId: "createCampaignSeries",
    description:
      "Creates a series that starts a campaign at each of its times, from the next one on. Each " +
      "campaign has results of its own: GET /campaigns?seriesId=1 lists them. Template and " +
      "audience are those of the time at which a campaign starts. After an outage, one campaign " +
      "takes the place of all that were missed.",
    level: "site",
    body: NewSeries,
    returns: CampaignSeries,
    status: 201,
    errors: {
      400: incomplete,
      404: "The site, the campaign or a record that the series uses does not exist.",
    },
    handle: ({ caller, body }) => records.create(caller, body),
  }),
  route("GET /campaign-series/:id", "Get a recurring campaign", {
    operationId: "getCampaignSeries",
    description: "Returns the series with the time of its next campaign.",
    level: "site",
    returns: CampaignSeries,
    handle: ({ caller, params }) => records.find(caller, params.id),
  }),
  route("PUT /campaign-series/:id", "Update a recurring campaign", {
    operationId: "updateCampaignSeries",
    description: "Updates the given fields. Campaigns that have started keep theirs.",
    level: "site",
    body: SeriesChanges,
    returns: CampaignSeries,
    errors: { 400: incomplete },
    handle: ({ caller, params, body }) => records.change(caller, params.id, body),
  }),
  route("DELETE /campaign-series/:id", "Delete a recurring campaign", {
    operationId: "deleteCampaignSeries",
    description: "Starts no campaign any more. The campaigns of the series and their sends stay.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await records.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /campaign-series/:id/pause", "Pause a recurring campaign", {
    operationId: "pauseCampaignSeries",
    description:
      "Sends nothing until the series is resumed. What has started goes on. Safe to repeat.",
    level: "site",
    returns: CampaignSeries,
    handle: ({ caller, params }) => records.pause(caller, params.id),
  }),
  route("POST /campaign-series/:id/resume", "Resume a recurring campaign", {
    operationId: "resumeCampaignSeries",
    description:
      "Goes on with the next time of the schedule. What was missed meanwhile is not sent. Safe " +
      "to repeat.",
    level: "site",
    returns: CampaignSeries,
    errors: { 400: incomplete },
    handle: ({ caller, params }) => records.resume(caller, params.id),
  }),
  route("GET /campaign-series/:id/runs", "List the runs of a recurring campaign", {
    operationId: "listCampaignSeriesRuns",
    description:
      "Returns the latest 100 runs, newest first, also those that sent nothing. A run is kept " +
      "for 400 days.",
    level: "site",
    returns: z.object({ runs: z.array(SeriesRun).describe("Runs, newest first.") }),
    handle: async ({ caller, params }) => ({ runs: await records.listRuns(caller, params.id) }),
  }),
]);
export const { handler } = campaignSeries;
