import { Button, Modal } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../language/translate.ts";
import { forgetAwaitedShortcut } from "../parts/shortcuts.ts";
import { hasUnsavedChanges, losesChanges } from "../parts/unsaved-changes.ts";

let askFirst: ((leave: () => void) => void) | undefined;

/** Runs `leave` at once, or when the user agrees to lose the changes. */
export function leaveAfterAsking(leave: () => void): void {
  if (askFirst && hasUnsavedChanges()) askFirst(leave);
  else leave();
}

/** Asks before changes that are not saved are left. */
export function LeaveDialog() {
  const [leave, setLeave] = useState<() => void>();
  askFirst = (next) => setLeave(() => next);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => losesChanges(current.pathname, next.pathname),
    enableBeforeUnload: hasUnsavedChanges,
    withResolver: true,
  });
  const stay = () => {
    forgetAwaitedShortcut();
    setLeave(undefined);
    reset?.();
  };
  const go = () => {
    setLeave(undefined);
    if (leave) leave();
    else proceed?.();
  };
  return (
    <Modal
      opened={status === "blocked" || leave !== undefined}
      onClose={stay}
      title={t("Leave without saving?")}
      lockScroll={false}
    >
      <div className="stack">
        <p>{t("This page has changes that are not saved. They are lost when you leave.")}</p>
        <div className="buttons">
          <Button variant="default" onClick={stay} data-autofocus>
            {t("Stay")}
          </Button>
          <Button color="red" onClick={go}>
            {t("Leave and lose the changes")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
