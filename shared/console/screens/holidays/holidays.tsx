import type { Holiday } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { formatDate } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ListPage, type ListProps } from "../../parts/list-page.tsx";
import { menuColumn, type RowAction } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { SequenceTabs } from "../sequences/sequence-tabs.tsx";
import { HolidayDialog } from "./holiday-dialog.tsx";

export const refreshes = ["holidays"];

/** Emails of one day to everybody who is in a sequence then. */
export const Holidays = () => (
  <ListPage
    title={t("Holiday emails")}
    note={t("One email on a day, to all contacts that are in a sequence on that day")}
    action={t("New holiday email")}
    right="marketing:write"
    List={HolidayTable}
  >
    <SequenceTabs />
  </ListPage>
);

function HolidayTable({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const list = usePagedRows(queries.holidays({ siteId }), ({ holidays }) => holidays);
  const [edited, setEdited] = useState<Holiday>();
  const [cancelled, setCancelled] = useState<Holiday>();
  const [deleted, setDeleted] = useState<Holiday>();
  const cancelling = useChange({
    run: ({ id }: Holiday) => api.holidays.update(id, { status: "cancelled" }),
    refreshes,
    onDone: () => setCancelled(undefined),
  });
  const actionsOf = (holiday: Holiday): RowAction[] => {
    const { status } = holiday;
    return [
      ...(status === "scheduled" ? [{ label: t("Edit"), run: () => setEdited(holiday) }] : []),
      ...(status === "scheduled" || status === "sending"
        ? [{ label: t("Cancel"), isDangerous: true, run: () => setCancelled(holiday) }]
        : []),
      { label: t("Delete"), isDangerous: true, run: () => setDeleted(holiday) },
    ];
  };
  return (
    <>
      <RowTable
        label={t("Holiday emails")}
        columns={mayWrite ? [...holidayColumns, menuColumn(actionsOf)] : holidayColumns}
        list={list}
        onOpen={(holiday) => mayWrite && holiday.status === "scheduled" && setEdited(holiday)}
        empty={
          <EmptyState title={t("No holiday email yet")}>
            <p>
              {t(
                "On a day such as New Year, contacts in a sequence get this email. " +
                  "Their sequence goes on as planned.",
              )}
            </p>
          </EmptyState>
        }
      />
      {(isCreating || edited) && (
        <HolidayDialog
          key={edited?.id ?? "new"}
          siteId={siteId}
          holiday={edited}
          onClose={() => {
            setEdited(undefined);
            onDialogClose();
          }}
        />
      )}
      <ConfirmDialog
        title={t("Cancel “{name}”", { name: cancelled?.name ?? "" })}
        action={t("Cancel holiday email")}
        isDangerous
        target={cancelled}
        change={cancelling}
        typed={cancelled?.name}
        onClose={() => setCancelled(undefined)}
      >
        {t(
          "Nobody gets it from now on. What is already with the provider " +
            "arrives. This cannot be undone.",
        )}
      </ConfirmDialog>
      <DeleteDialog
        action={t("Delete holiday email")}
        target={deleted}
        remove={({ id }) => api.holidays.delete(id)}
        refreshes={refreshes}
        onClose={() => setDeleted(undefined)}
      >
        {t("Its log and its figures are deleted as well. This cannot be undone.")}
      </DeleteDialog>
    </>
  );
}

const holidayColumns: Column<Holiday>[] = [
  {
    label: t("Holiday email"),
    className: "c-main",
    render: ({ name, statusReason }) => (
      <span className="who">
        <b>{name}</b>
        {statusReason && <span>{statusReason}</span>}
      </span>
    ),
  },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: t("Day"),
    className: "c-when quiet",
    render: ({ date }) => formatDate(date, "UTC"),
  },
];
