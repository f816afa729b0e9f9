import type { ReactNode } from "react";
import { useChange } from "../data/changes.ts";
import { t } from "../language/translate.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface DeleteDialogProps<Target> {
  /** "Delete form" */
  action: string;
  /** The dialog is open while there is one. */
  target: Target | undefined;
  remove(target: Target): Promise<unknown>;
  /** The groups of the API to read again. */
  refreshes: readonly string[];
  onClose(): void;
  onDeleted?(): unknown;
  /** What happens to what belongs to the record. */
  children: ReactNode;
}

/** Deletes a record that cannot be brought back, after its name was typed. */
export function DeleteDialog<Target extends { name: string }>(props: DeleteDialogProps<Target>) {
  const { action, target, remove, refreshes, onClose, onDeleted, children } = props;
  const deleting = useChange({
    run: remove,
    refreshes,
    onDone: async () => {
      close();
      await onDeleted?.();
    },
  });
  const close = () => {
    deleting.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      title={t("{action} “{name}”", { action, name: target?.name ?? "" })}
      action={action}
      isDangerous
      target={target}
      change={deleting}
      typed={target?.name}
      onClose={close}
    >
      {children}
    </ConfirmDialog>
  );
}
