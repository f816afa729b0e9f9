import { useMemo, useReducer } from "react";
import type { DraftSteps } from "./step-draft.ts";

interface History {
  past: DraftSteps[];
  draft: DraftSteps;
  future: DraftSteps[];
  /** Names the last change. Further changes with the same name are undone together with it. */
  name: string | undefined;
}

type Action =
  | { kind: "change"; draft: DraftSteps; name?: string | undefined }
  | { kind: "undo" }
  | { kind: "redo" }
  | { kind: "reset"; draft: DraftSteps };

const maxPast = 200;

function reduce(history: History, action: Action): History {
  const { past, draft, future, name } = history;
  if (action.kind === "reset")
    return { past: [], draft: action.draft, future: [], name: undefined };
  if (action.kind === "change") {
    const goesOn = action.name !== undefined && action.name === name;
    return {
      past: goesOn ? past : [...past, draft].slice(-maxPast),
      draft: action.draft,
      future: [],
      name: action.name,
    };
  }
  if (action.kind === "undo") {
    const last = past.at(-1);
    if (!last) return history;
    return { past: past.slice(0, -1), draft: last, future: [draft, ...future], name: undefined };
  }
  const [next, ...rest] = future;
  if (!next) return history;
  return { past: [...past, draft], draft: next, future: rest, name: undefined };
}

export interface StepHistory {
  draft: DraftSteps;
  canUndo: boolean;
  canRedo: boolean;
  /** Changes with the same name, one after the other, are undone together. */
  change(draft: DraftSteps, name?: string): void;
  undo(): void;
  redo(): void;
  /** Forgets all changes. */
  reset(draft: DraftSteps): void;
}

/** The steps that a person edits, with undo and redo. */
export function useStepHistory(initial: () => DraftSteps): StepHistory {
  const [{ past, draft, future }, dispatch] = useReducer(reduce, undefined, () => ({
    past: [],
    draft: initial(),
    future: [],
    name: undefined,
  }));
  const actions = useMemo(
    () => ({
      change: (next: DraftSteps, name?: string) => dispatch({ kind: "change", draft: next, name }),
      undo: () => dispatch({ kind: "undo" }),
      redo: () => dispatch({ kind: "redo" }),
      reset: (next: DraftSteps) => dispatch({ kind: "reset", draft: next }),
    }),
    [],
  );
  return { draft, canUndo: past.length > 0, canRedo: future.length > 0, ...actions };
}
