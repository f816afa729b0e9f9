import { Button, Menu, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { t } from "../../language/translate.ts";
import { RowMenu } from "../../parts/row-menu.tsx";
import { contactFields, createField, type FieldDraft, type InputType } from "./design-draft.ts";

const types: { value: InputType; label: string }[] = [
  { value: "text", label: t("Text") },
  { value: "email", label: t("Email address") },
  { value: "textarea", label: t("Long text") },
  { value: "number", label: t("Number") },
  { value: "select", label: t("Choice") },
  { value: "checkbox", label: t("Checkbox") },
  { value: "date", label: t("Date") },
  { value: "hidden", label: t("Hidden") },
];

interface FieldsEditorProps {
  fields: FieldDraft[];
  onChange(fields: FieldDraft[]): void;
}

/** The fields of a form in their order. */
export function FieldsEditor({ fields, onChange }: FieldsEditorProps) {
  const move = (from: number, to: number) =>
    onChange(fields.toSpliced(from, 1).toSpliced(to, 0, fields[from]!));
  const actionsOf = (index: number) => [
    ...(index > 0 ? [{ label: t("Move up"), run: () => move(index, index - 1) }] : []),
    ...(index < fields.length - 1
      ? [{ label: t("Move down"), run: () => move(index, index + 1) }]
      : []),
    { label: t("Remove"), isDangerous: true, run: () => onChange(fields.toSpliced(index, 1)) },
  ];
  const free = Object.entries(contactFields).filter(([name]) =>
    fields.every((field) => field.name !== name),
  );
  const add = (name?: string) => onChange([...fields, createField(name, fields)]);
  return (
    <>
      <ul className="field-editors">
        {fields.map((field, index) => (
          <li key={field.id}>
            <FieldEditor
              field={field}
              onChange={(changes) => onChange(fields.with(index, { ...field, ...changes }))}
            />
            <RowMenu name={field.label || field.name} actions={actionsOf(index)} />
          </li>
        ))}
      </ul>
      <div className="buttons">
        <Menu position="bottom-start" width={200}>
          <Menu.Target>
            <Button variant="default" size="xs" leftSection={<IconPlus size={14} />}>
              {t("Add field")}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {free.map(([name, label]) => (
              <Menu.Item key={name} onClick={() => add(name)}>
                {label}
              </Menu.Item>
            ))}
            <Menu.Item onClick={() => add()}>{t("A field of your own")}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
    </>
  );
}

interface FieldEditorProps {
  field: FieldDraft;
  onChange(changes: Partial<FieldDraft>): void;
}

function FieldEditor({ field, onChange }: FieldEditorProps) {
  const { name, label, type, required, options, value } = field;
  const isCustom = !(name in contactFields);
  return (
    <div className="field-editor">
      <TextInput
        label={t("Label")}
        maxLength={500}
        value={label}
        onChange={(event) => onChange({ label: event.currentTarget.value })}
      />
      {isCustom && (
        <TextInput
          label={t("Custom field")}
          required
          pattern="[A-Za-z][\w\-]{0,49}"
          title={t("A letter, then letters, digits, dashes and underscores")}
          value={name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
      )}
      {name !== "email" && (
        <Select
          label={t("Type")}
          allowDeselect={false}
          data={types}
          value={type}
          onChange={(chosen) => onChange({ type: chosen as InputType })}
        />
      )}
      {type === "select" && (
        <Textarea
          label={t("Choices, one per line")}
          required
          autosize
          minRows={2}
          value={options}
          onChange={(event) => onChange({ options: event.currentTarget.value })}
        />
      )}
      {type === "hidden" ? (
        <TextInput
          label={t("Value")}
          maxLength={500}
          value={value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        />
      ) : (
        <Switch
          label={t("Required")}
          checked={required}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
      )}
    </div>
  );
}
