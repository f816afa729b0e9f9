import { SegmentedControl, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CampaignTimeline } from "pennymail";
import { lazy, Suspense, useMemo, useState } from "react";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatDay, formatHour, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import type { Series } from "../../parts/line-chart.tsx";

const LineChart = lazy(async () => ({
  default: (await import("../../parts/line-chart.tsx")).LineChart,
}));

type Unit = "hours" | "days";

/** Opens, clicks and emails of the first days by hour, or of all days. */
export function OverTime({ campaignId }: { campaignId: number }) {
  const { data, error } = useQuery(queries.campaignTimeline(campaignId));
  const [unit, setUnit] = useState<Unit>("hours");
  return (
    <Card title={t("Opens and clicks over time")}>
      <ErrorNote error={error} />
      {!data && !error && <Skeleton h={300} />}
      {data?.days.length === 0 && <p className="quiet">{t("No figures over time yet.")}</p>}
      {data && data.days.length > 0 && (
        <>
          <SegmentedControl
            className="start"
            aria-label={t("Figures by")}
            size="xs"
            value={unit}
            onChange={(value) => setUnit(value as Unit)}
            data={[
              { value: "hours", label: t("First 3 days by hour") },
              { value: "days", label: t("By day") },
            ]}
          />
          <Suspense fallback={<Skeleton h={300} />}>
            <Chart timeline={data} unit={unit} />
          </Suspense>
        </>
      )}
    </Card>
  );
}

interface Point {
  time: string;
  /** Null for a time to come. */
  figures: { sent: number; opened: number; clicked: number } | null;
}

const hourMs = 3_600_000;

/** With the rest of the first day or week, so that the first figures have a scale. */
const pointsOf = ({ hours, days }: CampaignTimeline, unit: Unit): Point[] =>
  unit === "hours"
    ? withRest(
        hours.map(({ from, ...figures }) => ({ time: from, figures })),
        { length: 24, stepMs: hourMs, toTime: (ms) => new Date(ms).toISOString() },
      )
    : withRest(
        days.map(({ date, ...figures }) => ({ time: date, figures })),
        {
          length: 7,
          stepMs: 24 * hourMs,
          toTime: (ms) => new Date(ms).toISOString().slice(0, 10),
        },
      );

interface Scale {
  length: number;
  stepMs: number;
  toTime(ms: number): string;
}

function withRest(points: Point[], { length, stepMs, toTime }: Scale): Point[] {
  const last = Date.parse(points.at(-1)!.time);
  const rest = Array.from({ length: Math.max(0, length - points.length) }, (_, i) => ({
    time: toTime(last + (i + 1) * stepMs),
    figures: null,
  }));
  return [...points, ...rest];
}

function Chart({ timeline, unit }: { timeline: CampaignTimeline; unit: Unit }) {
  const { timezone } = useMe().organization;
  const points = useMemo(() => pointsOf(timeline, unit), [timeline, unit]);
  const chart = useMemo(() => {
    const valuesOf = (name: "sent" | "opened" | "clicked") =>
      points.map(({ figures }) => figures?.[name] ?? null);
    return {
      times: points.map(({ time }) => time),
      series: [
        {
          label: t("Opened"),
          values: valuesOf("opened"),
          color: "--chart-2",
          filled: true,
        },
        { label: t("Clicked"), values: valuesOf("clicked"), color: "--chart-3" },
        // One hour has most of them, beside which opens and clicks are flat.
        {
          label: t("Sent"),
          values: valuesOf("sent"),
          color: "--chart-1",
          isHidden: true,
        },
      ] satisfies Series[],
    };
  }, [points]);
  const opensOf = ({ figures }: Point) => figures?.opened ?? 0;
  const best = points.toSorted((a, b) => opensOf(b) - opensOf(a))[0];
  const describeBest = (point: Point) => {
    const opens = formatNumber(opensOf(point));
    return unit === "hours"
      ? t("Most opens came in the hour from {time}: {opens}.", {
          time: formatHour(point.time, timezone),
          opens,
        })
      : t("Most opens came on {day}: {opens}.", { day: formatDay(point.time), opens });
  };
  const summary = best && opensOf(best) ? describeBest(best) : t("Nobody has opened it yet.");
  return (
    <>
      <p>{summary}</p>
      <LineChart
        {...chart}
        {...(unit === "hours" && { timezone })}
        summary={t("Line chart of opens and clicks. {summary}", { summary })}
      />
    </>
  );
}
