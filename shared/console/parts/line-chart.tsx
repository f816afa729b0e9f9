import { t } from "../language/translate.ts";
import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import { formatDay, formatHour, formatNumber, formatRate } from "../format.ts";

export interface Series {
  label: string;
  /** Null for a time to come. */
  values: (number | null)[];
  /** A variable of styles.css. */
  color: "--chart-1" | "--chart-2" | "--chart-3";
  filled?: boolean;
  /** Whether it is drawn only when the reader asks for it. The table has it anyway. */
  isHidden?: boolean;
  /** Whether it is a limit to compare with: a dashed line that the table leaves out. */
  isLimit?: boolean;
}
interface LineChartProps {
  /** Dates such as 2026-11-21, or starts of hours (ISO 8601): one for each value. */
  times: string[];
  /** The time zone of hours. Absent for days. */
  timezone?: string;
  series: Series[];
  /** Whether values are rates from 0 to 1. Otherwise they count something. */
  isRate?: boolean;
  /** What the chart shows, as a sentence. */
  summary: string;
}
type Drawing = Pick<LineChartProps, "times" | "series"> & {
  timezone: string | undefined;
  unit: Unit;
};

/** How values are drawn and written. */
interface Unit {
  /** The scale ends at this value or above. */
  leastMax: number;
  /** Distances of ticks. */
  tickSteps: number[];
  axisSize: number;
  formatTick(value: number): string;
  format(value: number): string;
}

const height = 280;
/** One value makes no line, so a few are drawn as points too. */
const minLineTimes = 3;
const countValues = (values: Series["values"]): number =>
  values.filter((value) => value !== null).length;
const fontFamily = "'Inter Variable', system-ui";
const formatAt = (time: string, timezone: string | undefined): string =>
  timezone ? formatHour(time, timezone) : formatDay(time);
/** 1, 2, 5, 10 and so on. */
const stepsFrom = (least: number): number[] =>
  Array.from({ length: 9 }, (_, i) => [1, 2, 5].map((n) => least * n * 10 ** i)).flat();
const counts: Unit = {
  leastMax: 1,
  // There is no half of an email.
  tickSteps: stepsFrom(1),
  axisSize: 46,
  formatTick: (value) => (value >= 1000 ? `${value / 1000}k` : String(value)),
  format: formatNumber,
};
const formatSmallRate = (rate: number): string => formatRate(rate, 2);
const rates: Unit = {
  leastMax: 0.0001,
  tickSteps: stepsFrom(0.0001),
  axisSize: 58,
  formatTick: formatSmallRate,
  format: formatSmallRate,
};

const hourSteps = [1, 2, 3, 6, 12, 24].map((hours) => hours * 3600);
const dayTickSteps = [1, 2, 3, 7, 14, 28].map((days) => days * 24 * 3600);

/** A canvas says nothing to a screen reader, so a table has the same figures. */
export function LineChart({ times, timezone, series, isRate = false, summary }: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const reading = useRef<HTMLParagraphElement>(null);
  const scheme = useComputedColorScheme("light");
  const [switched, setSwitched] = useState<ReadonlySet<string>>(new Set());
  const isDrawn = ({ label, isHidden = false }: Series) => switched.has(label) === isHidden;
  const unit = isRate ? rates : counts;
  const drawing = useMemo(
    () => ({ times, timezone, unit, series: series.filter(isDrawn) }),
    [times, timezone, unit, series, switched],
  );

  useEffect(() => {
    const element = box.current!;
    // uPlot calls the hook a moment later. If the chart left the page, `reading.current` is null.
    const readingElement = reading.current!;
    const plot = drawPlot(element, drawing, (index) => {
      readingElement.textContent = index === null ? "" : describeTime(drawing, index);
    });
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [drawing, scheme]);

  return (
    <figure className="chart">
      <figcaption>
        {series.map((one) => (
          <button
            key={one.label}
            type="button"
            className={`key key${one.color}`}
            aria-pressed={isDrawn(one)}
            title={isDrawn(one) ? t("Hide this line") : t("Show this line")}
            onClick={() => setSwitched((old) => old.symmetricDifference(new Set([one.label])))}
          >
            {one.label}
          </button>
        ))}
        <p ref={reading} className="reading" aria-hidden />
      </figcaption>
      <div ref={box} role="img" aria-label={summary} />
      <details>
        <summary>{t("Show as table")}</summary>
        <FiguresTable times={times} timezone={timezone} unit={unit} series={series} />
      </details>
    </figure>
  );
}

const formatValue = (value: number | null | undefined, { format }: Unit): string =>
  typeof value === "number" ? format(value) : "–";

const withoutLimits = (series: Series[]): Series[] => series.filter(({ isLimit }) => !isLimit);

const describeTime = ({ times, timezone, unit, series }: Drawing, index: number): string =>
  [
    formatAt(times[index]!, timezone),
    ...withoutLimits(series).map(
      ({ label, values }) => `${label} ${formatValue(values[index], unit)}`,
    ),
  ].join("  ·  ");

function drawPlot(
  element: HTMLElement,
  { times, timezone, unit, series }: Drawing,
  showReading: (index: number | null) => void,
): uPlot {
  const css = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: css("--text-2"),
    font: `12px ${fontFamily}`,
    grid: { stroke: css("--line"), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [12, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 7 } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timezone ?? "UTC"),
      scales: { y: { range: (_, __, max) => [0, Math.max(max, unit.leastMax) * 1.08] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 30,
          space: timezone ? 92 : 70,
          incrs: timezone ? hourSteps : dayTickSteps,
          values: (_, ticks) =>
            ticks.map((seconds) => formatAt(new Date(seconds * 1000).toISOString(), timezone)),
        },
        {
          ...axis,
          size: unit.axisSize,
          space: 48,
          incrs: unit.tickSteps,
          values: (_, ticks) => ticks.map(unit.formatTick),
        },
      ],
      series: [
        {},
        ...series.map(({ label, color, filled, isLimit, values }) => ({
          label,
          stroke: css(color),
          width: 2,
          points: { show: !isLimit && countValues(values) < minLineTimes },
          ...(isLimit && { dash: [6, 4] }),
          ...(filled && { fill: `color-mix(in srgb, ${css(color)} 9%, transparent)` }),
        })),
      ],
      hooks: { setCursor: [({ cursor }) => showReading(cursor.idx ?? null)] },
    },
    [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => values)],
    element,
  );
}

function FiguresTable({ times, timezone, unit, series: drawn }: Drawing) {
  const series = withoutLimits(drawn);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{timezone ? t("Hour") : t("Day")}</th>
          {series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map((time, i) => (
          <tr key={time}>
            <th scope="row">{timezone ? formatHour(time, timezone) : time}</th>
            {series.map(({ label, values }) => (
              <td key={label}>{formatValue(values[i], unit)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
