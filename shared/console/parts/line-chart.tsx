import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { formatDay, formatNumber } from "../format.ts";

export interface Series {
  label: string;
  values: number[];
  /** A variable of styles.css. */
  color: "--chart-1" | "--chart-2" | "--chart-3";
  filled?: boolean;
}
interface LineChartProps {
  /** Dates such as 2026-11-21, one for each value. */
  days: string[];
  series: Series[];
  /** What the chart shows, as a sentence. */
  summary: string;
}

const height = 280;
const fontFamily = "'Inter Variable', system-ui";
const dayOf = (seconds: number): string => formatDay(new Date(seconds * 1000).toISOString());
const formatTick = (value: number): string => (value >= 1000 ? `${value / 1000}k` : String(value));
/** Distances of ticks: 1, 2, 5, 10 and so on, because there is no half of an email. */
const tickSteps = Array.from({ length: 9 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

/** A canvas says nothing to a screen reader, so a table has the same figures. */
export function LineChart({ days, series, summary }: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const reading = useRef<HTMLParagraphElement>(null);
  const scheme = useComputedColorScheme("light");

  useEffect(() => {
    const element = box.current!;
    const plot = drawPlot(element, { days, series }, (index) => {
      reading.current!.textContent = index === null ? "" : describeDay(days, series, index);
    });
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [days, series, scheme]);

  return (
    <figure className="chart">
      <figcaption>
        {series.map(({ label, color }) => (
          <span key={label} className={`key key${color}`}>
            {label}
          </span>
        ))}
        <p ref={reading} className="reading" aria-hidden />
      </figcaption>
      <div ref={box} role="img" aria-label={summary} />
      <details>
        <summary>Show as table</summary>
        <FiguresTable days={days} series={series} />
      </details>
    </figure>
  );
}

const describeDay = (days: string[], series: Series[], index: number): string =>
  [
    formatDay(days[index]!),
    ...series.map(({ label, values }) => `${label} ${formatNumber(values[index]!)}`),
  ].join("  ·  ");

function drawPlot(
  element: HTMLElement,
  { days, series }: Pick<LineChartProps, "days" | "series">,
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
      scales: { y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.08] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 30,
          space: 70,
          values: (_, ticks) => ticks.map(dayOf),
        },
        {
          ...axis,
          size: 46,
          space: 48,
          incrs: tickSteps,
          values: (_, ticks) => ticks.map(formatTick),
        },
      ],
      series: [
        {},
        ...series.map(({ label, color, filled }) => ({
          label,
          stroke: css(color),
          width: 2,
          points: { show: false },
          ...(filled && { fill: `color-mix(in srgb, ${css(color)} 9%, transparent)` }),
        })),
      ],
      hooks: { setCursor: [({ cursor }) => showReading(cursor.idx ?? null)] },
    },
    [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => values)],
    element,
  );
}

function FiguresTable({ days, series }: Pick<LineChartProps, "days" | "series">) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.map((day, i) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            {series.map(({ label, values }) => (
              <td key={label}>{formatNumber(values[i]!)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
