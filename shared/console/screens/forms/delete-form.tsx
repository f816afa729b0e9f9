import type { FormMeta } from "pennymail";
import { api } from "../../data/client.ts";
import { formatNumber } from "../../format.ts";
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
      noun="form"
      target={form}
      remove={({ id }) => api.forms.delete(id)}
      refreshes={["forms"]}
      onClose={onClose}
      {...events}
    >
      The form and the evidence of consent of its {formatNumber(form?.submissionCount ?? 0)}{" "}
      submissions are deleted. The contacts stay. Pages that contain the form show nothing in its
      place. This cannot be undone.
    </DeleteDialog>
  );
}
