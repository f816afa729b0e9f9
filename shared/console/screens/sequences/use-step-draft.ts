import { useQueryClient } from "@tanstack/react-query";
import {
  ConflictError,
  PennymailError,
  type ReplaceSequenceStepsRequest,
  type SequenceDetail,
} from "pennymail";
import { useEffect, useMemo, useRef, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { type DraftHistory, useDraftHistory } from "../../parts/draft-history.ts";
import type { DraftSteps } from "./step-draft.ts";
import { fromKeptDraft, fromStored, type StoredStep, toStored } from "./stored-steps.ts";

export interface StepDraft {
  history: DraftHistory<DraftSteps>;
  isDirty: boolean;
  /** Whether somebody else has saved other steps since the draft began. */
  isOutdated: boolean;
  saving: { mutate(): void; isPending: boolean; isSuccess: boolean; error: unknown };
  /** What the API refused at the last save, by the key of the step. */
  refusals: ReadonlyMap<string, string>;
  /** Goes back to the stored steps. */
  discard(): void;
  kept: KeptDraft;
}

/** The draft that the API keeps beside the steps of a running sequence. */
export interface KeptDraft {
  /** The version that is being edited. Undefined: the steps of the sequence are edited. */
  version: number | undefined;
  open(draft: SavedDraft): void;
  saving: ReturnType<typeof useChange<void, SavedDraft>>;
  /** With the version of the steps that the draft replaces. */
  publishing: ReturnType<typeof useChange<number, unknown>>;
  discarding: ReturnType<typeof useChange<string, unknown>>;
}
type SavedDraft = Awaited<ReturnType<typeof api.sequences.getDraft>>;

/** The steps as they are edited. They are saved all at once. */
export function useStepDraft(
  sequence: SequenceDetail,
  onSaved: (renamed: ReadonlyMap<string, string>) => void,
): StepDraft {
  const queryClient = useQueryClient();
  const history = useDraftHistory(() => fromStored(sequence.steps as StoredStep[]));
  const { draft, reset } = history;
  const [version, setVersion] = useState(sequence.stepsVersion);
  const [stored, setStored] = useState(draft);
  const draftText = useMemo(() => textOf(draft), [draft]);
  const storedText = useMemo(() => textOf(stored), [stored]);
  const isDirty = draftText !== storedText;
  const [draftVersion, setDraftVersion] = useState<number>();
  const begin = (steps: SequenceDetail["steps"], stepsVersion: number) => {
    const next = fromStored(steps as StoredStep[]);
    setVersion(stepsVersion);
    setDraftVersion(undefined);
    setStored(next);
    reset(next);
  };
  const open = (opened: SavedDraft) => {
    const next = fromKeptDraft(opened.steps as StoredStep[]);
    setVersion(opened.stepsVersion);
    setDraftVersion(opened.draftVersion);
    setStored(next);
    reset(next);
  };
  const saving = useChange({
    run: async () => {
      try {
        return await api.sequences.replaceSteps(sequence.id, {
          stepsVersion: version,
          steps: toStored(draft) as ReplaceSequenceStepsRequest["steps"],
        });
      } catch (error) {
        // Shows what somebody else has saved.
        if (error instanceof ConflictError)
          await queryClient.invalidateQueries(sequenceQueries.detail(sequence.id));
        throw error;
      }
    },
    refreshes: ["sequences", "tags"],
    onDone: ({ steps, stepsVersion }) => {
      onSaved(new Map(draft.map(({ key }, i) => [key, String(steps[i]!.id)])));
      begin(steps as SequenceDetail["steps"], stepsVersion);
    },
  });
  const keptVersion = draftVersion ?? sequence.draft?.draftVersion ?? 0;
  const savingDraft = useChange({
    run: () =>
      api.sequences.updateDraft(sequence.id, {
        draftVersion: keptVersion,
        stepsVersion: version,
        steps: toStored(draft) as ReplaceSequenceStepsRequest["steps"],
      }),
    refreshes: ["sequences"],
    onDone: (saved) => {
      setDraftVersion(saved.draftVersion);
      setStored(draft);
    },
  });
  const publishing = useChange({
    run: (stepsVersion: number) => api.sequences.publishDraft(sequence.id, { stepsVersion }),
    refreshes: ["sequences"],
    onDone: ({ steps, stepsVersion }) => {
      onSaved(new Map(draft.map(({ key }, i) => [key, String(steps[i]!.id)])));
      begin(steps as SequenceDetail["steps"], stepsVersion);
    },
  });
  const discarding = useChange({
    run: (_: string) => api.sequences.deleteDraft(sequence.id),
    refreshes: ["sequences"],
    onDone: () => begin(sequence.steps, sequence.stepsVersion),
  });
  const isOutdated =
    sequence.stepsVersion > version && draftVersion === undefined && !saving.isPending;
  // Somebody else saved. What nobody has edited here follows.
  const follow = useRef(begin);
  follow.current = begin;
  useEffect(() => {
    if (isOutdated && !isDirty) follow.current(sequence.steps, sequence.stepsVersion);
  }, [isOutdated, isDirty, sequence.steps, sequence.stepsVersion]);
  return {
    history,
    isDirty,
    isOutdated,
    saving,
    refusals: refusalsIn(saving.error ?? savingDraft.error ?? publishing.error, draft),
    kept: { version: draftVersion, open, saving: savingDraft, publishing, discarding },
    discard: () => {
      saving.reset();
      begin(sequence.steps, sequence.stepsVersion);
    },
  };
}

const textOf = (draft: DraftSteps): string => JSON.stringify(toStored(draft));

/** Errors name a step by its place: `steps.2.templateId`. */
function refusalsIn(error: unknown, draft: DraftSteps): ReadonlyMap<string, string> {
  const details = error instanceof PennymailError ? error.details : [];
  return new Map(
    details.flatMap(({ path, message }) => {
      const step = draft[Number(/^steps\.(\d+)\./.exec(path)?.[1] ?? Number.NaN)];
      return step ? [[step.key, message] as const] : [];
    }),
  );
}
