// Notes about changes of contacts. The transaction that changes contacts also writes a note for the
// triggers, and for the goals and exits of rules, that depend on what changed, so a crash neither
// loses nor invents a change. Afterwards a worker starts and ends enrollments and deletes the note
// (change-note-work.ts).
import { isDeepStrictEqual } from "node:util";
import { put } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
import * as log from "../../kernel/log.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { subscriptionOf } from "../audience/contacts/contact-events.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import type { ChangeNote, ContactTransition, NoteOptions } from "../audience/contacts/reactions.ts";
import { getFieldValue, hasSameValue } from "./contact-field-values.ts";
import { listTestingSequences } from "./event-listeners.ts";
import { withoutRefused } from "./sequence-starts.ts";
import { getSiteTriggers, isWatched, type SiteTrigger } from "./trigger-registrations.ts";
import type { SequenceTriggerType } from "./trigger-schema.ts";

/** What triggers have to do for one contact. */
export interface NotedContact {
  contactId: number;
  siteId: number;
  /** Sequences that the change triggers. */
  sequenceIds: number[];
  isNewContact?: boolean;
  isQuiet?: boolean;
  /** Set if an action of a sequence made the change: the depth of what it starts. */
  depth?: number;
  /** Sequences that it is in, whose goals or exits the change can meet. */
  testedIds?: number[];
}

export interface ChangeNoteItem extends Key {
  orgId: number;
  noteId: string;
  [contact: `c${number}`]: NotedContact;
}

export const contactAttribute = (contactId: number): `c${number}` => `c${contactId}`;

const nothing: ChangeNote = { writes: [], afterCommit: async () => {} };
// Longer than a request takes to queue its note.
const graceSeconds = 60;

export async function noteChanges(
  orgId: number,
  transitions: ContactTransition[],
  { isQuiet = false, chain }: NoteOptions = {},
): Promise<ChangeNote> {
  const siteIds = [...new Set(transitions.flatMap(({ after }) => after?.siteId ?? []))];
  const triggersOf = new Map(
    await Promise.all(siteIds.map(async (id) => [id, await getSiteTriggers(orgId, id)] as const)),
  );
  const tested = await Promise.all(
    transitions.map(async ({ before, after }) =>
      before && after ? listTestingSequences(after) : [],
    ),
  );
  const noted = transitions.flatMap(({ before, after }, i) => {
    if (!after) return [];
    const triggers = triggersOf.get(after.siteId) ?? [];
    const change = { before, after };
    const starting = isQuiet ? [] : triggers.filter((trigger) => triggersStart(trigger, change));
    const sequenceIds = starting.map(({ sequenceId }) => sequenceId);
    const testedIds = tested[i]!;
    const isWatching = triggers.some((trigger) => isWatchedChange(trigger, change));
    if (!sequenceIds.length && !testedIds.length && !isWatching) return [];
    const noted: NotedContact = {
      contactId: after.id,
      siteId: after.siteId,
      sequenceIds: withoutRefused(sequenceIds, chain),
      ...(!before && { isNewContact: true }),
      ...(isQuiet && { isQuiet }),
      ...(chain && { depth: chain.depth }),
      ...(testedIds.length && { testedIds }),
    };
    return [noted];
  });
  if (!noted.length) return nothing;
  const noteId = randomBase62(16);
  const note = {
    orgId,
    noteId,
    ...Object.fromEntries(noted.map((one) => [contactAttribute(one.contactId), one])),
    ...indexAttributes(
      indexes.due("NOTE", dueShardOf(noted[0]!.contactId)),
      addSeconds(graceSeconds).toISOString(),
    ),
  };
  return {
    writes: [put(keys.changeNote(orgId, noteId), note)],
    afterCommit: () => enqueueSoon(orgId, noteId),
  };
}

export const enqueueNote = (orgId: number, noteId: string): Promise<void> =>
  enqueue(queues.advance, [{ work: "note", orgId, noteId }], { group: orgId });

/** A failure does not fail the request, because the change is made and the note is stored. */
async function enqueueSoon(orgId: number, noteId: string): Promise<void> {
  try {
    await enqueueNote(orgId, noteId);
  } catch (error) {
    log.error("triggers look at contacts later", error, { orgId });
  }
}

interface Change {
  before: ContactItem | undefined;
  after: ContactItem;
}
type StartTest = (change: Change, config: NonNullable<SiteTrigger["triggerConfig"]>) => boolean;

const startTests: Partial<Record<SequenceTriggerType, StartTest>> = {
  contact_created: ({ before }) => before === undefined,
  unsubscribed: ({ before, after }) =>
    before !== undefined &&
    subscriptionOf(before) !== "unsubscribed" &&
    subscriptionOf(after) === "unsubscribed",
  field_changed: ({ before, after }, { field = "", from, to }) => {
    if (!before) return false;
    const [old, current] = [getFieldValue(before, field), getFieldValue(after, field)];
    return (
      !isDeepStrictEqual(old, current) &&
      (from === undefined || hasSameValue(old, from)) &&
      (to === undefined || hasSameValue(current, to))
    );
  },
};

const triggersStart = ({ triggerType, triggerConfig }: SiteTrigger, change: Change): boolean =>
  startTests[triggerType]?.(change, triggerConfig ?? {}) ?? false;

/** Whether the trigger must look at the contact again. Rules of segments can read any field. */
function isWatchedChange(trigger: SiteTrigger, { before, after }: Change): boolean {
  if (!isWatched(trigger)) return false;
  if (!before || trigger.triggerType !== "date") return true;
  const { field = "" } = trigger.triggerConfig ?? {};
  return (
    before.timezone !== after.timezone ||
    !isDeepStrictEqual(getFieldValue(before, field), getFieldValue(after, field))
  );
}
