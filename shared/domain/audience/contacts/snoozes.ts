// A contact pauses marketing mail for some days. Each change adds an entry to its consent log.
import { update, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { type Consent, consentLogWrite } from "./consent-log.ts";
import { commitContactChanges } from "./contact-events.ts";
import type { ContactItem } from "./contact-schema.ts";
import { bumpVersion, unchangedCondition } from "./contact-writes.ts";
import * as contacts from "./contacts.ts";
import type { SnoozeDays } from "./preference-choices.ts";
import { getSnoozeEnd } from "./snooze-state.ts";

/** From now on. Replaces an earlier pause. */
export const snooze = (
  { orgId, id }: ContactItem,
  days: SnoozeDays,
  consent: Consent,
): Promise<void> =>
  contacts.changeWithRetry({ orgId }, { id }, (current) =>
    commitSnooze(current, addSeconds(days * 24 * 3600, now()).toISOString(), consent),
  );

/** Changes nothing without a pause. */
export const endSnooze = ({ orgId, id }: ContactItem, consent: Consent): Promise<void> =>
  contacts.changeWithRetry({ orgId }, { id }, async (current) => {
    if (getSnoozeEnd(current)) await commitSnooze(current, undefined, consent);
  });

async function commitSnooze(
  current: ContactItem,
  snoozedUntil: string | undefined,
  consent: Consent,
): Promise<void> {
  const version = bumpVersion(current);
  const change = {
    transitions: [{ before: current, after: { ...current, ...version, snoozedUntil } }],
    // Lane runners read the contact again before mail that was accepted goes out.
    repeatedIds: snoozedUntil ? [current.id] : [],
  };
  await commitContactChanges(current.orgId, change, (extraWrites) =>
    write(
      update(
        current,
        {
          set: { ...version, ...(snoozedUntil && { snoozedUntil }) },
          ...(snoozedUntil === undefined && { remove: ["snoozedUntil"] }),
        },
        { if: unchangedCondition(current) },
      ),
      consentLogWrite(current, consent, { snoozedUntil: snoozedUntil ?? now().toISOString() }),
      ...extraWrites,
    ),
  );
}
