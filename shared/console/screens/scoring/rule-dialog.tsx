import { NumberInput, Select, TextInput } from "@mantine/core";
import type { CreateScoringRuleRequest, ScoringRule } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import type { NamedGroup } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
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
      title={rule ? t("Edit {name}", { name: rule.name }) : t("New rule")}
      action={t("Save rule")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        required
        maxLength={100}
        data-autofocus
        data-field="name"
        {...name.input}
      />
      <Select
        label={t("When a contact")}
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
          label={t("Address contains (optional)")}
          placeholder="/pricing"
          value={String(value ?? "")}
          onChange={(event) => changeMatch(event.currentTarget.value)}
        />
      )}
      {matchField === "eventName" && (
        <TextInput
          label={t("Name of the event")}
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
        label={t("Points")}
        description={t("A negative number takes points away.")}
        required
        allowDecimal={false}
        value={points}
        onChange={(next) => setPoints(next === "" ? "" : Number(next))}
      />
    </FormDialog>
  );
}

const recordFields = {
  campaignId: { group: "campaigns", label: t("Of the campaign (optional)") },
  formId: { group: "forms", label: t("Which form (optional)") },
  tagId: { group: "tags", label: t("Which tag (optional)") },
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
  return (
    <RecordSelect
      group={group}
      siteId={siteId}
      label={label}
      placeholder={t("Any")}
      clearable
      value={value}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
