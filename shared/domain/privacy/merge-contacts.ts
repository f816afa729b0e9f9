// Merges two contacts of one person. First the enrollments of the source move, one by one. Then one
// transaction ends the source: the target has its groups, fields, counts and consent, and the id of
// the source leads to the target. A job moves the log afterwards (move-history.ts).
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { invalid, missing, Problem, type ProblemCode } from "../../errors.ts";
import { Id } from "../../kernel/record-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { combineContacts, type Pair } from "../audience/contacts/combine-contacts.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import type { Contact, ContactItem } from "../audience/contacts/contact-schema.ts";
import { membershipsOf } from "../audience/contacts/contact-writes.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import {
  commitMerge,
  maxGroupsPerMerge,
  moveSurplusGroups,
} from "../audience/contacts/merge-writes.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { listOfSite } from "../audience/topics/site-topics.ts";
import { moveEnrollment } from "../automation/enrollment-moves.ts";
import * as organizations from "../identity/organizations.ts";
import { enqueueSoon, jobWrite } from "./merge-job.ts";

export const MergeRequest = z
  .object({ into: Id.describe("Id of the contact that stays. It must be of the same site.") })
  .meta({ examples: [{ into: 2 }] });

const maxMerged = 50;

/**
 * Merges the contact into another one of its site, and returns that one. Safe to repeat. Throws 404
 * for an unknown contact, 400 for one of another site, and 409 while an earlier merge is under way.
 */
export async function mergeContacts(
  caller: CallerScope,
  id: number,
  into: number,
): Promise<Contact> {
  if (id === into) throw invalidInto("must be another contact");
  while (!(await retryOnConflict("The contact", () => mergeStep(caller, id, into))));
  await enqueueSoon(caller.orgId, id);
  return contacts.find(caller, into);
}

const invalidInto = (message: string, code: ProblemCode = "validation_failed"): Problem =>
  invalid(`into: ${message}`, { code, details: [{ path: "into", message }] });

/** Returns whether nothing is left to do but the job. */
async function mergeStep(caller: CallerScope, id: number, into: number): Promise<boolean> {
  const pair = await findPair(caller, id, into);
  if (!pair) return true;
  const { source, target } = pair;
  const [sequenceId] = source.sequences ?? [];
  if (sequenceId !== undefined) {
    await moveEnrollment(pair, sequenceId);
    return false;
  }
  if (membershipsOf(source).length > maxGroupsPerMerge) {
    await moveSurplusGroups(pair);
    return false;
  }
  const [topics, suppression, date] = await Promise.all([
    listOfSite(source.orgId, source.siteId),
    suppressions.find(source.orgId, source.sk),
    organizations.getToday(source.orgId),
  ]);
  const at = now().toISOString();
  const combination = combineContacts(pair, { topics, suppressed: suppression?.reason, at });
  await commitMerge(pair, combination, { jobWrite: jobWrite({ source, target }), date });
  return true;
}

/** Undefined if an earlier request has merged them. */
async function findPair(caller: CallerScope, id: number, into: number): Promise<Pair | undefined> {
  if ((await findSurvivor(caller.orgId, id))?.id === into) {
    await findTarget(caller, into);
    return undefined;
  }
  const source = await contacts.findItem(caller, id);
  const target = await findTarget(caller, into);
  if (source.siteId !== target.siteId) throw invalidInto("must be a contact of the same site");
  for (const one of [source, target]) contacts.checkNotMerging(one);
  if ([source, target].flatMap(({ merged = [] }) => merged).length >= maxMerged)
    throw invalidInto(`at most ${maxMerged} contacts can be merged into one`, "limit_exceeded");
  return { source, target };
}

const findTarget = (caller: CallerScope, into: number): Promise<ContactItem> =>
  contacts.findItem(caller, into).catch((error: unknown) => {
    if (!(error instanceof Problem && error.kind === "missing")) throw error;
    const { message, code, bodyFields } = error;
    throw missing(`into: ${message}`, { code, bodyFields, details: [{ path: "into", message }] });
  });
