import type { SequenceDetail } from "pennymail";
import { createContext, useContext } from "react";
import type { DraftHistory } from "../../parts/draft-history.ts";
import type { DraftSteps } from "./step-draft.ts";
import type { Choices, Names, PeopleKind } from "./step-texts.ts";

/** What a walk shows on the drawing. */
export interface WalkMarks {
  /** When the contact reaches a step, by its key. */
  times: ReadonlyMap<string, string>;
  /** The ways that it takes: the key of a step and the outlet. */
  outlets: ReadonlySet<string>;
}

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
  /** Undefined while nobody is walked through. */
  walk: WalkMarks | undefined;
  /** Also shows the list of the contacts that a figure counts. */
  open(key: string | undefined, people?: PeopleKind): void;
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

/** The step that the keyboard is at: the one with the focus, else the one whose panel is open. */
export const stepAtFocus = (openKey: string | undefined): string | undefined =>
  document.activeElement?.closest<HTMLElement>("[data-step]")?.dataset.step ?? openKey;

/** Moves the focus to a step, as soon as it is shown. */
export const focusStep = (key: string): void => {
  setTimeout(() => {
    document.querySelector<HTMLElement>(`[data-step="${key}"] .step-open`)?.focus();
  });
};

/** Scrolls to a step. */
export const showStep = (key: string): void =>
  document
    .querySelector(`[data-step="${key}"]`)
    ?.scrollIntoView({ block: "nearest", inline: "center" });
