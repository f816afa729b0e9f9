// All that is kept of one person: to hand it out, and to erase it.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { getMany, query, queryAll } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import * as contacts from "../contacts.ts";
import * as history from "../events/history.ts";
import * as submissions from "../forms/submissions.ts";
import { full, SendDetail, type SendItem } from "../sends.ts";
import * as activities from "./activities.ts";
import { Contact, type ContactItem } from "./contact.ts";
import { sendsPrefix } from "./engagement.ts";
import * as scores from "./scores.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const Activity = z.object({
  name: z.string(),
  url: z.string().nullable(),
  properties: z.record(z.string(), z.unknown()),
  source: z.string(),
  createdAt: z.string(),
});

export const Person = z
  .object({
    contact: Contact,
    scoreLog: z.array(scores.ScoreEntry),
    customEvents: z.array(Activity),
    pageViews: z.array(Activity),
    sends: z.array(SendDetail).describe("With their events"),
    submissions: z.array(submissions.Submission).describe("What it submitted to forms"),
    complete: z.boolean().describe("false when there is more of something than the 2,000 that are told"),
  })
  .meta({ id: "Person" });
export type Person = z.output<typeof Person>;

const most = 2000;

/** Newest first, at most 2,000 of each kind. Throws 404. */
export async function dossier(who: Who, id: number): Promise<Person> {
  const { orgId } = who;
  const contact = await contacts.item(who, id);
  const [told, scored, events, views, sendIds, submitted] = await Promise.all([
    contacts.tell(orgId, contact),
    lines<scores.Stored>(orgId, id, scores.logPrefix),
    lines<activities.Logged>(orgId, id, activities.eventPrefix),
    lines<activities.Logged>(orgId, id, activities.viewPrefix),
    sendsOf(orgId, contact),
    submissionsOf(orgId, id),
  ]);
  const wanted = sendIds.toReversed().slice(0, most);
  const items = await getMany<SendItem>(wanted.map((sendId) => keys.send(orgId, sendId)));
  const sends = await Promise.all(
    items
      .flatMap((item) => (item ? [item] : []))
      .map(async (item) => ({ ...full(item), events: await history.ofSend(orgId, { v: 0, ...item }) })),
  );
  return {
    contact: told,
    scoreLog: scored.slice(0, most).map(scores.told),
    customEvents: events.slice(0, most).map(activity),
    pageViews: views.slice(0, most).map(activity),
    sends,
    submissions: submitted.slice(0, most).map(submissions.told),
    complete: [scored, events, views, sendIds, submitted].every(({ length }) => length <= most),
  };
}

const activity = ({ name, url, properties, source, at }: activities.Logged): z.output<typeof Activity> => ({
  name,
  url: url ?? null,
  properties: properties ? (JSON.parse(properties) as Record<string, unknown>) : {},
  source,
  createdAt: at,
});

/** Newest first; one more than are told. */
async function lines<T>(orgId: number, id: number, prefix: string): Promise<T[]> {
  const found: T[] = [];
  let after: string | undefined;
  do {
    const page = await query<T>(ranges.contactLog(orgId, id, prefix), { newestFirst: true, limit: 1000, after });
    found.push(...page.items);
    after = page.next;
  } while (after !== undefined && found.length <= most);
  return found;
}

/** Ids of all its sends, oldest first. */
export async function sendsOf(orgId: number, { id, sendIds = [] }: ContactItem): Promise<number[]> {
  const older = await queryAll<{ ids: number[] }>(ranges.contactLog(orgId, id, sendsPrefix));
  return [...new Set([...older.flatMap(({ ids }) => ids), ...sendIds])];
}

/** Those that are kept, newest first. */
async function submissionsOf(orgId: number, contactId: number): Promise<submissions.SubmissionItem[]> {
  const logged = await lines<submissions.LogLine>(orgId, contactId, submissions.logPrefix);
  const found = await getMany<submissions.SubmissionItem>(
    logged.map(({ formId, place }) => keys.submission(orgId, formId, place)),
    { consistent: true },
  );
  return found.flatMap((one) => one ?? []);
}
