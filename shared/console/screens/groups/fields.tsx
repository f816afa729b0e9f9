import { useQuery } from "@tanstack/react-query";
import type { ContactField } from "pennymail";
import { useState } from "react";
import { fieldQueries } from "../../data/field-queries.ts";
import { wholeList } from "../../data/paged-rows.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { fieldTypeLabels } from "../../parts/contact-field-types.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import type { ListProps } from "../../parts/list-page.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { DeleteField } from "./delete-field.tsx";
import { FieldDialog } from "./field-dialog.tsx";

interface FieldRow extends ContactField {
  id: string;
}

/** The standard fields of contacts, and those of the site. */
export function Fields({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const result = useQuery(fieldQueries.list(siteId));
  const rows = result.data?.fields.map((field): FieldRow => ({ ...field, id: field.key }));
  const [edited, setEdited] = useState<ContactField>();
  const [deleted, setDeleted] = useState<ContactField>();
  const edit = (field: ContactField) => mayWrite && field.custom && setEdited(field);
  const columns = columnsOf(result.data?.sampledContacts ?? 0);
  if (mayWrite)
    columns.push(
      menuColumn((field) =>
        field.custom
          ? [
              { label: t("Edit"), run: () => setEdited(field) },
              ...(field.declared
                ? [{ label: t("Delete"), isDangerous: true, run: () => setDeleted(field) }]
                : []),
            ]
          : [],
      ),
    );
  return (
    <>
      <RowTable
        label={t("Fields")}
        columns={columns}
        list={wholeList({ ...result, data: rows })}
        onOpen={edit}
        empty={
          <EmptyState title={t("No field")}>
            <p>
              {t("A field holds what you know of a contact, such as the plan or the shoe size.")}
            </p>
          </EmptyState>
        }
      />
      <FieldDialog
        key={edited?.key ?? "new"}
        siteId={siteId}
        field={edited}
        opened={isCreating || edited !== undefined}
        onClose={() => {
          setEdited(undefined);
          onDialogClose();
        }}
      />
      <DeleteField siteId={siteId} field={deleted} onClose={() => setDeleted(undefined)} />
    </>
  );
}

const columnsOf = (sampled: number): Column<FieldRow>[] => [
  {
    label: t("Field"),
    className: "c-main",
    render: ({ label, name, custom }) => (
      <span className="who">
        <b>{label}</b>
        {custom && label !== name && <span>{name}</span>}
      </span>
    ),
  },
  { label: t("Type"), className: "c-when", render: ({ type }) => fieldTypeLabels[type] },
  {
    label:
      sampled < 500
        ? t("Contacts")
        : t("Of {sampled} contacts", { sampled: formatNumber(sampled) }),
    className: "c-count",
    isNumber: true,
    render: ({ uses }) => formatNumber(uses),
  },
  { label: t("Example"), className: "c-tags quiet", render: ({ sample }) => sample ?? "–" },
];
