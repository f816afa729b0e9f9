// Preview of a series: the email of its next campaign, with its feed as it is now.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { buildCampaignPlan } from "../campaign-plan.ts";
import { PreviewSample, renderSamples } from "../campaign-preview.ts";
import { buildRecipientQuery, describeSampleGaps } from "../sample-contacts.ts";
import { RssFeed } from "./rss/rss-schema.ts";
import * as seriesRss from "./rss/series-rss.ts";
import * as series from "./series.ts";
import { type NewSeries, type StoredSeries, toCampaign } from "./series-schema.ts";

export const SeriesPreview = z
  .object({
    feed: RssFeed.nullable().describe(
      "The value of `feed` in the next email, if the series has `rss`. Without new items, it " +
        "shows the newest items as an example. With `each`, it is that of the first email.",
    ),
    newItems: Count.nullable().describe(
      "How many items are new now. `null` without `rss`. 0: the run would send nothing.",
    ),
    samples: z
      .array(PreviewSample)
      .describe("Up to ten rendered emails. Their unsubscribe links do not work."),
  })
  .meta({ id: "SeriesPreview" });
type SeriesPreview = z.output<typeof SeriesPreview>;

type WithWarnings = SeriesPreview & { warnings: string[] };

/** Throws 400 as `create` does. Stores nothing. */
export async function previewNew(
  who: CallerScope,
  { rss = null, ...input }: NewSeries,
): Promise<WithWarnings> {
  const record = await series.buildSeries(who, input);
  const source = rss && seriesRss.toSource(rss, now().toISOString());
  seriesRss.requireOneFeed({ ...record, rss: source });
  return render(record, source && (await seriesRss.previewRss(source)));
}

export async function preview(who: CallerScope, id: number): Promise<WithWarnings> {
  const record = await series.findStored(who, id);
  return render(record, record.rss ? await seriesRss.previewRss(record.rss, record) : null);
}

async function render(
  record: StoredSeries,
  news: seriesRss.RssPreview | null,
): Promise<WithWarnings> {
  const { id, name, createdAt, updatedAt } = record;
  const campaign = toCampaign(record, { id, name, createdAt, updatedAt });
  const query = await buildRecipientQuery(record.orgId, await buildCampaignPlan(campaign));
  const samples = await renderSamples(campaign, query, news?.feed);
  const gaps = describeSampleGaps(samples.map(({ missingVariables }) => missingVariables));
  return {
    ...{ feed: news?.feed ?? null, newItems: news?.newItems ?? null, samples },
    warnings: gaps === undefined ? [] : [gaps],
  };
}
