import { useMemo, useReducer } from "react";

interface History<Draft> {
  past: Draft[];
  draft: Draft;
  future: Draft[];
  /** Names the last change. Further changes with the same name are undone together with it. */
  name: string | undefined;
}

type Action<Draft> =
  | { kind: "change"; draft: Draft; name?: string | undefined }
  | { kind: "undo" }
  | { kind: "redo" }
  | { kind: "reset"; draft: Draft };

const maxPast = 200;

function reduce<Draft>(history: History<Draft>, action: Action<Draft>): History<Draft> {
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

export interface DraftHistory<Draft> {
  draft: Draft;
  canUndo: boolean;
  canRedo: boolean;
  /** Changes with the same name, one after the other, are undone together. */
  change(draft: Draft, name?: string): void;
  undo(): void;
  redo(): void;
  /** Forgets all changes. */
  reset(draft: Draft): void;
}

/** What a person edits, with undo and redo. */
export function useDraftHistory<Draft>(initial: () => Draft): DraftHistory<Draft> {
  const [{ past, draft, future }, dispatch] = useReducer(reduce<Draft>, undefined, () => ({
    past: [],
    draft: initial(),
    future: [],
    name: undefined,
  }));
  const actions = useMemo(
    () => ({
      change: (next: Draft, name?: string) => dispatch({ kind: "change", draft: next, name }),
      undo: () => dispatch({ kind: "undo" }),
      redo: () => dispatch({ kind: "redo" }),
      reset: (next: Draft) => dispatch({ kind: "reset", draft: next }),
    }),
    [],
  );
  return { draft, canUndo: past.length > 0, canRedo: future.length > 0, ...actions };
}
