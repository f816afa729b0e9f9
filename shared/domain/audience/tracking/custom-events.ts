// Custom events of contacts, reported by the API or by website tracking.
import * as z from "zod";
import { absent, all, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  query,
  queryPages,
  transact,
  update,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { invalid, missing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { exactlyOneOf } from "../../../kernel/either-or.ts";
import { EmailAddress, normalizeEmail, singleLineText } from "../../../kernel/email-fields.ts";
import { maxReadAhead, readNewestFirst } from "../../../kernel/newest-first.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  positionParts,
  toPagination,
} from "../../../kernel/paging.ts";
import { RecordId, RecordSiteId, Timestamp } from "../../../kernel/record-fields.ts";
import { deletedSites } from "../../../kernel/site-access.ts";
import { storedObject } from "../../../kernel/stored-json.ts";
import { emailShards, indexes, keys, ranges } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import { unchangedCondition } from "../contacts/contact-writes.ts";
import * as contacts from "../contacts/contacts.ts";
import * as activities from "./activities.ts";
import * as eventNames from "./custom-event-names.ts";

export const EventName = singleLineText(eventNames.maxNameLength).trim().min(1);
export const EventProperties = storedObject(8000);

const id = z.int().positive();
export const NewCustomEvent = exactlyOneOf(
  z.object({
    siteId: id
      .optional()
      .describe(
        "Site to look up `email` in. Defaults to the site of the API key, else to the " +
          "organization's only site.",
      ),
    contactId: id.optional().describe("Contact of the event. Give either this or `email`."),
    email: EmailAddress.optional().describe(
      "Email address of the contact. Give either this or `contactId`.",
    ),
    eventName: EventName.describe("Name of the event, such as `order_placed`."),
    properties: EventProperties.default({}).describe("Your own data, at most 8,000 bytes of JSON."),
  }),
  ["contactId", "email"],
).meta({
  examples: [{ email: "ann@example.com", eventName: "order_placed", properties: { total: 49.9 } }],
});
export type NewCustomEvent = z.output<typeof NewCustomEvent>;

export const CustomEvent = z
  .object({
    id: RecordId.describe("Id of the event. Higher ids are newer."),
    siteId: RecordSiteId,
    contactId: RecordId.describe("Id of the contact of the event."),
    eventName: z.string().describe("Name of the event, such as `order_placed`."),
    properties: z.record(z.string(), z.unknown()).describe("Your own data given with the event."),
    url: z.string().nullable().describe("URL of the page where it happened, or `null`."),
    source: z
      .enum(["api", "tracking"])
      .describe(
        "`api`: recorded by POST /events/custom. `tracking`: reported by the tracking script.",
      ),
    createdAt: Timestamp.describe("When the event was recorded."),
  })
  .meta({ id: "CustomEvent" });
export type CustomEvent = z.output<typeof CustomEvent>;

/**
 * Records, counts and scores the event in one transaction. 404 when the contact does not exist: an
 * event creates none.
 */
export async function create(
  caller: CallerScope,
  { eventName, properties, ...subject }: NewCustomEvent,
): Promise<CustomEvent> {
  const contact = await findContact(caller, subject);
  await eventNames.registerName(contact, eventName);
  // A retry after a crash has the same id and time and finds its own event.
  const activityId = await ids.nextActivityId();
  const at = new Date(await ids.requestTime()).toISOString();
  const activity: activities.Activity = {
    id: activityId,
    at,
    type: "custom",
    name: eventName,
    properties: JSON.stringify(properties),
    source: "api",
  };
  await activities.recordActivity(caller.orgId, { id: contact.id, alreadyRead: contact }, activity);
  return toApi({ ...activity, siteId: contact.siteId, contactId: contact.id });
}

async function findContact(
  caller: CallerScope,
  { siteId, contactId, email = "" }: Pick<NewCustomEvent, "siteId" | "contactId" | "email">,
) {
  if (contactId !== undefined) {
    const contact = await contacts.findItem(caller, contactId);
    if (siteId === undefined || siteId === contact.siteId) return contact;
    throw invalid("contactId: the contact belongs to another site", {
      details: [{ path: "contactId", message: "belongs to another site" }],
    });
  }
  const resolvedId = await sites.resolveSiteId(caller, siteId);
  const contact = await get<ContactItem>(
    keys.contact(caller.orgId, resolvedId, normalizeEmail(email)),
  );
  if (!contact) throw missing("The site has no contact with this email");
  return contact;
}

export interface CustomEventFilter {
  siteId?: number | undefined;
  contactId?: number | undefined;
  eventName?: string | undefined;
}

export const totalNote =
  "Only events of this contact. With `contactId` and without `eventName`, `total` is exact. " +
  "Otherwise it is `null`, as for a contact " +
  "with more than 20,000 events from before they were counted.";

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
  const allEvents = eventName === undefined ? await totalOf(contact) : null;
  const total = isOtherSite ? 0 : allEvents;
  return { items: items.map(toApi), pagination: toPagination(request, total, next) };
}

const maxCountedPages = 20;

/**
 * The number of the contact's custom events. A contact stored before the number was kept is counted
 * now and the result is stored; null when it has more events than one request can count.
 */
async function totalOf(contact: ContactItem): Promise<number | null> {
  if (contact.customEvents !== undefined) return contact.customEvents;
  let total = 0;
  let after: string | undefined;
  for (let page = 0; page < maxCountedPages; page++) {
    const range = ranges.contactLog(contact.orgId, contact.id, activities.customEventLogPrefix);
    const { items, next } = await query(range, {
      limit: 1000,
      after,
      attributes: ["sk"],
      consistent: true,
    });
    total += items.length;
    after = next;
    if (after === undefined) break;
  }
  if (after !== undefined) return null;
  // Every new event changes `v`, so a count that missed one is not stored.
  const isUnchanged = all(unchangedCondition(contact), absent("customEvents"));
  await transact(
    update(contact, { set: { customEvents: total }, add: { v: 1 } }, { if: isUnchanged }),
  );
  return total;
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

const toApi = ({
  id,
  siteId,
  contactId,
  name,
  properties,
  url,
  source,
  at,
}: activities.ActivityItem): CustomEvent => ({
  id,
  siteId,
  contactId,
  eventName: name,
  properties: JSON.parse(properties ?? "{}") as Record<string, unknown>,
  url: url ?? null,
  source,
  createdAt: at,
});
