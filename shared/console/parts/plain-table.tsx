import type { ReactNode } from "react";

export interface PlainColumn<Row> {
  label: string;
  isNumber?: boolean;
  /** Whether a phone has no room for it. */
  isWide?: boolean;
  /** Whether it holds buttons. Only screen readers get the label. */
  isAction?: boolean;
  /** Whether long words break, as addresses of pages do. */
  breaks?: boolean;
  render(row: Row): ReactNode;
}

interface PlainTableProps<Row> {
  /** Names the table for a screen reader. */
  label: string;
  columns: PlainColumn<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string | number;
}

/** A short table, drawn whole. */
export function PlainTable<Row>({ label, columns, rows, keyOf }: PlainTableProps<Row>) {
  return (
    <table className="plain" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col" className={classOf(column)}>
              {column.isAction ? (
                <span className="visually-hidden">{column.label}</span>
              ) : (
                column.label
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.label} className={classOf(column)}>
                {column.render(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const classOf = ({ isNumber, isWide, isAction, breaks }: PlainColumn<never>): string =>
  [isNumber && "num", isWide && "wide", isAction && "action", breaks && "link-cell"]
    .filter(Boolean)
    .join(" ");
