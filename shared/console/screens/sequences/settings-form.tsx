import type { SequenceDetail, UpdateSequenceRequest } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";

/** Saves some settings of the sequence. */
export function useSettings({ id }: SequenceDetail, draft: UpdateSequenceRequest) {
  const saving = useChange({
    run: () => api.sequences.update(id, draft),
    refreshes: ["sequences"],
  });
  useUnsavedDraft(draft, saving);
  return saving;
}

export const SavedNote = ({ isSaved }: { isSaved: boolean }) => (
  <p role="status" className="quiet">
    {isSaved ? t("Saved") : ""}
  </p>
);
