import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorNote } from "./error-note.tsx";

interface ConfirmDialogProps<Target> {
  title: string;
  /** Verb and object: "Delete 3 contacts". */
  action: string;
  isDangerous?: boolean;
  /** What the action is done to. The dialog is open while there is one. */
  target: Target | undefined;
  /** The action, as `useChange` returns it. */
  change: { mutate(target: Target): void; isPending: boolean; error: unknown };
  onClose(): void;
  /** What will happen. */
  children: ReactNode;
}

/** Says what an action will do before it is done. */
export function ConfirmDialog<Target>(props: ConfirmDialogProps<Target>) {
  const { title, action, isDangerous, target, change, onClose, children } = props;
  return (
    <Modal opened={target !== undefined} onClose={onClose} title={title} lockScroll={false}>
      <div className="stack">
        <div>{children}</div>
        <ErrorNote error={change.error} />
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Not now
          </Button>
          <Button
            {...(isDangerous && { color: "red" })}
            loading={change.isPending}
            onClick={() => target !== undefined && change.mutate(target)}
            data-autofocus
          >
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
