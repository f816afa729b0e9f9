import * as seriesPreview from "../../shared/domain/campaigns/series/series-preview.ts";
import { NewSeries } from "../../shared/domain/campaigns/series/series-schema.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

// Separate from the other routes of series, because rendering would make their bundle too large.
const incomplete =
  "Its campaigns would not be complete, or the feed cannot be read (`feed_unavailable`).";

export const seriesPreviews = routeGroup("series-previews", [
  route("POST /campaign-series/preview", "Preview a new recurring campaign", {
    operationId: "previewCampaignSeriesDraft",
    right: "marketing:read",
    description:
      "Takes the body of POST /campaign-series and renders up to ten sample emails, with the " +
      "feed as it is now. Stores and sends nothing.",
    level: "site",
    preview: true,
    body: NewSeries,
    returns: seriesPreview.SeriesPreview,
    errors: {
      400: incomplete,
      404: "The site, the campaign or a record that the series uses does not exist.",
    },
    handle: async ({ caller, body, reply }) => {
      const { warnings, ...preview } = await seriesPreview.previewNew(caller, body);
      reply.warnings.push(...warnings);
      return preview;
    },
  }),
  route("POST /campaign-series/:id/preview", "Preview a recurring campaign", {
    operationId: "previewCampaignSeries",
    right: "marketing:read",
    description:
      "Renders up to ten sample emails of the next campaign, with the feed as it is now. Sends " +
      "nothing.",
    level: "site",
    preview: true,
    returns: seriesPreview.SeriesPreview,
    errors: { 400: incomplete },
    handle: async ({ caller, params, reply }) => {
      const { warnings, ...preview } = await seriesPreview.preview(caller, params.id);
      reply.warnings.push(...warnings);
      return preview;
    },
  }),
]);
export const { handler } = seriesPreviews;
