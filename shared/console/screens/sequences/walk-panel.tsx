import { Checkbox, Select } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { WalkedStep } from "pennymail";
import { useEffect, useMemo, useState } from "react";
import { sequenceQueries, type WalkCall } from "../../data/sequence-queries.ts";
import { useMe } from "../../data/session.ts";
import { formatHour, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { SidePanel } from "../../parts/side-panel.tsx";
import { DurationFields } from "./duration-fields.tsx";
import { type DraftStep, type DraftSteps, stepOf } from "./step-draft.ts";
import { focusStep, numberIn, showStep, useStepEditor, type WalkMarks } from "./step-editor.ts";
import { labelOf, outletLabel } from "./step-texts.ts";
import { fromStored, type StoredStep } from "./stored-steps.ts";
import { PropertiesInput, parseProperties, WalkPerson } from "./walk-person.tsx";
import { endText, outletOf, resultText } from "./walk-texts.ts";

/** The contact who is walked through, and the time at which the walk starts. */
export type WalkInput = Omit<WalkCall, "outcomes">;
type Outcome = NonNullable<WalkCall["outcomes"]>[number];

interface PanelProps {
  /** Whether the draft has steps that the walk does not know. */
  isDirty: boolean;
  onMarks(marks: WalkMarks | undefined): void;
  onClose(): void;
}

/** Shows what the sequence would do for one contact. Nothing is sent. */
export function WalkPanel({ isDirty, onMarks, onClose }: PanelProps) {
  const { sequence } = useStepEditor();
  const { timezone } = useMe().organization;
  const [input, setInput] = useState<WalkInput>();
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const saved = useMemo(() => fromStored(sequence.steps as StoredStep[]), [sequence.steps]);
  const walking = useQuery({
    ...sequenceQueries.walk(sequence.id, sequence.stepsVersion, { ...input, outcomes } as WalkCall),
    enabled: input !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { data: walk, error, isFetching } = walking;
  useEffect(() => {
    onMarks(walk && marksOf(walk.steps, saved, timezone));
    return () => onMarks(undefined);
  }, [walk, saved, timezone, onMarks]);
  const firstKey = walk?.steps[0] && String(walk.steps[0].stepId);
  useEffect(() => {
    if (firstKey) showStep(firstKey);
  }, [firstKey]);
  const change = (stepId: number, next: Omit<Outcome, "stepId"> | undefined) =>
    setOutcomes((old) => [
      ...old.filter((one) => one.stepId !== stepId),
      ...(next ? [{ stepId, ...next }] : []),
    ]);
  return (
    <SidePanel
      label={t("Walk")}
      title={
        <>
          <h2>{t("Walk a contact through")}</h2>
          <p>{t("Nothing is sent. Times are in {timezone}.", { timezone })}</p>
        </>
      }
      onClose={onClose}
    >
      <WalkPerson
        sequence={sequence}
        isPending={isFetching && !walk}
        error={error}
        onWalk={setInput}
      />
      {isDirty && <p className="tone-warn">{t("The walk takes the steps as they are saved.")}</p>}
      {walk && (
        <section className="stack" aria-label={t("The walk")} aria-busy={isFetching}>
          {walk.matchesFilter === false && (
            <p className="tone-warn">
              {t("The trigger would not start this contact: it does not match the filter.")}
            </p>
          )}
          <ol className="walk">
            <li>
              <time dateTime={walk.startsAt}>{formatTime(walk.startsAt, timezone)}</time>
              <b>{t("Start")}</b>
            </li>
            {walk.steps.map((walked) => (
              <WalkItem
                key={walked.stepId}
                walked={walked}
                saved={saved}
                outcome={outcomes.find(({ stepId }) => stepId === walked.stepId)}
                onChange={(next) => change(walked.stepId, next)}
              />
            ))}
            <li>
              <time dateTime={walk.end.at}>{formatTime(walk.end.at, timezone)}</time>
              <b>{endText(walk.end)}</b>
            </li>
          </ol>
        </section>
      )}
    </SidePanel>
  );
}

function marksOf(walked: readonly WalkedStep[], saved: DraftSteps, timezone: string): WalkMarks {
  return {
    times: new Map(walked.map(({ stepId, at }) => [String(stepId), formatHour(at, timezone)])),
    outlets: new Set(
      walked.flatMap((one) => {
        const step = stepOf(saved, String(one.stepId));
        return step ? [`${step.key} ${outletOf(one, step)}`] : [];
      }),
    ),
  };
}

interface ItemProps {
  walked: WalkedStep;
  saved: DraftSteps;
  outcome: Outcome | undefined;
  onChange(outcome: Omit<Outcome, "stepId"> | undefined): void;
}

function WalkItem({ walked, saved, outcome, onChange }: ItemProps) {
  const { names } = useStepEditor();
  const { timezone } = useMe().organization;
  const { at, until, timezone: own, type, mail, actionProblem } = walked;
  const step = stepOf(saved, String(walked.stepId));
  if (!step) return null;
  const format = (iso: string) => {
    const time = formatTime(iso, timezone);
    return own && own !== timezone
      ? t("{time} ({iso} in {own})", { time, iso: formatHour(iso, own), own })
      : time;
  };
  return (
    <li>
      <time dateTime={at}>{formatTime(at, timezone)}</time>
      <button type="button" className="walk-step" onClick={() => focusStep(step.key)}>
        {labelOf(step, { names, numberOf: numberIn(saved) })}
      </button>
      <p className={(mail?.problem ?? actionProblem) ? "tone-warn" : undefined}>
        {resultText(walked, format)}
      </p>
      {type === "email" && until !== null && (
        <p className="quiet">
          {t("It waited for the sending times until {until}.", { until: format(until) })}
        </p>
      )}
      <OutcomeFields step={step} saved={saved} outcome={outcome} onChange={onChange} />
    </li>
  );
}

type OutcomeProps = Omit<ItemProps, "walked"> & { step: DraftStep };

/** What the contact does at the step, as far as that can be chosen. */
function OutcomeFields(props: OutcomeProps) {
  const { step } = props;
  if (step.type === "split") return <WayChoice {...props} />;
  if (step.type === "wait_until" && step.wait?.eventName !== undefined)
    return <EventChoice {...props} />;
  return step.type === "email" ? <EngagementChoice {...props} /> : null;
}

function WayChoice({ step, outcome, onChange }: OutcomeProps) {
  return (
    <Select
      aria-label={t("Way")}
      size="xs"
      placeholder={t("Drawn by chance")}
      clearable
      clearButtonProps={{ "aria-label": t("Draw by chance") }}
      data={(step.weights ?? []).map((_, way) => ({
        value: String(way),
        label: outletLabel(step, `way${way}`),
      }))}
      value={outcome?.way === undefined ? null : String(outcome.way)}
      onChange={(way) => onChange(way === null ? undefined : { way: Number(way) })}
    />
  );
}

function EventChoice({ step, outcome, onChange }: OutcomeProps) {
  const { event } = outcome ?? {};
  const [properties, setProperties] = useState("");
  return (
    <>
      <Checkbox
        size="xs"
        label={t("“{eventName}” happens", { eventName: step.wait?.eventName })}
        checked={event !== undefined}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.checked ? { event: { afterMinutes: 60 } } : undefined)
        }
      />
      {event && (
        <>
          <DurationFields
            label={t("After")}
            minutes={event.afterMinutes ?? 0}
            onChange={(minutes) => onChange({ event: { ...event, afterMinutes: minutes ?? 0 } })}
          />
          <PropertiesInput
            label={t("Properties of the event")}
            value={properties}
            onChange={(text) => {
              setProperties(text);
              const parsed = text.trim() ? parseProperties(text) : {};
              if (parsed) onChange({ event: { ...event, properties: parsed } });
            }}
          />
        </>
      )}
    </>
  );
}

const facts = [
  { fact: "opened", label: t("Opens it") },
  { fact: "clicked", label: t("Clicks a link") },
] as const;

/** Offered for emails that a condition asks about. */
function EngagementChoice({ step, saved, outcome, onChange }: OutcomeProps) {
  const rules = JSON.stringify(saved.map((one) => one.rules));
  return facts
    .filter(({ fact }) => rules.includes(`"step.${step.key}.${fact}"`))
    .map(({ fact, label }) => (
      <Checkbox
        key={fact}
        size="xs"
        label={label}
        checked={outcome?.[fact] ?? false}
        onChange={({ currentTarget }) => onChange({ ...outcome, [fact]: currentTarget.checked })}
      />
    ));
}
