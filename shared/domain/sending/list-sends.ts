// Lists of sends, newest first, with filters.
import type { Caller } from "../../caller.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { countSkipped, type PageRequest, positionOf, toPagination } from "../../kernel/paging.ts";
import { inGroups } from "../../kernel/parallel.ts";
import { blockOf, idsPerBlock } from "../../keys.ts";
import { getByIds, idsOf } from "../audience/contacts/contact-lookups.ts";
import { countSends } from "../identity/site-send-counts.ts";
import * as sites from "../identity/sites.ts";
import * as chunks from "./bulk/chunks.ts";
import * as readSends from "./read-sends.ts";
import { addressPosition, isRecipient, readSendsTo } from "./recipient-index/sends-to-address.ts";
import * as sendFeed from "./send-feed.ts";
import { type Send, type SendItem, toApi } from "./send-schema.ts";

export interface SendFilter {
  siteId?: number | undefined;
  status?: Send["status"] | undefined;
  batchId?: number | undefined;
  contactId?: number | undefined;
  campaignId?: number | undefined;
  sequenceId?: number | undefined;
  stepId?: number | undefined;
  templateId?: number | undefined;
  toEmail?: string | undefined;
  /** Recipient or copy. Looked up in the recipient index. */
  email?: string | undefined;
  /** Accepted at this time or later, and before that time (ISO 8601). */
  from?: string | undefined;
  to?: string | undefined;
  /** Part of the subject, ignoring case. */
  subject?: string | undefined;
  tag?: string | undefined;
  messageId?: string | undefined;
  /** Whether a person has opened the email, or clicked a link. */
  opened?: "true" | "false" | undefined;
  clicked?: "true" | "false" | undefined;
}

/** Newest first, over the sites that the caller may see. */
export async function listSends(
  caller: Caller,
  request: PageRequest,
  { siteId, ...given }: SendFilter,
) {
  const siteIds = await sites.listVisibleSiteIds(caller, siteId);
  const filter = { ...given, from: toIsoTime(given.from), to: toIsoTime(given.to) };
  const { batchId, ...others } = filter;
  const filtered = Object.values(others).some((value) => value !== undefined);
  const contactIds = await listIdsOf(caller.orgId, filter.contactId);
  const positions = await findPositions({ orgId: caller.orgId, siteIds, filter }, request);
  const [{ sends, next }, total] = await Promise.all([
    collectPage(caller.orgId, positions, {
      request,
      isWanted: (item) => siteIds.includes(item.siteId) && matches(item, { ...filter, contactIds }),
      filtered,
      maxScanned: filter.email === undefined ? maxScannedInFeed : maxScannedInIndex,
    }),
    filtered || batchId !== undefined ? null : countSends(caller.orgId, siteIds),
  ]);
  return { sends, pagination: toPagination(request, total, next) };
}

const toIsoTime = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

interface SendQuery {
  orgId: number;
  siteIds: number[];
  filter: Omit<SendFilter, "siteId">;
}

async function findPositions(
  { orgId, siteIds, filter: { batchId, email, from, to } }: SendQuery,
  request: PageRequest,
): Promise<AsyncIterable<sendFeed.FeedPosition>> {
  if (email !== undefined) {
    const before = positionOf(request, new RegExp(`^${addressPosition}$`)) ?? to;
    return takeUntil(from, readSendsTo({ orgId, email, before }));
  }
  if (batchId === undefined)
    return takeUntil(from, sendFeed.readFeed({ orgId, siteIds, before: to }, request));
  return sendFeed.readBatch(batchId, await chunks.getBatchSize(orgId, batchId), request);
}

/** Ends at the first position that is older. Positions begin with a time of whole seconds. */
async function* takeUntil(
  from: string | undefined,
  positions: AsyncIterable<sendFeed.FeedPosition>,
): AsyncGenerator<sendFeed.FeedPosition> {
  const second = from?.slice(0, "2026-12-01T09:00:00".length) ?? "";
  for await (const position of positions) {
    if (position.next < second) return;
    yield position;
  }
}

