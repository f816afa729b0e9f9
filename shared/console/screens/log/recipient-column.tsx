import { t } from "../../language/translate.ts";
import type { Column } from "../../parts/row-table.tsx";

/** The recipient of an email, with its subject. */
export const recipientColumn: Column<{ toEmail: string; subject: string | null }> = {
  label: t("Recipient"),
  className: "c-main",
  render: ({ toEmail, subject }) => (
    <span className="who">
      <b>{toEmail}</b>
      <span>{subject}</span>
    </span>
  ),
};
