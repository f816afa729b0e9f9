import type { ContactField } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
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
      title={t("Delete field “{name}”", { name: field?.label ?? "" })}
      action={t("Delete field")}
      isDangerous
      target={field}
      change={deleting}
      typed={field?.label}
      onClose={onClose}
    >
      {field && (
        <div className="stack">
          <p>
            {t(
              "Its label and its type are deleted. Contacts keep their values, so it " +
                "stays in the list as “{name}”.",
              { name: field.name },
            )}
          </p>
          <FieldUses siteId={siteId} name={field.name} />
        </div>
      )}
    </ConfirmDialog>
  );
}
