import { Autocomplete, Button, Checkbox, Select, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { SequenceDetail } from "pennymail";
import { useRef, useState } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { FormCard } from "../../parts/form.tsx";
import {
  contactChoices,
  eventChoices,
  type RuleChoices,
  RuleChoicesProvider,
} from "../../parts/rules/rule-choices.ts";
import { createGroup, type GroupDraft, toDraft, toRules } from "../../parts/rules/rule-draft.ts";
import { RuleGroup } from "../../parts/rules/rule-group.tsx";
import { SavedNote, useSettings } from "./settings-form.tsx";

type Goal = SequenceDetail["goals"][number];

/** A goal or an exit while it is edited. */
interface GoalDraft {
  id: number;
  kind: "event" | "rules";
  eventName: string;
  filter: GroupDraft | undefined;
  valueProperty: string;
  rules: GroupDraft;
}

const maxGoals = 10;

let lastId = 0;
const toGoalDraft = ({ eventName, filter, valueProperty = "", rules }: Goal): GoalDraft => ({
  id: ++lastId,
  kind: rules ? "rules" : "event",
  eventName: eventName ?? "",
  filter: filter && toDraft(filter),
  valueProperty,
  rules: rules ? toDraft(rules) : createGroup(),
});

/** Undefined as long as it is not complete. */
function toGoal({ kind, eventName, filter, valueProperty, rules }: GoalDraft): Goal | undefined {
  if (kind === "rules") {
    const whole = toRules(rules);
    return whole && { rules: whole };
  }
  const filterRules = filter && toRules(filter);
  if (!eventName.trim() || (filter && !filterRules)) return undefined;
  return {
    eventName: eventName.trim(),
    ...(filterRules && { filter: filterRules }),
    ...(valueProperty.trim() && { valueProperty: valueProperty.trim() }),
  };
}

const isComplete = (goal: Goal | undefined): goal is Goal => goal !== undefined;

/** Edits which contacts leave the sequence at once, and which count as a conversion. */
export function GoalsForm({ sequence }: { sequence: SequenceDetail }) {
  const [goals, setGoals] = useState(() => sequence.goals.map(toGoalDraft));
  const [exits, setExits] = useState(() => sequence.exits.map(toGoalDraft));
  const whole = { goals: goals.map(toGoal), exits: exits.map(toGoal) };
  const isWhole = [...whole.goals, ...whole.exits].every(isComplete);
  const saving = useSettings(sequence, {
    goals: whole.goals.filter(isComplete),
    exits: whole.exits.filter(isComplete),
  });
  return (
    <FormCard
      title={t("Goals and exits")}
      action={t("Save goals and exits")}
      submission={saving}
      isDisabled={!isWhole}
    >
      <p className="quiet">
        {t(
          "Who meets one leaves the sequence at once, also while waiting. Goals " +
            "count as conversions.",
        )}
      </p>
      <GoalList siteId={sequence.siteId} noun="goal" goals={goals} onChange={setGoals} />
      <GoalList siteId={sequence.siteId} noun="exit" goals={exits} onChange={setExits} />
      {!isWhole && <p className="tone-warn">{t("Name the events and complete the conditions.")}</p>}
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

const texts = {
  goal: {
    nameOf: (number: number) => t("goal {number}", { number }),
    remove: (number: number) => t("Remove goal {number}", { number }),
    add: t("Add goal"),
  },
  exit: {
    nameOf: (number: number) => t("exit {number}", { number }),
    remove: (number: number) => t("Remove exit {number}", { number }),
    add: t("Add exit"),
  },
};

interface ListProps {
  siteId: number;
  noun: "goal" | "exit";
  goals: readonly GoalDraft[];
  onChange(goals: GoalDraft[]): void;
}

function GoalList({ siteId, noun, goals, onChange }: ListProps) {
  const addButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      {goals.map((goal, i) => (
        <fieldset key={goal.id} className="plain-fieldset stack goal">
          <legend className="visually-hidden">{texts[noun].nameOf(i + 1)}</legend>
          <GoalFields
            siteId={siteId}
            noun={noun}
            goal={goal}
            onChange={(changes) => onChange(goals.with(i, { ...goal, ...changes }))}
          />
          <div className="buttons">
            <Button
              variant="subtle"
              color="gray"
              size="xs"
              leftSection={<IconTrash size={14} />}
              onClick={() => {
                onChange(goals.toSpliced(i, 1));
                addButton.current?.focus();
              }}
            >
              {texts[noun].remove(i + 1)}
            </Button>
          </div>
        </fieldset>
      ))}
      {goals.length < maxGoals && (
        <div className="buttons">
          <Button
            ref={addButton}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...goals, toGoalDraft({})])}
          >
            {texts[noun].add}
          </Button>
        </div>
      )}
    </>
  );
}

interface FieldsProps {
  siteId: number;
  noun: "goal" | "exit";
  goal: GoalDraft;
  onChange(changes: Partial<GoalDraft>): void;
}

function GoalFields({ siteId, noun, goal, onChange }: FieldsProps) {
  const { kind, eventName, filter, valueProperty, rules } = goal;
  const events = useQuery(queries.eventNames(siteId)).data ?? [];
  return (
    <>
      <Select
        label={noun === "goal" ? t("The goal is reached when") : t("A contact leaves when")}
        allowDeselect={false}
        data={[
          { value: "event", label: t("An event happens") },
          { value: "rules", label: t("The contact matches conditions") },
        ]}
        value={kind}
        onChange={(next) => onChange({ kind: next as GoalDraft["kind"] })}
      />
      {kind === "rules" ? (
        <Rules
          siteId={siteId}
          choices={contactChoices}
          group={rules}
          onChange={(next) => onChange({ rules: next })}
        />
      ) : (
        <>
          <Autocomplete
            label={t("Name of the event")}
            description={t("A reply by email is email_replied.")}
            placeholder="order_placed"
            maxLength={100}
            data={events}
            value={eventName}
            onChange={(name) => onChange({ eventName: name })}
          />
          <Checkbox
            label={t("Only events that match conditions")}
            checked={filter !== undefined}
            onChange={({ currentTarget }) =>
              onChange({ filter: currentTarget.checked ? firstFilter() : undefined })
            }
          />
          {filter && (
            <Rules
              siteId={siteId}
              choices={eventChoices}
              group={filter}
              onChange={(next) => onChange({ filter: next })}
            />
          )}
          {noun === "goal" && (
            <TextInput
              label={t("Property with the value (optional)")}
              description={t(
                "Its sum is shown with the conversions, such as the revenue of orders.",
              )}
              placeholder={t("total")}
              maxLength={100}
              value={valueProperty}
              onChange={({ currentTarget }) => onChange({ valueProperty: currentTarget.value })}
            />
          )}
        </>
      )}
    </>
  );
}

const firstFilter = (): GroupDraft => ({
  ...createGroup(),
  match: "all",
  conditions: [eventChoices.createFirst()],
});

interface RulesProps {
  siteId: number;
  choices: RuleChoices;
  group: GroupDraft;
  onChange(group: GroupDraft): void;
}

const Rules = ({ choices, ...props }: RulesProps) => (
  <RuleChoicesProvider value={choices}>
    <RuleGroup {...props} />
  </RuleChoicesProvider>
);
