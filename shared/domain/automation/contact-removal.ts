// Cancels the enrollments of a contact before the contact is removed.
import { getMany, update, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../audience/contacts/contact-writes.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import {
  transitionCountWrites,
  transitionToEnd,
  transitionWrites,
} from "./enrollment-transition.ts";

// Each enrollment takes four writes, and a transaction takes 100.
const maxPerTransaction = 20;

/**
 * Cancels up to 20 enrollments. Throws a conflict if the contact or an enrollment has changed since
 * it was read.
 */
export async function cancelForContact(contact: ContactItem): Promise<void> {
  const { orgId, id } = contact;
  const sequenceIds = [...(contact.sequences ?? [])].slice(0, maxPerTransaction);
  const items = await getMany<EnrollmentItem>(
    sequenceIds.map((sequenceId) =>
      keys.enrollment(orgId, sequenceId, { shard: membershipShardOf(contact), contactId: id }),
    ),
    { consistent: true },
  );
  const to = {
    status: "cancelled" as const,
    reason: "contact_deleted",
    contact: undefined,
    at: now().toISOString(),
  };
  // The enrollments of a deleted sequence may be gone already.
  const transitions = items.flatMap((item) => (item ? [transitionToEnd(item, to)] : []));
  await write(
    update(
      contact,
      { deleteFromSet: { sequences: new Set(sequenceIds) }, set: bumpVersion(contact) },
      { if: unchangedCondition(contact) },
    ),
    ...transitions.flatMap(transitionWrites),
    ...transitions.flatMap((transition) => transitionCountWrites([transition])),
  );
}
