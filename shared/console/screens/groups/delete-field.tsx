import type { ContactField } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { FieldUses } from "./field-uses.tsx";

interface DeleteFieldProps {
  siteId: number;
  /** The dialog is open while there is one. */
  field: ContactField | undefined;
  onClose(): void;
}

/** Deletes the label and the type of a field. The values stay. */
export function DeleteField({ siteId, field, onClose }: DeleteFieldProps) {
  const deleting = useChange({
    run: ({ name }: ContactField) => api.contactFields.delete(name, { siteId }),
    refreshes: ["contactFields"],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={`Delete field “${field?.label ?? ""}”`}
      action="Delete field"
      isDangerous
      target={field}
      change={deleting}
      typed={field?.label}
      onClose={onClose}
    >
      {field && (
        <div className="stack">
          <p>
            Its label and its type are deleted. Contacts keep their values, so it stays in the list
            as “{field.name}”.
          </p>
          <FieldUses siteId={siteId} name={field.name} />
        </div>
      )}
    </ConfirmDialog>
  );
}
