import type { SegmentRules } from "pennymail";
import { useMemo, useState } from "react";
import { type RuleChoices, RuleChoicesProvider } from "../../parts/rules/rule-choices.ts";
import { type GroupDraft, toDraft, toPartialRules } from "../../parts/rules/rule-draft.ts";
import { RuleGroup } from "../../parts/rules/rule-group.tsx";
import type { StepRules } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";

interface RuleFieldsProps {
  rules: StepRules;
  choices: RuleChoices;
  onChange(rules: StepRules): void;
}

/** Conditions of a step. They stay in the draft of the steps while they are incomplete. */
export function RuleFields({ rules, choices, onChange }: RuleFieldsProps) {
  const { sequence } = useStepEditor();
  const stored = useMemo(() => toDraft(rules as SegmentRules), [rules]);
  // What is being typed stays as it is, until an undo brings other rules.
  const [edited, setEdited] = useState<{ rules: StepRules; group: GroupDraft }>();
  const change = (group: GroupDraft) => {
    const next = toPartialRules(group);
    setEdited({ rules: next, group });
    onChange(next);
  };
  return (
    <RuleChoicesProvider value={choices}>
      <RuleGroup
        siteId={sequence.siteId}
        group={edited?.rules === rules ? edited.group : stored}
        onChange={change}
      />
    </RuleChoicesProvider>
  );
}
