import { Select } from "@mantine/core";
import type { ImportPreview } from "pennymail";
import { t } from "../../language/translate.ts";
import type { ContactFieldType } from "../../parts/contact-field-types.ts";

/** What was chosen. The service detects the rest. */
export interface FormatDraft {
  decimalMark?: ImportPreview["decimalMark"] | undefined;
  dateOrder?: NonNullable<ImportPreview["dateOrder"]> | undefined;
}

interface ValueFormatProps {
  preview: ImportPreview;
  /** Types of the fields that columns go to. */
  types: ContactFieldType[];
  format: FormatDraft;
  onChange(format: FormatDraft): void;
}

const decimalMarks = [
  { value: ".", label: t("Point: 1,299.90") },
  { value: ",", label: t("Comma: 1.299,90") },
];
const dateOrders = [
  { value: "dmy", label: t("Day first: 20/11/2026") },
  { value: "mdy", label: t("Month first: 11/20/2026") },
];

/** How the file writes numbers and dates, and how cells of typed columns are read. */
export function ValueFormat({ preview, types, format, onChange }: ValueFormatProps) {
  const hasDates = types.includes("date") || types.includes("datetime");
  const hasNumbers = types.includes("number");
  const typed = preview.columns.filter(({ readings }) => readings.length > 0);
  return (
    <>
      {(hasDates || hasNumbers) && (
        <div className="import-format">
          {hasNumbers && (
            <Select
              label={t("Decimal mark")}
              allowDeselect={false}
              data={decimalMarks}
              value={format.decimalMark ?? preview.decimalMark}
              onChange={(mark) =>
                onChange({ ...format, decimalMark: mark as FormatDraft["decimalMark"] })
              }
            />
          )}
          {hasDates && (
            <Select
              label={t("Order of dates")}
              placeholder={t("Not needed so far")}
              allowDeselect={false}
              data={dateOrders}
              value={format.dateOrder ?? preview.dateOrder}
              onChange={(order) =>
                onChange({ ...format, dateOrder: order as FormatDraft["dateOrder"] })
              }
            />
          )}
        </div>
      )}
      {typed.length > 0 && (
        <ul className="import-readings" aria-label={t("How cells are read")}>
          {typed.map(({ header, readings }) => (
            <li key={header}>
              <b>{header}</b>
              {readings.map(({ cell, value, error }, index) => (
                <small key={index} className={error === null ? "" : "tone-bad"}>
                  {error ?? `${cell} → ${[value].flat().map(String).join(", ")}`}
                </small>
              ))}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
