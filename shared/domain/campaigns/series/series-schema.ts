// Schemas of series: recurring campaigns, in the API and as stored.
import * as z from "zod";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  Timestamp,
  UpdatedAt,
} from "../../../kernel/record-fields.ts";
import type * as records from "../../../kernel/records.ts";
import { sha256 } from "../../../keys.ts";
import type { PinnedBrand } from "../../content/mail-brand.ts";
import type { PinnedSnippets } from "../../content/mail-snippets.ts";
import { broadcastStatuses, Campaign, CampaignChanges } from "../campaign-schema.ts";
import { type StoredCampaign, toApiAudience } from "../stored-campaign.ts";
import { SeriesSchedule } from "./occurrences.ts";
import { RssSource, RssSourceInput, RssState, type StoredRss } from "./rss/series-rss.ts";

/** The fields that each campaign of the series gets. */
const contentMask = {
  subject: true,
  templateId: true,
  listId: true,
  tagId: true,
  segmentId: true,
  audience: true,
  sendingConfigId: true,
  fromEmail: true,
  fromName: true,
  replyTo: true,
  headers: true,
  variables: true,
  feedUrl: true,
  archive: true,
  topicId: true,
  previewText: true,
  utm: true,
} as const;
const contentChanges = CampaignChanges.pick(contentMask).shape;
const contentFields = Campaign.pick(contentMask).shape;
export type SeriesContent = Pick<StoredCampaign, keyof typeof contentMask>;

const fields = {
  name: Campaign.shape.name.describe(
    "Name of the series. Its campaigns are called like it, with their date.",
  ),
  schedule: SeriesSchedule.describe("When its campaigns are sent."),
  skipUnchanged: z
    .boolean()
    .describe(
      "`true`: sends nothing when the content is the same as in the last campaign of the series: " +
        "template, snippets, brand, subject, preview text, variables and feed. A feed that " +
        "cannot be read then fails the run. `false`: sends it again. With `rss`, only new " +
        "items count.",
    ),
};

