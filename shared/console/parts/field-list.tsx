import type { ReactNode } from "react";
import { formatNumber } from "../format.ts";

type Field = readonly [label: string, value: ReactNode];

/** The fields of a record. */
export function FieldList({ fields }: { fields: readonly Field[] }) {
  return <Pairs className="fields" pairs={fields} />;
}

interface CountListProps {
  /** Texts are shown as they are, such as an amount of money. */
  counts: readonly (readonly [label: string, count: number | string])[];
  className?: string;
}

export function CountList({ counts, className = "" }: CountListProps) {
  return (
    <Pairs
      className={`counts ${className}`}
      pairs={counts.map(([label, count]) => [
        label,
        typeof count === "number" ? formatNumber(count) : count,
      ])}
    />
  );
}

function Pairs({ className, pairs }: { className: string; pairs: readonly Field[] }) {
  return (
    <dl className={className}>
      {pairs.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value || "–"}</dd>
        </div>
      ))}
    </dl>
  );
}
