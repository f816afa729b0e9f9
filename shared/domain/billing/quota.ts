// The plan's monthly quota and the credits of an organization, as they are now. The account has the
// balance. It counts the mails accepted in the period, apart from single mails: those are counted
// in 8 shards, so that concurrent requests rarely write the same item. billing/charge.ts changes
// both.
import { get, getManyTogether } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { unauthenticated } from "../../errors.ts";
import { counterShards, keys } from "../../keys.ts";
import { mailPriceInMillicents, type PlanKey, plans } from "../../plans.ts";
import { type BillingPeriod, billingPeriodAt } from "./billing-period.ts";
import * as credits from "./credits.ts";

/** Counts mails of an organization, and the sends of its first sites. */
export interface MailCounter {
  /** Start of the billing period of `mails` and `charged` (ISO 8601). */
  period?: string;
  /** Mails accepted in the period. */
  mails?: number;
  /** Millicents charged for them. */
  charged?: number;
}

/** The stored billing account of an organization. */
export interface BillingAccount extends MailCounter {
  /** Millicents. */
  balance?: number;
  /** When the subscription started (ISO 8601). */
  anchor?: string;
  /** Whether mails carry the branding footer. */
  branded?: boolean;
}

export interface QuotaState {
  plan: PlanKey;
  period: BillingPeriod;
  account: BillingAccount;
  /** By number. */
  shards: MailCounter[];
  /** Mails accepted in the period, and the millicents charged for them. */
  used: { mails: number; charged: number };
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
  const shardKeys = counterShards.map((shard) => keys.accountShard(orgId, shard));
  const [plan, [account = {}, ...shards]] = await Promise.all([
    knownPlan ?? findPlan(orgId, consistent),
    getManyTogether<BillingAccount>([keys.account(orgId), ...shardKeys], { consistent }),
  ]);
  if (!plan) {
    if (consistent) throw unauthenticated();
    return getQuota(orgId);
  }
  return computeQuota(plan, now(), { account, shards: shards.map((shard = {}) => shard) });
}

const findPlan = async (orgId: number, consistent: boolean): Promise<PlanKey | undefined> =>
  (await get<{ plan: PlanKey }>(keys.organization(orgId), { consistent }))?.plan;

export function computeQuota(
  plan: PlanKey,
  at: Date,
  { account, shards }: Pick<QuotaState, "account" | "shards">,
): QuotaState {
  const period = billingPeriodAt(account.anchor, at);
  const used = { mails: 0, charged: 0 };
  for (const { period: counted, mails = 0, charged = 0 } of [account, ...shards]) {
    if (counted !== period.start) continue;
    used.mails += mails;
    used.charged += charged;
  }
  return { plan, period, account, shards, used };
}

/**
 * The plan includes the first `includedMails` of a request. Each further mail costs `pricePerMail`
 * millicents.
 */
export interface MailCost {
  includedMails: number;
  pricePerMail: number;
}

/** The mails that the plan still includes in the period. */
export const remainingMails = ({ plan, used }: QuotaState): number =>
  Math.max(0, plans[plan].mailsPerMonth - used.mails);

/** What `n` further mails cost. `amount`: millicents in total. */
export function priceMails(quota: QuotaState, n: number): MailCost & { amount: number } {
  const includedMails = Math.min(n, remainingMails(quota));
  const pricePerMail = mailPriceInMillicents(quota.account.branded ?? false);
  return { includedMails, pricePerMail, amount: (n - includedMails) * pricePerMail };
}

const canAfford = (quota: QuotaState, n: number): boolean => {
  const { amount } = priceMails(quota, n);
  return amount === 0 || (quota.account.balance ?? 0) >= amount;
};

/**
 * Returns `knownQuota` if it suffices for `n` mails, else the current quota. Throws 402 if that
 * does not suffice either.
 */
export async function requireAffordable(
  orgId: number,
  n: number,
  knownQuota?: QuotaState,
): Promise<QuotaState> {
  if (knownQuota && canAfford(knownQuota, n)) return knownQuota;
  const quota = await getQuota(orgId);
  if (canAfford(quota, n)) return quota;
  throw credits.outOfCredits(describeShortage(quota, n));
}

function describeShortage(quota: QuotaState, n: number): string {
  const { name, mailsPerMonth } = plans[quota.plan];
  const { includedMails, pricePerMail } = priceMails(quota, mailsPerMonth);
  const paid = Math.floor((quota.account.balance ?? 0) / pricePerMail);
  const left =
    `Of the ${mailsPerMonth.toLocaleString("en")} mails a month of the plan ${name} ` +
    `${includedMails} are left until ${quota.period.end}`;
  return (
    `${left}. The credits pay for ${paid} more, but this request needs ${n}: buy credits with ` +
    "POST /billing/credits, or change the plan"
  );
}
