import { useNavigate } from "@tanstack/react-router";
import type { UnmatchedEvent } from "pennymail";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { EventMark } from "./events.tsx";
import { LogTabs } from "./log-tabs.tsx";

/** Reports of providers about emails that the service did not send, or does not know any more. */
export function UnmatchedEvents() {
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const list = usePagedRows(queries.unmatchedEvents(), ({ events }) => events);
  return (
    <div className="page list-page">
      <PageHead title={t("Log")} note={t("Reports of providers whose email was not found")} />
      <LogTabs />
      <RowTable
        label={t("Events that were not matched")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ email }) => navigate({ to: "/log", search: { email } })}
        empty={
          <EmptyState title={t("All events are matched")}>
            <p>
              {t(
                "An event is listed here for 7 days if its email was not found, for " +
                  "example because another program sends with the same account of the " +
                  "provider.",
              )}
            </p>
          </EmptyState>
        }
      />
    </div>
  );
}

const columnsIn = (timezone: string): Column<UnmatchedEvent>[] => [
  {
    label: t("Recipient"),
    className: "c-main",
    render: ({ email, explanation }) => (
      <span className="who">
        <b>{email}</b>
        <span>{explanation}</span>
      </span>
    ),
  },
  { label: t("Event"), className: "c-status", render: ({ type }) => <EventMark type={type} /> },
  { label: t("Provider"), className: "c-tags quiet", render: ({ provider }) => provider },
  {
    label: t("When"),
    className: "c-when quiet",
    render: ({ timestamp }) => formatAgo(timestamp, timezone),
  },
];
