// Charges mails to the plan's quota and then to the credits. The billing account is one item with
// the mails accepted in the period and the credit balance. It changes in the transaction that
// stores the mails, so mails are counted exactly once. Mails count when they are accepted; canceled
// and failed mails are not refunded.
//
// Single sends would all write that item, and DynamoDB rejects concurrent transactions on one item.
// Therefore shares of the account set mails aside for single sends: the account has already
// counted, and if necessary paid, the mails in a share. A single send takes its mail from one
// share. `left` of a share is not accepted yet, so totals leave it out.

import {
  absent,
  all,
  atLeast,
  atMost,
  type Condition,
  equals,
} from "../../adapters/dynamodb/conditions.ts";
import {
  areRequestsJoined,
  claimAtOnce,
  get,
  getTogether,
  queryAll,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem, unauthenticated, unavailable } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { backOff } from "../../kernel/retry-on-conflict.ts";
import { blockOf, counterShardOf, counterShards, keys, ranges } from "../../keys.ts";
import { mailPriceInMillicents, type PlanKey, plans } from "../../plans.ts";
import { findUnstored, listOpenCharges, type OpenCharge } from "../identity/open-charges.ts";
import {
  accountCounterOf,
  countSiteSendsWrite,
  type SiteSendCount,
} from "../identity/site-send-counts.ts";
import { type BillingPeriod, billingPeriodAt } from "./billing-period.ts";
import { canCharge, chargeShareTogether } from "./charge-shares.ts";
import * as credits from "./credits.ts";
import {
  type AccountItems,
  findRecentAccount,
  forgetAccount,
  rememberAccount,
} from "./recent-accounts.ts";
import { maxOpenCharges, noteStored } from "./settle-charges.ts";
import { type ShareWatch, shardOf, type WatchedSend, watchChanges } from "./watched-shares.ts";

/** The stored billing account of an organization. */
export interface BillingAccount {
  /** Millicents. */
  balance?: number;
  /** Start of the billing period of `mails` and `charged` (ISO 8601). */
  period?: string;
  /** Mails accepted in the period. */
  mails?: number;
  /** Millicents charged for them. */
  charged?: number;
  /** When the subscription started. */
  anchor?: string;
  /** Whether mails carry the branding footer. */
  branded?: boolean;
}

/** Mails set aside for single sends. */
export interface Share extends ShareWatch {
  shard: number;
  period?: string;
  /** Number of mails set aside. */
  left?: number;
  /** Millicents that the account has paid for each of them. */
  each?: number;
  /** Millicents charged for mails taken from the share in the period. */
  charged?: number;
}

type ShareAmounts = Required<Pick<Share, "left" | "each" | "charged">>;

export interface QuotaState {
  plan: PlanKey;
  period: BillingPeriod;
  /** Totals: the account's item without the mails that are set aside and not accepted yet. */
  account: BillingAccount;
  /** The account's own item. */
  item: BillingAccount;
  shares: Share[];
}

/**
 * The plan includes the first `includedMails` of a request. Each further mail costs `pricePerMail`
 * millicents.
 */
export interface MailCost {
  includedMails: number;
  pricePerMail: number;
}

export interface MailCharge {
  /** Put them after a write that fails if the mails were charged before. */
  writes: Write[];
  cost: MailCost | undefined;
  /** The share that pays watches over the send, which then needs no entry on the due index. */
  isWatched?: boolean;
  /** The mail is charged already, and its send must name this charge. */
  open?: { id: string; afterStore(): void } | undefined;
}

interface QuotaReadOptions {
  consistent?: boolean;
  /** The plan, if the caller has just read it. */
  plan?: PlanKey | undefined;
}

export async function getQuota(
  orgId: number,
  { consistent = true, plan: knownPlan }: QuotaReadOptions = {},
): Promise<QuotaState> {
  const [plan, items] = await Promise.all([
    knownPlan ?? findPlan(orgId, consistent),
    queryAll<{ sk: string } & BillingAccount & Share>(ranges.quotaAndCredits(orgId), {
      consistent,
    }),
  ]);
  if (!plan) {
    if (consistent) throw unauthenticated();
    return getQuota(orgId);
  }
  const accountSk = keys.quotaAndCredits(orgId).sk;
  const shares = items
    .filter(({ sk }) => sk !== accountSk)
    .map((share) => ({ ...share, shard: shardOf(share) }));
  const account = items.find(({ sk }) => sk === accountSk) ?? {};
  rememberAccount(orgId, { account, shares });
  return computeQuota(plan, now(), {
    account,
    shares,
    // A reader that is not consistent counts these mails a moment too early.
    unstored: consistent ? await findUnstored(orgId, shares.flatMap(listOpenCharges)) : [],
  });
}

