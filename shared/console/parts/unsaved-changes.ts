// Drafts that are not saved. The shell asks before they are left: see shell/leave-dialog.tsx.
import { useEffect, useId, useRef, useState } from "react";

/** By the id of the draft: the path below which it stays, if it is not only the page's own. */
const drafts = new Map<string, string | undefined>();

/**
 * Asks before the page is left while `isChanged`. `within`: a path below which all pages keep the
 * draft.
 */
export function useUnsavedChanges(isChanged: boolean, within?: string): void {
  const id = useId();
  useEffect(() => {
    if (!isChanged) return;
    drafts.set(id, within);
    return () => {
      drafts.delete(id);
    };
  }, [id, isChanged, within]);
}

interface DraftSaving {
  isSuccess: boolean;
  /** When the last save began (ms since 1970). */
  submittedAt: number;
}

/** Asks before the page is left while the draft is not what `saving` saved last, or began with. */
export function useUnsavedDraft(draft: unknown, { isSuccess, submittedAt }: DraftSaving): void {
  const text = JSON.stringify(draft);
  const [saved, setSaved] = useState(text);
  const submitted = useRef({ at: submittedAt, text });
  if (submitted.current.at !== submittedAt) submitted.current = { at: submittedAt, text };
  useEffect(() => {
    if (isSuccess) setSaved(submitted.current.text);
  }, [isSuccess, submittedAt]);
  useUnsavedChanges(text !== saved);
}

export const hasUnsavedChanges = (): boolean => drafts.size > 0;

/** Whether a draft is lost on the way from one page to another. */
export const losesChanges = (from: string, to: string): boolean =>
  from !== to &&
  [...drafts.values()].some((within) => within === undefined || !`${to}/`.includes(`${within}/`));
