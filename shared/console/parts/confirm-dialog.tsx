import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { ErrorNote } from "./error-note.tsx";
import { useTextField } from "./text-field.ts";

interface ConfirmDialogProps<Target> {
  title: string;
  /** Verb and object: "Delete 3 contacts". */
  action: string;
  isDangerous?: boolean;
  /** What the action is done to. The dialog is open while there is one. */
  target: Target | undefined;
  /** The action, as `useChange` returns it. */
  change: { mutate(target: Target): void; isPending: boolean; error: unknown };
  /** A text that must be typed first, for what cannot be undone. */
  typed?: string | undefined;
  onClose(): void;
  /** What will happen. */
  children: ReactNode;
}

/** Says what an action will do before it is done. */
export function ConfirmDialog<Target>(props: ConfirmDialogProps<Target>) {
  const { title, action, isDangerous, target, change, typed, onClose, children } = props;
  const entered = useTextField();
  useEffect(() => entered.set(""), [target]);
  return (
    <Modal opened={target !== undefined} onClose={onClose} title={title} lockScroll={false}>
      <div className="stack">
        <div>{children}</div>
        {typed !== undefined && (
          <TextInput label={`Type ${typed} to confirm`} autoComplete="off" {...entered.input} />
        )}
        <ErrorNote error={change.error} />
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Not now
          </Button>
          <Button
            {...(isDangerous && { color: "red" })}
            loading={change.isPending}
            disabled={typed !== undefined && entered.value !== typed}
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
