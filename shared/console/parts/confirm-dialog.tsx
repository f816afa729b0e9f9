import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect } from "react";
import { doneTextOf } from "../format.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { isInUse, RecordUses } from "./record-uses.tsx";
import { useTextField } from "./text-field.ts";

interface ConfirmDialogProps<Target> {
  title: string;
  /** Verb and object: "Delete 3 contacts". */
  action: string;
  isDangerous?: boolean;
  /** What the action is done to. The dialog is open while there is one. */
  target: Target | undefined;
  /** The action, as `useChange` returns it. */
  change: {
    mutate(target: Target): void;
    announce?(text: string | undefined): void;
    isPending: boolean;
    error: unknown;
  };
  /** A text that must be typed first, for what cannot be undone. */
  typed?: string | undefined;
  /** What happens to what uses the target. */
  usesNote?: string;
  onClose(): void;
  /** What will happen. */
  children: ReactNode;
}

/** Text without the spaces that a page does not show. */
const normalize = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

/**
 * Says what an action will do before it is done. The focus is not on the action, so that one press
 * of Enter too many does nothing.
 */
export function ConfirmDialog<Target>(props: ConfirmDialogProps<Target>) {
  const { title, action, isDangerous, target, change, typed, usesNote, onClose, children } = props;
  const entered = useTextField();
  useEffect(() => entered.set(""), [target]);
  const isTyped = typed === undefined || normalize(entered.value) === normalize(typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The dialog can be part of a form's tree.
    event.stopPropagation();
    if (target === undefined || !isTyped || change.isPending) return;
    change.announce?.(doneTextOf(action));
    change.mutate(target);
  };
  return (
    <Modal opened={target !== undefined} onClose={onClose} title={title} lockScroll={false}>
      <form className="stack" onSubmit={submit}>
        <div>{children}</div>
        {typed !== undefined && (
          <TextInput
            label={t("Type {typed} to confirm", { typed })}
            autoComplete="off"
            data-autofocus
            {...entered.input}
          />
        )}
        {isInUse(change.error) ? (
          <RecordUses error={change.error} note={usesNote} />
        ) : (
          <ErrorNote error={change.error} />
        )}
        <div className="buttons">
          <Button
            variant="default"
            onClick={onClose}
            {...(typed === undefined && { "data-autofocus": true })}
          >
            {t("Not now")}
          </Button>
          <Button
            type="submit"
            {...(isDangerous && { color: "red" })}
            loading={change.isPending}
            disabled={!isTyped}
          >
            {isInUse(change.error) ? t("Delete anyway") : action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
