import { ConflictError } from "pennymail";
import type { ReactNode } from "react";
import { useChange } from "../data/changes.ts";
import { capitalize } from "../format.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface DeleteDialogProps<Target> {
  /** "list" */
  noun: string;
  /** The dialog is open while there is one. */
  target: Target | undefined;
  /** `force` deletes what something else still uses. */
  remove(target: Target, force: boolean): Promise<unknown>;
  /** The groups of the API to read again. */
  refreshes: readonly string[];
  onClose(): void;
  onDeleted?(): unknown;
  /** What happens to what belongs to the record. */
  children: ReactNode;
}

/** Deletes a record. If something uses it, names the users and asks again. */
export function DeleteDialog<Target extends { name: string }>(props: DeleteDialogProps<Target>) {
  const { noun, target, remove, refreshes, onClose, onDeleted, children } = props;
  const deleting = useChange({
    run: ({ record, force }: { record: Target; force: boolean }) => remove(record, force),
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
  const { error } = deleting;
  const users = error instanceof ConflictError && error.code === "in_use" ? error.details : [];
  const force = users.length > 0;
  return (
    <ConfirmDialog
      title={`Delete ${noun} “${target?.name ?? ""}”`}
      action={force ? "Delete anyway" : `Delete ${noun}`}
      isDangerous
      target={target}
      change={{
        mutate: (record) => deleting.mutate({ record, force }),
        isPending: deleting.isPending,
        error: force ? undefined : error,
      }}
      onClose={close}
    >
      {force ? <Users noun={noun} users={users} /> : children}
    </ConfirmDialog>
  );
}

interface UsersProps {
  noun: string;
  users: readonly { path: string; message: string }[];
}

function Users({ noun, users }: UsersProps) {
  return (
    <div className="stack" role="alert">
      <p>This {noun} is in use. What uses it will no longer find it:</p>
      <ul className="bullets">
        {users.map(({ path, message }) => (
          <li key={path}>{capitalize(message)}</li>
        ))}
      </ul>
    </div>
  );
}
