import { Button, Modal } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useId, useState } from "react";
import { doneTextOf } from "../format.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";

/** What a form starts, as `useChange` returns it. */
interface Submission {
  mutate(): void;
  /** Sets what is shown when it is done. */
  announce?(text: string | undefined): void;
  isPending: boolean;
  error: unknown;
}

interface FormProps {
  /** A verb and its object: "Create key". */
  action: string;
  submission: Submission;
  /** Other errors that belong to the form. */
  error?: unknown;
  isDisabled?: boolean;
  className?: string;
  /** Whether the page itself shows that it is done. */
  isSilent?: boolean;
  /** Further buttons. */
  buttons?: ReactNode;
  children?: ReactNode;
}

/** Fields, what went wrong, and the button that saves them. */
export function Form(props: FormProps) {
  const { action, submission, isDisabled = false, className = "stack", buttons, children } = props;
  const submit = submitTo(submission, props.isSilent ? undefined : doneTextOf(action));
  return (
    <form className={className} onSubmit={submit}>
      {children}
      <ErrorNote error={submission.error ?? props.error} />
      <Button type="submit" disabled={isDisabled} loading={submission.isPending}>
        {action}
      </Button>
      {buttons}
    </form>
  );
}

interface FormCardProps extends Omit<FormProps, "className" | "isSilent"> {
  title: string;
  /** Beside the title, such as whether a change is saved. Screen readers announce it. */
  state?: string;
}

/** A form in a card with a heading. */
export function FormCard({ title, state, ...props }: FormCardProps) {
  const { action, submission, isDisabled = false, buttons, children } = props;
  const heading = useId();
  const submit = submitTo(submission, state === undefined ? doneTextOf(action) : undefined);
  return (
    <form className="card stack" aria-labelledby={heading} onSubmit={submit}>
      <h2>
        <span id={heading}>{title}</span>
        {state !== undefined && <small role="status">{state}</small>}
      </h2>
      {children}
      <ErrorNote error={submission.error ?? props.error} />
      <div className="buttons">
        {buttons}
        <Button type="submit" disabled={isDisabled} loading={submission.isPending}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface FormDialogProps extends Omit<FormProps, "className"> {
  title: string;
  opened: boolean;
  onClose(): void;
}

/** A form that a button opens. It asks before it is closed with what somebody typed. */
export function FormDialog({ title, opened, onClose, ...form }: FormDialogProps) {
  const [input, setInput] = useState<"none" | "typed" | "sent">("none");
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (opened) return;
    setInput("none");
    setAsking(false);
  }, [opened]);
  const isUnsaved = input === "typed" || (input === "sent" && Boolean(form.submission.error));
  const close = () => {
    if (isUnsaved && !isAsking) setAsking(true);
    else onClose();
  };
  const watch = {
    onInput: () => {
      setInput("typed");
      setAsking(false);
    },
    // The form stops the event before it comes up to here.
    onSubmitCapture: () => setInput("sent"),
  };
  return (
    <Modal opened={opened} onClose={close} title={title} lockScroll={false}>
      <div {...watch}>
        <Form {...form} />
      </div>
      {isAsking && (
        <div className="error-note" role="alert">
          <p>{t("What you typed is not saved.")}</p>
          <div className="buttons">
            <Button variant="default" size="xs" onClick={() => setAsking(false)}>
              {t("Keep writing")}
            </Button>
            <Button variant="default" size="xs" onClick={onClose}>
              {t("Discard it")}
            </Button>
          </div>
        </div>
      )}
    </Modal>
  );
}

const submitTo = (submission: Submission, doneText: string | undefined) => (event: FormEvent) => {
  event.preventDefault();
  // A dialog can be part of another form's tree.
  event.stopPropagation();
  submission.announce?.(doneText);
  submission.mutate();
};
