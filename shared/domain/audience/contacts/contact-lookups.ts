// Finds contacts by id. The pointer of an id leads to the item of the contact, which is stored by
// email. The pointer of a merged contact leads to the contact that it was merged into.
import { getMany } from "../../../adapters/dynamodb/table.ts";
import { deletedSites } from "../../../kernel/site-access.ts";
import { type Key, keys } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";

interface ContactPointer {
  siteId: number;
  email: string;
}
/** That of a merged contact has the id of the other one, and no email. */
type StoredPointer = Partial<ContactPointer> & { mergedInto?: number };
const isOfContact = (pointer: StoredPointer | undefined): pointer is ContactPointer =>
  pointer?.email !== undefined;

const keyOf = (orgId: number, { siteId, email }: ContactPointer): Key =>
  keys.contact(orgId, siteId, email);

// Two changes of the email between the reads can leave the pointer as it was, so an unchanged
// pointer counts only after these rounds.
const minRounds = 4;

/** Contacts of any site, in the order of the ids. Leaves out ids without a contact. */
export async function getByIds(
  orgId: number,
  contactIds: number[],
  { consistent = false } = {},
): Promise<ContactItem[]> {
  const found = new Map<number, ContactItem>();
  const lastEmail = new Map<number, string>();
  let pending = [...new Set(contactIds)];
  for (let round = 1; pending.length; round++) {
    const readOptions = { consistent: consistent || round > 1 };
    const [pointers, deleted] = await Promise.all([
      getMany<StoredPointer>(
        pending.map((id) => keys.contactPointer(orgId, id)),
        readOptions,
      ),
      deletedSites(orgId),
    ]);
    // If a pointer leads to no contact, the email changed between the two reads. If the pointer
    // does not change either, there is no contact.
    const pointed = pending.flatMap((id, i) => {
      const pointer = pointers[i];
      if (!isOfContact(pointer) || deleted.has(pointer.siteId)) return [];
      return round <= minRounds || pointer.email !== lastEmail.get(id) ? [{ id, ...pointer }] : [];
    });
    const items = await getMany<ContactItem>(
      pointed.map((pointer) => keyOf(orgId, pointer)),
      readOptions,
    );
    for (const item of items) if (item) found.set(item.id, item);
    for (const { id, email } of pointed) lastEmail.set(id, email);
    pending = pointed.flatMap(({ id }) => (found.has(id) ? [] : [id]));
  }
  return contactIds.flatMap((id) => found.get(id) ?? []);
}

/** The contact, or the one that it was merged into. Undefined if that one was deleted. */
export const findSurvivor = async (orgId: number, id: number): Promise<ContactItem | undefined> =>
  (await getSurvivors(orgId, [id])).get(id);

/** The same for several contacts, by the given ids. */
export async function getSurvivors(
  orgId: number,
  contactIds: number[],
): Promise<Map<number, ContactItem>> {
  const found = new Map<number, ContactItem>();
  // Which of the given ids lead to each id that is looked up next.
  let pending = new Map(contactIds.map((id) => [id, [id]]));
  while (pending.size) {
    const ids = [...pending.keys()];
    for (const contact of await getByIds(orgId, ids, { consistent: true }))
      for (const id of pending.get(contact.id)!) found.set(id, contact);
    const open = ids.filter((id) => !pending.get(id)!.some((given) => found.has(given)));
    const pointers = await getMany<StoredPointer>(
      open.map((id) => keys.contactPointer(orgId, id)),
      { consistent: true },
    );
    const next = new Map<number, number[]>();
    for (const [i, id] of open.entries()) {
      const { mergedInto } = pointers[i] ?? {};
      if (mergedInto) next.set(mergedInto, [...(next.get(mergedInto) ?? []), ...pending.get(id)!]);
    }
    pending = next;
  }
  return found;
}

/** The pointers of the contacts that were merged into it. */
export const mergedPointers = ({ orgId, merged = [] }: Pick<ContactItem, "orgId" | "merged">) =>
  merged.map(({ id }) => keys.contactPointer(orgId, id));

/** Its own id and those of the contacts that were merged into it. */
export const idsOf = ({ id, merged = [] }: Pick<ContactItem, "id" | "merged">): number[] => [
  id,
  ...merged.map((one) => one.id),
];
