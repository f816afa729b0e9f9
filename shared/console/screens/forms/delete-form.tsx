import type { FormMeta } from "pennymail";
import { api } from "../../data/client.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";

interface DeleteFormProps {
  /** The dialog is open while there is one. */
  form: Pick<FormMeta, "id" | "name" | "submissionCount"> | undefined;
  onClose(): void;
  onDeleted?(): unknown;
}

export function DeleteForm({ form, onClose, ...events }: DeleteFormProps) {
  return (
    <DeleteDialog
      action={t("Delete form")}
      target={form}
      remove={({ id }) => api.forms.delete(id)}
      refreshes={["forms"]}
      onClose={onClose}
      {...events}
    >
      {t(
        "The form and the evidence of consent of its {number} submissions are " +
          "deleted. The contacts stay. Pages that contain the form show nothing " +
          "in its place. This cannot be undone.",
        { number: formatNumber(form?.submissionCount ?? 0) },
      )}
    </DeleteDialog>
  );
}
