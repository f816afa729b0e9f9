// Lead scores. One transaction changes the score and writes its log entry, so the log always
// explains the score.
import * as z from "zod";
import { all, equals, isNew } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  checkCondition,
  get,
  put,
  query,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import * as ids from "../../../ids.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { positionOf, positionParts } from "../../../kernel/paging.ts";
import { Timestamp } from "../../../kernel/record-fields.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { type Key, keys, ranges, sha256 } from "../../../keys.ts";
import { findSurvivor } from "../contacts/contact-lookups.ts";
import { type ContactItem, NamedRecord } from "../contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../contacts/contact-writes.ts";
import * as contacts from "../contacts/contacts.ts";
import {
  type ChangeContext,
  contactReactions,
  noReaction,
  type ReactionWrites,
} from "../contacts/reactions.ts";

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

// A transaction takes 100 writes; the score and its log take up to three.
const maxExtraWrites = 97;
/** The rest is for the other writes of the transaction. */
const maxWritesOfPart = 60;

interface ScoreChange {
  delta: number;
  cause: ScoreCause;
  /** The contact, if the caller has just read it. */
  alreadyRead?: ContactItem;
}

/**
 * Adds points once for each cause, to the contact or to the one that it was merged into. Returns
 * false when the cause was counted before or the contact is gone.
 */
export const addPoints = (
  orgId: number,
  contactId: number,
  { delta, cause, alreadyRead }: ScoreChange,
): Promise<boolean> =>
  retryOnConflict("The contact", async (tries) => {
    const known = tries === 1 ? alreadyRead : await findSurvivor(orgId, contactId);
    if (tries > 1 && !known) return false;
    const location = known ?? (await findLocation(orgId, contactId));
    if (!location) return false;
    const { id, siteId } = location;
    const key = known ?? keys.contact(orgId, siteId, location.email);
    // Read the contact only if a sequence of the site has a score trigger. Without one the ADD
    // needs no condition and cannot conflict.
    const contact = (await contactReactions().watchesScores(orgId, siteId))
      ? (known ?? (await get<ContactItem>(key)))
      : undefined;
    const reaction =
      contact?.id === id
        ? await contactReactions().contactChanged(contact, { points: delta }, maxExtraWrites)
        : noReaction;
    // The log of a merged contact may still be moving.
    const notMoving =
      id === contactId ? [] : [checkCondition(scoreLogKey({ orgId, id: contactId }, cause), isNew)];
    const isCounted = ({ index }: ConditionFailed) =>
      index < notMoving.length || index === notMoving.length + 1;
    try {
      await write(...notMoving, ...pointsWrites(key, { orgId, id }, { delta, cause, reaction }));
      await reaction.afterCommit();
      return true;
    } catch (error) {
      // The cause was counted before.
      if (error instanceof ConditionFailed && isCounted(error)) return false;
      throw error;
    }
  });

/** Adds points to the contact as it was read. The cause must be counted at most once. */
export async function commitPoints(
  contact: ContactItem,
  { delta, cause }: Pick<ScoreChange, "delta" | "cause">,
  { commit, chain }: ChangeContext,
): Promise<void> {
  const reaction = await contactReactions().contactChanged(
    contact,
    { points: delta, chain },
    maxWritesOfPart,
  );
  await commit(...pointsWrites(contact, contact, { delta, cause, reaction }));
  await reaction.afterCommit();
}

const pointsWrites = (
  key: Key,
  contact: Pick<ContactItem, "orgId" | "id">,
  { delta, cause, reaction }: ScoreChange & { reaction: ReactionWrites },
): Write[] => {
  const { add, conditions } = reaction.forContact(contact);
  return [
    update(
      key,
      { add: { score: delta, v: 1, ...add } },
      { if: all(equals("id", contact.id), ...conditions) },
    ),
    scoreLogWrite(contact, delta, cause),
    ...reaction.writes,
  ];
};

/** Where the contact is, or the one that it was merged into. */
async function findLocation(
  orgId: number,
  id: number,
): Promise<{ id: number; siteId: number; email: string } | undefined> {
  const pointer = await get<{ siteId: number; email?: string }>(keys.contactPointer(orgId, id));
  if (!pointer) return undefined;
  const { siteId, email } = pointer;
  return email === undefined ? findSurvivor(orgId, id) : { id, siteId, email };
}

/**
 * Log entry, for the transaction that changes the score. Fails when the cause was counted before.
 */
export const scoreLogWrite = (
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  delta: number,
  { key, at, reason, rule }: ScoreCause,
) => put(scoreLogKey({ orgId, id }, { key, at }), { delta, reason, rule, at }, { ifAbsent: true });

const scoreLogKey = (
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  { key, at }: Pick<ScoreCause, "key" | "at">,
) => keys.contactLog(orgId, id, `${logPrefix}${at}|${sha256(key).slice(0, 16)}`);

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
