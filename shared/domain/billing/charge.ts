// Charges accepted mails: first to the plan's quota, then to the credits. The charge is part of the
// transaction that stores the mails, so each mail is counted once, and each change of the credits
// has its ledger entry. Mails count when they are accepted; cancelled and failed mails are not
// refunded.
//
// Batches and campaigns count in the account, which never counts more mails as included than the
// plan has. Single mails count in a shard of it and do not see each other: the few that are
// accepted at the same moment may pass the plan.
import { randomInt } from "node:crypto";
import {
  absent,
  all,
  atLeast,
  atMost,
  type Condition,
  equals,
} from "../../adapters/dynamodb/conditions.ts";
import { type ItemChanges, update, type Write } from "../../adapters/dynamodb/table.ts";
import { Problem, unavailable } from "../../errors.ts";
import { backOff } from "../../kernel/retry-on-conflict.ts";
import { counterShards, keys } from "../../keys.ts";
import {
  countSiteSendsWrite,
  type SiteSendCount,
  siteCounterOf,
} from "../identity/site-send-counts.ts";
import * as credits from "./credits.ts";
import {
  type MailCost,
  type MailCounter,
  priceMails,
  type QuotaState,
  remainingMails,
  requireAffordable,
} from "./quota.ts";

export interface MailOrder {
  orgId: number;
  /** Number of mails. */
  n: number;
  /** A single mail, which is counted in a shard of the account. */
  isSingle?: true;
  /** Identifies the mails in the ledger. */
  reference: string;
  /** Sends of a site to count in the same transaction. */
  siteSends?: SiteSendCount | undefined;
}

export interface MailCharge {
  /** Put them after a write that fails if the mails were charged before. */
  writes: Write[];
  /** Undefined if the plan includes all mails. */
  cost: MailCost | undefined;
}

const maxAttempts = 50;
const quotaConflict = { code: "allowance_moved", bodyFields: { retryAfter: 1 } } as const;

/**
 * Charges `order.n` mails to the plan and then to the credits. `makeWrites` runs the transaction
 * with the given writes; it is called again if another request changed the account in between.
 * `knownQuota` was read a moment ago. Throws 402 if quota and credits do not suffice.
 */
export async function chargeMails<T>(
  order: MailOrder,
  makeWrites: (charge: MailCharge) => Promise<T>,
  knownQuota?: QuotaState,
): Promise<T> {
  let known = knownQuota;
  for (let attempt = 1; ; attempt++) {
    try {
      const quota = await requireAffordable(order.orgId, order.n, known);
      const shard = order.isSingle ? randomInt(counterShards.length) : undefined;
      return await makeWrites(prepareCharge(quota, order, shard));
    } catch (error) {
      const isConflict = error instanceof Problem && error.code === quotaConflict.code;
      if (!isConflict || attempt >= maxAttempts) throw error;
      if (attempt > 1) await backOff(Math.min(attempt, 4));
      known = undefined;
    }
  }
}

/** Thrown by a charge that must be repeated. */
const quotaChanged = () =>
  unavailable("Other requests are sending at the same time: try again", quotaConflict);

/** Counts in this shard of the account, or else in the account itself. */
export function prepareCharge(quota: QuotaState, order: MailOrder, shard?: number): MailCharge {
  const { orgId, n, reference, siteSends } = order;
  const { includedMails, pricePerMail, amount } = priceMails(quota, n);
  const counter = shard === undefined ? quota.account : quota.shards[shard]!;
  const countsSends = siteSends && siteCounterOf(counter, siteSends.siteId) !== undefined;
  const counted = { ...order, amount };
  return {
    writes: [
      ...(amount
        ? [credits.ledgerEntryWrite(orgId, { what: "mails", reference, amount: -amount })]
        : []),
      ...(shard === undefined
        ? accountWrites(quota, counted, includedMails)
        : shardWrites(quota, counted, shard)),
      ...(siteSends && !countsSends ? [countSiteSendsWrite(orgId, siteSends)] : []),
    ],
    cost: amount ? { includedMails, pricePerMail } : undefined,
  };
}

/** An order with its price in millicents. */
type PricedOrder = MailOrder & { amount: number };

function accountWrites(quota: QuotaState, order: PricedOrder, includedMails: number): Write[] {
  const { orgId, n, amount } = order;
  const { account } = quota;
  const { set, add } = countChanges(quota, account, order);
  if (!n && !Object.keys(add).length) return [];
  const change = { set, add: { ...add, ...(amount && { balance: -amount }) } };
  const conditions = [
    samePeriod(account),
    ...includedConditions(quota, n, includedMails),
    ...(amount ? [atLeast("balance", amount)] : []),
  ];
  return [update(keys.account(orgId), change, { if: all(...conditions), orThrow: quotaChanged() })];
}

/**
 * The account still has room for exactly `includedMails` of the `n` mails. If they cross the limit,
 * the counter must not have changed since it was read; otherwise a range is enough.
 */
function includedConditions(quota: QuotaState, n: number, includedMails: number): Condition[] {
  const { account, period } = quota;
  if (!includedMails || account.period !== period.start) return [];
  const { mails = 0 } = account;
  return includedMails === n
    ? [atMost("mails", mails + remainingMails(quota) - n)]
    : [equals("mails", mails)];
}

function shardWrites(quota: QuotaState, order: PricedOrder, shard: number): Write[] {
  const { orgId, amount } = order;
  const counter = quota.shards[shard]!;
  return [
    ...(amount
      ? [
          update(
            keys.account(orgId),
            { add: { balance: -amount } },
            { if: atLeast("balance", amount), orThrow: quotaChanged() },
          ),
        ]
      : []),
    update(keys.accountShard(orgId, shard), countChanges(quota, counter, order), {
      if: samePeriod(counter),
      orThrow: quotaChanged(),
    }),
  ];
}

/** Counts the mails. In a new period, the counter starts again. */
function countChanges(
  { period }: QuotaState,
  counter: MailCounter,
  { n, amount, siteSends }: PricedOrder,
): Required<Pick<ItemChanges, "set" | "add">> {
  const isNewPeriod = counter.period !== period.start;
  const siteCounter = siteSends && siteCounterOf(counter, siteSends.siteId);
  return {
    set: n && isNewPeriod ? { period: period.start, mails: n, charged: amount } : {},
    add: {
      ...(n && !isNewPeriod && { mails: n, ...(amount && { charged: amount }) }),
      ...(siteCounter && { [siteCounter]: siteSends.n }),
    },
  };
}

const samePeriod = ({ period }: MailCounter): Condition =>
  period === undefined ? absent("period") : equals("period", period);
