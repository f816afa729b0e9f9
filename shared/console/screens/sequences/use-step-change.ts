import { changeStep } from "./step-changes.ts";
import type { DraftStep } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";

/** Changes the step. Changes of the same field, one after the other, are undone together. */
export function useStepChange({ key }: DraftStep) {
  const { history } = useStepEditor();
  return (changes: Partial<DraftStep>) =>
    history.change(
      changeStep(history.draft, key, changes),
      `${key} ${Object.keys(changes).join(" ")}`,
    );
}
