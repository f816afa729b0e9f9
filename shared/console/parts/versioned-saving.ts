import { ConflictError } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { useChange } from "../data/changes.ts";

export interface VersionedSaving {
  /** Version that the draft began with. */
  version: number;
  isChanged: boolean;
  isPending: boolean;
  isSaved: boolean;
  /** Whether the changes are saved in a moment, at the latest when the page is left. */
  savesItself: boolean;
  error: unknown;
  /** Whether somebody else has saved the record since it was read. */
  isConflict: boolean;
  save(): void;
  /** Replaces what somebody else has saved. */
  overwrite(): void;
  /** Keeps the draft after this page changed something else of the record, such as its name. */
  keepDraft(changed: { version: number }): void;
}

interface SavingInput<Draft> {
  stored: { version: number };
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** The API refuses a change of another version than `version`, if it is given. */
  run(draft: Draft, base: SaveBase): Promise<{ version: number }>;
  /** Whether it saves by itself while somebody types. */
  savesItself?: boolean;
  /** The code with which it refuses. */
  conflictCode: string;
  refreshes: readonly string[];
  /** Begins again with the stored record. */
  onReload(): unknown;
}

interface SaveBase {
  version?: number;
  autosave?: true;
}

interface Save<Draft> {
  draft: Draft;
  base: SaveBase;
}

/** Milliseconds after the last change. */
const autosaveDelay = 2000;

/** Saves a draft over the version of the record that it began with. */
export function useVersionedSaving<Draft>(input: SavingInput<Draft>): VersionedSaving {
  const { stored, draft, isSame, run, conflictCode, refreshes, onReload } = input;
  const { savesItself = false } = input;
  const [base, setBase] = useState({ draft, version: stored.version });
  const isChanged = !isSame(draft, base.draft);
  const saving = useChange({
    run: ({ draft: saved, base: on }: Save<Draft>) => run(saved, on),
    refreshes,
    onDone: ({ version }, { draft: saved }) => setBase({ draft: saved, version }),
  });
  // Somebody else saved. What nobody has edited here follows.
  const follow = useRef(onReload);
  follow.current = onReload;
  const isBehind = stored.version > base.version && !isChanged && !saving.isPending;
  useEffect(() => {
    if (isBehind) follow.current();
  }, [isBehind]);
  const { error } = saving;
  const isConflict = error instanceof ConflictError && error.code === conflictCode;
  const { version } = base;
  const start = (on: SaveBase) => {
    if (isChanged && !saving.isPending) saving.mutate({ draft, base: on });
  };
  // What the API has refused waits for another change, or for the button.
  const isRefused = saving.isError && isSame(saving.variables.draft, draft);
  const isWaiting = savesItself && isChanged && !saving.isPending && !isRefused;
  const autosave = useRef(() => {});
  autosave.current = () => isWaiting && start({ version, autosave: true });
  useEffect(() => {
    if (!isWaiting || draft === undefined) return;
    const timer = setTimeout(() => autosave.current(), autosaveDelay);
    return () => clearTimeout(timer);
  }, [isWaiting, draft]);
  useEffect(() => () => autosave.current(), []);
  return {
    version,
    isChanged,
    savesItself: isWaiting,
    isPending: saving.isPending,
    isSaved: saving.isSuccess && !isChanged,
    error: isConflict ? undefined : error,
    isConflict,
    save: () => start({ version }),
    overwrite: () => start({}),
    // A version between the two is somebody else's.
    keepDraft: (changed) =>
      setBase((old) => (changed.version === old.version + 1 ? { ...old, ...changed } : old)),
  };
}
