// Visitors of a site. The activities of an anonymous visitor are buffered. Once it is linked to a
// contact, nothing more is buffered, and transactions of a few visits each move the buffer to the
// contact.

import {
  absent,
  all,
  any,
  atMost,
  equals,
  exists,
  lessThan,
} from "../../../adapters/dynamodb/conditions.ts";
import { get, put, queryAll, remove, transact, update } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys, ranges } from "../../../keys.ts";
import { findSurvivor } from "../contacts/contact-lookups.ts";
import { getSiteRules, type ScoringRule } from "../scoring/scoring-rules.ts";
import {
  type Activity,
  activitySortKey,
  activityWrites,
  isConverting,
  matchingRules,
  maxTransactionWrites,
  reactToActivities,
} from "./activities.ts";
import { conversionReactions, maxConversionWrites } from "./converting-events.ts";
import * as customEventNames from "./custom-event-names.ts";

export interface Visitor {
  orgId: number;
  siteId: number;
  visitorId: string;
}

interface VisitorState {
  /** The contact that it is linked to. */
  contactId?: number;
  /** The contact that a link token proved it to be. */
  provenId?: number;
  /** Buffered visits are still being moved to the contact. */
  moving?: boolean;
  /** Number of visits buffered so far. */
  kept: number;
  expires: number;
}

export const maxBufferedVisits = 100;
/** A condition has at most 4 kB and 300 operators. Each event name takes about 130 bytes and 10. */
const maxNamesPerBatch = 16;
const bufferTtlSeconds = 30 * 24 * 3600;
const linkTtlSeconds = 90 * 24 * 3600;
const expiry = (seconds: number): number => epochSeconds(addSeconds(seconds));

const visitorKey = ({ orgId, siteId, visitorId }: Visitor) =>
  keys.visitor(orgId, siteId, visitorId);

export async function getState(visitor: Visitor): Promise<VisitorState> {
  const item = await get<VisitorState>(visitorKey(visitor));
  if (!item) return { kept: 0, expires: 0 };
  if (item.expires > epochSeconds()) return { ...item, kept: item.kept ?? 0 };
  // DynamoDB deletes expired items up to days late.
  await transact(remove(visitorKey(visitor), { if: atMost("expires", epochSeconds()) }));
  return getState(visitor);
}

/** Returns false when the visitor has been linked or its buffer has filled up in between. */
export function bufferVisit(visitor: Visitor, activity: Activity): Promise<boolean> {
  const expires = expiry(bufferTtlSeconds);
  const hasRoom = any(absent("kept"), lessThan("kept", maxBufferedVisits));
  return transact(
    update(
      visitorKey(visitor),
      { add: { kept: 1 }, set: { expires } },
      { if: all(absent("contactId"), hasRoom) },
    ),
    put(visitKey(visitor, activity), { ...activity, expires }, { ifAbsent: true }),
  );
}

const visitKey = (visitor: Visitor, activity: Activity) =>
  keys.visit(visitor.orgId, visitor, activitySortKey(activity));

/** The contact that a visitor is linked to, and the one it proved to be. */
export interface Claimed {
  contactId?: number | undefined;
  provenId?: number | undefined;
}

/** False for a visitor that only typed an email address. */
export const isProven = ({ contactId, provenId }: Claimed): boolean =>
  contactId !== undefined && contactId === provenId;

/**
 * A proof stays when the visitor types the same contact's email address later. Returns the contact
 * that the visitor proved to be.
 */
export async function linkToContact(
  visitor: Visitor,
  contactId: number | undefined,
  proven: boolean,
): Promise<number | undefined> {
  const { provenId } = await getState(visitor);
  const proof = proven && contactId !== undefined ? { provenId: contactId } : {};
  await transact(
    update(visitorKey(visitor), {
      set: { contactId, ...proof, moving: true, expires: expiry(linkTtlSeconds) },
    }),
  );
  return proof.provenId ?? provenId;
}

/**
 * Idempotent and safe to run concurrently. Takes as long for an unknown contact, so timing reveals
 * nothing.
 */
