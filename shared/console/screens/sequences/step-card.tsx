import {
  IconAlertTriangle,
  IconArrowsShuffle,
  IconArrowsSplit2,
  IconBolt,
  IconClock,
  IconFlag,
  IconHourglass,
  IconMail,
} from "@tabler/icons-react";
import type { SequenceStepDetail } from "pennymail";
import { memo } from "react";
import { formatNumber, formatRate } from "../../format.ts";
import { t } from "../../language/translate.ts";
import type { DraftStep } from "./step-draft.ts";
import { numberIn, useStepEditor } from "./step-editor.ts";
import { problemsOf } from "./step-problems.ts";
import { type PeopleKind, textOf, typeLabels } from "./step-texts.ts";

export const typeIcons = {
  email: IconMail,
  delay: IconClock,
  condition: IconArrowsSplit2,
  split: IconArrowsShuffle,
  exit: IconFlag,
  wait_until: IconHourglass,
  action: IconBolt,
} satisfies Record<DraftStep["type"], typeof IconMail>;

interface StepProps {
  step: DraftStep;
  number: number;
}

/** A step with its numbers. Opens the panel of the step, or the list of who a number counts. */
export function StepCard({ step, number }: StepProps) {
  const { history, names, sequence, refusals, openKey, walk, open } = useStepEditor();
  const stats = sequence.steps.find(({ id }) => String(id) === step.key)?.stats;
  return (
    <Card
      stepKey={step.key}
      type={step.type}
      number={number}
      text={textOf(step, { names, numberOf: numberIn(history.draft) })}
      problem={refusals.get(step.key) ?? problemsOf(step)[0]}
      stats={stats}
      isOpen={step.key === openKey}
      walkedAt={walk?.times.get(step.key)}
      onOpen={open}
    />
  );
}

interface CardProps {
  stepKey: string;
  type: DraftStep["type"];
  number: number;
  text: string;
  problem: string | undefined;
  stats: Stats | undefined;
  isOpen: boolean;
  /** When the contact of a walk reaches it. */
  walkedAt: string | undefined;
  onOpen(key: string, people?: PeopleKind): void;
}

/** React draws only those cards again that have changed, because a sequence can have many. */
const Card = memo(function Card(props: CardProps) {
  const { stepKey, type, number, text, problem, stats, isOpen, walkedAt, onOpen } = props;
  const Icon = typeIcons[type];
  const waiting = stats?.waiting ?? 0;
  return (
    <div
      className={walkedAt ? `step-card type-${type} walked` : `step-card type-${type}`}
      data-step={stepKey}
      data-open={isOpen || undefined}
    >
      <button
        type="button"
        className="step-open"
        aria-expanded={isOpen}
        onClick={() => onOpen(stepKey)}
      >
        <span className="step-icon" aria-hidden>
          <Icon size={17} stroke={1.7} />
        </span>
        <span className="step-text">
          <small>
            {number}. {typeLabels[type]}
          </small>
          <b>{text}</b>
        </span>
      </button>
      {waiting > 0 && (
        <button type="button" className="step-here" onClick={() => onOpen(stepKey, "here")}>
          {t("{waiting} here", { waiting: formatNumber(waiting) })}
        </button>
      )}
      <div className="step-foot">
        {problem ? (
          <small className="step-problem">
            <IconAlertTriangle size={13} aria-hidden /> {problem}
          </small>
        ) : (
          <StepFigures type={type} stats={stats} onList={(people) => onOpen(stepKey, people)} />
        )}
        {walkedAt && <span className="step-walked">{walkedAt}</span>}
      </div>
    </div>
  );
});

type Stats = SequenceStepDetail["stats"];

interface FiguresProps {
  type: DraftStep["type"];
  stats: Stats | undefined;
  onList(people: PeopleKind): void;
}

function StepFigures({ type, stats, onList }: FiguresProps) {
  if (!stats) return <small>{t("Not saved yet")}</small>;
  const { waiting, reached, sent, opened, clicked } = stats;
  if (type !== "email")
    return <small>{t("{number} passed", { number: formatNumber(reached - waiting) })}</small>;
  if (sent === 0) return <small>{t("0 sent")}</small>;
  const rate = (count: number) => formatRate(count / sent, 0);
  const figures: [PeopleKind, string][] = [
    ["sent", t("{sent} sent", { sent: formatNumber(sent) })],
    ["opened", t("{opened} opened", { opened: rate(opened) })],
    ["clicked", t("{clicked} clicked", { clicked: rate(clicked) })],
  ];
  return figures.map(([people, text]) => (
    <button key={people} type="button" className="step-figure" onClick={() => onList(people)}>
      {text}
    </button>
  ));
}
