import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowBackUp, IconArrowForwardUp, IconWalk } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { Canvas } from "./canvas.tsx";
import { KeptDraftActions, KeptDraftNote } from "./kept-draft.tsx";
import { useStepEditor } from "./step-editor.ts";
import { StepList } from "./step-list.tsx";
import type { StepDraft } from "./use-step-draft.ts";
import { useStepKeys } from "./use-step-keys.ts";

/** The steps as a drawing or as a list, and what was changed. */
export function StepsView({ steps, onWalk }: { steps: StepDraft; onWalk(): void }) {
  const { mayWrite, sequence } = useStepEditor();
  const { view } = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const navigate = useNavigate({ from: "/sequences/$id/{-$part}" });
  const isPhone = useMediaQuery("(max-width: 720px)", undefined, {
    getInitialValueInEffect: false,
  });
  const shown = view ?? (isPhone ? "list" : "drawing");
  const { history, isOutdated, isDirty, saving, discard } = steps;
  useShortcuts([
    { keys: ["mod+Z"], label: t("Undo"), run: history.undo },
    { keys: ["mod+shift+Z", "mod+Y"], label: t("Redo"), run: history.redo },
  ]);
  useStepKeys();
  return (
    <>
      <div className="step-bar">
        <SegmentedControl
          aria-label={t("View of the steps")}
          size="xs"
          value={shown}
          onChange={(next) =>
            navigate({ search: (old) => ({ ...old, view: next }), replace: true })
          }
          data={[
            { value: "drawing", label: t("Canvas") },
            { value: "list", label: t("List") },
          ]}
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<IconWalk size={16} />}
          disabled={sequence.steps.length === 0}
          onClick={onWalk}
        >
          {t("Walk a contact through")}
        </Button>
        {mayWrite && <DraftActions steps={steps} />}
      </div>
      {mayWrite && <KeptDraftNote steps={steps} />}
      <ErrorNote error={steps.kept.saving.error} />
      {isOutdated && isDirty ? (
        <div className="error-note" role="alert">
          <p>
            {t(
              "Somebody else has changed the steps since you began, so yours cannot " +
                "be saved. Discard your changes to continue with the new steps.",
            )}
          </p>
          <div className="buttons">
            <Button size="xs" variant="default" onClick={discard}>
              {t("Discard my changes")}
            </Button>
          </div>
        </div>
      ) : (
        <ErrorNote error={saving.error} />
      )}
      {shown === "list" ? <StepList /> : <Canvas />}
    </>
  );
}

function DraftActions({ steps }: { steps: StepDraft }) {
  const { sequence } = useStepEditor();
  const { history, isDirty, saving, discard, kept } = steps;
  const isKept = kept.version !== undefined;
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
  const startSaving = () => {
    if (!isDirty) return;
    if (isKept) kept.saving.mutate();
    else if (waiting > 0) setLeft(waiting);
    else saving.mutate();
  };
  useShortcuts([{ keys: ["mod+S"], label: t("Save the steps"), run: startSaving, inFields: true }]);
  return (
    <>
      <ActionIcon
        variant="default"
        size="md"
        aria-label={t("Undo")}
        disabled={!history.canUndo}
        onClick={history.undo}
      >
        <IconArrowBackUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size="md"
        aria-label={t("Redo")}
        disabled={!history.canRedo}
        onClick={history.redo}
      >
        <IconArrowForwardUp size={16} />
      </ActionIcon>
      {isKept ? (
        <KeptDraftActions steps={steps} />
      ) : (
        <>
          <span className="draft-state" role="status">
            {stateText(isDirty, saving.isSuccess)}
          </span>
          {isDirty && (
            <Button size="xs" variant="default" onClick={discard}>
              {t("Discard")}
            </Button>
          )}
          {isDirty && sequence.status === "active" && !sequence.draft && (
            <Button
              size="xs"
              variant="default"
              loading={kept.saving.isPending}
              onClick={() => kept.saving.mutate()}
            >
              {t("Save as draft")}
            </Button>
          )}
          <Button size="xs" disabled={!isDirty} loading={saving.isPending} onClick={startSaving}>
            {t("Save steps")}
          </Button>
        </>
      )}
      <ConfirmDialog
        title={t("Save steps")}
        action={t("Save steps")}
        target={left}
        change={save}
        onClose={() => setLeft(undefined)}
      >
        {t(
          "{count, plural, one {# contact is} other {# contacts are}} at steps that you deleted. " +
            "They go on at once with the next step that stays, or leave the sequence if there is " +
            "none.",
          { count: left ?? 0 },
        )}
      </ConfirmDialog>
    </>
  );
}

function stateText(isDirty: boolean, isSaved: boolean): string {
  if (isDirty) return t("Changes are not saved");
  return isSaved ? t("Saved") : "";
}
