// The sends that the recipient index has of an address, of the last 90 days. Among them are those
// from before a contact with the address existed, which the contact's own log does not have.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { erasedEmail, normalizeEmail } from "../../kernel/email-fields.ts";
import { inGroups } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import { idsOf } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as readSends from "../sending/read-sends.ts";
import { readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";

const sendsPerRead = 100;

/**
 * Yields the sends whose recipient is the address, newest first, also those that are not accepted.
 * With `withErased`, an erasure that was interrupted finds the sends that it erased in part.
 */
export async function* readSendsToPerson(
  orgId: number,
  email: string,
  { withErased = false } = {},
): AsyncGenerator<SendItem[]> {
  const addresses = [normalizeEmail(email), ...(withErased ? [erasedEmail] : [])];
  for await (const positions of inGroups(readSendsTo({ orgId, email }), sendsPerRead)) {
    const ids = positions.map(({ id }) => id);
    const found = await readSends.getSends(orgId, ids, { consistent: true });
    yield found.flatMap((send) =>
      send && addresses.includes(normalizeEmail(send.toEmail)) ? [send] : [],
    );
  }
}

/**
 * The ids of the contacts, other than this one and those merged into it, that the sends belong to.
 * The contact of a send may have been deleted since.
 */
export async function getOtherContacts(
  orgId: number,
  sends: Pick<SendItem, "contactId">[],
  contact: Pick<ContactItem, "id" | "merged">,
): Promise<Set<number>> {
  const ids = [...new Set(sends.flatMap((send) => send.contactId ?? []))];
  const own = new Set(idsOf(contact));
  const others = ids.filter((id) => !own.has(id));
  const pointers = await getMany(others.map((id) => keys.contactPointer(orgId, id)));
  return new Set(others.filter((_, i) => pointers[i]));
}