export async function transferVisits(
  visitor: Visitor,
  { contactId, provenId }: Claimed,
): Promise<void> {
  const proven = isProven({ contactId, provenId });
  for (let tries = 1; await transferBatch(visitor, contactId ?? 0, proven); tries++)
    if (tries > 2 * maxBufferedVisits)
      throw new Error("The visits of a visitor kept changing while they were moved");
  const isSameLink = contactId === undefined ? absent("contactId") : equals("contactId", contactId);
  await transact(
    update(visitorKey(visitor), { remove: ["moving"] }, { if: all(exists, isSameLink) }),
  );
}

/** Returns false when there is nothing to move, or no contact. */
async function transferBatch(
  visitor: Visitor,
  contactId: number,
  proven: boolean,
): Promise<boolean> {
  const { orgId, siteId, visitorId } = visitor;
  const [visits, rules, contact, names] = await Promise.all([
    queryAll<Activity & { expires: number }>(ranges.visits(orgId, siteId, visitorId), {
      consistent: true,
    }),
    getSiteRules(orgId, siteId),
    findSurvivor(orgId, contactId),
    conversionReactions().listConvertingNames(orgId, siteId),
  ]);
  const unexpired = visits.filter(({ expires }) => expires > epochSeconds());
  if (!contact || !unexpired.length) return false;
  const batch = takeBatch(unexpired, rules, proven ? names : new Set());
  const activities = await inParallel(8, batch, ({ expires: _, ...visit }) =>
    toContact(visitor, visit, proven),
  );
  const recording = { activities, rules };
  const removals = activities.map((visit) => remove(visitKey(visitor, visit), { if: exists }));
  const reaction = await reactToActivities(contact, recording, removals.length);
  // If a concurrent transfer or a change of the contact wins, the next round reads again.
  if (await transact(...removals, ...activityWrites(contact, recording, reaction)))
    await reaction.afterCommit();
  return true;
}

/**
 * The activity for the contact's log. Registers its event name in the site, if the site has room
 * for the name.
 */
export async function toContact(
  { orgId, siteId }: Visitor,
  activity: Activity,
  proven: boolean,
): Promise<Activity> {
  const isCounted =
    activity.type !== "custom" ||
    (await customEventNames.register({ orgId, siteId }, activity.name, proven));
  return {
    ...activity,
    ...(!proven && { unproven: true }),
    ...(!isCounted && { uncounted: true }),
  };
}

/**
 * As many visits as a transaction holds, with their score log entries, and as the update of the
 * contact holds, with three attributes and their conditions for each event name. At most one of
 * them counts as a conversion.
 */
function takeBatch<T extends Activity>(
  visits: T[],
  rules: ScoringRule[],
  convertingNames: Set<string>,
): T[] {
  let writes = 1;
  let hasConversion = false;
  const names = new Set<string>();
  const end = visits.findIndex((visit) => {
    writes += 2 + matchingRules(rules, visit).length;
    if (isConverting(convertingNames, visit)) {
      if (hasConversion) return true;
      hasConversion = true;
      writes += maxConversionWrites;
    }
    names.add(visit.name);
    return writes > maxTransactionWrites || names.size > maxNamesPerBatch;
  });
  return end < 0 ? visits : visits.slice(0, Math.max(1, end));
}

/** Extends the link while it is used. */
export async function renewLink(
  visitor: Visitor,
  { contactId, expires }: VisitorState,
): Promise<void> {
  const until = expiry(linkTtlSeconds);
  if (expires > until - linkTtlSeconds / 2) return;
  await transact(
    update(
      visitorKey(visitor),
      { set: { expires: until } },
      { if: equals("contactId", contactId) },
    ),
  );
}

/** Makes the visitor anonymous again when its contact does not exist any more. */
export async function unlink(visitor: Visitor, contactId: number): Promise<void> {
  await transact(
    update(
      visitorKey(visitor),
      { remove: ["contactId", "provenId", "moving"] },
      { if: equals("contactId", contactId) },
    ),
  );
}
