import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ListSendsQuery, Send } from "pennymail";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { looksComplete } from "../../parts/address.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, SearchBox, statusOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { LogTabs } from "./log-tabs.tsx";
import { OriginLink, useOriginNames } from "./origin.tsx";
import { recipientColumn } from "./recipient-column.tsx";
import { SendPanel } from "./send-panel.tsx";
import { WhyAnswer } from "./why-answer.tsx";

const statuses = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "cancelled",
] as const satisfies ListSendsQuery["status"][];

/** Every email, with what happened to it. */
export function Log() {
  const search = useSearch({ from: "/shell/log" });
  const navigate = useNavigate({ from: "/log" });
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const list = usePagedRows(
    queries.sends({
      ...(site && { siteId: site.id }),
      ...(search.email && { email: search.email }),
      ...(search.status && { status: search.status as (typeof statuses)[number] }),
    }),
    ({ sends }) => sends,
  );
  const findName = useOriginNames(list.rows);
  const open = (send?: { id: number }) =>
    navigate({ search: (old) => ({ ...old, send: send?.id }) });
  const count =
    list.total == null ? undefined : t("{total} emails", { total: formatNumber(list.total) });
  return (
    <div className={search.send ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead title={t("Log")} note={count ?? t("Emails and what happened to them")} />
        <LogTabs />
        <Filters />
        {search.email && site && <WhyAnswer siteId={site.id} email={search.email} />}
        <RowTable
          label={t("Emails")}
          columns={columnsIn(timezone, findName)}
          list={list}
          openId={search.send}
          onOpen={open}
          empty={<Empty isFiltered={Boolean(search.email || search.status)} />}
        />
      </div>
      {search.send !== undefined && (
        <SendPanel key={search.send} id={search.send} onClose={() => open()} />
      )}
    </div>
  );
}

const columnsIn = (
  timezone: string,
  findName: ReturnType<typeof useOriginNames>,
): Column<Send>[] => [
  recipientColumn,
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={status} />,
  },
  {
    label: t("Origin"),
    className: "c-tags quiet",
    render: (send) => <OriginLink send={send} findName={findName} />,
  },
  {
    label: t("Accepted"),
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

function Filters() {
  const search = useSearch({ from: "/shell/log" });
  const navigate = useNavigate({ from: "/log" });
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <search className="filters">
      <SearchBox
        label={t("Email address of a recipient")}
        placeholder={t("Why did bob@example.com not get it?")}
        value={search.email}
        onSearch={(email) => change({ email })}
        isSearchable={looksComplete}
      />
      <FilterSelect
        label={t("Status")}
        any={t("Any status")}
        options={statusOptions(statuses)}
        value={search.status}
        onChange={(status) => change({ status })}
      />
    </search>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  const navigate = useNavigate({ from: "/log" });
  if (!isFiltered)
    return (
      <EmptyState title={t("No email yet")}>
        <p>{t("Campaigns, sequences and your programs fill this list.")}</p>
      </EmptyState>
    );
  return (
    <EmptyState title={t("No email matches")}>
      <p>{t("The list goes back 90 days for an address.")}</p>
      <Button variant="default" onClick={() => navigate({ search: {} })}>
        {t("Clear filters")}
      </Button>
    </EmptyState>
  );
}
