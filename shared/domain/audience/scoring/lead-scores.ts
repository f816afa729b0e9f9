// Lead scores. One transaction changes the score and writes its log entry, so the log always
// explains the score.
import * as z from "zod";
import { all, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  put,
  query,
  update,
  write,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import * as ids from "../../../ids.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { positionOf, positionParts } from "../../../kernel/paging.ts";
import { Timestamp } from "../../../kernel/record-fields.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys, ranges, sha256 } from "../../../keys.ts";
import { type ContactItem, NamedRecord } from "../contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../contacts/contact-writes.ts";
import * as contacts from "../contacts/contacts.ts";
import { contactReactions, noReaction } from "../contacts/reactions.ts";

const maxPoints = 1_000_000;
const Points = z.int().min(-maxPoints).max(maxPoints);
const reason = singleLineText(300).optional();

export const ScoreAdjustment = z
  .union([
    z.object({
      delta: Points.describe("Points to add. A negative number subtracts."),
      reason: reason.describe("Reason for the log."),
    }),
    z.object({
      score: Points.describe("New value of the score."),
      reason: reason.describe("Reason for the log."),
    }),
  ])
  .meta({ examples: [{ delta: 10, reason: "Came to our stand" }] });
export type ScoreAdjustment = z.output<typeof ScoreAdjustment>;

export const ScoreEntry = z
  .object({
    delta: z.int().describe("Points added. Negative if points were subtracted."),
    reason: z.string().nullable().describe("Reason given with a manual change, or `null`."),
    rule: NamedRecord.nullable().describe(
      "Scoring rule that gave the points. `null` for a manual change.",
    ),
    createdAt: Timestamp.describe("When the score changed."),
  })
  .meta({ id: "ScoreEntry" });
export type ScoreEntry = z.output<typeof ScoreEntry>;

/** Sort key prefix of score changes in the contact log. */
export const logPrefix = "SCORE|";
const positionPattern = new RegExp(`^SCORE\\|${positionParts.time}\\|[0-9a-f]{16}$`);

export interface ScoreCause {
  /** Identifies the cause together with `at`: the same cause changes a score once. */
  key: string;
  /** ISO 8601. */
  at: string;
  reason?: string | undefined;
  rule?: { id: number; name: string } | undefined;
}

// A transaction takes 100 writes; the score and its log entry take two.
const maxExtraWrites = 98;

interface ScoreChange {
  delta: number;
  cause: ScoreCause;
  /** The contact, if the caller has just read it. */
  alreadyRead?: ContactItem;
}

/**
 * Adds points once for each cause. Returns false when the cause was counted before or the contact
 * is gone.
 */
export const addPoints = (
  orgId: number,
  contactId: number,
  { delta, cause, alreadyRead }: ScoreChange,
): Promise<boolean> =>
  retryOnConflict("The contact", async (tries) => {
    const known =
      tries === 1
        ? alreadyRead
        : (await contacts.getByIds(orgId, [contactId], { consistent: true }))[0];
    if (tries > 1 && !known) return false;
    const location =
      known ??
      (await get<{ siteId: number; email: string }>(keys.contactPointer(orgId, contactId)));
    if (!location) return false;
    const key = known ?? keys.contact(orgId, location.siteId, location.email);
    // Read the contact only if a sequence of the site has a score trigger. Without one the ADD
    // needs no condition and cannot conflict.
    const contact = (await contactReactions().watchesScores(orgId, location.siteId))
      ? (known ?? (await get<ContactItem>(key)))
      : undefined;
    const reaction =
      contact?.id === contactId
        ? await contactReactions().contactChanged(contact, { points: delta }, maxExtraWrites)
        : noReaction;
    const { add, conditions } = reaction.forContact({ id: contactId });
    try {
      await write(
        update(
          key,
          { add: { score: delta, v: 1, ...add } },
          { if: all(equals("id", contactId), ...conditions) },
        ),
        scoreLogWrite({ orgId, id: contactId }, delta, cause),
        ...reaction.writes,
      );
      await reaction.afterCommit();
      return true;
    } catch (error) {
      // The cause was counted before.
      if (error instanceof ConditionFailed && error.index === 1) return false;
      throw error;
    }
  });

/**
 * Log entry, for the transaction that changes the score. Fails when the cause was counted before.
 */
export const scoreLogWrite = (
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  delta: number,
  { key, at, reason, rule }: ScoreCause,
) =>
  put(
    keys.contactLog(orgId, id, `${logPrefix}${at}|${sha256(key).slice(0, 16)}`),
    { delta, reason, rule, at },
    { ifAbsent: true },
  );

/** Changes a score on request and returns the new one. Throws 404. */
export async function changeByHand(
  caller: CallerScope,
  id: number,
  adjustment: ScoreAdjustment,
): Promise<number> {
  const contact = await contacts.findItem(caller, id);
  const changeId = await ids.nextId("SCORE");
  const at = new Date(await ids.requestTime()).toISOString();
  const cause = { key: `by hand ${changeId}`, at, reason: adjustment.reason };
  if (!("delta" in adjustment)) return setScore(contact, adjustment.score, cause);
  await addPoints(caller.orgId, id, { delta: adjustment.delta, cause, alreadyRead: contact });
  return (await contacts.findItem(caller, id)).score ?? 0;
}

const setScore = (contact: ContactItem, score: number, cause: ScoreCause): Promise<number> =>
  contacts.changeWithRetry(
    { orgId: contact.orgId },
    { id: contact.id, alreadyRead: contact },
    async (current) => {
      const delta = score - (current.score ?? 0);
      const set = { score, v: bumpVersion(current).v };
      const reaction = await contactReactions().contactChanged(
        current,
        { points: delta },
        maxExtraWrites,
      );
      const { add, conditions } = reaction.forContact(current);
      try {
        const scoreWrite = update(
          current,
          { set, add },
          { if: all(unchangedCondition(current), ...conditions) },
        );
        await write(scoreLogWrite(contact, delta, cause), scoreWrite, ...reaction.writes);
        await reaction.afterCommit();
        return score;
      } catch (error) {
        // A retry after a crash finds the log entry of the first attempt.
        if (!(error instanceof ConditionFailed && error.index === 0)) throw error;
        return current.score ?? 0;
      }
    },
  );

/** Newest first. Throws 404. */
export async function listLog(
  caller: CallerScope,
  id: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const after = positionOf({ cursor }, positionPattern);
  const [contact, { items, next }] = await Promise.all([
    contacts.findItem(caller, id),
    query<ScoreLogItem>(ranges.contactLog(caller.orgId, id, logPrefix), {
      newestFirst: true,
      limit,
      after,
    }),
  ]);
  return { score: contact.score ?? 0, log: items.map(toApi), nextCursor: next ?? null };
}

export interface ScoreLogItem {
  delta: number;
  reason?: string;
  rule?: { id: number; name: string };
  at: string;
}

export const toApi = ({ delta, reason, rule, at }: ScoreLogItem): ScoreEntry => ({
  delta,
  reason: reason ?? null,
  rule: rule ?? null,
  createdAt: at,
});
