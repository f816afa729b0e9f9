import { Button, Checkbox } from "@mantine/core";
import { IconPlus, IconUpload } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Suppression } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { withWarnings } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, SearchBox } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RowMenu } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { AddSuppression } from "./add-suppression.tsx";
import { AddressAnswer } from "./address-answer.tsx";
import { ImportSuppressions } from "./import-suppressions.tsx";
import { isErased, ReasonMark, type ReasonName, warnings, words } from "./reasons.tsx";

const refreshes = ["suppressions", "contacts"];
const reasonOptions = Object.entries(words).map(([value, { label }]) => ({ value, label }));

export function Suppressions() {
  const { email, reason } = useSearch({ from: "/shell/suppressions" });
  const navigate = useNavigate({ from: "/suppressions" });
  const mayWrite = useRight("audience:write");
  const [dialog, setDialog] = useState<"add" | "import">();
  const [removed, setRemoved] = useState<string>();
  // The search box takes the address of a row that is opened.
  const [openedRows, setOpenedRows] = useState(0);
  const open = (address: string) => {
    setOpenedRows((count) => count + 1);
    navigate({ search: (old) => ({ ...old, email: address }) });
  };
  const [alsoAtProvider, setAlsoAtProvider] = useState(false);
  const remove = useChange({
    run: (address: string) =>
      withWarnings((client) =>
        client.suppressions.delete(address, { alsoAtProvider: alsoAtProvider ? "true" : "false" }),
      ),
    refreshes,
    onDone: () => setRemoved(undefined),
    says: ({ warnings: [first] }) => first,
  });
  const add = () => mayWrite && setDialog("add");
  useShortcuts([{ keys: ["c"], label: t("Add an address"), run: add }]);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Suppressions")}
        note={t("Addresses that get no email or no marketing email, in all sites")}
      >
        {mayWrite && (
          <>
            <Button
              variant="default"
              leftSection={<IconUpload size={16} />}
              onClick={() => setDialog("import")}
            >
              {t("Import")}
            </Button>
            <Button leftSection={<IconPlus size={16} />} onClick={() => setDialog("add")}>
              {t("Add address")}
            </Button>
          </>
        )}
      </PageHead>
      <search className="filters">
        <SearchBox
          key={openedRows}
          label={t("Email address")}
          placeholder={t("Look up an email address")}
          value={email}
          onSearch={(text) => navigate({ search: (old) => ({ ...old, email: text }) })}
          isSearchable={(text) => /^\S+@\S+\.\S+$/.test(text)}
        />
        <FilterSelect
          label={t("Reason")}
          any={t("Any reason")}
          options={reasonOptions}
          value={reason}
          onChange={(value) => navigate({ search: (old) => ({ ...old, reason: value }) })}
        />
      </search>
      {email && (
        <AddressAnswer email={email} {...(mayWrite && { onRemove: () => setRemoved(email) })} />
      )}
      <SuppressionTable
        reason={reason as ReasonName | undefined}
        onOpen={open}
        {...(mayWrite && { onRemove: setRemoved })}
      />
      <AddSuppression opened={dialog === "add"} onClose={() => setDialog(undefined)} />
      <ImportSuppressions opened={dialog === "import"} onClose={() => setDialog(undefined)} />
      <ConfirmDialog
        title={t("Remove from the suppressions")}
        action={t("Allow email again")}
        target={removed}
        change={remove}
        onClose={() => setRemoved(undefined)}
      >
        {t(
          "Email can go to {email} again, and contacts with this address get back the status " +
            "that they had before.",
          { email: removed },
        )}{" "}
        {warnings}
        <Checkbox
          mt="md"
          label={t("Also remove it from the lists of your providers")}
          description={t("Otherwise they refuse email to it, and report it again.")}
          checked={alsoAtProvider}
          onChange={(event) => setAlsoAtProvider(event.currentTarget.checked)}
        />
      </ConfirmDialog>
    </div>
  );
}

interface SuppressionTableProps {
  reason: ReasonName | undefined;
  onOpen(email: string): void;
  onRemove?(email: string): void;
}

type Row = Suppression & { id: number };

function SuppressionTable({ reason, onOpen, onRemove }: SuppressionTableProps) {
  const { timezone } = useMe().organization;
  const pages = usePagedRows(
    queries.suppressions(reason ? { reason } : {}),
    ({ suppressions }) => suppressions,
  );
  const list = { ...pages, rows: pages.rows.map((row, id) => ({ ...row, id })) };
  const columns: Column<Row>[] = [
    {
      label: t("Address"),
      className: "c-main",
      render: ({ email, detail }) => (
        <span className="who">
          <b>{isErased(email) ? t("Erased contact") : email}</b>
          {detail && <span>{detail}</span>}
        </span>
      ),
    },
    {
      label: t("Reason"),
      className: "c-status",
      render: (row) => <ReasonMark entry={row} />,
    },
    {
      label: t("Since"),
      className: "c-when quiet",
      render: ({ createdAt }) => formatAgo(createdAt, timezone),
    },
    {
      label: t("Ends"),
      className: "c-when quiet",
      render: ({ liftsAt }) => (liftsAt ? formatAgo(liftsAt, timezone) : t("Stays")),
    },
  ];
  if (onRemove)
    columns.push({
      label: t("Actions"),
      className: "c-menu num",
      isAction: true,
      render: ({ email }) =>
        !isErased(email) && (
          <RowMenu
            name={email}
            actions={[{ label: t("Remove"), isDangerous: true, run: () => onRemove(email) }]}
          />
        ),
    });
  return (
    <RowTable
      label={t("Suppressions")}
      columns={columns}
      list={list}
      onOpen={({ email }) => isErased(email) || onOpen(email)}
      empty={
        <EmptyState
          title={reason ? t("No address with this reason") : t("No address is suppressed")}
        >
          <p>
            {t(
              "Bounces, spam reports and unsubscriptions arrive here by themselves. " +
                "They protect your reputation as a sender.",
            )}
          </p>
        </EmptyState>
      }
    />
  );
}
