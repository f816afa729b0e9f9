import { Button, Modal } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";

interface LeaveDialogProps {
  sequenceId: number;
  isDirty: boolean;
}

/** Asks before unsaved steps are left. Other parts of the same sequence keep them. */
export function LeaveDialog({ sequenceId, isDirty }: LeaveDialogProps) {
  const own = new RegExp(`/sequences/${sequenceId}(/|$)`);
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isDirty && !own.test(next.pathname),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  const isAsked = blocker.status === "blocked";
  return (
    <Modal
      opened={isAsked}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      lockScroll={false}
    >
      <div className="stack">
        <p>The steps have changes that are not saved. They are lost when you leave.</p>
        <div className="buttons">
          <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
            Stay
          </Button>
          <Button color="red" onClick={() => blocker.proceed?.()}>
            Leave and lose the changes
          </Button>
        </div>
      </div>
    </Modal>
  );
}
