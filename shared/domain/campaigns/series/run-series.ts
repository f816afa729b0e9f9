// Runs a series that is due: one transaction stores the campaign, the run and the time of the next
// run, so each date has one run, however many workers try. The engine of campaigns starts the
// campaign, also after a crash, because it is on the due index.
import { put, transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { Problem, undefinedIfMissing } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import * as records from "../../../kernel/records.ts";
import { keys } from "../../../keys.ts";
import { pinBrand } from "../../content/mail-brand.ts";
import { pinForMail } from "../../content/mail-snippets.ts";
import * as templates from "../../content/templates.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import { storeFeed } from "../../sending/rendering/feeds.ts";
import { fetchFeedWithRetry } from "../campaign-feed.ts";
import * as broadcast from "../engine/broadcast.ts";
import type { StoredCampaign } from "../stored-campaign.ts";
import * as occurrences from "./occurrences.ts";
import type { RssItem } from "./rss/rss-schema.ts";
import * as seriesRss from "./rss/series-rss.ts";
import { dueAttributes, toDueAttributes, unchangedCondition } from "./series.ts";
import { hashContent, type StoredRun, type StoredSeries, toCampaign } from "./series-schema.ts";

const runDays = 400;

/** What a run does, besides the time of the next one. */
interface RunPlan extends Pick<StoredRun, "outcome" | "error" | "newItems" | "sentItems"> {
  campaigns: StoredCampaign[];
  set?: Partial<StoredSeries>;
  writes?: Write[];
}

/** Does nothing if the series is not due. Safe to repeat. */
export async function runSeries(orgId: number, seriesId: number): Promise<void> {
  const series = await records.findAlive<StoredSeries>("SERIES", orgId, seriesId);
  if (series?.status !== "active" || !series.dueOn || series.nextAt! > now().toISOString()) return;
  const { timezone } = await organizations.getCalendar(orgId);
  const timing = { schedule: series.schedule, timezone };
  const { date, next } = occurrences.latestDate(timing, series.dueOn);
  const plan = await planRun(series, date);
  if (plan === "retry") return;
  const isDone = await commitRun(series, plan, { date, next, timing }).catch((error: unknown) => {
    // The organization has no room for a further campaign.
    if (!(error instanceof Problem && error.kind === "conflict")) throw error;
    const failed: RunPlan = { outcome: "failed", error: error.message, campaigns: [] };
    return commitRun(series, failed, { date, next, timing });
  });
  if (isDone) await Promise.all(plan.campaigns.map((campaign) => broadcast.enqueuePoll(campaign)));
}

async function planRun(series: StoredSeries, date: string): Promise<RunPlan | "retry"> {
  return series.rss ? planRssRun(series, date) : planContentRun(series, date);
}

/** A feed that cannot be read is tried again later, and then fails the run. */
async function planRssRun(series: StoredSeries, date: string): Promise<RunPlan | "retry"> {
  const { orgId, rss } = series;
  let news: seriesRss.RssNews;
  try {
    news = await seriesRss.readNews(series, rss!);
  } catch (error) {
    if (!(error instanceof Problem && error.kind === "invalid")) throw error;
    return planAfterFailure(series, error.message);
  }
  const { newItems, feeds, state, write } = news;
  const campaigns = await inParallel(4, feeds, async (feed) => {
    const [{ title }] = feed.items as [RssItem];
    const blob = await storeFeed(orgId, JSON.stringify(feed));
    return buildCampaign(series, date, { feed: blob, ...(rss!.mode === "each" && { title }) });
  });
  const latest = campaigns.at(-1);
  return {
    outcome: latest ? "campaign" : "unchanged",
    error: null,
    newItems,
    sentItems: feeds.flatMap(({ items }) => items).length,
    campaigns,
    set: { rssState: state, rssTries: 0, ...(latest && { lastCampaignId: latest.id }) },
    writes: write ? [write] : [],
  };
}

async function planAfterFailure(series: StoredSeries, error: string): Promise<RunPlan | "retry"> {
  const seconds = seriesRss.secondsToRetry(series);
  if (seconds === undefined) {
    const rssState = seriesRss.toFailedState(series, error, "failed");
    return { outcome: "failed", error, campaigns: [], set: { rssState, rssTries: 0 } };
  }
  const { orgId, id, rssTries = 0 } = series;
  const nextAt = addSeconds(seconds).toISOString();
  const rssState = seriesRss.toFailedState(series, error, "retrying");
  await transact(
    update(
      keys.record(orgId, "SERIES", id),
      {
        set: {
          ...{ rssState, rssTries: rssTries + 1, revision: series.revision + 1 },
          ...toDueAttributes(id, nextAt),
        },
      },
      { if: unchangedCondition(series) },
    ),
  );
  return "retry";
}

async function planContentRun(series: StoredSeries, date: string): Promise<RunPlan> {
  let content: string | undefined;
  try {
    content = series.skipUnchanged ? await hashCurrentContent(series) : undefined;
  } catch (error) {
    if (!(error instanceof Problem && error.kind === "invalid")) throw error;
    return { outcome: "failed", error: error.message, campaigns: [] };
  }
  if (content && content === series.lastContent)
    return { outcome: "unchanged", error: null, campaigns: [] };
  const campaign = await buildCampaign(series, date);
  return {
    outcome: "campaign",
    error: null,
    campaigns: [campaign],
    set: { lastCampaignId: campaign.id, ...(content && { lastContent: content }) },
  };
}

/** Undefined without a template. Throws 400 if the feed cannot be read or a snippet is missing. */
async function hashCurrentContent(series: StoredSeries): Promise<string | undefined> {
  const { orgId, siteId, templateId, feedUrl } = series;
  if (templateId === null) return undefined;
  const [template, feed, site] = await Promise.all([
    templates.findMeta({ orgId }, templateId).catch(undefinedIfMissing),
    feedUrl ? fetchFeedWithRetry(feedUrl) : undefined,
    sites.find({ orgId }, siteId).catch(undefinedIfMissing),
  ]);
  if (!template || !site) return undefined;
  const snippets = await pinForMail(orgId, siteId, { template });
  const sources = [series.subject, series.previewText];
  const brand = pinBrand(site, { template, snippets, sources });
  return hashContent(series, { template, snippets, brand, feed: feed?.json });
}

async function buildCampaign(
  series: StoredSeries,
  date: string,
  { title, feed }: { title?: string; feed?: string } = {},
): Promise<StoredCampaign> {
  const stamp = await records.newRecordFields("CAMPAIGN");
  const name = title
    ? `${series.name.slice(0, 90)} ${date}: ${title.slice(0, 90)}`
    : `${series.name.slice(0, 180)} ${date}`;
  const localTime = occurrences.localTimeOn(series.schedule, date) ?? null;
  const scheduledAt = stamp.createdAt;
  return {
    ...toCampaign(series, { ...stamp, name, scheduledAt, localTime, ...(feed && { feed }) }),
    ...broadcast.dueSoonAttributes(stamp.id),
  };
}

/** False if another worker or a request has changed the series. */
function commitRun(
  series: StoredSeries,
  { campaigns, outcome, error, set, newItems, sentItems, writes = [] }: RunPlan,
  { date, next, timing }: { date: string; next: string; timing: occurrences.SeriesTiming },
): Promise<boolean> {
  const { orgId, id } = series;
  const at = now().toISOString();
  const run: StoredRun = {
    ...{ at, outcome, error },
    ...(newItems !== undefined && { newItems, sentItems: sentItems! }),
    campaignIds: campaigns.map((campaign) => campaign.id),
    expires: epochSeconds() + runDays * 24 * 3600,
  };
  const advance: Write = update(
    keys.record(orgId, "SERIES", id),
    {
      set: {
        ...set,
        ...dueAttributes(id, timing, { dueOn: next }),
        ...{ lastOn: date, lastRunAt: at, lastError: error },
        ...{ revision: series.revision + 1, updatedAt: at },
      },
    },
    { if: unchangedCondition(series) },
  );
  return transact(
    advance,
    put(keys.seriesRun(orgId, id, date), run),
    ...writes,
    ...records.insertWrites("CAMPAIGN", { orgId }, campaigns),
  );
}
