import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorNote } from "./error-note.tsx";

interface ConfirmDialogProps {
  title: string;
  /** Verb and object: "Delete 3 contacts". */
  action: string;
  isDangerous?: boolean;
  opened: boolean;
  isRunning: boolean;
  error: unknown;
  onConfirm(): void;
  onClose(): void;
  /** What will happen. */
  children: ReactNode;
}

/** Says what an action will do before it is done. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, action, isDangerous, opened, isRunning, error, onConfirm, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title} lockScroll={false}>
      <div className="stack">
        <div>{props.children}</div>
        <ErrorNote error={error} />
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Not now
          </Button>
          <Button
            {...(isDangerous && { color: "red" })}
            loading={isRunning}
            onClick={onConfirm}
            data-autofocus
          >
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
