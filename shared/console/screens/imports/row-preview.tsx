import { IconAlertTriangle } from "@tabler/icons-react";
import type { ContactField, ImportPreview } from "pennymail";
import { t } from "../../language/translate.ts";
import { rowErrorText } from "../../parts/error-texts.ts";
import { type ColumnDraft, fieldOf, ignored, isConsentField } from "./column-draft.ts";
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
  const hasStatus = columns.some(({ choice }) => isConsentField(choice));
  if (rows.length === 0)
    return <p className="quiet">{t("The file has no rows below its header.")}</p>;
  return (
    <>
      <p className={refused > 0 ? "tone-warn" : "quiet"} role="status">
        {refused > 0
          ? t(
              "{refused, plural, one {# row} other {# rows}} of the first {shown} cannot be " +
                "imported.",
              { refused, shown: rows.length },
            )
          : t("The first {count, plural, one {# row} other {# rows}} can be imported.", {
              count: rows.length,
            })}
      </p>
      <section
        className="table-scroll import-rows"
        aria-label={t("First rows")}
        {...keyboardScroll}
      >
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">{t("Row")}</th>
              {shown.map(({ column }) => (
                <th key={column.header} scope="col">
                  {labelOfField(fieldOf(column), fields)}
                </th>
              ))}
              {hasStatus && <th scope="col">{t("Will be")}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ row, cells, error, status, tags }) => (
              <tr key={row} className={error === null ? "" : "refused"}>
                <td className="quiet">{row}</td>
                {shown.map(({ column, index }, position) => (
                  <td key={column.header}>
                    {column.choice === "tags" ? tags.join(" · ") : cells[index]}
                    {position === 0 && error !== null && (
                      <small className="tone-bad">
                        <IconAlertTriangle size={13} aria-hidden /> {rowErrorText(error)}
                      </small>
                    )}
                  </td>
                ))}
                {hasStatus && <td>{status}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
