import { Button, Select, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { t } from "../../language/translate.ts";
import { operatorChoices, propertyField } from "./rule-catalog.ts";
import { type ConditionDraft, createProperty, type PropertyDraft } from "./rule-draft.ts";
import { keptValues, RemoveAction, Value } from "./rule-parts.tsx";

const maxFilters = 20;

interface EventOptionsProps {
  siteId: number;
  condition: ConditionDraft;
  onChange(changes: Partial<ConditionDraft>): void;
}

/** Which events count: those of the last days, and those with certain properties. */
export function EventOptions({ siteId, condition: { days, where }, onChange }: EventOptionsProps) {
  const change = (index: number, changes: Partial<PropertyDraft>) =>
    onChange({ where: where.with(index, { ...where[index]!, ...changes }) });
  return (
    <div className="rule-events">
      <TextInput
        aria-label={t("In the last days")}
        placeholder={t("At any time")}
        type="number"
        min={1}
        rightSection={<span className="unit">{t("days")}</span>}
        value={days}
        onChange={(event) => onChange({ days: event.currentTarget.value })}
      />
      {where.map((one, index) => (
        <div key={one.id} className="rule">
          <PropertyName value={one.name} onChange={(name) => change(index, { name })} />
          <Select
            aria-label={t("Comparison of the property")}
            allowDeselect={false}
            data={operatorChoices(propertyField)}
            value={one.choice}
            onChange={(choice) =>
              choice && change(index, { choice, values: keptValues(propertyField, one, choice) })
            }
          />
          <Value
            siteId={siteId}
            condition={one}
            field={propertyField}
            onChange={(changes) => change(index, changes)}
          />
          <RemoveAction
            label={t("Remove the property {name}", { name: one.name })}
            onRemove={() => onChange({ where: where.toSpliced(index, 1) })}
          />
        </div>
      ))}
      {where.length < maxFilters && (
        <Button
          variant="subtle"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange({ where: [...where, createProperty()] })}
        >
          {t("Only with a property")}
        </Button>
      )}
    </div>
  );
}

interface PropertyNameProps {
  value: string;
  onChange(name: string): void;
}

export function PropertyName({ value, onChange }: PropertyNameProps) {
  return (
    <TextInput
      aria-label={t("Name of the property")}
      placeholder={t("Property, such as total")}
      maxLength={100}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
