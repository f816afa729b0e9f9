import { NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateScoringRuleRequest, ScoringRule } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { type NamedGroup, queries } from "../../data/queries.ts";
import { recordOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { refreshes } from "./scoring.tsx";
import { type Trigger, triggers } from "./triggers.ts";

interface RuleDialogProps {
  siteId: number;
  /** Undefined for a new rule. */
  rule: ScoringRule | undefined;
  onClose(): void;
}

export function RuleDialog({ siteId, rule, onClose }: RuleDialogProps) {
  const name = useTextField(rule?.name);
  const [trigger, setTrigger] = useState<Trigger>(rule?.trigger ?? "email_click");
  const [points, setPoints] = useState<number | "">(rule?.points ?? 5);
  const { matchField } = triggers[trigger];
  const [match, setMatch] = useState(rule?.match ?? null);
  const saving = useChange({
    run: () => {
      const request: CreateScoringRuleRequest = {
        siteId,
        name: name.value,
        trigger,
        match,
        points: points === "" ? 0 : points,
      };
      return rule ? api.scoring.updateRule(rule.id, request) : api.scoring.createRule(request);
    },
    refreshes,
    onDone: onClose,
  });
  const value = match?.[matchField];
  const changeMatch = (next: string | number | undefined) =>
    setMatch(next === undefined || next === "" ? null : { [matchField]: next });
  return (
    <FormDialog
      title={rule ? `Edit ${rule.name}` : "New rule"}
      action="Save rule"
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput label="Name" required maxLength={100} data-autofocus {...name.input} />
      <Select
        label="When a contact"
        data={Object.entries(triggers).map(([key, { label }]) => ({ value: key, label }))}
        allowDeselect={false}
        value={trigger}
        onChange={(chosen) => {
          setTrigger(chosen as Trigger);
          setMatch(null);
        }}
      />
      {matchField === "url" && (
        <TextInput
          label="Address contains (optional)"
          placeholder="/pricing"
          value={String(value ?? "")}
          onChange={(event) => changeMatch(event.currentTarget.value)}
        />
      )}
      {matchField === "eventName" && (
        <TextInput
          label="Name of the event"
          placeholder="order_placed"
          required
          value={String(value ?? "")}
          onChange={(event) => changeMatch(event.currentTarget.value)}
        />
      )}
      {matchField in recordFields && (
        <RecordChoice
          siteId={siteId}
          field={matchField as RecordField}
          value={value as number | undefined}
          onChange={changeMatch}
        />
      )}
      <NumberInput
        label="Points"
        description="A negative number takes points away."
        required
        allowDecimal={false}
        value={points}
        onChange={(next) => setPoints(next === "" ? "" : Number(next))}
      />
    </FormDialog>
  );
}

const recordFields = {
  campaignId: { group: "campaigns", label: "Of the campaign (optional)" },
  formId: { group: "forms", label: "Which form (optional)" },
  tagId: { group: "tags", label: "Which tag (optional)" },
} satisfies Record<string, { group: NamedGroup; label: string }>;
type RecordField = keyof typeof recordFields;

interface RecordChoiceProps {
  siteId: number;
  field: RecordField;
  value: number | undefined;
  onChange(id: number | undefined): void;
}

function RecordChoice({ siteId, field, value, onChange }: RecordChoiceProps) {
  const { group, label } = recordFields[field];
  const records = useQuery(queries.names(group, siteId)).data;
  return (
    <Select
      label={label}
      placeholder="Any"
      clearable
      searchable
      data={recordOptions(records)}
      value={value === undefined ? null : String(value)}
      onChange={(id) => onChange(id ? Number(id) : undefined)}
    />
  );
}
