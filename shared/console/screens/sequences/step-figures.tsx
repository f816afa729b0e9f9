import { useSearch } from "@tanstack/react-router";
import type { SequenceStepDetail } from "pennymail";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { CountList } from "../../parts/field-list.tsx";
import { PlainTable } from "../../parts/plain-table.tsx";
import type { DraftStep } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";
import { StepPeople } from "./step-people.tsx";
import { outletLabel, type PeopleKind } from "./step-texts.ts";

type Stats = SequenceStepDetail["stats"];

interface FiguresProps {
  step: DraftStep;
  stats: Stats;
}

/** The figures of the step. A click lists the contacts that a figure counts. */
export function StepFigures({ step, stats }: FiguresProps) {
  const { open } = useStepEditor();
  const { people } = useSearch({ from: "/shell/sequences/$id/{-$part}" });
  const { waiting, sent, opened, clicked } = stats;
  const listed: [PeopleKind, string, number][] = [["here", t("Here now"), waiting]];
  if (step.type === "email")
    listed.push(
      ["sent", t("Sent"), sent],
      ["opened", t("Opened"), opened],
      ["clicked", t("Clicked"), clicked],
    );
  const shown = listed.find(([kind]) => kind === people);
  return (
    <section className="stack step-figures" aria-label={t("Numbers of the step")}>
      <div className="figure-buttons">
        {listed.map(([kind, label, count]) => (
          <button
            key={kind}
            type="button"
            aria-pressed={kind === people}
            onClick={() => open(step.key, kind === people ? undefined : kind)}
          >
            <span>{label}</span>
            <b>{formatNumber(count)}</b>
          </button>
        ))}
      </div>
      {shown && <StepPeople key={shown[0]} step={step} kind={shown[0]} label={shown[1]} />}
      <StepCounts step={step} stats={stats} />
      {stats.ways.length > 0 && <WayFigures step={step} stats={stats} />}
    </section>
  );
}

function StepCounts({ step, stats }: FiguresProps) {
  const { sequence } = useStepEditor();
  const { reached, waiting, acted, delivered, bounced, unsubscribed, converted, value } = stats;
  const counts: [string, number][] = [[t("Passed"), reached - waiting]];
  if (step.type === "action") counts.push([t("Done"), acted]);
  if (step.type === "email")
    counts.push(
      [t("Delivered"), delivered],
      [t("Bounced"), bounced],
      [t("Unsubscribed"), unsubscribed],
    );
  if (sequence.goals.length > 0 || converted > 0) counts.push([t("Converted here"), converted]);
  if (value) counts.push([t("Value"), value]);
  return <CountList counts={counts} />;
}

type WayRow = Stats["ways"][number] & { label: string };

/** The result of each way of a split. */
function WayFigures({ step, stats: { ways } }: FiguresProps) {
  const rows: WayRow[] = ways.map((way, i) => ({ ...way, label: outletLabel(step, `way${i}`) }));
  return (
    <PlainTable
      label={t("Results of the ways")}
      columns={[
        { label: t("Way"), render: ({ label }: WayRow) => label },
        { label: t("Reached"), isNumber: true, render: ({ reached }) => formatNumber(reached) },
        {
          label: t("Converted"),
          isNumber: true,
          render: ({ converted }) => formatNumber(converted),
        },
        { label: t("Value"), isNumber: true, render: ({ value }) => formatNumber(value) },
      ]}
      rows={rows}
      keyOf={({ label }) => label}
    />
  );
}
