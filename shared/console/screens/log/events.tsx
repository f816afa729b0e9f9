import { useNavigate, useSearch } from "@tanstack/react-router";
import type { EmailEvent, ListEventsQuery } from "pennymail";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { looksComplete } from "../../parts/address.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterSelect, SearchBox, statusOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { LogTabs } from "./log-tabs.tsx";

const types = [
  "delivered",
  "open",
  "click",
  "bounce",
  "spam_report",
  "unsubscribe",
  "dropped",
  "deferred",
] as const satisfies ListEventsQuery["type"][];
type EventType = (typeof types)[number];

const tones = {
  delivered: "good",
  open: "good",
  click: "good",
  bounce: "bad",
  spam_report: "bad",
  dropped: "bad",
  unsubscribe: "warn",
  deferred: "warn",
} as const satisfies Record<EventType, string>;

export function EventMark({ type }: { type: EventType }) {
  return <StatusMark status={type} tone={tones[type]} />;
}

/** What providers reported about emails, newest first. */
export function Events() {
  const search = useSearch({ from: "/shell/log/events" });
  const navigate = useNavigate({ from: "/log/events" });
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const list = usePagedRows(
    queries.events({
      ...(site && { siteId: site.id }),
      ...(search.email && { email: search.email }),
      ...(search.type && { type: search.type as EventType }),
    }),
    ({ events }) => events,
  );
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <div className="page list-page">
      <PageHead title={t("Log")} note={t("What providers and recipients did with emails")} />
      <LogTabs />
      <search className="filters">
        <SearchBox
          label={t("Email address of a recipient")}
          placeholder="bob@example.com"
          value={search.email}
          onSearch={(email) => change({ email })}
          isSearchable={looksComplete}
        />
        <FilterSelect
          label={t("Event")}
          any={t("Any event")}
          options={statusOptions(types)}
          value={search.type}
          onChange={(type) => change({ type })}
        />
      </search>
      <RowTable
        label={t("Events")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ sendId }) => navigate({ to: "/log", search: { send: sendId } })}
        empty={
          <EmptyState
            title={search.email || search.type ? t("No event matches") : t("No event yet")}
          >
            <p>
              {t(
                "Events come from your provider. Each sender in the settings has the " +
                  "address to which the provider reports them.",
              )}
            </p>
          </EmptyState>
        }
      />
    </div>
  );
}

const columnsIn = (timezone: string): Column<EmailEvent>[] => [
  {
    label: t("Recipient"),
    className: "c-main",
    render: ({ toEmail, subject, data }) => (
      <span className="who">
        <b>{toEmail}</b>
        <span>{data.reason ?? data.url ?? subject}</span>
      </span>
    ),
  },
  { label: t("Event"), className: "c-status", render: ({ type }) => <EventMark type={type} /> },
  {
    label: t("By"),
    className: "c-tags quiet",
    render: ({ automated, provider }) =>
      automated ? t("A machine, by {provider}", { provider }) : provider,
  },
  {
    label: t("When"),
    className: "c-when quiet",
    render: ({ timestamp }) => formatAgo(timestamp, timezone),
  },
];
