import { Button, Modal } from "@mantine/core";
import { type FormEvent, type ReactNode, useId } from "react";
import { doneTextOf } from "../format.ts";
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

/** A form that a button opens. */
export function FormDialog({ title, opened, onClose, ...form }: FormDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} lockScroll={false}>
      <Form {...form} />
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