export const CampaignSeries = z
  .object({
    id: RecordId.describe("Id of the series, for GET /campaign-series/:id."),
    siteId: RecordSiteId,
    ...fields,
    ...contentFields,
    rss: RssSource.nullable().describe(
      "RSS or Atom feed whose new items its campaigns show as `feed.items`, or `null`.",
    ),
    rssState: RssState.nullable().describe("Whether `rss` could be read. `null` without one."),
    status: z
      .enum(["active", "paused"])
      .describe("`active`: sends at its times. `paused`: sends nothing until it is resumed."),
    statusReason: z
      .string()
      .nullable()
      .describe("Why the service paused the series. `null` otherwise."),
    nextAt: Timestamp.nullable().describe(
      "When its next campaign starts. `null` while the series is paused.",
    ),
    lastRunAt: Timestamp.nullable().describe("When it last had a run, or `null`."),
    lastCampaignId: RecordId.nullable().describe("Campaign of the latest run with one, or `null`."),
    lastError: z.string().nullable().describe("Why the latest run failed. `null` if it did not."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "CampaignSeries" });
export type CampaignSeries = z.output<typeof CampaignSeries>;

export const NewSeries = z
  .object({
    siteId: NewSiteId,
    campaignId: z
      .int()
      .positive()
      .optional()
      .describe(
        "Campaign whose content, audience and sender the series takes. Fields that are given " +
          "here override its fields. It stays as it is, and later changes to it do not reach the " +
          "series.",
      ),
    name: fields.name,
    schedule: fields.schedule,
    skipUnchanged: fields.skipUnchanged.default(false),
    rss: RssSourceInput.optional(),
    status: z
      .enum(["active", "paused"])
      .default("active")
      .describe("`paused`: it sends nothing until POST /campaign-series/:id/resume."),
    ...contentChanges,
  })
  .meta({
    id: "NewCampaignSeries",
    examples: [
      {
        name: "Monday news",
        schedule: { frequency: "weekly", weekdays: ["monday"], time: "09:00" },
        templateId: 1,
        listId: 1,
        sendingConfigId: 1,
      },
    ],
  });
export type NewSeries = z.output<typeof NewSeries>;

export const SeriesChanges = z
  .object({ ...fields, rss: RssSourceInput, ...contentChanges })
  .partial()
  .meta({
    examples: [{ schedule: { frequency: "monthly", dayOfMonth: 31, time: "18:00" } }],
  });
export type SeriesChanges = z.output<typeof SeriesChanges>;

const seriesOutcomes = ["campaign", "unchanged", "failed"] as const;

export const SeriesRun = z
  .object({
    date: z.string().describe("Date that the run was due on, such as `2027-03-20`."),
    at: Timestamp.describe("When the run took place."),
    outcome: z
      .enum(seriesOutcomes)
      .describe(
        "`campaign`: it started a campaign. `unchanged`: nothing was new, so it sent nothing. " +
          "`failed`: it could not start a campaign.",
      ),
    error: z.string().nullable().describe("Why it failed. `null` if it did not."),
    newItems: Count.nullable().describe("New items of `rss`. `null` without one."),
    sentItems: Count.nullable().describe("Items that its campaigns show. `null` without `rss`."),
    campaigns: z
      .array(
        z.object({
          id: RecordId.describe("Id of the campaign, for GET /campaigns/:id."),
          name: z.string().describe("Name of the campaign."),
          status: z.enum(broadcastStatuses).describe("Status of the campaign."),
        }),
      )
      .describe("Campaigns of the run that still exist."),
  })
  .meta({ id: "SeriesRun" });
export type SeriesRun = z.output<typeof SeriesRun>;

export interface StoredSeries extends records.StoredRecord, SeriesContent, StoredRss {
  orgId: number;
  siteId: number;
  name: string;
  schedule: SeriesSchedule;
  skipUnchanged: boolean;
  status: CampaignSeries["status"];
  statusReason: string | null;
  /** Date of the next run, while it is active. */
  dueOn?: string;
  /** Date of the last run. */
  lastOn?: string;
  nextAt: string | null;
  lastRunAt: string | null;
  lastCampaignId: number | null;
  lastError: string | null;
  /** Hash of what the last campaign showed. */
  lastContent?: string;
  /** Grows with every change and run, so that writes can require what was read. */
  revision: number;
}

/** A finished run, by its date. */
export interface StoredRun extends Pick<SeriesRun, "at" | "outcome" | "error"> {
  campaignIds: number[];
  newItems?: number;
  sentItems?: number;
  expires: number;
}

export const contentOf = (source: SeriesContent): SeriesContent => ({
  subject: source.subject,
  templateId: source.templateId,
  listId: source.listId,
  tagId: source.tagId,
  segmentId: source.segmentId,
  audience: source.audience ?? null,
  sendingConfigId: source.sendingConfigId,
  fromEmail: source.fromEmail ?? null,
  fromName: source.fromName ?? null,
  replyTo: source.replyTo ?? null,
  headers: source.headers ?? {},
  variables: source.variables ?? {},
  feedUrl: source.feedUrl ?? null,
  archive: source.archive ?? false,
  topicId: source.topicId,
  previewText: source.previewText,
  utm: source.utm,
});

/** The campaign of a run. */
export const toCampaign = (
  series: StoredSeries,
  own: Pick<StoredCampaign, "id" | "name" | "createdAt" | "updatedAt" | "scheduledAt"> &
    Pick<StoredCampaign, "localTime" | "feed">,
): StoredCampaign => ({
  ...contentOf(series),
  orgId: series.orgId,
  kind: "campaign",
  siteId: series.siteId,
  revision: 1,
  strict: false,
  abTest: null,
  variants: [],
  status: "scheduled",
  sendLate: true,
  seriesId: series.id,
  ...own,
});

interface CurrentContent {
  template: { id: number; version: number };
  snippets: PinnedSnippets | undefined;
  brand: PinnedBrand | undefined;
  /** JSON of the feed. */
  feed: string | undefined;
}

/** Changes with everything that the email shows, except for the fields of contacts. */
export const hashContent = (
  { subject, previewText, variables }: StoredSeries,
  { template, ...current }: CurrentContent,
): string =>
  sha256(
    JSON.stringify({
      ...{ template: [template.id, template.version], subject, previewText, variables },
      ...current,
    }),
  );

export const toApi = (item: StoredSeries): CampaignSeries =>
  ({
    ...{ ...item, ...contentOf(item), audience: toApiAudience(item.audience) },
    ...{ rss: item.rss ?? null, rssState: item.rssState ?? null },
  }) as CampaignSeries;
