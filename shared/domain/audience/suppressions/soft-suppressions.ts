// Suppressions by soft bounces: they end when a later mail arrives, or after 30 quiet days.
import { now } from "../../../clock.ts";
import { undefinedIfMissing } from "../../../errors.ts";
import * as departures from "../contacts/departures.ts";
import { needsWrite } from "./suppression-writes.ts";
import * as suppressions from "./suppressions.ts";

export type SoftSuppression = Required<
  Pick<suppressions.NewSuppression, "liftsAt" | "softBounce" | "detail" | "source">
>;

/**
 * Sets the soft suppression of an address to what `decide` says: a new one, another one, or none.
 * Leaves other suppressions as they are. `decide` reads mails, and is asked until nothing changes
 * any more, so an event that was stored meanwhile is seen here or by its own worker.
 */
export async function reconcile(
  orgId: number,
  email: string,
  decide: (current: suppressions.Suppression | undefined) => Promise<SoftSuppression | undefined>,
): Promise<void> {
  let isFirst = true;
  const decideOnce = async (): Promise<boolean> => {
    const current = await suppressions.find(orgId, email);
    if (current && !suppressions.isSoft(current)) return false;
    const decided = await decide(current);
    if (!decided) {
      if (current) await suppressions.removeEntry(orgId, email, { current, forgetsBounces: false });
      return current !== undefined;
    }
    const wanted = { ...decided, email, reason: "bounce" as const, bounceType: "soft" as const };
    const step = { wanted, current };
    const changes = needsWrite(step);
    if (changes) await suppressions.commitSuppressions(orgId, [step]);
    // An earlier attempt may have written the entry and stopped.
    else if (isFirst) await departures.logDepartures(orgId, { emails: [email] });
    if (changes || isFirst) await suppressions.syncContacts(orgId, [email]);
    isFirst = false;
    return changes;
  };
  while (await suppressions.changeWithRetry(orgId, email, decideOnce));
}

/** Ends a soft suppression whose time is up. */
export async function liftDue(orgId: number, email: string): Promise<void> {
  const current = await suppressions.find(orgId, email);
  if (!current?.liftsAt || current.liftsAt > now().toISOString()) return;
  await suppressions.remove(orgId, email).catch(undefinedIfMissing);
}
