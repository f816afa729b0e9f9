// Writes of the suppression list: an entry, and the count of its reason.
import { randomInt } from "node:crypto";
import {
  absent,
  all,
  type Condition,
  equals,
  isNew,
} from "../../../adapters/dynamodb/conditions.ts";
import { put, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../../clock.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { dueShardOf, emailShardOf, indexAttributes, indexes, keys, sha256 } from "../../../keys.ts";
import type {
  NewSuppression,
  SoftBounceMark,
  Suppression,
  SuppressionReason,
} from "./suppressions.ts";

/** The entry to write, and the current one as read. */
export interface SuppressionChange {
  wanted: NewSuppression;
  current: Suppression | undefined;
}

export function suppressWrites(orgId: number, changed: SuppressionChange[], at: Date): Write[] {
  const moves = new Map<SuppressionReason, number>();
  const countReason = (reason: SuppressionReason, by: number) =>
    moves.set(reason, (moves.get(reason) ?? 0) + by);
  for (const { wanted, current } of changed) {
    countReason(wanted.reason, 1);
    if (current) countReason(current.reason, -1);
  }
  return [
    ...changed.map((step) => itemWrite(orgId, step, { indexed: toSuppression(step, at) })),
    ...[...moves].flatMap(([reason, by]) => (by ? [countWrite(orgId, reason, by)] : [])),
  ];
}

/** False when the current entry already blocks as much as the wanted one, and as long. */
export function needsWrite({ wanted, current }: SuppressionChange): boolean {
  if (!current || strengthOf(wanted) > strengthOf(current)) return true;
  const isMoved =
    wanted.liftsAt !== current.liftsAt ||
    wanted.softBounce?.position !== current.softBounce?.position;
  return wanted.bounceType === "soft" && current.bounceType === "soft" && isMoved;
}

const strengthOf = ({ reason, bounceType }: Pick<NewSuppression, "reason" | "bounceType">) => {
  if (bounceType === "soft") return 0;
  return reason === "unsubscribe" ? 1 : 2;
};

/** The API shows null for the fields that only bounces have. */
export function toSuppression({ wanted, current }: SuppressionChange, at: Date): Suppression {
  const updatedAt = at.toISOString();
  const { email, reason, detail, source, bounceType, liftsAt, softBounce } = wanted;
  const bounce = {
    ...(bounceType && { bounceType }),
    ...(liftsAt && { liftsAt }),
    ...(softBounce && { softBounce }),
  } as Pick<Suppression, "bounceType" | "liftsAt" | "softBounce">;
  return {
    email: normalizeEmail(email),
    reason,
    ...bounce,
    detail: detail ?? null,
    source,
    createdAt: current?.createdAt ?? updatedAt,
    updatedAt,
  };
}

export function itemWrite(
  orgId: number,
  step: SuppressionChange,
  { indexed, stored = indexed }: { indexed: Suppression; stored?: Suppression },
): Write {
  const unchanged = step.current ? isUnchanged(step.current) : isNew;
  const email = normalizeEmail(step.wanted.email);
  const { liftsAt } = stored;
  return put(
    keys.suppression(orgId, email),
    {
      ...stored,
      ...newestIndexAttributes(orgId, { ...indexed, email }),
      ...(liftsAt && { orgId, ...liftIndexAttributes(email, liftsAt) }),
    },
    { if: unchanged },
  );
}

export const isUnchanged = ({ reason, liftsAt, softBounce }: Suppression): Condition =>
  softBounce
    ? all(equals("liftsAt", liftsAt), equals(["softBounce", "position"], softBounce.position))
    : all(equals("reason", reason), absent("softBounce"));

const liftIndexAttributes = (email: string, liftsAt: string) => {
  const shard = dueShardOf(Number.parseInt(sha256(email).slice(0, 8), 16));
  return indexAttributes(indexes.due("SUPPRESSION", shard), liftsAt);
};

// The sort key contains the reason, so a list of one reason does not read the items of other
// reasons.
const newestIndexAttributes = (orgId: number, { email, reason, createdAt }: Suppression) =>
  indexAttributes(
    indexes.newSuppressions(orgId, emailShardOf(email)),
    `${createdAt}#${sha256(email)}#${reason}`,
  );

/** Longer than the mails to an address are found. */
const forgottenSeconds = 180 * 24 * 3600;

export const forgetBouncesWrite = (
  orgId: number,
  email: string,
  { siteId, position: countedFrom }: SoftBounceMark,
): Write =>
  put(keys.softBounces(orgId, siteId, normalizeEmail(email)), {
    countedFrom,
    expires: epochSeconds() + forgottenSeconds,
  });

export const hashPrefix = "sha256:";

export const toHashOnly = ({ email, ...rest }: Suppression): Suppression => ({
  ...rest,
  email: email.startsWith(hashPrefix) ? email : `${hashPrefix}${sha256(normalizeEmail(email))}`,
  detail: null,
});

// Bounces of a large campaign are suppressed in parallel, and transactions on one counter would
// conflict. Any shard can take a change, because only the sum is read.
const countShards = 8;

export const countWrite = (orgId: number, reason: SuppressionReason, by: number): Write =>
  update(keys.suppressionCount(orgId, reason, randomInt(countShards)), { add: { count: by } });
