// Mails that a plan includes, and the credits that pay for those beyond. One item says how many were accepted in the period and what
// is left of the credits; it moves in the transaction that takes the mails, so a mail is never counted without being taken, nor the
// other way round. Mails count when they are accepted: what is cancelled or fails later is not given back.
import { now } from "../clock.ts";
import { absent, all, atLeast, atMost, type Condition, equals } from "../conditions.ts";
import { getMany, update, type Write } from "../doors/table.ts";
import { Problem, unauthenticated, unavailable } from "../errors.ts";
import { keys } from "../keys.ts";
import { type PlanKey, plans, priceOfMail } from "../plans.ts";
import * as credits from "./credits.ts";
import { type Period, periodOf } from "./periods.ts";
import * as feed from "./sending/feed.ts";

/** The organization's account, as it is stored. */
export interface Account {
  /** Thousandths of a US cent. */
  balance?: number;
  /** When the period began that `mails` and `charged` are of (ISO 8601). */
  period?: string;
  /** Accepted in it, and what they took from the credits. */
  mails?: number;
  charged?: number;
  /** When its subscription began. */
  anchor?: string;
  /** Whether mails carry the branding footer. */
  branded?: boolean;
}

export interface Standing {
  plan: PlanKey;
  period: Period;
  account: Account;
}

/** Among the mails that are sent those from the `free`-th on cost `each`, in thousandths of a US cent. */
export interface Cost {
  free: number;
  each: number;
}

export interface Spending {
  /** To be put after a write that fails when the mails were taken before. */
  writes: Write[];
  cost: Cost | undefined;
}

export async function standing(orgId: number, { consistent = true } = {}): Promise<Standing> {
  const addresses = [keys.organization(orgId), keys.account(orgId)];
  const [organization, found] = await getMany<{ plan: PlanKey } & Account>(addresses, { consistent });
  const account: Account = found ?? {};
  if (!organization) {
    if (consistent) throw unauthenticated();
    return standing(orgId);
  }
  return { plan: organization.plan, period: periodOf(account.anchor, now()), account };
}

/** Accepted in the current period, and what was charged for them. */
export const used = ({ period, account }: Standing): { mails: number; charged: number } =>
  account.period === period.start ? { mails: account.mails ?? 0, charged: account.charged ?? 0 } : { mails: 0, charged: 0 };

/**
 * Takes `n` mails from the plan and then from the credits: `work` makes its transaction with these writes, and is called again when
 * somebody else spent in between. Throws 402 when they do not suffice. `reference` names the mails in the ledger; `listed`:
 * sends that are listed with them, and counted.
 */
export async function spend<T>(
  orgId: number,
  n: number,
  reference: string,
  work: (spending: Spending) => Promise<T>,
  { known, listed }: { known?: Standing; listed?: feed.Some } = {},
): Promise<T> {
  let as = known && affords(known, n) ? known : await standing(orgId);
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(spending(orgId, as, n, reference, listed));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== moved.code || attempt >= mostAttempts) throw error;
      as = await standing(orgId);
    }
  }
}

/** Throws 402 when they do not suffice for `n` mails, as far as can be told now. */
export async function afford(orgId: number, n: number, known: Standing): Promise<void> {
  if (!affords(known, n)) spending(orgId, await standing(orgId), n, "");
}

const mostAttempts = 50;
const moved = { code: "allowance_moved" };

/** As it stands. Pure; throws 402. */
export function spending(orgId: number, as: Standing, n: number, reference: string, listed?: feed.Some): Spending {
  if (!n) return { writes: listed ? [feed.counting(orgId, listed)] : [], cost: undefined };
  const { free, each, amount } = priced(as, n);
  if (!affords(as, n)) throw credits.unpaid(refusal(as, n));
  const { period, account } = as;
  const fresh = account.period !== period.start;
  const counter = listed && feed.counter(account, listed.siteId);
  const add = {
    ...(amount && { balance: -amount }),
    ...(!fresh && { mails: n, ...(amount && { charged: amount }) }),
    ...(counter && { [counter]: listed.n }),
  };
  const set = fresh ? { period: period.start, mails: n, charged: amount } : {};
  const conditions = [countedAs(as, n, free), ...(amount ? [atLeast("balance", amount)] : [])];
  const otherwise = unavailable("Too many mails are accepted at the same moment: try again", moved);
  const counted = update(keys.account(orgId), { add, set }, { if: all(...conditions), otherwise });
  const entered = amount ? [credits.entering(orgId, { what: "mails", reference, amount: -amount })] : [];
  const apart = listed && !counter ? [feed.counting(orgId, listed)] : [];
  return { writes: [...entered, counted, ...apart], cost: amount ? { free, each } : undefined };
}

function priced(as: Standing, n: number) {
  const free = Math.min(n, Math.max(0, plans[as.plan].mailsPerMonth - used(as).mails));
  const each = priceOfMail(as.account.branded ?? false);
  return { free, each, amount: (n - free) * each };
}

const affords = (as: Standing, n: number): boolean => {
  const { amount } = priced(as, n);
  return amount === 0 || (as.account.balance ?? 0) >= amount;
};

/** Under which `free` of `n` mails are still what the plan includes. Only where they cross its border nobody else may have counted. */
function countedAs(as: Standing, n: number, free: number): Condition {
  const { period, account } = as;
  const included = plans[as.plan].mailsPerMonth;
  if (account.period === undefined) return absent("period");
  if (account.period !== period.start) return equals("period", account.period);
  return free === n ? atMost("mails", included - n) : free === 0 ? atLeast("mails", included) : equals("mails", account.mails);
}

function refusal(as: Standing, n: number): string {
  const { name, mailsPerMonth } = plans[as.plan];
  const { free } = priced(as, mailsPerMonth);
  const paid = Math.floor((as.account.balance ?? 0) / priceOfMail(as.account.branded ?? false));
  const left = `Of the ${mailsPerMonth.toLocaleString("en")} mails a month of the plan ${name} ${free} are left until ${as.period.end}`;
  return `${left}, and the credits pay for ${paid} more, which is too few for ${n}: buy credits with POST /billing/credits, or change the plan`;
}
