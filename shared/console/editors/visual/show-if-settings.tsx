import { ActionIcon, Autocomplete, Button, Select, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { t } from "../../language/translate.ts";
import { Choice } from "./choice.tsx";
import {
  type ConditionOperator,
  type DesignBlock,
  limits,
  type ShowCondition,
  type ShowIf,
} from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";
import { operatorNames, takesValue } from "./show-if.ts";

const operators = Object.entries(operatorNames).map(([value, label]) => ({ value, label }));

interface ShowIfSettingsProps {
  block: DesignBlock;
  change(changes: { showIf: ShowIf | undefined }): void;
}

/** Inputs for the recipients that see the block. */
export function ShowIfSettings({ block, change }: ShowIfSettingsProps) {
  const { insertOptions } = useDesignEditor();
  const { showIf } = block;
  const conditions = showIf?.conditions ?? [];
  const set = (next: ShowCondition[]) =>
    change({
      showIf: next.length ? { match: showIf?.match ?? "all", conditions: next } : undefined,
    });
  const replace = (index: number, changes: Partial<ShowCondition>) =>
    set(conditions.map((one, i) => (i === index ? { ...one, ...changes } : one)));
  const fields = Object.values(insertOptions).flatMap((options) =>
    options.flatMap(({ text }) => /^\{\{\s*([\w.]+)/.exec(text)?.[1] ?? []),
  );
  return (
    <fieldset className="plain-fieldset stack show-if">
      <legend>{t("Show it only if")}</legend>
      {showIf && conditions.length > 1 && (
        <Choice<ShowIf["match"]>
          label={t("Conditions")}
          value={showIf.match}
          choices={[
            ["all", t("All are true")],
            ["any", t("One is true")],
          ]}
          onChange={(match) => change({ showIf: { ...showIf, match } })}
        />
      )}
      {conditions.map((condition, i) => (
        <div key={i} className="stack show-condition">
          <div className="show-field">
            <Autocomplete
              aria-label={t("Field of condition {number}", { number: i + 1 })}
              placeholder={t("Field, such as firstName")}
              data={[...new Set(fields)]}
              maxLength={limits.variable}
              value={condition.field}
              onChange={(field) => replace(i, { field: field.replace(/[^\w.-]/g, "") })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t("Remove condition {number}", { number: i + 1 })}
              onClick={() => set(conditions.filter((_, other) => other !== i))}
            >
              <IconX size={16} />
            </ActionIcon>
          </div>
          <Select
            aria-label={t("Comparison of condition {number}", { number: i + 1 })}
            allowDeselect={false}
            data={operators}
            value={condition.operator}
            onChange={(operator) => replace(i, { operator: operator as ConditionOperator })}
          />
          {takesValue(condition.operator) && (
            <TextInput
              aria-label={t("Value of condition {number}", { number: i + 1 })}
              placeholder={t("Value")}
              maxLength={limits.value}
              value={condition.value}
              onChange={({ currentTarget }) => replace(i, { value: currentTarget.value })}
            />
          )}
        </div>
      ))}
      {conditions.length < limits.conditions && (
        <Button
          className="start"
          variant="default"
          size="xs"
          onClick={() => set([...conditions, { field: "", operator: "is", value: "" }])}
        >
          {t("Add a condition")}
        </Button>
      )}
    </fieldset>
  );
}
