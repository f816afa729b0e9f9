import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { AuditEntry } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime, wordsOf } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { LogTabs } from "../log/log-tabs.tsx";
import { auditActionName, auditRecordName } from "./audit-names.ts";

/** The list of changes: who made each, and when. */
export function AuditLog() {
  const search = useSearch({ from: "/shell/log/changes" });
  const navigate = useNavigate({ from: "/log/changes" });
  const { timezone } = useMe().organization;
  const list = usePagedRows(
    queries.auditEntries(search.actor ? { actor: search.actor } : {}),
    ({ entries }) => entries,
  );
  const open = (entry?: { id: string }) =>
    navigate({ search: (old) => ({ ...old, entry: entry?.id }) });
  const opened = list.rows.find(({ id }) => id === search.entry);
  return (
    <div className={opened ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead
          title={t("Audit log")}
          note={t("Every change and every sign-in of the last 400 days")}
        >
          <Button
            component="a"
            variant="default"
            href="/api/v1/audit-log/export?format=csv"
            download
          >
            {t("Download as CSV")}
          </Button>
        </PageHead>
        <LogTabs />
        <Verification />
        <search className="filters">
          <ActorFilter
            value={search.actor}
            onChange={(actor) => navigate({ search: { actor }, replace: true })}
          />
        </search>
        <RowTable
          label={t("Entries")}
          columns={columnsIn(timezone)}
          list={list}
          openId={search.entry}
          onOpen={open}
          empty={
            <EmptyState title={t("No entry")}>
              <p>{t("Changes by members, API keys and operators are listed here.")}</p>
            </EmptyState>
          }
        />
      </div>
      {opened && <EntryPanel entry={opened} onClose={() => open()} />}
    </div>
  );
}

interface ActorFilterProps {
  value: string | undefined;
  onChange(actor: string | undefined): void;
}

function ActorFilter({ value, onChange }: ActorFilterProps) {
  const { data } = useQuery(queries.members());
  return (
    <FilterSelect
      label={t("Member")}
      any={t("Any member")}
      options={(data?.members ?? []).map(({ id, name, email }) => ({
        value: `user:${id}`,
        label: name ?? email,
      }))}
      value={value}
      onChange={onChange}
    />
  );
}

/** Each entry has a hash of the one before, so a removed or changed entry shows. */
function Verification() {
  const checking = useChange({ run: () => api.auditLog.verify(), refreshes: [] });
  const { data } = checking;
  return (
    <div className="row">
      <Button variant="default" loading={checking.isPending} onClick={() => checking.mutate()}>
        {t("Check that no entry was changed")}
      </Button>
      <ErrorNote error={checking.error} />
      {data && (
        <p role="status">
          {data.intact
            ? t("{checkedEntries} entries are unchanged.", {
                checkedEntries: formatNumber(data.checkedEntries),
              })
            : data.problems.map(({ description }) => description).join(" ")}
        </p>
      )}
    </div>
  );
}

const actorNames: Record<string, string> = {
  anonymous: t("Not signed in"),
  api_key: t("API key"),
  invitation: t("Invitation"),
  operator: t("Operator"),
  user: t("User"),
};

const nameOf = ({ actor: { type, name } }: AuditEntry): string =>
  name ?? actorNames[type] ?? wordsOf(type.replaceAll("_", " "));

const outcomeTones = {
  done: "good",
  failed: "bad",
  second_factor_required: "info",
  unknown: "warn",
};

const columnsIn = (timezone: string): Column<AuditEntry>[] => [
  {
    label: t("Action"),
    className: "c-main",
    render: ({ action, target, count }) => (
      <span className="who">
        <b>
          {auditActionName(action)}{" "}
          {count > 1 && t("({count} times)", { count: formatNumber(count) })}
        </b>
        {target && <span>{auditRecordName(target)}</span>}
      </span>
    ),
  },
  {
    label: t("Outcome"),
    className: "c-status",
    render: ({ outcome }) => <StatusMark status={outcome} tone={outcomeTones[outcome] as "good"} />,
  },
  { label: t("By"), className: "c-tags", render: nameOf },
  { label: t("When"), className: "c-when quiet", render: ({ at }) => formatAgo(at, timezone) },
];

interface EntryPanelProps {
  entry: AuditEntry;
  onClose(): void;
}

type Change = AuditEntry["changes"][number];

const changeColumns: PlainColumn<Change>[] = [
  { label: t("Field"), render: ({ field }) => field },
  { label: t("Before"), breaks: true, render: ({ from }) => textOf(from) },
  { label: t("After"), breaks: true, render: ({ to }) => textOf(to) },
];

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function EntryPanel({ entry, onClose }: EntryPanelProps) {
  const { timezone } = useMe().organization;
  const { action, target, at, address, userAgent, requestId, changedFields, changes } = entry;
  const title = (
    <>
      <h2>{auditActionName(action)}</h2>
      <p>{formatTime(at, timezone)}</p>
    </>
  );
  return (
    <SidePanel label={t("Entry")} title={title} onClose={onClose}>
      <FieldList
        fields={[
          [t("By"), nameOf(entry)],
          [t("Record"), target && auditRecordName(target)],
          [t("Changed fields"), changedFields.join(", ")],
          [t("From"), address],
          [t("Program"), userAgent],
          [t("Request"), requestId],
        ]}
      />
      {changes.length > 0 && (
        <PlainTable
          label={t("Changes")}
          columns={changeColumns}
          rows={changes}
          keyOf={({ field }) => field}
        />
      )}
    </SidePanel>
  );
}
