import type { SequenceDetail } from "pennymail";
import { createContext, useContext } from "react";
import type { DraftHistory } from "../../parts/draft-history.ts";
import type { DraftSteps } from "./step-draft.ts";
import type { Choices, Names } from "./step-texts.ts";

/** What every view of the steps needs. */
export interface StepEditor {
  sequence: SequenceDetail;
  history: DraftHistory<DraftSteps>;
  choices: Choices;
  names: Names;
  mayWrite: boolean;
  /** What the API refused at the last save, by the key of the step. */
  refusals: ReadonlyMap<string, string>;
  /** The step whose panel is open. */
  openKey: string | undefined;
  open(key: string | undefined): void;
}

const Context = createContext<StepEditor | undefined>(undefined);
export const StepEditorProvider = Context.Provider;
export const useStepEditor = (): StepEditor => useContext(Context)!;

/** The number of a step for people, from 1. */
export const numberIn =
  (draft: readonly { key: string }[]) =>
  (key: string): number | undefined => {
    const index = draft.findIndex((step) => step.key === key);
    return index < 0 ? undefined : index + 1;
  };
