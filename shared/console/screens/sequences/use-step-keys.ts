import { t } from "../../language/translate.ts";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { removeStep } from "./step-changes.ts";
import { copyClip, useClipboardKeys, useStepClip } from "./step-clipboard.ts";
import { type DraftSteps, outletsOf, stepOf } from "./step-draft.ts";
import { focusStep, stepAtFocus, useStepEditor } from "./step-editor.ts";
import {
  copySection,
  pasteClip,
  removeSection,
  type StepSection,
  sectionOf,
} from "./step-sections.ts";

/** Steps are copied, cut, pasted and deleted with the usual keys, on the canvas and in the list. */
export function useStepKeys(): void {
  const { history, sequence, mayWrite, openKey, open } = useStepEditor();
  const { draft } = history;
  const clip = useStepClip(sequence.siteId);
  const change = (next: DraftSteps, key: string | null | undefined) => {
    history.change(next);
    if (openKey && !stepOf(next, openKey)) open(undefined);
    if (key) focusStep(key);
  };
  const paste = (after: StepSection | undefined): boolean => {
    if (!clip) return false;
    const { draft: next, first } = pasteClip(draft, placeAfter(draft, after), clip);
    change(next, first);
    return true;
  };
  const cut = (section: StepSection) => change(removeSection(draft, section), section.exit);
  useClipboardKeys((kind) => {
    if (!mayWrite) return false;
    const key = stepAtFocus(openKey);
    const section = key === undefined ? undefined : sectionOf(draft, key, "step");
    if (kind === "paste") return paste(section);
    if (!section) return false;
    copyClip(sequence.siteId, copySection(draft, section));
    if (kind === "cut") cut(section);
    return true;
  });
  const remove = () => {
    const key = stepAtFocus(openKey);
    const step = stepOf(draft, key);
    if (step) change(removeStep(draft, step.key), sectionOf(draft, step.key, "step")?.exit);
  };
  useShortcuts([
    { keys: ["mod+C"], label: t("Copy the step with its branches") },
    { keys: ["mod+X"], label: t("Cut the step with its branches") },
    { keys: ["mod+V"], label: t("Paste steps after the step") },
    {
      keys: ["Delete", "Backspace"],
      label: t("Delete the step"),
      run: mayWrite ? remove : undefined,
    },
  ]);
}

/** Behind the section; at the start without one. */
function placeAfter(draft: DraftSteps, section: StepSection | undefined) {
  if (!section) return { before: draft[0]?.key ?? null };
  const { first, exit } = section;
  const [outlet, ...others] = outletsOf(stepOf(draft, first)!);
  if (outlet && (others.length === 0 || exit === null)) return { from: first, outlet };
  return { before: exit };
}
