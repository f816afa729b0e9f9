import { IconAlertTriangle, IconArrowsSplit2, IconClock, IconMail } from "@tabler/icons-react";
import type { SequenceStepDetail } from "pennymail";
import { formatNumber, formatRate } from "../../format.ts";
import { type DraftStep, problemsOf } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { textOf, typeLabels } from "./step-texts.ts";

export const typeIcons = {
  email: IconMail,
  delay: IconClock,
  condition: IconArrowsSplit2,
} satisfies Record<DraftStep["type"], typeof IconMail>;

/** A step with its numbers. Opens the panel of the step. */
export function StepCard({ step, number }: { step: DraftStep; number: number }) {
  const { history, names, sequence, refusals, openKey, open } = useStepEditor();
  const Icon = typeIcons[step.type];
  const stats = sequence.steps.find(({ id }) => String(id) === step.key)?.stats;
  const problem = refusals.get(step.key) ?? problemsOf(step)[0];
  return (
    <button
      type="button"
      className={`step-card ${step.type}`}
      data-step={step.key}
      aria-expanded={step.key === openKey}
      onClick={() => open(step.key)}
    >
      <span className="step-icon" aria-hidden>
        <Icon size={16} stroke={1.8} />
      </span>
      <span className="step-text">
        <small>
          {number}. {typeLabels[step.type]}
        </small>
        <b>{textOf(step, { names, numberOf: numberIn(history.draft) })}</b>
        {problem ? (
          <small className="step-problem">
            <IconAlertTriangle size={13} aria-hidden /> {problem}
          </small>
        ) : (
          <small className="step-numbers">
            {stats ? numbersOf(step, stats).join(" · ") : "Not saved yet"}
          </small>
        )}
      </span>
    </button>
  );
}

type Stats = SequenceStepDetail["stats"];

function numbersOf({ type }: DraftStep, stats: Stats): string[] {
  const { waiting, reached, sent, opened, clicked } = stats;
  const shown = [`${formatNumber(waiting)} here`];
  if (type !== "email") return [...shown, `${formatNumber(reached - waiting)} passed`];
  const counts = [...shown, `${formatNumber(sent)} sent`];
  if (sent === 0) return counts;
  const rate = (count: number) => formatRate(count / sent, 0);
  return [...counts, `${rate(opened)} opened`, `${rate(clicked)} clicked`];
}
