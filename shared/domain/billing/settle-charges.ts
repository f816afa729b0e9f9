// Opens and settles the charges of shares; see identity/open-charges.ts. The process that stored a
// send removes the name of its charge with its next charge to the share. After a crash, the sweep
// of the share removes the name, or takes the charge back.
import {
  absent,
  all,
  type Condition,
  equals,
  exists,
  present,
} from "../../adapters/dynamodb/conditions.ts";
import { get, type ItemChanges, transact, update } from "../../adapters/dynamodb/table.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";
import {
  findUnstored,
  listOpenCharges,
  type OpenCharge,
  openChargeAttribute,
  toAttributeValue,
  voidChargeWrite,
} from "../identity/open-charges.ts";
import { accountCounterName } from "../identity/site-send-counts.ts";

/** A share should stay under 1 KB, because each further KB is paid at every change. */
export const maxOpenCharges = 5;

/** Ids of charges of this process whose sends are stored, by share. */
const storedCharges = createLruCache<Set<string>>(10_000);
const storedChargesOf = (orgId: number, shard: number): Set<string> =>
  storedCharges.get(`${orgId}#${shard}`) ?? new Set();

/** Open charges as a part of the write that charges the share. */
export interface PreparedCharges {
  changes: Required<Pick<ItemChanges, "set" | "remove">>;
  condition: Condition;
  /** Call it when the write was made. */
  afterWrite(): void;
}

/** Undefined if too many charges of the share would be open. */
export function prepareOpenCharges(
  orgId: number,
  share: { shard: number },
  charges: OpenCharge[],
): PreparedCharges | undefined {
  const { shard } = share;
  const stored = [...storedChargesOf(orgId, shard)];
  const open = listOpenCharges(share).filter(({ id }) => !stored.includes(id));
  if (open.length + charges.length > maxOpenCharges) return undefined;
  const names = charges.map(({ id }) => openChargeAttribute(id));
  return {
    changes: {
      set: Object.fromEntries(charges.map((one, i) => [names[i]!, toAttributeValue(one)])),
      remove: stored.map(openChargeAttribute),
    },
    condition: all(...names.map(absent)),
    afterWrite() {
      const remaining = storedChargesOf(orgId, shard);
      for (const id of stored) remaining.delete(id);
    },
  };
}

/** Call it when the send of an open charge is stored. */
export function noteStored(orgId: number, { shard }: { shard: number }, chargeId: string): void {
  const ids = storedChargesOf(orgId, shard).add(chargeId);
  storedCharges.set(`${orgId}#${shard}`, ids, 1);
}

/**
 * Settles the open charges of a share whose sends were created until `closedTo`: sends that are not
 * stored by then can never be stored, and their charges are taken back. Returns whether no charge
 * of the share is left open. Safe to repeat.
 */
export async function settleOpenCharges(
  orgId: number,
  share: { shard: number },
  closedTo: string,
): Promise<boolean> {
  const open = listOpenCharges(share);
  const closed = open.filter(({ createdAt }) => createdAt <= closedTo);
  const voided: OpenCharge[] = [];
  for (const charge of await findUnstored(orgId, closed))
    if (await voidCharge(orgId, charge)) voided.push(charge);
  const stored = closed.filter((charge) => !voided.includes(charge));
  if (stored.length) await forgetCharges(orgId, share.shard, stored);
  let isSettled = closed.length === open.length;
  for (const charge of voided)
    isSettled = (await takeBack(orgId, share.shard, charge)) && isSettled;
  return isSettled;
}

/** Returns false if the charge has stored its send. */
async function voidCharge(orgId: number, charge: OpenCharge): Promise<boolean> {
  if (await transact(voidChargeWrite(orgId, charge))) return true;
  return (await findUnstored(orgId, [charge])).length > 0;
}

const forgetCharges = async (
  orgId: number,
  shard: number,
  charges: OpenCharge[],
): Promise<void> => {
  const remove = charges.map(({ id }) => openChargeAttribute(id));
  await transact(update(keys.accountShare(orgId, shard), { remove }, { if: exists }));
};

/**
 * Returns the mail to the account, because the share may have been emptied or filled for another
 * price or period. Returns false if the period of the account has just changed.
 */
async function takeBack(
  orgId: number,
  shard: number,
  { id, siteId, period }: OpenCharge,
): Promise<boolean> {
  const accountKey = keys.quotaAndCredits(orgId);
  const account = await get<{ period?: string }>(accountKey);
  const name = openChargeAttribute(id);
  const shareKey = keys.accountShare(orgId, shard);
  const isTakenBack = await transact(
    update(
      shareKey,
      { remove: [name], add: { [accountCounterName(siteId)]: -1 } },
      { if: present(name) },
    ),
    ...(account?.period === period
      ? [update(accountKey, { add: { mails: -1 } }, { if: equals("period", period) })]
      : []),
  );
  return isTakenBack || (await get<object>(shareKey))?.[name as never] === undefined;
}
