// Visitors of a site. Whoever nobody knows has its visits beside it; once it is linked to a contact, none are added to them any
// more, and those there are become the contact's, one transaction to a handful: a visit leaves here when it arrives there.
import { after, epochSeconds } from "../../clock.ts";
import { absent, all, any, atMost, below, equals, exists } from "../../conditions.ts";
import { claim, get, put, queryAll, remove, update } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import { type Activity, begins, earned, placeOf, recording } from "../contacts/activities.ts";
import * as contacts from "../contacts.ts";
import { ofSite, type ScoringRule } from "../scoring-rules.ts";
import * as triggers from "../sequences/triggers.ts";

export interface Visitor {
  orgId: number;
  siteId: number;
  visitorId: string;
}

interface State {
  /** Who it is. */
  contactId?: number;
  /** Its visits are on their way to the contact. */
  moving?: boolean;
  /** How many were put beside it. */
  kept: number;
  expires: number;
}

export const mostKept = 100;
const unknownKeptSeconds = 30 * 24 * 3600;
const linkKeptSeconds = 90 * 24 * 3600;
const expiry = (seconds: number): number => epochSeconds(after(seconds));

const addressOf = ({ orgId, siteId, visitorId }: Visitor) => keys.visitor(orgId, siteId, visitorId);

export async function find(visitor: Visitor): Promise<State> {
  const item = await get<State>(addressOf(visitor));
  if (!item) return { kept: 0, expires: 0 };
  if (item.expires > epochSeconds()) return { ...item, kept: item.kept ?? 0 };
  // TTL deletes days late.
  await claim(remove(addressOf(visitor), { if: atMost("expires", epochSeconds()) }));
  return find(visitor);
}

/** False when somebody has said who it is, or it has done too much, meanwhile. */
export function keep(visitor: Visitor, activity: Activity): Promise<boolean> {
  const expires = expiry(unknownKeptSeconds);
  const room = any(absent("kept"), below("kept", mostKept));
  return claim(
    update(addressOf(visitor), { add: { kept: 1 }, set: { expires } }, { if: all(absent("contactId"), room) }),
    put(visitOf(visitor, activity), { ...activity, expires }, { new: true }),
  );
}

const visitOf = ({ orgId, siteId, visitorId }: Visitor, activity: Activity) => keys.visit(orgId, siteId, visitorId, placeOf(activity));

/** Without a contact the visitor stays who it was. */
export async function link(visitor: Visitor, contactId: number | undefined): Promise<void> {
  await find(visitor);
  await claim(update(addressOf(visitor), { set: { contactId, moving: true, expires: expiry(linkKeptSeconds) } }));
}

/** Safe to repeat, and to do twice at a time. Looks as long for nobody as for somebody. */
export async function move(visitor: Visitor, contactId: number | undefined): Promise<void> {
  for (let tries = 1; await moveSome(visitor, contactId ?? 0); tries++)
    if (tries > 2 * mostKept) throw new Error("The visits of a visitor kept changing while they were moved");
  const linked = contactId === undefined ? absent("contactId") : equals("contactId", contactId);
  await claim(update(addressOf(visitor), { remove: ["moving"] }, { if: all(exists, linked) }));
}

/** False when there is nothing to move, or nobody to move it to. */
async function moveSome(visitor: Visitor, contactId: number): Promise<boolean> {
  const { orgId, siteId, visitorId } = visitor;
  const [visits, rules, [contact]] = await Promise.all([
    queryAll<Activity & { expires: number }>(ranges.visits(orgId, siteId, visitorId), { consistent: true }),
    ofSite(orgId, siteId),
    contacts.byIds(orgId, [contactId], { consistent: true }),
  ]);
  const live = visits.filter(({ expires }) => expires > epochSeconds());
  if (!contact || !live.length) return false;
  const some = fitting(live, rules).map(({ expires: _, ...visit }) => visit);
  const leaving = some.map((visit) => remove(visitOf(visitor, visit), { if: exists }));
  const begun = await begins(contact, some, rules, leaving.length);
  // Lost to somebody who moves them too, or to a change of the contact: look again.
  if (await claim(...leaving, ...recording(contact, some, rules, begun))) await triggers.started(begun);
  return true;
}

const mostWrites = 100;

/** As many as a transaction holds, with all they score. */
function fitting<T extends Activity>(visits: T[], rules: ScoringRule[]): T[] {
  let writes = 1;
  const end = visits.findIndex((visit) => {
    writes += 2 + earned(rules, visit).length;
    return writes > mostWrites;
  });
  return end < 0 ? visits : visits.slice(0, end);
}

/** The link lives on as long as it is used. */
export async function stay(visitor: Visitor, { contactId, expires }: State): Promise<void> {
  const until = expiry(linkKeptSeconds);
  if (expires > until - linkKeptSeconds / 2) return;
  await claim(update(addressOf(visitor), { set: { expires: until } }, { if: equals("contactId", contactId) }));
}

/** The contact is gone. */
export async function forget(visitor: Visitor, contactId: number): Promise<void> {
  await claim(update(addressOf(visitor), { remove: ["contactId", "moving"] }, { if: equals("contactId", contactId) }));
}
