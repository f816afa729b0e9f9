// A share of the account pays for a single send in a plain write of its own, and a further plain
// write stores the send. Together they cost half of a transaction. In between, the charge is open:
// the share names the send, and the stored send names the charge. So readers of the share leave out
// a charge whose send is not stored. billing/settle-charges.ts removes the names.
import {
  all,
  any,
  type Condition,
  contains,
  isNew,
  not,
  present,
} from "../../adapters/dynamodb/conditions.ts";
import { getMany, update, type Write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { keys } from "../../keys.ts";

/** The charge of a single send that may not be stored yet. */
export interface OpenCharge {
  /** Random. */
  id: string;
  sendId: number;
  siteId: number;
  /** Of the send (ISO 8601). */
  createdAt: string;
  /** The billing period that counts the mail (ISO 8601). */
  period: string;
}

/** The attribute of a stored send that names its charge. */
export interface ChargedSend {
  chargeId?: string | undefined;
}

/** The item of a send that no open charge may store any more, unless it is stored without them. */
interface VoidedSend {
  voidCharges: Set<string>;
  expires: number;
}

const attributePrefix = "open.";

/** The attribute of the share that names the charge, and its value. */
export const openChargeAttribute = (id: string): string => `${attributePrefix}${id}`;
export const toAttributeValue = ({ sendId, siteId, createdAt, period }: OpenCharge) => [
  sendId,
  siteId,
  createdAt,
  period,
];

export const listOpenCharges = (share: object): OpenCharge[] =>
  Object.entries(share).flatMap(([name, value]) => {
    if (!name.startsWith(attributePrefix)) return [];
    const [sendId, siteId, createdAt, period] = value as [number, number, string, string];
    return { id: name.slice(attributePrefix.length), sendId, siteId, createdAt, period };
  });

/** The charges whose sends are not stored. Reads the sends consistently. */
export async function findUnstored<C extends OpenCharge>(
  orgId: number,
  charges: C[],
): Promise<C[]> {
  const sends = await getMany<ChargedSend>(
    charges.map(({ sendId }) => keys.send(orgId, sendId)),
    { consistent: true },
  );
  return charges.filter(({ id }, i) => sends[i]?.chargeId !== id);
}

/** False for an item that only prevents open charges from storing the send. */
export const isStoredSend = (item: object | undefined): boolean =>
  item !== undefined && !("voidCharges" in item);

const notStoredCondition: Condition = any(isNew, present("voidCharges"));

/** Holds while the send is not stored, and the charge may still store it. */
export const mayStoreCondition = (chargeId: string | undefined): Condition =>
  chargeId === undefined
    ? notStoredCondition
    : any(isNew, all(present("voidCharges"), not(contains("voidCharges", chargeId))));

/** Much longer than a process can be paused. */
const voidSeconds = 365 * 24 * 3600;

/** Prevents the charge from storing its send. The condition fails if the send is stored. */
export const voidChargeWrite = (orgId: number, { id, sendId }: OpenCharge): Write =>
  update(
    keys.send(orgId, sendId),
    {
      add: { voidCharges: new Set([id]) },
      set: { expires: epochSeconds() + voidSeconds } satisfies Partial<VoidedSend>,
    },
    { if: notStoredCondition },
  );