/** Its id, and those of the contacts that were merged into it. */
async function listIdsOf(
  orgId: number,
  contactId: number | undefined,
): Promise<number[] | undefined> {
  if (contactId === undefined) return undefined;
  const [contact] = await getByIds(orgId, [contactId]);
  return contact ? idsOf(contact) : [contactId];
}

interface MatchedFields extends Omit<SendFilter, "siteId"> {
  contactIds: number[] | undefined;
}

function matches(item: SendItem, filter: MatchedFields): boolean {
  const { toEmail, email, from, to, subject, tag, messageId, opened, clicked, ...others } = filter;
  const { contactId: _, contactIds, ...equal } = others;
  const { createdAt } = item;
  return (
    (contactIds === undefined || contactIds.includes(item.contactId ?? 0)) &&
    (toEmail === undefined || normalizeEmail(item.toEmail) === normalizeEmail(toEmail)) &&
    (email === undefined || isRecipient(item, email)) &&
    (from === undefined || createdAt >= from) &&
    (to === undefined || createdAt < to) &&
    (subject === undefined || item.subject.toLowerCase().includes(subject.toLowerCase())) &&
    (tag === undefined || (item.tags?.includes(tag) ?? false)) &&
    (messageId === undefined || item.providerMessageId === messageId) &&
    (opened === undefined || String(Boolean(item.openedAt || item.clickedAt)) === opened) &&
    (clicked === undefined || String(Boolean(item.clickedAt)) === clicked) &&
    Object.entries(equal).every(
      ([field, value]) => value === undefined || item[field as keyof SendItem] === value,
    )
  );
}

// If a filter matches few sends, the page ends early, with a cursor to continue.
const maxScannedInFeed = 2000;
// Sends to one address are in different blocks, so each is a read of its own.
const maxScannedInIndex = 200;

interface PageOptions {
  request: PageRequest;
  isWanted(item: SendItem): boolean;
  filtered: boolean;
  maxScanned: number;
}

async function collectPage(
  orgId: number,
  positions: AsyncIterable<sendFeed.FeedPosition>,
  { request, isWanted, filtered, maxScanned }: PageOptions,
) {
  // Without a filter, the sends before the page are skipped without reading them.
  const [skipUnread, skipMatches] = filtered
    ? [0, countSkipped(request)]
    : [countSkipped(request), 0];
  const enough = skipMatches + request.limit + 1;
  const found: { send: Send; next: string }[] = [];
  let scanned = 0;
  let stoppedAt: string | undefined;
  for await (const some of inGroups(positions, Math.min(100, request.limit + 1), skipUnread)) {
    const items = await getAcceptedSends(orgId, some);
    found.push(
      ...items.flatMap((item, i) =>
        item && isWanted(item) ? [{ send: toApi(item), next: some[i]!.next }] : [],
      ),
    );
    scanned += some.length;
    if (found.length >= enough) break;
    stoppedAt = scanned >= maxScanned ? some.at(-1)!.next : undefined;
    if (stoppedAt) break;
  }
  const page = found.slice(skipMatches, skipMatches + request.limit);
  return {
    sends: page.map(({ send }) => send),
    next: found.length >= enough ? page.at(-1)?.next : stoppedAt,
  };
}

/** In the order of the positions; undefined for a position without an accepted send. */
export async function getAcceptedSends(
  orgId: number,
  positions: sendFeed.FeedPosition[],
): Promise<(SendItem | undefined)[]> {
  const ids = positions.map(({ id }) => id);
  const items = await readSends.getSends(orgId, ids);
  const accepted = await Promise.all(
    items.map(async (item, i) => {
      const { at, staged } = positions[i]!;
      if (!item || (at ?? item.createdAt) !== item.createdAt) return false;
      if (!staged || item.sentAt) return true;
      const firstId = blockOf(item.id) * idsPerBlock;
      return sendFeed.isListed(orgId, { siteId: item.siteId, at: item.createdAt, firstId });
    }),
  );
  return items.map((item, i) => (accepted[i] ? item : undefined));
}
