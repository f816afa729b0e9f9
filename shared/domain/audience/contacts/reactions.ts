// Other areas add writes to the transaction that changes a contact. Audience imports no higher
// area: `shared/domain/reactions.ts` installs their functions, and every entry point that changes
// contacts imports that file.
import type { Condition } from "../../../adapters/dynamodb/conditions.ts";
import type { Write } from "../../../adapters/dynamodb/table.ts";
import type { GroupKind } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";

export interface ReactionWrites {
  /** Further writes of the transaction that changes the contact. */
  writes: Write[];
  /** Further changes of the contact item, and conditions on it. */
  forContact(contact: Pick<ContactItem, "id">): {
    add: Record<string, Set<number>>;
    conditions: Condition[];
  };
  /** Runs after the transaction. If the process dies first, a schedule does the same work later. */
  afterCommit(): Promise<void>;
}

export const noReaction: ReactionWrites = {
  writes: [],
  forContact: () => ({ add: {}, conditions: [] }),
  afterCommit: async () => {},
};

/** A contact before and after a change. A new one has no `before`, a deleted one no `after`. */
export interface ContactTransition {
  before?: ContactItem | undefined;
  after?: ContactItem | undefined;
  /** The contact that it was merged into, instead of `after`. */
  mergedInto?: number;
}

/** What triggers need to look at contacts after their change. */
export interface ChangeNote {
  /** At most one, for the transaction of the change. */
  writes: Write[];
  /** Runs after the transaction. If the process dies first, a schedule does the same work later. */
  afterCommit(): Promise<void>;
}

export interface GroupMembership {
  kind: GroupKind;
  group: number;
}

/** A custom event that may start sequences. */
export interface StartingEvent {
  name: string;
  /** Sort key of the event in the log of its contact. */
  sortKey: string;
  /** JSON. */
  properties: string | undefined;
}

/** The first open of a mail, or the first click on one of its links. */
export interface MailEngagement {
  type: "open" | "click";
  campaignId?: number | null | undefined;
  sequenceId?: number | null | undefined;
  stepId?: number | null | undefined;
  /** The clicked link, without what differs from one recipient to another. */
  url?: string | undefined;
}

/**
 * Sequences that start each other by their actions are a chain. What an action starts is one
 * further than its own enrollment, and beyond a limit it is refused, so that no chain is endless.
 */
export interface SequenceChain {
  /** The enrollments that the change starts get this depth. Those that no action starts have 0. */
  depth: number;
  /** Filled with the sequences that were not started because the chain is too long. */
  refusedIds: Set<number>;
}

/** Makes the writes in a transaction with others. Throws if nothing was written. */
export type Commit = (...writes: Write[]) => Promise<void>;

/** How a change of a contact is made that is part of a larger one. */
export interface ChangeContext {
  commit: Commit;
  chain?: SequenceChain;
}

/** A contact that enters sequences. */
export interface SequenceEntrant {
  contact: ContactItem;
  sequenceIds: number[];
  /** The contact as the change leaves it, for filters of triggers. Defaults to `contact`. */
  after?: ContactItem | undefined;
  /** The events that may start a sequence, by its id. The first that its filter takes starts it. */
  events?: Map<number, StartingEvent[]> | undefined;
  /** Further conditions on the contact. */
  conditions?: Condition[];
  /** Set for public endpoints: a contact that entered a sequence within a day stays out. */
  oncePerDay?: boolean | undefined;
  /** Set if an action of a sequence starts them. */
  chain?: SequenceChain | undefined;
}

export interface ContactChanged {
  /** Sequences that the joined list or tag starts, from `starts` of its record. */
  starts?: Iterable<number> | undefined;
  /** The contact as the change leaves it. Defaults to the contact. */
  after?: ContactItem;
  events?: StartingEvent[];
  engagements?: MailEngagement[];
  formId?: number;
  /** Change of the score. */
  points?: number;
  oncePerDay?: boolean;
  /** Set if an action of a sequence makes the change. */
  chain?: SequenceChain | undefined;
}

export interface NoteOptions {
  /** The change starts no sequences. */
  isQuiet?: boolean | undefined;
  /** Set if an action of a sequence makes the change. */
  chain?: SequenceChain | undefined;
}

export interface ContactReactions {
  /**
   * Reads each list and tag once; the returned function gives the active sequences that joining
   * some of them starts.
   */
  startsOf(
    orgId: number,
    groups: GroupMembership[],
  ): Promise<(joined: GroupMembership[]) => number[]>;
  /** `maxWrites`: how many writes the transaction has left. */
  startEnrollments(entrants: SequenceEntrant[], maxWrites?: number): Promise<ReactionWrites>;
  contactChanged(
    contact: ContactItem,
    change: ContactChanged,
    maxWrites?: number,
  ): Promise<ReactionWrites>;
  /**
   * Every change of contacts is noted, in its own transaction. Costs nothing but the cached
   * triggers of the site, unless one of them depends on what changed.
   */
  noteChanges(
    orgId: number,
    transitions: ContactTransition[],
    options?: NoteOptions,
  ): Promise<ChangeNote>;
  /** For the transaction that changes the rules of a segment. */
  segmentChangeWrites(orgId: number, siteId: number, segmentId: number): Promise<Write[]>;
  /** Whether a change of the score can cause a reaction in the site. */
  watchesScores(orgId: number, siteId: number): Promise<boolean>;
  /**
   * Ends some of what a contact takes part in before it is deleted. Fails when the contact changed
   * since it was read.
   */
  leaveSequences(contact: ContactItem): Promise<void>;
}

let installed: ContactReactions | undefined;

export function installContactReactions(reactions: ContactReactions): void {
  installed = reactions;
}

export function contactReactions(): ContactReactions {
  if (!installed) throw new Error("This entry point must import shared/domain/reactions.ts");
  return installed;
}
