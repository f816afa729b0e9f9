// The copied steps. They can be pasted into another sequence of the same site, too.
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { StepClip } from "./step-sections.ts";

interface Copied {
  siteId: number;
  clip: StepClip;
}

let copied: Copied | undefined;
const listeners = new Set<() => void>();

export function copyClip(siteId: number, clip: StepClip): void {
  copied = { siteId, clip };
  for (const notify of listeners) notify();
}

export function useStepClip(siteId: number): StepClip | undefined {
  const current = useSyncExternalStore(subscribe, () => copied);
  return current?.siteId === siteId ? current.clip : undefined;
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

type ClipboardKind = "copy" | "cut" | "paste";
const kinds: readonly ClipboardKind[] = ["copy", "cut", "paste"];

/**
 * Runs when the user copies, cuts or pastes outside of fields and without a selected text. `run`
 * returns whether it did something.
 */
export function useClipboardKeys(run: (kind: ClipboardKind) => boolean): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const handle = (event: ClipboardEvent) => {
      const target = event.target instanceof Element ? event.target : document.body;
      if (target.closest("input, textarea, [contenteditable=true], [role=dialog]")) return;
      if (event.type !== "paste" && getSelection()?.isCollapsed === false) return;
      if (latest.current(event.type as ClipboardKind)) event.preventDefault();
    };
    for (const kind of kinds) document.addEventListener(kind, handle);
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, handle);
    };
  }, []);
}
