// Lists custom events: of the whole organization by an index, of one contact by its log.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { getMany, queryPages } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { maxReadAhead, readNewestFirst } from "../../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  positionParts,
  toPagination,
} from "../../../kernel/paging.ts";
import { deletedSites } from "../../../kernel/site-access.ts";
import { emailShards, indexes, ranges } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import * as activities from "./activities.ts";
import { type CustomEvent, toApi } from "./custom-events.ts";

export interface CustomEventFilter {
  siteId?: number | undefined;
  contactId?: number | undefined;
  eventName?: string | undefined;
}

export const totalNote =
  "Only events of this contact. With `contactId` and without `eventName`, `total` is exact. " +
  "Otherwise it is `null`.";

/** Newest first. With a rare filter, a page may be short and still have a `nextCursor`. */
export async function list(
  caller: CallerScope,
  { siteId, contactId, eventName, ...request }: PageRequest & CustomEventFilter,
): Promise<{ items: CustomEvent[]; pagination: Pagination }> {
  const [siteIds, deleted] = await Promise.all([
    sites.siteFilter(caller, siteId),
    deletedSites(caller.orgId),
  ]);
  const matches: EventPredicate = (event) =>
    (siteIds?.includes(event.siteId) ?? !deleted.has(event.siteId)) &&
    (eventName === undefined || event.name === eventName);
  if (contactId === undefined) {
    const { items, next } = await listOfOrganization(caller.orgId, request, matches);
    return { items: items.map(toApi), pagination: toPagination(request, null, next) };
  }
  const contact = await contacts.findItem(caller, contactId);
  const { items, next } = await listOfContact(contact, request, { matches, eventName });
  const isOtherSite = siteIds !== undefined && !siteIds.includes(contact.siteId);
  const allEvents = eventName === undefined ? contact.customEvents : null;
  const total = isOtherSite ? 0 : allEvents;
  return { items: items.map(toApi), pagination: toPagination(request, total, next) };
}

type EventPredicate = (event: Pick<activities.ActivityItem, "siteId" | "name">) => boolean;

async function listOfContact(
  { orgId, id: contactId }: ContactItem,
  request: PageRequest,
  { matches, eventName }: { matches: EventPredicate; eventName: string | undefined },
) {
  const needed = countSkipped(request) + request.limit;
  const found: activities.ActivityItem[] = [];
  const log = ranges.contactLog(orgId, contactId, activities.customEventLogPrefix);
  const options = {
    newestFirst: true,
    limit: eventName === undefined ? needed + 1 : 1000,
    after: positionOf(request, activities.eventPlace),
    filter: eventName === undefined ? undefined : equals("name", eventName),
  };
  for await (const page of queryPages<activities.ActivityItem>(log, options)) {
    found.push(...page.items.filter(matches));
    if (found.length > needed) break;
  }
  const items = found.slice(needed - request.limit, needed);
  const last = items.at(-1);
  return {
    items,
    next: found.length > needed && last ? activities.activitySortKey(last) : undefined,
  };
}

/** `newsk` is `time#id#site#name`. */
interface EventIndexEntry {
  newsk: string;
  pk: string;
  sk: string;
}
const parseIndexEntry = ({ newsk }: EventIndexEntry) => {
  const [at = "", activityId = "", siteId = "", ...name] = newsk.split("#");
  return { cursor: `${at}#${activityId}`, siteId: Number(siteId), name: name.join("#") };
};

const positionPattern = new RegExp(`^${positionParts.time}#${positionParts.id}$`);

/** Index entries that one page reads at most. After that it ends short, with a cursor. */
const maxEntriesPerPage = 50_000;

async function listOfOrganization(orgId: number, request: PageRequest, matches: EventPredicate) {
  const skip = countSkipped(request);
  const needed = skip + request.limit;
  const found: EventIndexEntry[] = [];
  const shardRanges = emailShards.map((_, i) => indexes.newCustomEvents(orgId, i));
  const start = {
    below: positionOf(request, positionPattern),
    size: Math.min(maxReadAhead, needed + 1),
  };
  let entriesRead = 0;
  let reached: EventIndexEntry | undefined;
  for await (const entry of readNewestFirst<EventIndexEntry>(
    shardRanges,
    ({ newsk }) => newsk,
    start,
  )) {
    if (matches(parseIndexEntry(entry))) found.push(entry);
    if (found.length > needed) break;
    if (++entriesRead >= maxEntriesPerPage && found.length >= skip) {
      reached = entry;
      break;
    }
  }
  const entries = found.slice(skip, needed);
  const items = await getMany<activities.ActivityItem>(entries.map(({ pk, sk }) => ({ pk, sk })));
  const last = found.length > needed ? entries.at(-1) : reached;
  // The index lags behind: it may still list deleted events.
  return {
    items: items.filter((item) => item !== undefined),
    next: last && parseIndexEntry(last).cursor,
  };
}
