// What conditions can ask for beside the fields of a contact, where they are edited.
import { createContext, useContext } from "react";
import { eventFields, type RuleFieldGroup } from "./rule-catalog.ts";
import { type ConditionDraft, createCondition } from "./rule-draft.ts";

export interface RuleChoices {
  groups: RuleFieldGroup[];
  /** Emails of the sequence that a contact may have got before, by the key of their step. */
  emails: { value: string; label: string }[];
  createFirst(): ConditionDraft;
}

export const contactChoices: RuleChoices = {
  groups: [],
  emails: [],
  createFirst: () => createCondition("tag"),
};

/** Conditions on one event can ask for its properties, too. */
export const eventChoices: RuleChoices = {
  groups: [eventFields],
  emails: [],
  createFirst: () => createCondition("properties"),
};

const Context = createContext(contactChoices);
export const RuleChoicesProvider = Context.Provider;
export const useRuleChoices = (): RuleChoices => useContext(Context);
