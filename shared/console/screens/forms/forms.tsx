import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { FormMeta } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { DeleteForm } from "./delete-form.tsx";
import { FormStatus } from "./form-status.tsx";

export function Forms() {
  const { site } = useSite();
  const mayWrite = useRight("audience:write");
  const navigate = useNavigate();
  const creating = useChange({
    run: (siteId: number) =>
      api.forms.create({ siteId, name: t("New form"), status: "draft", doubleOptIn: true }),
    refreshes: ["forms"],
    onDone: ({ id }) => navigate({ to: "/forms/$id", params: { id } }),
  });
  const create = () => site && mayWrite && creating.mutate(site.id);
  useShortcuts([{ keys: ["c"], label: t("New form"), run: create }]);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Forms")}
        note={t("Let visitors of your pages sign up, with proof of consent")}
      >
        {mayWrite && site && (
          <Button
            leftSection={<IconPlus size={16} />}
            loading={creating.isPending}
            onClick={create}
          >
            {t("New form")}
          </Button>
        )}
      </PageHead>
      <ErrorNote error={creating.error} />
      {site && <FormTable key={site.id} siteId={site.id} mayWrite={mayWrite} onCreate={create} />}
    </div>
  );
}

interface FormTableProps {
  siteId: number;
  mayWrite: boolean;
  onCreate(): void;
}

function FormTable({ siteId, mayWrite, onCreate }: FormTableProps) {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const list = usePagedRows(queries.formPages({ siteId }), ({ forms }) => forms);
  const [deleted, setDeleted] = useState<FormMeta>();
  const actionsOf = (form: FormMeta) => [
    {
      label: t("Show submissions"),
      run: () => navigate({ to: "/forms/$id/submissions", params: { id: form.id } }),
    },
    ...(mayWrite ? [{ label: t("Delete"), isDangerous: true, run: () => setDeleted(form) }] : []),
  ];
  const columns: Column<FormMeta>[] = [
    { label: t("Form"), className: "c-main", render: ({ name }) => <b>{name}</b> },
    {
      label: t("Status"),
      className: "c-status",
      render: ({ status }) => <FormStatus status={status} />,
    },
    {
      label: t("Submissions"),
      className: "c-count",
      isNumber: true,
      render: ({ submissionCount }) => formatNumber(submissionCount),
    },
    {
      label: t("Changed"),
      className: "c-when quiet",
      render: ({ updatedAt }) => formatAgo(updatedAt, timezone),
    },
    menuColumn(actionsOf),
  ];
  return (
    <>
      <RowTable
        label={t("Forms")}
        columns={columns}
        list={list}
        onOpen={({ id }) => navigate({ to: "/forms/$id", params: { id } })}
        empty={
          <EmptyState title={t("No form yet")}>
            <p>
              {t(
                "A form adds visitors to your contacts. It has a page of its own, and " +
                  "a line of code puts it into yours.",
              )}
            </p>
            {mayWrite && (
              <Button variant="default" onClick={onCreate}>
                {t("Create a form")}
              </Button>
            )}
          </EmptyState>
        }
      />
      <DeleteForm form={deleted} onClose={() => setDeleted(undefined)} />
    </>
  );
}
