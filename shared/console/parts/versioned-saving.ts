import { ConflictError } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { useChange } from "../data/changes.ts";

export interface VersionedSaving {
  /** Version that the draft began with. */
  version: number;
  isChanged: boolean;
  isPending: boolean;
  isSaved: boolean;
  error: unknown;
  /** Whether somebody else has saved the record since it was read. */
  isConflict: boolean;
  save(): void;
  /** Replaces what somebody else has saved. */
  overwrite(): void;
}

interface SavingInput<Draft> {
  stored: { version: number };
  draft: Draft;
  isSame(a: Draft, b: Draft): boolean;
  /** The API refuses a change of another version than `version`, if it is given. */
  run(draft: Draft, base: { version?: number }): Promise<{ version: number }>;
  /** The code with which it refuses. */
  conflictCode: string;
  refreshes: readonly string[];
  /** Begins again with the stored record. */
  onReload(): unknown;
}

interface Save<Draft> {
  draft: Draft;
  isForced: boolean;
}

/** Saves a draft over the version of the record that it began with. */
export function useVersionedSaving<Draft>(input: SavingInput<Draft>): VersionedSaving {
  const { stored, draft, isSame, run, conflictCode, refreshes, onReload } = input;
  const [base, setBase] = useState({ draft, version: stored.version });
  const isChanged = !isSame(draft, base.draft);
  const saving = useChange({
    run: ({ draft: saved, isForced }: Save<Draft>) =>
      run(saved, isForced ? {} : { version: base.version }),
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
  const start = (isForced: boolean) => {
    if (isChanged && !saving.isPending) saving.mutate({ draft, isForced });
  };
  return {
    version: base.version,
    isChanged,
    isPending: saving.isPending,
    isSaved: saving.isSuccess && !isChanged,
    error: isConflict ? undefined : error,
    isConflict,
    save: () => start(false),
    overwrite: () => start(true),
  };
}
