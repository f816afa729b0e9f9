// Credits: what an organization has paid in advance. Every purchase and every charge is an entry of the ledger, and the balance is the
// sum of the entries, moved in the same transaction. Amounts are integers of a thousandth of a US cent.
import { now } from "../clock.ts";
import { atLeast } from "../conditions.ts";
import { claim, get, put, update, type Write } from "../doors/table.ts";
import { Problem } from "../errors.ts";
import { keys } from "../keys.ts";

/** Thousandths of a US cent: 0.1 cent is one credit. */
export const amountPerCredit = 100;
export const amountPerCent = 1000;

export interface Entry {
  /** What for: `mails`, `validations`, `purchase`, `refund`, `grant`. */
  what: string;
  /** Names the purchase or the use, unique in the organization: what is written under it once is not written again. */
  reference: string;
  /** Thousandths of a US cent. */
  amount: number;
}

/** Adds `amount` once per reference; tells whether this was the first time. */
export const grant = async (orgId: number, entry: Entry): Promise<boolean> => claim(...granting(orgId, entry));

/** Thousandths of a US cent; below zero when a purchase was paid back after it was used. */
export async function balance(orgId: number): Promise<number> {
  return (await get<{ balance?: number }>(keys.account(orgId)))?.balance ?? 0;
}

/** Takes `amount`, once per reference. Throws 402 when the balance does not suffice. */
export const charging = (orgId: number, { amount, ...entry }: Entry): [Write, Write] => [
  entering(orgId, { ...entry, amount: -whole(amount) }),
  update(keys.account(orgId), { add: { balance: -amount } }, { if: atLeast("balance", amount), otherwise: unpaid() }),
];

const granting = (orgId: number, entry: Entry): [Write, Write] => [
  entering(orgId, { ...entry, amount: whole(entry.amount) }),
  update(keys.account(orgId), { add: { balance: entry.amount } }),
];

/** A purchase that was paid back: it is taken off whether or not it was used. */
export const takeBack = (orgId: number, entry: Entry): Promise<boolean> => claim(...granting(orgId, { ...entry, amount: -entry.amount }));

/** The ledger's half of a movement: the first write, so that it is what a repetition fails on. */
export const entering = (orgId: number, entry: Entry): Write =>
  put(keys.ledgerEntry(orgId, entry.reference), { ...entry, at: now().toISOString() }, { new: true });

export const unpaid = (message = "The credits are used up: buy more with POST /billing/credits"): Problem => new Problem("unpaid", message);

function whole(amount: number): number {
  if (!Number.isSafeInteger(amount)) throw new Error(`An amount of ${amount} is no whole number`);
  return amount;
}
