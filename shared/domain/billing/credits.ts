// Credits, which an organization pays in advance. Every purchase and charge is a ledger entry; the
// same transaction changes the balance, so it is always the sum of the entries. Amounts are
// integers in millicents: thousandths of a US cent.

import { atLeast } from "../../adapters/dynamodb/conditions.ts";
import { get, put, transact, update, type Write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import { keys } from "../../keys.ts";

/** A credit is 0.1 US cent. */
export const millicentsPerCredit = 100;
export const millicentsPerCent = 1000;

export interface LedgerEntry {
  /** The purpose: `mails`, `validations`, `purchase`, `refund`, `dispute` or `grant`. */
  what: string;
  /**
   * Identifies the purchase or charge in the organization. An entry with a known reference is not
   * written again.
   */
  reference: string;
  /** Millicents. */
  amount: number;
}

/** Adds `amount` once per reference. Returns whether this call added it. */
export const grant = async (orgId: number, entry: LedgerEntry): Promise<boolean> =>
  transact(...grantWrites(orgId, entry));

/** Millicents. Negative if a purchase was refunded after it was used. */
export const getBalance = async (orgId: number): Promise<number> =>
  (await get<{ balance?: number }>(keys.account(orgId)))?.balance ?? 0;

/** Takes `amount` once per reference. Throws 402 if the balance is too low. */
export const chargeWrites = (orgId: number, { amount, ...entry }: LedgerEntry): [Write, Write] => [
  ledgerEntryWrite(orgId, { ...entry, amount: -requireInteger(amount) }),
  update(
    keys.account(orgId),
    { add: { balance: -amount } },
    { if: atLeast("balance", amount), orThrow: outOfCredits() },
  ),
];

const grantWrites = (orgId: number, entry: LedgerEntry): [Write, Write] => [
  ledgerEntryWrite(orgId, { ...entry, amount: requireInteger(entry.amount) }),
  update(keys.account(orgId), { add: { balance: entry.amount } }),
];

/** Takes back a refunded purchase, even if the balance becomes negative. */
export const reverse = (orgId: number, entry: LedgerEntry): Promise<boolean> =>
  transact(...grantWrites(orgId, { ...entry, amount: -entry.amount }));

/** Put it first in the transaction, so that a repeat fails on it. */
export const ledgerEntryWrite = (orgId: number, entry: LedgerEntry): Write =>
  put(
    keys.ledgerEntry(orgId, entry.reference),
    { ...entry, at: now().toISOString() },
    { ifAbsent: true },
  );

export const outOfCredits = (
  message = "The credits are used up: buy more with POST /billing/credits",
): Problem => new Problem("unpaid", message);

function requireInteger(amount: number): number {
  if (!Number.isSafeInteger(amount)) throw new Error(`The amount ${amount} is not a whole number`);
  return amount;
}
