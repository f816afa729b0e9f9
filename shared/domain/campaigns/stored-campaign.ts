// Campaigns as stored, and how the API shows them.
import { conflict } from "../../errors.ts";
import { rate } from "../../kernel/rates.ts";
import { archivePageUrlOf } from "../identity/site-archive.ts";
import { type MailSender, toMailSender } from "../senders/mail-sender.ts";
import type { SourceTotals } from "../sending/mail-sources.ts";
import type { Utm } from "../sending/rendering/utm.ts";
import { type AbTest, toApiWinner } from "./ab-test-schema.ts";
import type { StoredCampaignAttachment } from "./campaign-attachments.ts";
import { type Campaign, type CampaignAudience, ResendTarget } from "./campaign-schema.ts";
import { type CampaignConversion, toRevenue } from "./conversions/conversion-schema.ts";
import type { Broadcast, BroadcastStatus } from "./engine/broadcast.ts";
import type { CampaignVariant } from "./variant-schema.ts";

/** The fields of a stored campaign with the ids of its resends. */
export const resendFields = { failed: "resentFailed", unopened: "resentUnopened" } as const;

/** Its html is a separate item, with the version `htmlVersion`. */
export interface StoredVariant {
  id: number;
  name: string;
  subject: string | null;
  templateId: number | null;
  htmlVersion?: number;
  /** The names of the snippets that its html uses. */
  snippets?: string[];
  previewText: string | null;
  weight: number;
  createdAt: string;
  updatedAt: string;
}

export interface StoredCampaign extends Broadcast, MailSender {
  subject: string | null;
  templateId: number | null;
  /** The template that belongs to it. Absent without one. */
  ownTemplateId?: number;
  listId: number | null;
  tagId: number | null;
  segmentId: number | null;
  audience: CampaignAudience | null;
  sendingConfigId: number | null;
  /** Absent in campaigns of earlier versions: none. So are the next fields. */
  headers?: Record<string, string>;
  attachments?: StoredCampaignAttachment[];
  variables?: Record<string, unknown>;
  feedUrl?: string | null;
  /** The S3 key of the items of an RSS feed, instead of `feedUrl`. */
  feed?: string;
  purpose?: Campaign["purpose"];
  topicId: number | null;
  previewText: string | null;
  utm: Utm | null;
  strict: boolean;
  abTest: AbTest | null;
  /** Absent in campaigns of earlier versions: none. */
  conversion?: CampaignConversion | null;
  holdOutPercent?: number | null;
  status: BroadcastStatus;
  variants: StoredVariant[];
  sendLate?: boolean;
  localTime?: string | null;
  /** Set instead of `listId`, `tagId` and `segmentId`. */
  resendOf?: { campaignId: number; to: ResendTarget };
  /** The series that started it. */
  seriesId?: number;
  archive?: boolean;
  /** Set while the archive shows it. */
  archivedAt?: string;
  /** Why the archive cannot show it. */
  archiveError?: string;
  resentFailed?: number;
  resentUnopened?: number;
}

export const toApi = (item: StoredCampaign): Campaign => ({
  ...item,
  ...toMailSender(item),
  ownTemplateId: item.ownTemplateId ?? null,
  audience: toApiAudience(item.audience),
  headers: item.headers ?? {},
  variables: item.variables ?? {},
  feedUrl: item.feedUrl ?? null,
  purpose: item.purpose ?? "marketing",
  archive: item.archive ?? false,
  archiveUrl: item.archivedAt ? archivePageUrlOf(item) : null,
  archiveError: item.archiveError ?? null,
  attachments: (item.attachments ?? []).map(({ id, filename, type, size, contentId }) => ({
    ...{ id, filename, type, size },
    contentId: contentId ?? null,
  })),
  conversion: item.conversion ?? null,
  holdOutPercent: item.holdOutPercent ?? null,
  statusReason: item.statusReason ?? null,
  scheduledAt: item.scheduledAt ?? null,
  localTime: item.localTime ?? null,
  sendLate: item.sendLate ?? false,
  startedAt: item.startedAt ?? null,
  finishedAt: item.finishedAt ?? null,
  winner: item.winner ? toApiWinner(item.winner) : null,
  resendOf: item.resendOf ?? null,
  seriesId: item.seriesId ?? null,
  resends: listResends(item),
});

export function requireStatus(
  { status }: Pick<StoredCampaign, "status">,
  allowed: BroadcastStatus[],
  what: string,
): void {
  if (allowed.includes(status)) return;
  const states = allowed.join(", ").replace(/, (\w+)$/, " or $1");
  throw conflict(`The campaign is ${status}: it can be ${what} only while it is ${states}`, {
    code: "campaign_status",
  });
}

/** Audiences of earlier versions of the service have no `all`. */
export const toApiAudience = (audience: CampaignAudience | null): CampaignAudience | null =>
  audience && { ...audience, all: audience.all ?? false };

export const listResends = (item: StoredCampaign): Campaign["resends"] =>
  ResendTarget.options.flatMap((to) => {
    const campaignId = item[resendFields[to]];
    return campaignId === undefined ? [] : [{ to, campaignId }];
  });

export function toApiVariant(
  { id: campaignId, winner }: StoredCampaign,
  { htmlVersion, ...variant }: StoredVariant,
  numbers: SourceTotals | undefined,
): CampaignVariant {
  const {
    delivered = 0,
    uniqueOpened: opened = 0,
    uniqueClicked: clicked = 0,
  } = numbers?.events ?? {};
  const counters = numbers?.conversions ?? {};
  const { contacts: conversions = 0 } = counters;
  return {
    ...variant,
    campaignId,
    hasHtml: htmlVersion !== undefined,
    recipients: numbers?.accepted ?? 0,
    delivered,
    opened,
    clicked,
    openRate: rate(opened, delivered),
    clickRate: rate(clicked, delivered),
    conversions,
    conversionRate: rate(conversions, delivered),
    revenue: toRevenue(counters),
    isWinner: winner?.variantId === variant.id,
  };
}
