import { Select, TextInput } from "@mantine/core";
import type { ContactField, NamedRecord } from "pennymail";
import { t } from "../../language/translate.ts";
import { type ContactFieldType, fieldTypeOptions } from "../../parts/contact-field-types.ts";
import { type ColumnDraft, canRepeat, ignored, newField, unanswered } from "./column-draft.ts";
import { type FieldGroup, fieldGroups } from "./import-fields.ts";

interface ColumnMappingProps {
  columns: ColumnDraft[];
  fields: ContactField[];
  topics: NamedRecord[];
  onChange(columns: ColumnDraft[]): void;
}

/** The field of each column of the file. */
export function ColumnMapping({ columns, fields, topics, onChange }: ColumnMappingProps) {
  const groups = fieldGroups(fields, topics);
  return (
    <ul className="import-columns" aria-label={t("Columns of the file")}>
      {columns.map((column, index) => (
        <Column
          key={column.header}
          column={column}
          groups={groups}
          usedElsewhere={columns.filter((other) => other !== column).map(({ choice }) => choice)}
          onChange={(changes) => onChange(columns.with(index, { ...column, ...changes }))}
        />
      ))}
    </ul>
  );
}

interface ColumnProps {
  column: ColumnDraft;
  groups: FieldGroup[];
  /** What the other columns become. */
  usedElsewhere: string[];
  onChange(changes: Partial<ColumnDraft>): void;
}

function Column({ column, groups, usedElsewhere, onChange }: ColumnProps) {
  const { header, samples, choice, name, type } = column;
  const options = groups.map(({ group, items }) => ({
    group,
    items: items.map((item) => ({
      ...item,
      disabled: !canRepeat(item.value) && usedElsewhere.includes(item.value),
    })),
  }));
  const isOpen = choice === unanswered;
  const isKnown = groups.some(({ items }) => items.some(({ value }) => value === choice));
  return (
    <li className={choice === ignored ? "left-out" : ""}>
      <div className="import-column">
        <b>{header}</b>
        <small>{samples.join(" · ") || t("Empty in the first rows")}</small>
      </div>
      <div className={choice === newField ? "import-field new" : "import-field"}>
        <Select
          aria-label={t("Field for {header}", { header })}
          searchable
          allowDeselect={false}
          nothingFoundMessage={t("There is no such field")}
          data={isKnown || isOpen ? options : [{ value: choice, label: choice }, ...options]}
          value={isOpen ? null : choice}
          placeholder={t("Does it say who gets email?")}
          error={isOpen}
          onChange={(next) => next && onChange({ choice: next })}
        />
        {choice === newField && (
          <>
            <TextInput
              aria-label={t("Name for {header}", { header })}
              maxLength={100}
              value={name}
              onChange={(event) => onChange({ name: event.currentTarget.value })}
            />
            <Select
              aria-label={t("Type for {header}", { header })}
              allowDeselect={false}
              data={fieldTypeOptions}
              value={type}
              onChange={(next) => onChange({ type: next as ContactFieldType })}
            />
          </>
        )}
      </div>
    </li>
  );
}
