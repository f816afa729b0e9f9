import { Select, TextInput } from "@mantine/core";
import type { ContactField } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { capitalize } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import {
  type ContactFieldType,
  fieldTypeOptions,
  variableOf,
} from "../../parts/contact-field-types.ts";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { FieldUses } from "./field-uses.tsx";

interface FieldDialogProps {
  siteId: number;
  /** Undefined for a new field. */
  field: ContactField | undefined;
  opened: boolean;
  onClose(): void;
}

/** Names and types a field. The name in templates is chosen once. */
export function FieldDialog({ siteId, field, opened, onClose }: FieldDialogProps) {
  const label = useTextField(field?.label);
  const [type, setType] = useState<ContactFieldType>(field?.type ?? "text");
  const name = field?.name ?? toName(label.value);
  const saving = useChange({
    run: () => api.contactFields.update(name, { siteId, label: label.value, type }),
    refreshes: ["contactFields"],
    onDone: () => close(),
  });
  const close = () => {
    if (!field) {
      label.set("");
      setType("text");
    }
    saving.reset();
    onClose();
  };
  return (
    <FormDialog
      title={field ? t("Field “{label}”", { label: field.label }) : t("New field")}
      action={field ? t("Save field") : t("Create field")}
      submission={saving}
      isDisabled={!name}
      opened={opened}
      onClose={close}
    >
      <TextInput
        label={t("Label")}
        required
        maxLength={100}
        data-autofocus
        data-field="label"
        {...label.input}
      />
      <Select
        label={t("Type")}
        description={
          field && type !== field.type
            ? t("What contacts have is converted. What cannot be read stays, and is listed.")
            : t(
                "Values that are not of the type are refused. A text stays as it is, " +
                  "also 007.",
              )
        }
        allowDeselect={false}
        data={fieldTypeOptions}
        value={type}
        onChange={(value) => setType(value as ContactFieldType)}
      />
      {name && (
        <p className="quiet">
          {tNodes("In templates: {code}", { code: <code>{variableOf(name)}</code> })}
        </p>
      )}
      {field && <FieldUses siteId={siteId} name={field.name} />}
    </FormDialog>
  );
}

/** "Shoe size" becomes `shoeSize`, which templates can name without quotes. */
function toName(label: string): string {
  const [first = "", ...rest] = label.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const start = first.charAt(0).toLowerCase() + first.slice(1);
  return [start, ...rest.map(capitalize)].join("").slice(0, 100);
}
