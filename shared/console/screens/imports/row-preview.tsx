import { IconAlertTriangle } from "@tabler/icons-react";
import type { ContactField, ImportPreview } from "pennymail";
import { countOf } from "../../format.ts";
import { type ColumnDraft, fieldOf, ignored } from "./column-draft.ts";
import { labelOfField } from "./import-fields.ts";

interface RowPreviewProps {
  preview: ImportPreview;
  columns: ColumnDraft[];
  fields: ContactField[];
}

/** A wide table scrolls, also by keyboard. */
const keyboardScroll = { tabIndex: 0 };

/** The first rows as the contacts that they become. */
export function RowPreview({ preview, columns, fields }: RowPreviewProps) {
  const { rows } = preview;
  const refused = rows.filter(({ error }) => error !== null).length;
  const shown = columns.flatMap((column, index) =>
    column.choice === ignored ? [] : [{ column, index }],
  );
  if (rows.length === 0) return <p className="quiet">The file has no rows below its header.</p>;
  return (
    <>
      <p className={refused > 0 ? "tone-warn" : "quiet"} role="status">
        {refused > 0
          ? `${countOf(refused, "row")} of the first ${rows.length} cannot be imported.`
          : `The first ${countOf(rows.length, "row")} can be imported.`}
      </p>
      <section className="table-scroll import-rows" aria-label="First rows" {...keyboardScroll}>
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {shown.map(({ column }) => (
                <th key={column.header} scope="col">
                  {labelOfField(fieldOf(column), fields)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ row, cells, error }) => (
              <tr key={row} className={error === null ? "" : "refused"}>
                <td className="quiet">{row}</td>
                {shown.map(({ column, index }, position) => (
                  <td key={column.header}>
                    {cells[index]}
                    {position === 0 && error !== null && (
                      <small className="tone-bad">
                        <IconAlertTriangle size={13} aria-hidden /> {error}
                      </small>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
