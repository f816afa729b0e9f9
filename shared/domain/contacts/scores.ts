// Lead scores: every change is one transaction of the score and of its line in the log, so that the one always tells how the other
// came about.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { all, equals } from "../../conditions.ts";
import { get, put, query, Unmet, update, write } from "../../doors/table.ts";
import { oneLine } from "../../email.ts";
import * as ids from "../../ids.ts";
import { keys, ranges, sha256 } from "../../keys.ts";
import { decodeCursor, encodeCursor } from "../../paging.ts";
import * as contacts from "../contacts.ts";
import { nothing } from "../sequences/begun.ts";
import * as triggers from "../sequences/triggers.ts";
import type { ContactItem } from "./contact.ts";
import { asRead, touched } from "./items.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const maxPoints = 1_000_000;
const Points = z.int().min(-maxPoints).max(maxPoints);
const reason = oneLine(300).optional();

export const Adjustment = z
  .union([z.object({ delta: Points, reason }), z.object({ score: Points.describe("What it shall be"), reason })])
  .meta({ examples: [{ delta: 10, reason: "Came to our stand" }] });
export type Adjustment = z.output<typeof Adjustment>;

export const ScoreEntry = z
  .object({
    delta: z.int(),
    reason: z.string().nullable(),
    rule: z.object({ id: z.int(), name: z.string() }).nullable().describe("The scoring rule; null for a change by hand"),
    createdAt: z.string(),
  })
  .meta({ id: "ScoreEntry" });
export type ScoreEntry = z.output<typeof ScoreEntry>;

/** Lines of the log begin so. */
export const logPrefix = "SCORE|";

export interface Cause {
  /** Names what happened: the same cause changes a score once, however often it is told. */
  key: string;
  /** ISO 8601: part of what names it. */
  at: string;
  reason?: string | undefined;
  rule?: { id: number; name: string } | undefined;
}

// Of the 100 of a transaction, beside the score and its line.
const roomBeside = 98;
const mostTries = 8;

/**
 * Adds to a contact's score, once for each cause; false when it was added before, or when there is no such contact any more. `known` is
 * the contact, where it was just read.
 */
export async function adjust(orgId: number, contactId: number, delta: number, cause: Cause, known?: ContactItem): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const fresh = tries === 1 ? known : undefined;
    const place = fresh ?? (await get<{ siteId: number; email: string }>(keys.contactPointer(orgId, contactId)));
    if (!place) return false;
    const address = fresh ?? keys.contact(orgId, place.siteId, place.email);
    // Where no sequence waits for a score it need not be known, and what others write at the same time is not in its way.
    const contact = (await triggers.waitsForScores(orgId, place.siteId)) ? (fresh ?? (await get<ContactItem>(address))) : undefined;
    const begun = contact?.id === contactId ? await triggers.startedBy(contact, { points: delta }, roomBeside) : nothing;
    const { add, conditions } = begun.of({ id: contactId });
    try {
      await write(
        update(address, { add: { score: delta, v: 1, ...add } }, { if: all(equals("id", contactId), ...conditions) }),
        logging(orgId, contactId, delta, cause),
        ...begun.writes,
      );
      await triggers.started(begun);
      return true;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      // Added before; or it has just moved to another address, which the second try knows, or its score was changed by others.
      if (error.index === 1 || tries >= (conditions.length ? mostTries : 2)) return false;
    }
  }
}

/** A line of the log, to be written together with the change of the score. Unmet when this cause has its line already. */
export const logging = (orgId: number, contactId: number, delta: number, { key, at, reason, rule }: Cause) =>
  put(keys.contactLog(orgId, contactId, `${logPrefix}${at}|${sha256(key).slice(0, 16)}`), { delta, reason, rule, at }, { new: true });

/** By hand. Answers with the new score. Throws 404. */
export async function change(who: Who, id: number, given: Adjustment): Promise<number> {
  const contact = await contacts.item(who, id);
  const [first = 0, at] = [await ids.take("SCORE"), new Date(await ids.time()).toISOString()];
  const cause = { key: `by hand ${first}`, at, reason: given.reason };
  if (!("delta" in given)) return setTo(who, contact, given.score, cause);
  await adjust(who.orgId, id, given.delta, cause, contact);
  return (await contacts.item(who, id)).score ?? 0;
}

const setTo = (who: Who, { id, ...contact }: ContactItem, score: number, cause: Cause): Promise<number> =>
  contacts.untilSettled(
    who,
    id,
    async (current) => {
      const delta = score - (current.score ?? 0);
      const set = { score, v: touched(current).v };
      const begun = await triggers.startedBy(current, { points: delta }, roomBeside);
      const { add, conditions } = begun.of(current);
      try {
        const setting = update(current, { set, add }, { if: all(asRead(current), ...conditions) });
        await write(logging(who.orgId, id, delta, cause), setting, ...begun.writes);
        await triggers.started(begun);
        return score;
      } catch (error) {
        // The same request, made again after it died, finds its line.
        if (!(error instanceof Unmet && error.index === 0)) throw error;
        return current.score ?? 0;
      }
    },
    { id, ...contact },
  );

/** Newest first. Throws 404. */
export async function log(who: Who, id: number, { limit, cursor }: { limit: number; cursor?: string | undefined }) {
  const after = decodeCursor(cursor, (place) => place.startsWith(logPrefix));
  const [contact, { items, next }] = await Promise.all([
    contacts.item(who, id),
    query<Stored>(ranges.contactLog(who.orgId, id, logPrefix), { newestFirst: true, limit, after }),
  ]);
  return { score: contact.score ?? 0, log: items.map(told), nextCursor: next === undefined ? null : encodeCursor(next) };
}

export interface Stored {
  delta: number;
  reason?: string;
  rule?: { id: number; name: string };
  at: string;
}

export const told = ({ delta, reason, rule, at }: Stored): ScoreEntry => ({
  delta,
  reason: reason ?? null,
  rule: rule ?? null,
  createdAt: at,
});
