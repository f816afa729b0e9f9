// The billing accounts that this process read or changed in the last seconds. Acceptance of a
// single send begins with them instead of a read. An account may have changed since: every charge
// states as a condition what it relies on, and is repeated with a consistent read if that fails.
import { now } from "../../clock.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import type { BillingAccount, Share } from "./quota.ts";

export interface AccountItems {
  account: BillingAccount;
  shares: Share[];
}

const maxSeconds = 5;

const recentAccounts = createLruCache<AccountItems & { readAt: number }>(10_000);

export function rememberAccount(orgId: number, items: AccountItems): void {
  recentAccounts.set(String(orgId), { ...items, readAt: now().getTime() }, 1);
}

/** Replaces one share of the account. It stays as old as it was. */
export function rememberShare(orgId: number, share: Share): void {
  const known = findRecentAccount(orgId);
  if (!known) return;
  known.shares = [...known.shares.filter(({ shard }) => shard !== share.shard), share];
}

export function forgetAccount(orgId: number): void {
  recentAccounts.delete(String(orgId));
}

export function findRecentAccount(orgId: number): AccountItems | undefined {
  const known = recentAccounts.get(String(orgId));
  const age = known ? now().getTime() - known.readAt : 0;
  // The clock of a test can be moved back.
  return known && age >= 0 && age < maxSeconds * 1000 ? known : undefined;
}

/** A share as this process knows it, which may be newer than a quota that was read before. */
export const findRecentShare = (orgId: number, shard: number): Share | undefined =>
  findRecentAccount(orgId)?.shares.find((share) => share.shard === shard);
