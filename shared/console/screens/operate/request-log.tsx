import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ListRequestsQuery, RequestLogEntry } from "pennymail";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { FilterSelect, recordOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { LogTabs } from "../log/log-tabs.tsx";

type StatusClass = NonNullable<ListRequestsQuery["status"]>;

const outcomes: { value: StatusClass; label: string }[] = [
  { value: "2xx", label: t("Done") },
  { value: "4xx", label: t("Refused") },
  { value: "5xx", label: t("Server error") },
];

type Row = RequestLogEntry & { id: string };

/** What programs asked for with API keys. */
export function RequestLog() {
  const search = useSearch({ from: "/shell/log/requests" });
  const navigate = useNavigate({ from: "/log/requests" });
  const keys = useQuery(queries.apiKeys()).data?.apiKeys;
  const { timezone } = useMe().organization;
  const list = usePagedRows(
    queries.requests({
      ...(search.status && { status: search.status as StatusClass }),
      ...(search.key && { keyId: search.key }),
    }),
    ({ requests }): Row[] => requests.map((one) => ({ ...one, id: one.requestId })),
  );
  const open = (row?: Row) => navigate({ search: (old) => ({ ...old, request: row?.id }) });
  const opened = list.rows.find(({ id }) => id === search.request);
  return (
    <div className={opened ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead
          title={t("Request log")}
          note={t("Calls of programs with API keys in the last 30 days")}
        />
        <LogTabs />
        <search className="filters">
          <FilterSelect
            label={t("Outcome")}
            any={t("Any outcome")}
            options={outcomes}
            value={search.status}
            onChange={(status) => navigate({ search: (old) => ({ ...old, status }) })}
          />
          <FilterSelect
            label={t("Key")}
            any={t("Any key")}
            options={recordOptions(keys)}
            value={search.key}
            onChange={(id) =>
              navigate({ search: (old) => ({ ...old, key: id ? Number(id) : undefined }) })
            }
          />
        </search>
        <RowTable
          label={t("Requests")}
          columns={columnsIn(timezone)}
          list={list}
          openId={search.request}
          onOpen={open}
          empty={
            <EmptyState title={t("No request")}>
              <p>
                {t(
                  "Programs need an API key from the settings to call the API. Their " +
                    "calls appear here within 20 seconds.",
                )}
              </p>
            </EmptyState>
          }
        />
      </div>
      {opened && <RequestPanel request={opened} onClose={() => open()} />}
    </div>
  );
}

function toneOf(status: number) {
  if (status < 400) return "good";
  return status < 500 ? "warn" : "bad";
}

const columnsIn = (timezone: string): Column<Row>[] => [
  {
    label: t("Request"),
    className: "c-main",
    render: ({ method, path }) => (
      <span className="who">
        <b>
          {method} {path}
        </b>
      </span>
    ),
  },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <StatusMark status={String(status)} tone={toneOf(status)} />,
  },
  { label: t("Key"), className: "c-tags quiet", render: ({ key: { id, name } }) => name ?? id },
  {
    label: t("Duration"),
    className: "c-score",
    isNumber: true,
    render: ({ milliseconds }) =>
      t("{milliseconds} ms", { milliseconds: formatNumber(milliseconds) }),
  },
  { label: t("When"), className: "c-when quiet", render: ({ at }) => formatTime(at, timezone) },
];

function RequestPanel({ request, onClose }: { request: Row; onClose(): void }) {
  const { timezone } = useMe().organization;
  const { method, path, route, at, status, code, milliseconds, address, requestId, key } = request;
  const title = (
    <>
      <h2 className="breaks">
        {method} {path}
      </h2>
      <p>{formatTime(at, timezone)}</p>
    </>
  );
  return (
    <SidePanel label={t("Request")} title={title} onClose={onClose}>
      <FieldList
        fields={[
          [t("Status"), String(status)],
          [t("Error"), code && <a href={`/api/v1/docs/errors#${code}`}>{code}</a>],
          [t("Route"), route],
          [t("Duration"), t("{milliseconds} ms", { milliseconds: formatNumber(milliseconds) })],
          [t("Key"), key.name ?? String(key.id)],
          [t("From"), address],
          [t("Request id"), requestId],
        ]}
      />
    </SidePanel>
  );
}
