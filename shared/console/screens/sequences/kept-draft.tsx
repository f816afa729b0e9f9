import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { StepDraft as SavedDraft, SequenceDetail } from "pennymail";
import { useState } from "react";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { numberIn, useStepEditor } from "./step-editor.ts";
import type { StepDraft } from "./use-step-draft.ts";

/** Offers the draft that waits beside the steps of the sequence. */
export function KeptDraftNote({ steps }: { steps: StepDraft }) {
  const { sequence } = useStepEditor();
  const { timezone } = useMe().organization;
  const { kept, isDirty } = steps;
  const summary = sequence.draft;
  const { data, error } = useQuery({
    ...sequenceQueries.draft(sequence.id, summary?.draftVersion ?? 0),
    enabled: summary !== null,
  });
  if (!summary || kept.version !== undefined) return null;
  return (
    <div className="kept-draft" role="status">
      <p>
        {t(
          "A draft of these steps was saved {updatedAt}. Contacts run through " +
            "the steps below until it is published.",
          { updatedAt: formatAgo(summary.updatedAt, timezone) },
        )}
      </p>
      <ErrorNote error={error} />
      <div className="buttons">
        <Button
          size="xs"
          variant="default"
          disabled={isDirty || !data}
          onClick={() => data && kept.open(data)}
        >
          {t("Open draft")}
        </Button>
      </div>
    </div>
  );
}

/** Saves, publishes or discards the draft that is being edited. */
export function KeptDraftActions({ steps }: { steps: StepDraft }) {
  const { sequence } = useStepEditor();
  const { kept, isDirty } = steps;
  const [asked, setAsked] = useState<"publish" | "discard">();
  const close = () => {
    kept.publishing.reset();
    kept.discarding.reset();
    setAsked(undefined);
  };
  return (
    <>
      <span className="draft-state" role="status">
        {isDirty ? t("Changes are not saved") : t("Draft saved")}
      </span>
      <Button size="xs" variant="default" onClick={() => setAsked("discard")}>
        {t("Discard draft")}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={!isDirty}
        loading={kept.saving.isPending}
        onClick={() => kept.saving.mutate()}
      >
        {t("Save draft")}
      </Button>
      <Button size="xs" disabled={isDirty} onClick={() => setAsked("publish")}>
        {t("Publish")}
      </Button>
      <ConfirmDialog
        title={t("Publish draft")}
        action={t("Publish")}
        target={asked === "publish" ? sequence.stepsVersion : undefined}
        change={kept.publishing}
        onClose={close}
      >
        <PublishedChanges sequence={sequence} version={kept.version ?? 0} />
      </ConfirmDialog>
      <ConfirmDialog
        title={t("Discard draft")}
        action={t("Discard draft")}
        isDangerous
        target={asked === "discard" ? sequence.name : undefined}
        change={kept.discarding}
        onClose={close}
      >
        {t("The draft is lost. The steps that contacts run through stay as they are.")}
      </ConfirmDialog>
    </>
  );
}

interface PublishedChangesProps {
  sequence: SequenceDetail;
  version: number;
}

/** What publishing does to the contacts that are in the sequence. */
function PublishedChanges({ sequence, version }: PublishedChangesProps) {
  const { data, error } = useQuery(sequenceQueries.draft(sequence.id, version));
  if (!data) return <ErrorNote error={error} />;
  const { effects, problems, isStale } = data;
  const affected = effects.filter(({ waiting }) => waiting > 0);
  return (
    <div className="stack">
      <p>{t("The draft takes the place of the steps at once.")}</p>
      {isStale && (
        <p className="tone-warn">
          {t("Somebody has changed the steps since the draft was made. Those changes are lost.")}
        </p>
      )}
      {problems.length > 0 && (
        <p className="tone-warn">{t("Not complete yet: {problem}", { problem: problems[0] })}</p>
      )}
      {affected.length === 0 ? (
        <p>{t("No contact is at a step that changes.")}</p>
      ) : (
        <ul className="plain-list">
          {affected.map((effect) => (
            <li key={effect.stepId}>{effectText(effect, sequence)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** "12 contacts are at step 2, which is deleted. They go on with step 3." */
function effectText(
  { stepId, effect, continuesAt, waiting }: SavedDraft["effects"][number],
  { steps }: SequenceDetail,
): string {
  const step = numberIn(steps.map(({ id }) => ({ key: String(id) })))(String(stepId));
  const values = { waiting, step, continuesAt };
  if (effect === "changed")
    return t(
      "{waiting, plural, one {# contact is} other {# contacts are}} at step {step}, which " +
        "changes.",
      values,
    );
  return continuesAt === null
    ? t(
        "{waiting, plural, one {# contact is at step {step}, which is deleted. It completes " +
          "the sequence.} other {# contacts are at step {step}, which is deleted. They complete " +
          "the sequence.}}",
        values,
      )
    : t(
        "{waiting, plural, one {# contact is at step {step}, which is deleted. It goes on with " +
          "step {continuesAt} of the draft.} other {# contacts are at step {step}, which is " +
          "deleted. They go on with step {continuesAt} of the draft.}}",
        values,
      );
}