/** The quota as this process knows it, at most 5 seconds old. For a single send. */
export async function getRecentQuota(
  orgId: number,
  plan: PlanKey | undefined,
): Promise<QuotaState> {
  const known = findRecentAccount(orgId);
  const currentPlan = known && (plan ?? (await findPlan(orgId, false)));
  return currentPlan
    ? computeQuota(currentPlan, now(), known)
    : getQuota(orgId, { consistent: false, plan });
}

async function findPlan(orgId: number, consistent: boolean): Promise<PlanKey | undefined> {
  const read = consistent ? get : getTogether;
  return (await read<{ plan: PlanKey }>(keys.organization(orgId)))?.plan;
}

export function computeQuota(
  plan: PlanKey,
  at: Date,
  {
    account: item,
    shares,
    unstored = [],
  }: AccountItems & {
    /** Charges whose sends are not stored. */
    unstored?: Pick<OpenCharge, "period">[];
  },
): QuotaState {
  const period = billingPeriodAt(item.anchor, at);
  const current = shares.filter((share) => share.period === item.period);
  const sum = (addends: Share[], amountOf: (amounts: ShareAmounts) => number) =>
    addends.reduce(
      (total, { left = 0, each = 0, charged = 0 }) => total + amountOf({ left, each, charged }),
      0,
    );
  const account = {
    ...item,
    balance: (item.balance ?? 0) + sum(shares, ({ left, each }) => left * each),
    mails:
      (item.mails ?? 0) -
      sum(current, ({ left }) => left) -
      unstored.filter((charge) => charge.period === item.period).length,
    charged: (item.charged ?? 0) + sum(current, ({ charged }) => charged),
  };
  return { plan, period, account, item, shares };
}

/** Mails accepted in the current period, and the millicents charged for them. */
export const usedInPeriod = ({
  period,
  account,
}: QuotaState): { mails: number; charged: number } =>
  account.period === period.start
    ? { mails: account.mails ?? 0, charged: account.charged ?? 0 }
    : { mails: 0, charged: 0 };

export interface MailOrder {
  orgId: number;
  /** Number of mails. */
  n: number;
  /** Identifies the mails in the ledger. */
  reference: string;
  /** Sends of a site to count in the same transaction. */
  siteSends?: SiteSendCount | undefined;
  /** The share that pays is to watch over this send, if it can. */
  watched?: WatchedSend | undefined;
}

interface ChargeOptions {
  /** The quota, if the caller has read it a moment ago. */
  quota?: QuotaState;
  /** The id of a single send, whose mail comes from a share. */
  sendId?: number;
}

/**
 * Charges `order.n` mails to the plan and then to the credits. `makeWrites` runs the transaction
 * with the given writes; it is called again if another request changed the account in between.
 * Throws 402 if quota and credits do not suffice.
 */
export async function chargeMails<T>(
  order: MailOrder,
  makeWrites: (charge: MailCharge) => Promise<T>,
  { quota, sendId }: ChargeOptions = {},
): Promise<T> {
  if (sendId === undefined) return charge(order, makeWrites, { quota });
  const place = occupyShard(order.orgId, sendId);
  try {
    return await charge(order, makeWrites, { quota, shard: place.shard });
  } finally {
    place.leave();
  }
}

/** `shard`: the share that pays for the mail, if it can. */
async function charge<T>(
  order: MailOrder,
  makeWrites: (charge: MailCharge) => Promise<T>,
  { quota: knownQuota, shard }: { quota: QuotaState | undefined; shard?: number },
): Promise<T> {
  const { orgId, n } = order;
  let quota = knownQuota && canAfford(knownQuota, n) ? knownQuota : await getQuota(orgId);
  for (let attempt = 1; ; attempt++) {
    try {
      const share = shard === undefined ? undefined : await findOrFillShare(orgId, quota, shard);
      const payment = share
        ? await chargeToShare(quota, order, share)
        : await chargeToAccount(quota, order);
      if (!payment.open) forgetAccount(orgId);
      return await makeWrites(payment);
    } catch (error) {
      const isConflict = error instanceof Problem && error.code === quotaConflict.code;
      if (!isConflict || attempt >= maxAttempts) throw error;
      if (attempt > 1) await backOff(Math.min(attempt, 4));
      quota = await getQuota(orgId);
    }
  }
}

async function chargeToAccount(quota: QuotaState, order: MailOrder): Promise<MailCharge> {
  await emptySharesIfNeeded(order.orgId, quota, order.n);
  return prepareCharge(quota, order);
}

