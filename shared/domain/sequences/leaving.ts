// A contact that goes, leaves every sequence first.
import { now } from "../../clock.ts";
import { getMany, update, write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { asRead, touched } from "../contacts/items.ts";
import { homeOf } from "../contacts/memberships.ts";
import type { EnrollmentItem } from "./enrollment.ts";
import { counting, ending, moving } from "./move.ts";

// Each takes four writes of the 100 of a transaction.
const mostAtOnce = 20;

/** Some of them. Unmet when the contact or an enrollment has changed since it was read. */
export async function leaveSome(contact: ContactItem): Promise<void> {
  const { orgId, id } = contact;
  const some = [...(contact.sequences ?? [])].slice(0, mostAtOnce);
  const items = await getMany<EnrollmentItem>(
    some.map((sequenceId) => keys.enrollment(orgId, sequenceId, homeOf(contact), id)),
    { consistent: true },
  );
  const to = { status: "cancelled" as const, reason: "contact_deleted", contact: undefined, at: now().toISOString() };
  // A sequence that was removed may have forgotten it already.
  const moves = items.flatMap((item) => (item ? [ending(item, to)] : []));
  await write(
    update(contact, { leave: { sequences: new Set(some) }, set: touched(contact) }, { if: asRead(contact) }),
    ...moves.flatMap(moving),
    ...moves.flatMap((move) => counting([move])),
  );
}
