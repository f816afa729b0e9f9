import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowBackUp, IconArrowForwardUp } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { formatNumber } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { StepDrawing } from "./step-drawing.tsx";
import { useStepEditor } from "./step-editor.ts";
import { StepList } from "./step-list.tsx";
import type { StepDraft } from "./use-step-draft.ts";

/** The steps as a drawing or as a list, and what was changed. */
export function StepsView({ steps }: { steps: StepDraft }) {
  const { mayWrite } = useStepEditor();
  const { view } = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const navigate = useNavigate({ from: "/sequences/$id/{-$part}" });
  const isPhone = useMediaQuery("(max-width: 720px)", undefined, {
    getInitialValueInEffect: false,
  });
  const shown = view ?? (isPhone ? "list" : "drawing");
  const { history, isOutdated, isDirty, saving, discard } = steps;
  useShortcuts([
    { keys: ["mod+Z"], label: "Undo", run: history.undo },
    { keys: ["mod+shift+Z", "mod+Y"], label: "Redo", run: history.redo },
  ]);
  return (
    <>
      <div className="step-bar">
        <SegmentedControl
          aria-label="View of the steps"
          size="xs"
          value={shown}
          onChange={(next) =>
            navigate({ search: (old) => ({ ...old, view: next }), replace: true })
          }
          data={[
            { value: "drawing", label: "Drawing" },
            { value: "list", label: "List" },
          ]}
        />
        {mayWrite && <DraftActions steps={steps} />}
      </div>
      {isOutdated && isDirty ? (
        <div className="error-note" role="alert">
          <p>
            Somebody else has changed the steps since you began, so yours cannot be saved. Discard
            your changes to continue with the new steps.
          </p>
          <div className="buttons">
            <Button size="xs" variant="default" onClick={discard}>
              Discard my changes
            </Button>
          </div>
        </div>
      ) : (
        <ErrorNote error={saving.error} />
      )}
      {shown === "list" ? <StepList /> : <StepDrawing />}
    </>
  );
}

function DraftActions({ steps }: { steps: StepDraft }) {
  const { sequence } = useStepEditor();
  const { history, isDirty, saving, discard } = steps;
  const [left, setLeft] = useState<number>();
  const keys = new Set(history.draft.map(({ key }) => key));
  const waiting = sequence.steps
    .filter(({ id }) => !keys.has(String(id)))
    .reduce((sum, { stats }) => sum + stats.waiting, 0);
  const save = {
    ...saving,
    mutate: () => {
      saving.mutate();
      setLeft(undefined);
    },
  };
  const startSaving = () => isDirty && (waiting > 0 ? setLeft(waiting) : saving.mutate());
  useShortcuts([{ keys: ["mod+S"], label: "Save the steps", run: startSaving, inFields: true }]);
  return (
    <>
      <ActionIcon
        variant="default"
        size="md"
        aria-label="Undo"
        disabled={!history.canUndo}
        onClick={history.undo}
      >
        <IconArrowBackUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size="md"
        aria-label="Redo"
        disabled={!history.canRedo}
        onClick={history.redo}
      >
        <IconArrowForwardUp size={16} />
      </ActionIcon>
      <span className="draft-state" role="status">
        {stateText(isDirty, saving.isSuccess)}
      </span>
      <Button size="xs" variant="default" disabled={!isDirty} onClick={discard}>
        Discard
      </Button>
      <Button size="xs" disabled={!isDirty} loading={saving.isPending} onClick={startSaving}>
        Save steps
      </Button>
      <ConfirmDialog
        title="Save steps"
        action="Save steps"
        target={left}
        change={save}
        onClose={() => setLeft(undefined)}
      >
        {formatNumber(left ?? 0)} {left === 1 ? "contact is" : "contacts are"} at steps that you
        deleted. They go on with the next step that stays, or leave the sequence if there is none.
      </ConfirmDialog>
    </>
  );
}

function stateText(isDirty: boolean, isSaved: boolean): string {
  if (isDirty) return "Changes are not saved";
  return isSaved ? "Saved" : "";
}
