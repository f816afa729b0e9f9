import { Button, SegmentedControl } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { ReportedContact } from "pennymail";
import { useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { type ContactReportName, queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import type { ReportProps } from "./reports.tsx";

interface ContactReport {
  value: ContactReportName;
  label: string;
  /** Who is listed, as a sentence. */
  note: string;
}

const reports: ContactReport[] = [
  {
    value: "unengaged-contacts",
    label: t("Not engaged"),
    note: t("Subscribed contacts that got five emails or more and opened and clicked none."),
  },
  {
    value: "multi-sequence",
    label: t("In several sequences"),
    note: t("Contacts that several sequences send to at the same time."),
  },
  {
    value: "no-sequences",
    label: t("In no sequence"),
    note: t("Subscribed contacts that no sequence sends to."),
  },
];

/** Contacts that somebody should look after. */
export function ContactReports({ siteId }: ReportProps) {
  const [name, setName] = useState<ContactReportName>("unengaged-contacts");
  const [isExporting, setExporting] = useState(false);
  const mayExport = useRight("audience:export");
  const { label, note } = reports.find(({ value }) => value === name)!;
  return (
    <>
      <div className="filters">
        <SegmentedControl
          aria-label={t("Contacts")}
          size="xs"
          value={name}
          onChange={(value) => setName(value as ContactReportName)}
          data={reports.map(({ value, label: text }) => ({ value, label: text }))}
        />
        {mayExport && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconDownload size={16} />}
            onClick={() => setExporting(true)}
          >
            {t("Export")}
          </Button>
        )}
      </div>
      <p className="quiet">{note}</p>
      <ReportTable key={name} siteId={siteId} name={name} />
      <ExportDialog
        title={t("Export: {label}", { label })}
        request={{ type: name, siteId }}
        opened={isExporting}
        onClose={() => setExporting(false)}
      >
        {t("The file has a row for each contact. {note}", { note })}
      </ExportDialog>
    </>
  );
}

/** Rows of a table have an id. */
type ReportedRow = ReportedContact & { id: number };

function ReportTable({ siteId, name }: { siteId: number; name: ContactReportName }) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const list = usePagedRows(queries.reportedContacts(name, { siteId }), ({ contacts }) =>
    contacts.map((contact) => ({ ...contact, id: contact.contactId })),
  );
  return (
    <RowTable
      label={t("Reported contacts")}
      columns={columnsIn(timezone)}
      list={list}
      onOpen={({ contactId }) => navigate({ to: "/contacts", search: { contact: contactId } })}
      empty={
        <EmptyState title={t("Nobody")}>
          <p>{t("No contact is in this report now.")}</p>
        </EmptyState>
      }
    />
  );
}

const columnsIn = (timezone: string): Column<ReportedRow>[] => [
  {
    label: t("Contact"),
    className: "c-main",
    render: ({ email, sequences }) => (
      <span className="who">
        <b>{email}</b>
        <span>{sequences.map(({ name }) => name).join(", ")}</span>
      </span>
    ),
  },
  {
    label: t("Emails"),
    className: "c-count",
    isNumber: true,
    render: ({ sendCount }) => formatNumber(sendCount),
  },
  {
    label: t("Last email"),
    className: "c-when quiet",
    render: ({ lastSentAt }) => (lastSentAt ? formatAgo(lastSentAt, timezone) : t("Never")),
  },
];
