// Looks at contacts for triggers: after their change, and when time alone can change something. One
// transaction starts the sequences of a contact, stores what was seen and removes the contact from
// its note, so each change starts a sequence once, even after a crash.
import { all, equals, present } from "../../adapters/dynamodb/conditions.ts";
import { get, remove, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { retryInTurn } from "../../kernel/retry-on-conflict.ts";
import { type Key, keys } from "../../keys.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import { lineOf } from "../audience/contacts/contact-writes.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { type ChangeNoteItem, contactAttribute, type NotedContact } from "./change-notes.ts";
import { type ContactWatchItem, createLooks, watchWrites } from "./contact-watches.ts";
import { wakeEnrollments } from "./event-listeners.ts";
import { getSiteTriggers } from "./trigger-registrations.ts";
import { startEnrollments } from "./triggers.ts";

export type Looks = Awaited<ReturnType<typeof createLooks>>;

/** Idempotent. Deletes the note at the end. */
export async function processNote(orgId: number, noteId: string): Promise<void> {
  const note = await get<ChangeNoteItem>(keys.changeNote(orgId, noteId));
  if (!note) return;
  const noted = Object.entries(note).flatMap(([name, value]) =>
    /^c\d+$/.test(name) ? [value as NotedContact] : [],
  );
  for (const [siteId, ofSite] of Map.groupBy(noted, (one) => one.siteId)) {
    const triggers = await getSiteTriggers(orgId, siteId);
    const active = new Set(triggers.map(({ sequenceId }) => sequenceId));
    const looks = await createLooks({ orgId, siteId }, triggers);
    await inParallel(8, ofSite, async ({ sequenceIds, testedIds = [], ...one }) => {
      if (testedIds.length) await testGoals(orgId, one.contactId, testedIds);
      await lookAtContact(orgId, looks, {
        ...one,
        note,
        sequenceIds: sequenceIds.filter((id) => active.has(id)),
      });
    });
  }
  await write(remove({ pk: note.pk, sk: note.sk }));
}

/** Safe to repeat: a run of an enrollment that meets no goal goes on waiting. */
async function testGoals(orgId: number, contactId: number, sequenceIds: number[]): Promise<void> {
  const [contact] = await contacts.getByIds(orgId, [contactId], { consistent: true });
  if (contact) await wakeEnrollments(contact, sequenceIds);
}

/** The time of a contact's watch has come. */
export async function lookAgain(orgId: number, siteId: number, contactId: number): Promise<void> {
  const looks = await createLooks({ orgId, siteId }, await getSiteTriggers(orgId, siteId));
  await lookAtContact(orgId, looks, { contactId, sequenceIds: [] });
}

export interface ContactLook extends Partial<NotedContact> {
  contactId: number;
  /** Sequences that the change triggers. */
  sequenceIds: number[];
  note?: ChangeNoteItem;
}

// A transaction takes 100 writes; three are for the note, the watch and the contact.
const maxWrites = 97;

/** Looks at the contact that it was merged into, if it was: a change that was noted is not lost. */
export const lookAtContact = (
  orgId: number,
  looks: Looks,
  { contactId, note, isQuiet, isNewContact, depth, ...noted }: ContactLook,
): Promise<void> =>
  retryInTurn(lineOf(orgId, contactId), "The contact", async (isFirst) => {
    const contact = await findSurvivor(orgId, contactId);
    const isMerged = contact !== undefined && contact.id !== contactId;
    const key = keys.contactWatch(orgId, contact?.id ?? contactId);
    const [watch, current] = await Promise.all([
      get<ContactWatchItem>(key),
      isFirst || !note ? note : get<ChangeNoteItem>(note),
    ]);
    if (!contact) return watch && write(remove(key));
    // Another worker has done the work.
    if (note && !current?.[contactAttribute(contactId)]) return;
    const seen = await looks({
      ...{ contact, watch, isQuiet },
      isNewContact: isNewContact && !isMerged,
    });
    const stateWrites = watchWrites(contact, watch, seen.states);
    const sequenceIds = [...noted.sequenceIds, ...seen.sequenceIds];
    const chain = depth === undefined ? undefined : { depth, refusedIds: new Set<number>() };
    const reaction = await startEnrollments([{ contact, sequenceIds, chain }], maxWrites);
    if (!reaction.started.length) return stateWrites.length ? write(...stateWrites) : undefined;
    const { add, conditions } = reaction.forContact(contact);
    const isSame = all(equals("id", contact.id), ...conditions);
    await write(
      update(contact, { add: { ...add, v: 1 } }, { if: isSame }),
      ...(note ? [removeFromNoteWrite(note, contactId)] : []),
      ...stateWrites,
      ...reaction.writes,
    );
    await reaction.afterCommit();
  });

/** Fails when another worker has done the work. */
const removeFromNoteWrite = ({ pk, sk }: Key, contactId: number): Write => {
  const name = contactAttribute(contactId);
  return update({ pk, sk }, { remove: [name] }, { if: present(name) });
};
