// Charges single sends to the shares of an account with open charges; see
// identity/open-charges.ts. The sends that a process charges to a share at the same time take one
// write.
import { all, atLeast, equals } from "../../adapters/dynamodb/conditions.ts";
import { joinCalls, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import { keys } from "../../keys.ts";
import type { OpenCharge } from "../identity/open-charges.ts";
import { accountCounterName } from "../identity/site-send-counts.ts";
import type { Share } from "./quota.ts";
import { findRecentShare, rememberShare } from "./recent-accounts.ts";
import { prepareOpenCharges } from "./settle-charges.ts";
import { watchChanges } from "./watched-shares.ts";

/** The charge of one send to a share that takes open charges. */
export interface ShareCharge extends OpenCharge {
  orgId: number;
  share: Share;
  /** The share watches over the send even if it watches over no other. */
  startsWatch: boolean;
}

/** Whether the share, as this process knows it, can take the open charge. */
export function canCharge(charge: ShareCharge): boolean {
  const { orgId, id } = charge;
  const share = latestShare(charge);
  return (
    watchChanges(orgId, share, { ...charge, chargeId: id }) !== undefined &&
    prepareOpenCharges(orgId, share, [charge]) !== undefined
  );
}

/** Other charges may have changed the share since its quota was read. */
const latestShare = ({ orgId, share }: ShareCharge): Share =>
  findRecentShare(orgId, share.shard) ?? share;

const chargeJoined = joinCalls(async (charges: ShareCharge[]): Promise<boolean[]> => {
  const byShare = Map.groupBy(
    charges,
    ({ orgId, share, period }) => `${orgId} ${share.shard} ${period}`,
  );
  const charged = new Set<ShareCharge>();
  await Promise.all(
    [...byShare.values()].map(async (some) => {
      for (const one of await chargeShare(some)) charged.add(one);
    }),
  );
  return charges.map((one) => charged.has(one));
});

/** Returns false if the share has changed, so that it could not be charged. */
export const chargeShareTogether = async (charge: ShareCharge): Promise<boolean> =>
  (await chargeJoined([charge]))[0]!;

/** Returns the charges that were made. */
async function chargeShare(charges: ShareCharge[]): Promise<ShareCharge[]> {
  if (await writeCharges(charges)) return charges;
  if (charges.length === 1) return [];
  // The share may have mails or room for some of them.
  const made: ShareCharge[] = [];
  for (const one of charges) if (await writeCharges([one])) made.push(one);
  return made;
}

async function writeCharges(charges: ShareCharge[]): Promise<boolean> {
  const [first, last] = [charges[0]!, charges.at(-1)!];
  const { orgId, period } = first;
  const share = latestShare(last);
  const earliest = charges.reduce((a, b) => (b.createdAt < a.createdAt ? b : a));
  const watch = watchChanges(orgId, share, {
    createdAt: earliest.createdAt,
    startsWatch: charges.some(({ startsWatch }) => startsWatch),
    chargeId: last.id,
  });
  const open = prepareOpenCharges(orgId, share, charges);
  if (!watch || !open) return false;
  const bySite = Map.groupBy(charges, ({ siteId }) => accountCounterName(siteId));
  const counts = [...bySite].map(([counter, some]) => [counter, some.length] as const);
  const changed = await updateReturning<Share>(
    update(
      keys.accountShare(orgId, share.shard),
      {
        ...watch.changes,
        ...open.changes,
        add: { left: -charges.length, ...Object.fromEntries(counts) },
        set: { ...watch.changes.set, ...open.changes.set },
      },
      {
        if: all(
          equals("period", period),
          equals("each", 0),
          atLeast("left", charges.length),
          watch.condition,
          open.condition,
        ),
      },
    ),
  );
  if (!changed) return false;
  rememberShare(orgId, { ...changed, shard: share.shard });
  open.afterWrite();
  return true;
}
