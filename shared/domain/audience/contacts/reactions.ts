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

export interface GroupMembership {
  kind: GroupKind;
  group: number;
}

/** A contact that enters sequences. */
export interface SequenceEntrant {
  contact: ContactItem;
  sequenceIds: number[];
  /** Further conditions on the contact. */
  conditions?: Condition[];
  /**
   * Set for public endpoints: each sequence starts at most once a day for the contact's address.
   */
  oncePerDay?: boolean | undefined;
}

export interface ContactChanged {
  /** Sequences that the joined list or tag starts, from `starts` of its record. */
  starts?: Iterable<number> | undefined;
  eventNames?: string[];
  formId?: number;
  /** Change of the score. */
  points?: number;
  oncePerDay?: boolean;
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
