import type { Segment } from "pennymail";
import { t } from "../../language/translate.ts";
import { deleteQuery } from "../../parts/record-uses.tsx";
import { removeWithUndo } from "../../parts/undo-toast.tsx";

/** Deletes a segment from its own screen or from the list. */
export const removeSegment = ({ id, name }: Segment): void =>
  removeWithUndo({
    group: "segments",
    id,
    name: t("Segment “{name}”", { name }),
    consequence: t("Its contacts stay."),
    remove: (client, anyway) => client.segments.delete(id, deleteQuery(anyway)),
    refreshes: ["segments"],
  });
