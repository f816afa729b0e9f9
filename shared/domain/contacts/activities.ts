// What a contact did, as its site told us: custom events and page views. Each is a line in its log, the counts that segments ask for
// and the points it is worth, in one transaction.
import { after, epochSeconds } from "../../clock.ts";
import { absent, all, any, type Condition, contains, equals, smaller } from "../../conditions.ts";
import { put, Unmet, update, type Write, write } from "../../doors/table.ts";
import { keys, on, shelves, sortable } from "../../keys.ts";
import * as contacts from "../contacts.ts";
import { causeOf, met } from "../scoring.ts";
import { ofSite, type ScoringRule, type Trigger } from "../scoring-rules.ts";
import type { Begun } from "../sequences/begun.ts";
import * as triggers from "../sequences/triggers.ts";
import type { ContactItem } from "./contact.ts";
import { eventCount, maxEventNames } from "./facts.ts";
import * as scores from "./scores.ts";

export interface Activity {
  id: number;
  /** ISO 8601. */
  at: string;
  type: "custom" | "page_view";
  /** Of the event; views of pages are counted as `page_view`. */
  name: string;
  url?: string | undefined;
  /** JSON. */
  properties?: string | undefined;
  source: "api" | "tracking";
}

/** As it lies in the log of its contact. */
export interface Logged extends Activity {
  siteId: number;
  contactId: number;
}

export const pageView = "page_view";
const viewsKeptSeconds = 90 * 24 * 3600;

/** Lines of the log begin so. */
export const eventPrefix = "EVENT|";
export const viewPrefix = "VIEW|";
export const placeOf = ({ type, at, id }: Pick<Activity, "type" | "at" | "id">): string =>
  `${type === "custom" ? eventPrefix : viewPrefix}${at}|${sortable(id)}`;

/** Once, however often it is told. Throws 404 when the contact is gone. `known` is the contact, where it was just read. */
export const record = (orgId: number, contactId: number, activity: Activity, known?: ContactItem): Promise<true> =>
  contacts.untilSettled<true>(
    { orgId },
    contactId,
    async (contact) => {
      const rules = await ofSite(orgId, contact.siteId);
      const begun = await begins(contact, [activity], rules);
      try {
        await write(...recording(contact, [activity], rules, begun));
        await triggers.started(begun);
      } catch (error) {
        // It was recorded before.
        if (!(error instanceof Unmet && error.index === 0)) throw error;
      }
      return true;
    },
    known,
  );

const mostWrites = 100;

/** The sequences that activities start, for the transaction that records them and makes so many writes beside. */
export function begins(contact: ContactItem, activities: Activity[], rules: ScoringRule[], beside = 0): Promise<Begun> {
  const scored = activities.flatMap((activity) => earned(rules, activity));
  const eventNames = activities.flatMap(({ type, name }) => (type === "custom" ? [name] : []));
  const points = scored.reduce((sum, rule) => sum + rule.points, 0);
  return triggers.startedBy(contact, { eventNames, points }, mostWrites - 1 - activities.length - scored.length - beside);
}

/**
 * First the lines, one for each activity, which must be new; then the contact; then what its score was changed by, and the sequences
 * it enters.
 */
export function recording(contact: ContactItem, activities: Activity[], rules: ScoringRule[], begun: Begun): Write[] {
  const { counts, names } = counted(contact, activities);
  const scored = activities.flatMap((activity) => earned(rules, activity).map((rule) => ({ activity, rule })));
  const points = scored.reduce((sum, { rule }) => sum + rule.points, 0);
  const { add: entered, conditions } = begun.of(contact);
  const add = { ...counts, v: 1, ...(names.length && { eventNames: new Set(names) }), ...(scored.length && { score: points }), ...entered };
  return [
    ...activities.map((activity) => logging(contact, activity)),
    update(contact, { add }, { if: all(equals("id", contact.id), ...roomFor(contact, names), ...conditions) }),
    ...scored.map(({ activity, rule }) =>
      scores.logging(contact.orgId, contact.id, rule.points, causeOf({ key: `activity ${activity.id}`, at: activity.at }, rule)),
    ),
    ...begun.writes,
  ];
}

const triggerOf: Record<Activity["type"], Trigger> = { custom: "custom_event", page_view: "page_view" };

/** Rules that it meets. */
export const earned = (rules: ScoringRule[], { type, name, url }: Activity): ScoringRule[] =>
  met(rules, { trigger: triggerOf[type], facts: { eventName: name, url } });

function logging({ orgId, siteId, id: contactId }: ContactItem, activity: Activity): Write {
  const { id, at, type, name } = activity;
  const item: Logged = { ...activity, siteId, contactId };
  const shelf = type === "custom" ? on(shelves.newCustomEvents(orgId, contactId), `${at}#${sortable(id)}#${siteId}#${name}`) : {};
  const expiry = type === "custom" ? {} : { expires: epochSeconds(after(viewsKeptSeconds, new Date(at))) };
  return put(keys.contactLog(orgId, contactId, placeOf(activity)), { ...item, ...shelf, ...expiry }, { new: true });
}

/** A contact counts so many names and no more; events of others are recorded and not counted. */
function counted({ eventNames = new Set() }: ContactItem, activities: Activity[]) {
  const room = maxEventNames - eventNames.size;
  const told = [...new Set(activities.map(({ name }) => name))];
  const fresh = told.filter((name) => !eventNames.has(name)).slice(0, Math.max(0, room));
  const names = told.filter((name) => eventNames.has(name) || fresh.includes(name));
  const timesOf = (name: string) => activities.filter((one) => one.name === name).length;
  return { counts: Object.fromEntries(names.map((name) => [eventCount(name), timesOf(name)])), names };
}

/** Others may have brought new names meanwhile. */
function roomFor({ eventNames = new Set() }: ContactItem, names: string[]): Condition[] {
  const fresh = names.filter((name) => !eventNames.has(name));
  if (!fresh.length) return [];
  const known = all(...fresh.map((name) => contains("eventNames", name)));
  return [any(absent("eventNames"), smaller("eventNames", maxEventNames - fresh.length + 1), known)];
}