/** Throws 402 if quota and credits do not suffice for `n` mails at the moment. */
export async function requireAffordable(
  orgId: number,
  n: number,
  knownQuota: QuotaState,
): Promise<void> {
  if (canAfford(knownQuota, n)) return;
  const quota = await getQuota(orgId);
  if (!canAfford(quota, n)) throw credits.outOfCredits(describeShortage(quota, n));
}

/**
 * Returns the contents of all shares to the account if its own item has less than `amount`
 * millicents.
 */
export async function gatherCredits(orgId: number, amount: number): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const quota = await getQuota(orgId);
    const hasPaidShares = quota.shares.some(({ left = 0, each = 0 }) => left * each > 0);
    if ((quota.item.balance ?? 0) >= amount || !hasPaidShares) return;
    if (await claimAtOnce(...emptySharesWrites(orgId, quota))) return;
    await backOff(Math.min(attempt, 4));
  }
}

const maxAttempts = 50;
const quotaConflict = { code: "allowance_moved", bodyFields: { retryAfter: 1 } } as const;

/** Thrown by a charge that must be repeated. */
export const quotaChanged = () =>
  unavailable("Other requests are sending at the same time: try again", quotaConflict);

/** Charges the account's own item. Throws 402. */
export function prepareCharge(quota: QuotaState, order: MailOrder): MailCharge {
  const { orgId, n, siteSends } = order;
  if (!n)
    return {
      writes: siteSends ? [countSiteSendsWrite(orgId, siteSends)] : [],
      cost: undefined,
    };
  if (!canAfford(quota, n)) throw credits.outOfCredits(describeShortage(quota, n));
  const { period, item } = quota;
  const { includedMails, pricePerMail, amount } = priceMails(quota, n, remainingMails(quota));
  const isNewPeriod = item.period !== period.start;
  const counter = siteSends && accountCounterOf(item, siteSends.siteId);
  const add = {
    ...(amount && { balance: -amount }),
    ...(!isNewPeriod && { mails: n, ...(amount && { charged: amount }) }),
    ...(counter && { [counter]: siteSends.n }),
  };
  const set = isNewPeriod ? { period: period.start, mails: n, charged: amount } : {};
  const conditions = [
    quotaUnchanged(quota, n, includedMails),
    ...(amount ? [atLeast("balance", amount)] : []),
  ];
  const accountWrite = update(
    keys.quotaAndCredits(orgId),
    { add, set },
    { if: all(...conditions), orThrow: quotaChanged() },
  );
  return {
    writes: chargeWrites(order, { accountWrite, amount, countsSends: counter !== undefined }),
    cost: amount ? { includedMails, pricePerMail } : undefined,
  };
}

/**
 * Charges one mail to a share: at once with an open charge, which costs half of a transaction, or
 * with writes for the transaction that stores the send, such as when the mail has a price.
 */
async function chargeToShare(
  { period }: QuotaState,
  order: MailOrder,
  share: Share,
): Promise<MailCharge> {
  const { orgId, siteSends, watched } = order;
  const { shard, each: pricePerMail = 0 } = share;
  const counter = siteSends && accountCounterOf(share, siteSends.siteId);
  const id = randomBase62(8);
  // The sweep of a share reads the feeds of the sites that the share counts, and settles open
  // charges.
  const isWatchable = watched && siteSends && counter;
  if (isWatchable && !pricePerMail) {
    const { siteId } = siteSends;
    const charge = { orgId, share, id, ...watched, siteId, period: period.start };
    if (canCharge(charge)) {
      if (!(await chargeShareTogether(charge))) throw quotaChanged();
      const open = { id, afterStore: () => noteStored(orgId, share, id) };
      return { writes: [], cost: undefined, isWatched: true, open };
    }
  }
  const watch = isWatchable ? watchChanges(orgId, share, { ...watched, chargeId: id }) : undefined;
  const add = {
    left: -1,
    ...(pricePerMail && { charged: pricePerMail }),
    ...(counter && { [counter]: siteSends.n }),
  };
  const isUsable = all(
    equals("period", period.start),
    equals("each", pricePerMail),
    atLeast("left", 1),
    ...(watch ? [watch.condition] : []),
  );
  const accountWrite = update(
    keys.accountShare(orgId, shard),
    { add, ...watch?.changes },
    { if: isUsable, orThrow: quotaChanged() },
  );
  return {
    writes: chargeWrites(order, {
      accountWrite,
      amount: pricePerMail,
      countsSends: counter !== undefined,
    }),
    cost: pricePerMail ? { includedMails: 0, pricePerMail } : undefined,
    isWatched: watch !== undefined,
  };
}

