// Custom events: what a customer's own systems and pages tell of a contact.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { equals } from "../conditions.ts";
import { get, getMany, query } from "../doors/table.ts";
import { canonical, EmailAddress, oneLine } from "../email.ts";
import { invalid, missing } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys, ranges, shards, shelves } from "../keys.ts";
import { decodeCursor, type PageRequest, type Pagination, pagination, skipped } from "../paging.ts";
import * as activities from "./contacts/activities.ts";
import type { ContactItem } from "./contacts/contact.ts";
import * as contacts from "./contacts.ts";
import * as eventNames from "./event-names.ts";
import { mostAhead, newest } from "./newest.ts";
import * as sites from "./sites.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

export const EventName = oneLine(100).trim().min(1);
const maxPropertiesBytes = 8000;
export const Properties = z
  .record(z.string().max(100), z.unknown())
  .refine((properties) => Buffer.byteLength(JSON.stringify(properties)) <= maxPropertiesBytes, "must be at most 8,000 bytes of JSON");

const id = z.int().positive();
export const NewCustomEvent = z
  .object({
    siteId: id.optional().describe("With email: where to look for the contact"),
    contactId: id.optional(),
    email: EmailAddress.optional().describe("Instead of contactId"),
    eventName: EventName,
    properties: Properties.default({}),
  })
  .refine(({ contactId, email }) => (contactId === undefined) !== (email === undefined), {
    message: "give contactId or email, one of the two",
    path: ["contactId"],
  })
  .meta({ examples: [{ email: "ann@example.com", eventName: "order_placed", properties: { total: 49.9 } }] });
export type NewCustomEvent = z.output<typeof NewCustomEvent>;

export const CustomEvent = z
  .object({
    id: z.int(),
    siteId: z.int(),
    contactId: z.int(),
    eventName: z.string(),
    properties: z.record(z.string(), z.unknown()),
    url: z.string().nullable().describe("The page it happened on, when the page told it"),
    source: z.enum(["api", "tracking"]),
    createdAt: z.string(),
  })
  .meta({ id: "CustomEvent" });
export type CustomEvent = z.output<typeof CustomEvent>;

/** Recorded, counted and scored at once. 404 when there is no such contact: an event makes none. */
export async function create(who: Who, { eventName, properties, ...given }: NewCustomEvent): Promise<CustomEvent> {
  const contact = await contactOf(who, given);
  await eventNames.keep(who.orgId, contact.siteId, eventName);
  // The same request, made again after it died, has the same id and time: it finds its own event.
  const [activityId, at] = [await ids.takeActivity(), new Date(await ids.time()).toISOString()];
  const activity: activities.Activity = {
    id: activityId,
    at,
    type: "custom",
    name: eventName,
    properties: JSON.stringify(properties),
    source: "api",
  };
  await activities.record(who.orgId, contact.id, activity, contact);
  return told({ ...activity, siteId: contact.siteId, contactId: contact.id });
}

async function contactOf(who: Who, { siteId, contactId, email = "" }: Pick<NewCustomEvent, "siteId" | "contactId" | "email">) {
  if (contactId !== undefined) {
    const contact = await contacts.item(who, contactId);
    if (siteId === undefined || siteId === contact.siteId) return contact;
    throw invalid("contactId: the contact belongs to another site", { details: [{ path: "contactId", message: "of another site" }] });
  }
  const site = await sites.resolve(who, siteId);
  const contact = await get<ContactItem>(keys.contact(who.orgId, site, canonical(email)));
  if (!contact) throw missing("There is no contact with this email");
  return contact;
}

export interface EventFilter {
  siteId?: number | undefined;
  contactId?: number | undefined;
  eventName?: string | undefined;
}

/** One page, newest first. With a rare filter a page may be short and yet have a `nextCursor`. */
export async function list(
  who: Who,
  { siteId, contactId, eventName, ...request }: PageRequest & EventFilter,
): Promise<{ items: CustomEvent[]; pagination: Pagination }> {
  const site = await sites.only(who, siteId);
  const wanted = (one: Pick<activities.Logged, "siteId" | "name">) =>
    (site === undefined || one.siteId === site) && (eventName === undefined || one.name === eventName);
  const { items, next } =
    contactId === undefined
      ? await ofOrganization(who.orgId, request, wanted)
      : await ofContact(who.orgId, (await contacts.item(who, contactId)).id, request, wanted, eventName);
  return { items: items.map(told), pagination: pagination(request, null, next) };
}

type Wanted = (one: Pick<activities.Logged, "siteId" | "name">) => boolean;

async function ofContact(orgId: number, contactId: number, request: PageRequest, wanted: Wanted, eventName: string | undefined) {
  const enough = skipped(request) + request.limit;
  const found: activities.Logged[] = [];
  let after = decodeCursor(request.cursor, (place) => place.startsWith(activities.eventPrefix));
  do {
    const page = await query<activities.Logged>(ranges.contactLog(orgId, contactId, activities.eventPrefix), {
      newestFirst: true,
      limit: eventName === undefined ? enough + 1 : 1000,
      after,
      filter: eventName === undefined ? undefined : equals("name", eventName),
    });
    found.push(...page.items.filter(wanted));
    after = page.next;
  } while (after !== undefined && found.length <= enough);
  const items = found.slice(enough - request.limit, enough);
  const last = items.at(-1);
  return { items, next: found.length > enough && last ? activities.placeOf(last) : undefined };
}

/** Where an event stands on the index: `time#id#site#name`. */
interface Place {
  newsk: string;
  pk: string;
  sk: string;
}
const partsOf = ({ newsk }: Place) => {
  const [at = "", activityId = "", siteId = "", ...name] = newsk.split("#");
  return { cursor: `${at}#${activityId}`, siteId: Number(siteId), name: name.join("#") };
};

/** Places that one page may walk past; then it ends short, with a cursor to go on. */
const mostWalked = 50_000;

async function ofOrganization(orgId: number, request: PageRequest, wanted: Wanted) {
  const skip = skipped(request);
  const enough = skip + request.limit;
  const found: Place[] = [];
  const ranges16 = shards.map((_, i) => shelves.newCustomEvents(orgId, i));
  const start = {
    below: decodeCursor(request.cursor, (place) => /^\d{4}-[^#]+#\d{16}$/.test(place)),
    size: Math.min(mostAhead, enough + 1),
  };
  let walked = 0;
  let reached: Place | undefined;
  for await (const place of newest<Place>(ranges16, ({ newsk }) => newsk, start)) {
    if (wanted(partsOf(place))) found.push(place);
    if (found.length > enough) break;
    if (++walked >= mostWalked && found.length >= skip) {
      reached = place;
      break;
    }
  }
  const places = found.slice(skip, enough);
  const items = await getMany<activities.Logged>(places.map(({ pk, sk }) => ({ pk, sk })));
  const last = found.length > enough ? places.at(-1) : reached;
  // The index lags a little behind: what has left is not shown any more.
  return { items: items.filter((item) => item !== undefined), next: last && partsOf(last).cursor };
}

const told = ({ id, siteId, contactId, name, properties, url, source, at }: activities.Logged): CustomEvent => ({
  id,
  siteId,
  contactId,
  eventName: name,
  properties: JSON.parse(properties ?? "{}") as Record<string, unknown>,
  url: url ?? null,
  source,
  createdAt: at,
});
