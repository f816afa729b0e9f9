// Who enters which sequences, for the transaction of what started it; see triggers.ts.
import type { Condition } from "../../conditions.ts";
import type { Write } from "../../doors/table.ts";
import type { ContactItem } from "../contacts/contact.ts";
import type { Placed } from "./waiting.ts";

export interface Begun {
  placed: Placed[];
  writes: Write[];
  /** What is changed on the contact beside, and what must hold for it. */
  of(contact: Pick<ContactItem, "id">): { add: Record<string, Set<number>>; conditions: Condition[] };
  /** For whom there was no room: by the contact's id. */
  later: { contact: ContactItem; sequenceIds: number[] }[];
}

export const nothing: Begun = { placed: [], writes: [], of: () => ({ add: {}, conditions: [] }), later: [] };