/**
 * `countsSends`: the account write also counts the sends of the site, which otherwise takes a write
 * of its own.
 */
function chargeWrites(
  { orgId, reference, siteSends }: MailOrder,
  charge: { accountWrite: Write; amount: number; countsSends: boolean },
): Write[] {
  const { accountWrite, amount, countsSends } = charge;
  const entry = { what: "mails", reference, amount: -amount };
  return [
    ...(amount ? [credits.ledgerEntryWrite(orgId, entry)] : []),
    accountWrite,
    ...(siteSends && !countsSends ? [countSiteSendsWrite(orgId, siteSends)] : []),
  ];
}

/** How many sends of this process take a mail from each shard at the moment, by organization. */
const sendsByShard = new Map<number, Map<number, number>>();

/** A single send occupies a shard alone, unless its charge can be made together with others. */
const sendsPerShard = () => (areRequestsJoined() ? maxOpenCharges : 1);

/**
 * Chooses the shard for a single send: the first that is not occupied by other sends of this
 * process. Concurrent sends then use different shares, and mails that are sent one after the other
 * share one, because filling a share takes 4 write units. Every process takes ids from blocks of
 * its own, so processes that start at the same time begin with different shards.
 */
function occupyShard(orgId: number, sendId: number): { shard: number; leave(): void } {
  const occupied = sendsByShard.get(orgId) ?? new Map<number, number>();
  const first = blockOf(sendId);
  const countSends = (shard: number) => occupied.get(shard) ?? 0;
  const shard = counterShards
    .map((offset) => counterShardOf(first + offset))
    .find((candidate) => countSends(candidate) < sendsPerShard());
  if (shard === undefined) return { shard: counterShardOf(first + sendId), leave() {} };
  sendsByShard.set(orgId, occupied.set(shard, countSends(shard) + 1));
  return {
    shard,
    leave() {
      occupied.set(shard, countSends(shard) - 1);
      if (!countSends(shard)) occupied.delete(shard);
      if (!occupied.size) sendsByShard.delete(orgId);
    },
  };
}

/**
 * The share of the shard, which is filled if empty, else any other. Undefined if so little is left
 * that the account's own item pays. Throws `quotaChanged` after it filled the share.
 */
async function findOrFillShare(
  orgId: number,
  quota: QuotaState,
  shard: number,
): Promise<Share | undefined> {
  const usable = usableShares(quota);
  const own = usable.find((share) => share.shard === shard);
  if (own) return own;
  const writes = fillShareWrites(orgId, quota, shard);
  if (!writes) return usable[shard % usable.length];
  await claimAtOnce(...writes);
  throw quotaChanged();
}

/**
 * Shares with mails at the current price. Shares with a price are unusable while the plan includes
 * more mails.
 */
function usableShares(quota: QuotaState): Share[] {
  const filled = quota.shares.filter(
    ({ period, left = 0 }) => period === quota.period.start && left > 0,
  );
  const included = filled.filter(({ each }) => !each);
  if (included.length || remainingMails(quota)) return included;
  return filled.filter(({ each }) => each === currentPrice(quota));
}

const maxShareMails = 100;

/** Mails for one share. All shares together take at most a quarter of the remaining mails. */
const shareMails = (remaining: number): number =>
  Math.min(maxShareMails, Math.floor(remaining / (4 * counterShards.length)));

/**
 * Fills a share and replaces mails with another price or period in it. Undefined if too few mails
 * are left.
 */
function fillShareWrites(orgId: number, quota: QuotaState, shard: number): Write[] | undefined {
  const { period, item, shares } = quota;
  const remaining = remainingMails(quota);
  const isIncluded = remaining > 0 || usableShares(quota).some((share) => !share.each);
  const each = isIncluded ? 0 : currentPrice(quota);
  const n = shareMails(each ? (item.balance ?? 0) / each : remaining);
  if (!n) return undefined;
  const current = shares.find((share) => share.shard === shard) ?? {};
  const { period: oldPeriod, left: oldLeft = 0, each: oldPrice = 0 }: Partial<Share> = current;
  const isNewPeriod = item.period !== period.start;
  const paid = n * each - oldLeft * oldPrice;
  const add = {
    ...(paid && { balance: -paid }),
    ...(!isNewPeriod && { mails: n - (oldPeriod === period.start ? oldLeft : 0) }),
  };
  const set = isNewPeriod ? { period: period.start, mails: n, charged: 0 } : {};
  const conditions = [
    quotaUnchanged(quota, n, each ? 0 : n),
    ...(paid > 0 ? [atLeast("balance", paid)] : []),
  ];
  const share = {
    period: period.start,
    left: n,
    each,
    ...(oldPeriod !== period.start && { charged: 0 }),
  };
  const shareUnchanged =
    oldPeriod === undefined
      ? absent("period")
      : all(equals("period", oldPeriod), equals("left", oldLeft));
  return [
    update(keys.quotaAndCredits(orgId), { add, set }, { if: all(...conditions) }),
    update(keys.accountShare(orgId, shard), { set: share }, { if: shareUnchanged }),
  ];
}

