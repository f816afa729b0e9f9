import { Button, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SequenceStepDetail } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { RuleFields } from "./rule-fields.tsx";
import {
  changeStep,
  type DraftStep,
  isSaved,
  moveStep,
  outletsOf,
  possibleTargets,
  problemsOf,
  removeStep,
} from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { labelOf, minutesIn, splitDuration, unitOptions } from "./step-texts.ts";

const titles: Record<DraftStep["type"], string> = {
  email: "Send an email",
  delay: "Wait",
  condition: "Branch on a condition",
};

export function StepPanel({ step }: { step: DraftStep }) {
  const { sequence, history, mayWrite, refusals, open } = useStepEditor();
  const stats = sequence.steps.find(({ id }) => String(id) === step.key)?.stats;
  const problem = refusals.get(step.key) ?? problemsOf(step)[0];
  const Fields = fieldsByType[step.type];
  return (
    <SidePanel
      label="Step"
      title={
        <>
          <h2>{titles[step.type]}</h2>
          <p>Step {numberIn(history.draft)(step.key)}</p>
        </>
      }
      onClose={() => open(undefined)}
    >
      <fieldset className="plain-fieldset stack" disabled={!mayWrite}>
        <Fields step={step} />
        {problem && (
          <p className="tone-warn" role="status">
            {problem}
          </p>
        )}
        {outletsOf(step).map((outlet) => (
          <TargetSelect key={outlet} step={step} outlet={outlet} />
        ))}
      </fieldset>
      {mayWrite && <StepActions step={step} />}
      {stats && <StepNumbers step={step} stats={stats} />}
    </SidePanel>
  );
}

interface StepProps {
  step: DraftStep;
}

/** Changes the step. Changes of the same field, one after the other, are undone together. */
function useStepChange({ key }: DraftStep) {
  const { history } = useStepEditor();
  return (changes: Partial<DraftStep>) =>
    history.change(
      changeStep(history.draft, key, changes),
      `${key} ${Object.keys(changes).join(" ")}`,
    );
}

function EmailFields({ step }: StepProps) {
  const { choices } = useStepEditor();
  const change = useStepChange(step);
  const { templates } = choices;
  const template = templates.find(({ id }) => id === step.templateId);
  return (
    <>
      <Select
        label="Template"
        placeholder="Choose a template"
        searchable
        nothingFoundMessage="No template has this name"
        data={recordOptions(templates)}
        value={step.templateId === null ? null : String(step.templateId)}
        onChange={(id) => change({ templateId: id ? Number(id) : null })}
      />
      {templates.length === 0 && (
        <p className="quiet">
          There is no template yet. <Link to="/templates">Make one first.</Link>
        </p>
      )}
      {step.templateId !== null && (
        <p>
          <Link to="/templates/$id" params={{ id: step.templateId }}>
            Edit “{template?.name ?? "the template"}”
          </Link>
        </p>
      )}
      {step.templateId !== null && <TemplatePreview id={step.templateId} />}
    </>
  );
}

function TemplatePreview({ id }: { id: number }) {
  const { data, error } = useQuery(queries.renderedDraft(id, {}));
  if (!data) return <ErrorNote error={error} />;
  return (
    <details className="preview-details">
      <summary>Preview: {data.subject}</summary>
      <EmailPreview html={data.html ?? ""} title="Preview of the email" />
    </details>
  );
}

const maxDelayMinutes = 2 * 365 * 24 * 60;

function DelayFields({ step }: StepProps) {
  const change = useStepChange(step);
  const minutes = step.delayMinutes ?? 0;
  const [chosenUnit, setUnit] = useState(() => splitDuration(minutes).unit);
  // After an undo, the chosen unit may not fit.
  const isWhole = minutes % minutesIn(chosenUnit) === 0;
  const unit = isWhole ? chosenUnit : splitDuration(minutes).unit;
  const size = minutesIn(unit);
  const count = minutes / size;
  return (
    <div className="field-row">
      <NumberInput
        label="Wait for"
        min={0}
        max={Math.floor(maxDelayMinutes / size)}
        allowDecimal={false}
        value={step.delayMinutes === null ? "" : count}
        onChange={(value) => change({ delayMinutes: value === "" ? null : Number(value) * size })}
      />
      <Select
        label="Unit"
        data={unitOptions}
        allowDeselect={false}
        value={unit}
        onChange={(chosen) => {
          setUnit(chosen!);
          change({ delayMinutes: Math.min(count * minutesIn(chosen!), maxDelayMinutes) });
        }}
      />
    </div>
  );
}

function ConditionFields({ step }: StepProps) {
  const change = useStepChange(step);
  return <RuleFields step={step} onChange={(rules) => change({ rules })} />;
}

const fieldsByType = { email: EmailFields, delay: DelayFields, condition: ConditionFields };

const end = "end";

/** Where the way goes on. Branches meet again when both lead to the same step. */
function TargetSelect({ step, outlet }: StepProps & { outlet: "next" | "yes" | "no" }) {
  const { history, names } = useStepEditor();
  const { draft } = history;
  const numberOf = numberIn(draft);
  const targets = possibleTargets(draft, step.key);
  const labels = { next: "Then go on with", yes: "If yes, go on with", no: "If no, go on with" };
  const change = useStepChange(step);
  return (
    <Select
      label={labels[outlet]}
      allowDeselect={false}
      data={[
        ...targets.map((target) => ({
          value: target.key,
          label: labelOf(target, { names, numberOf }),
        })),
        { value: end, label: "The end of the sequence" },
      ]}
      value={step.to[outlet] ?? end}
      onChange={(key) => change({ to: { ...step.to, [outlet]: key === end ? null : key } })}
    />
  );
}

function StepActions({ step }: StepProps) {
  const { history, open } = useStepEditor();
  const { draft } = history;
  const after = removeStep(draft, step.key);
  const others = draft.length - after.length - 1;
  return (
    <div className="buttons">
      {step.type !== "condition" &&
        (["up", "down"] as const).map((direction) => {
          const moved = moveStep(draft, step.key, direction);
          return (
            <Button
              key={direction}
              size="xs"
              variant="default"
              disabled={!moved}
              onClick={() => moved && history.change(moved)}
            >
              Move {direction}
            </Button>
          );
        })}
      <Button
        size="xs"
        variant="default"
        color="red"
        onClick={() => {
          history.change(after);
          open(undefined);
        }}
      >
        {others > 0 ? `Delete ${others + 1} steps` : "Delete step"}
      </Button>
    </div>
  );
}

function StepNumbers({ step, stats }: StepProps & { stats: SequenceStepDetail["stats"] }) {
  const { sequence } = useStepEditor();
  const { reached, waiting, sent, delivered, opened, clicked, bounced, unsubscribed } = stats;
  const counts: [string, number][] = [
    ["Here now", waiting],
    ["Passed", reached - waiting],
  ];
  const emailCounts: [string, number][] = [
    ["Sent", sent],
    ["Delivered", delivered],
    ["Opened", opened],
    ["Clicked", clicked],
    ["Bounced", bounced],
    ["Unsubscribed", unsubscribed],
  ];
  return (
    <section className="stack" aria-label="Numbers of the step">
      <CountList counts={step.type === "email" ? [...counts, ...emailCounts] : counts} />
      {isSaved(step.key) && (
        <p>
          <Link
            to="/sequences/$id/{-$part}"
            params={{ id: sequence.id, part: "contacts" }}
            search={{ step: Number(step.key), status: "active" }}
          >
            Show who is here
          </Link>
        </p>
      )}
    </section>
  );
}
