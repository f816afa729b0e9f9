import { Select, TextInput } from "@mantine/core";
import type { ContactField, NamedRecord } from "pennymail";
import { type ContactFieldType, fieldTypeOptions } from "../../parts/contact-field-types.ts";
import { type ColumnDraft, ignored, newField } from "./column-draft.ts";
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
    <ul className="import-columns" aria-label="Columns of the file">
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

const canRepeat = (value: string): boolean => value === newField || value === ignored;

function Column({ column, groups, usedElsewhere, onChange }: ColumnProps) {
  const { header, samples, choice, name, type } = column;
  const options = groups.map(({ group, items }) => ({
    group,
    items: items.map((item) => ({
      ...item,
      disabled: !canRepeat(item.value) && usedElsewhere.includes(item.value),
    })),
  }));
  const isKnown = groups.some(({ items }) => items.some(({ value }) => value === choice));
  return (
    <li className={choice === ignored ? "left-out" : ""}>
      <div className="import-column">
        <b>{header}</b>
        <small>{samples.join(" · ") || "Empty in the first rows"}</small>
      </div>
      <div className={choice === newField ? "import-field new" : "import-field"}>
        <Select
          aria-label={`Field for ${header}`}
          searchable
          allowDeselect={false}
          nothingFoundMessage="There is no such field"
          data={isKnown ? options : [{ value: choice, label: choice }, ...options]}
          value={choice}
          onChange={(next) => next && onChange({ choice: next })}
        />
        {choice === newField && (
          <>
            <TextInput
              aria-label={`Name for ${header}`}
              maxLength={100}
              value={name}
              onChange={(event) => onChange({ name: event.currentTarget.value })}
            />
            <Select
              aria-label={`Type for ${header}`}
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
