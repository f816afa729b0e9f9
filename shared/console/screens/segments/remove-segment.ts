import type { Segment } from "pennymail";
import { removeWithUndo } from "../../parts/undo-toast.tsx";

/** Deletes a segment from its own screen or from the list. */
export const removeSegment = ({ id, name }: Segment): void =>
  removeWithUndo({
    group: "segments",
    id,
    name: `Segment “${name}”`,
    consequence: "Its contacts stay.",
    remove: (client, force) => client.segments.delete(id, force ? { force: "true" } : {}),
    refreshes: ["segments"],
  });