/**
 * Returns the contents of all shares to the account if its own item does not suffice without them;
 * then throws `quotaChanged`.
 */
async function emptySharesIfNeeded(orgId: number, quota: QuotaState, n: number): Promise<void> {
  const remaining = remainingMails(quota);
  const { amount } = priceMails(quota, n, remaining);
  const hasIncludedMails = quota.shares.some(
    ({ each, period, left }) => !each && period === quota.period.start && left,
  );
  const isShort = (n > remaining && hasIncludedMails) || amount > (quota.item.balance ?? 0);
  const writes = isShort && canAfford(quota, n) ? emptySharesWrites(orgId, quota) : [];
  if (!writes.length) return;
  await claimAtOnce(...writes);
  throw quotaChanged();
}

function emptySharesWrites(orgId: number, { period, item, shares }: QuotaState): Write[] {
  const filled = shares.filter(
    (share) => share.left && (share.each || share.period === period.start),
  );
  if (!filled.length) return [];
  const ofPeriod = filled.filter((share) => share.period === item.period);
  const mails = ofPeriod.reduce((sum, { left = 0 }) => sum + left, 0);
  const paid = filled.reduce((sum, { left = 0, each = 0 }) => sum + left * each, 0);
  const add = { ...(mails && { mails: -mails }), ...(paid && { balance: paid }) };
  return [
    update(
      keys.quotaAndCredits(orgId),
      { add },
      { if: item.period === undefined ? absent("period") : equals("period", item.period) },
    ),
    ...filled.map(({ shard, period: sharePeriod, left, each }) =>
      update(
        keys.accountShare(orgId, shard),
        { set: { left: 0 } },
        { if: all(equals("period", sharePeriod), equals("left", left), equals("each", each)) },
      ),
    ),
  ];
}

/** Mails that the plan includes and the account's own item has not counted yet. */
const remainingMails = ({ plan, period, item }: QuotaState): number =>
  Math.max(0, plans[plan].mailsPerMonth - (item.period === period.start ? (item.mails ?? 0) : 0));

const currentPrice = ({ account }: QuotaState): number =>
  mailPriceInMillicents(account.branded ?? false);

function priceMails(quota: QuotaState, n: number, remaining: number) {
  const includedMails = Math.min(n, remaining);
  const pricePerMail = currentPrice(quota);
  return { includedMails, pricePerMail, amount: (n - includedMails) * pricePerMail };
}

const priceFromTotals = (quota: QuotaState, n: number) =>
  priceMails(quota, n, Math.max(0, plans[quota.plan].mailsPerMonth - usedInPeriod(quota).mails));

const canAfford = (quota: QuotaState, n: number): boolean => {
  const { amount } = priceFromTotals(quota, n);
  return amount === 0 || (quota.account.balance ?? 0) >= amount;
};

/**
 * The condition under which exactly `includedMails` of the `n` mails fit into the quota. If the
 * mails cross the limit, the counter must not have changed since it was read; otherwise a range
 * check is enough.
 */
function quotaUnchanged(quota: QuotaState, n: number, includedMails: number): Condition {
  const { period, item } = quota;
  const limit = plans[quota.plan].mailsPerMonth;
  if (item.period === undefined) return absent("period");
  if (item.period !== period.start) return equals("period", item.period);
  if (includedMails === n) return all(equals("period", period.start), atMost("mails", limit - n));
  return includedMails === 0 ? atLeast("mails", limit) : equals("mails", item.mails);
}

function describeShortage(quota: QuotaState, n: number): string {
  const { name, mailsPerMonth } = plans[quota.plan];
  const { includedMails } = priceFromTotals(quota, mailsPerMonth);
  const paid = Math.floor((quota.account.balance ?? 0) / currentPrice(quota));
  const left =
    `Of the ${mailsPerMonth.toLocaleString("en")} mails a month of the plan ${name} ` +
    `${includedMails} are left until ${quota.period.end}`;
  return (
    `${left}. The credits pay for ${paid} more, but this request needs ${n}: buy credits with ` +
    "POST /billing/credits, or change the plan"
  );
}
