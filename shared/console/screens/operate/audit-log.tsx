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
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

/** The list of changes: who made each, and when. */
export function AuditLog() {
  const search = useSearch({ from: "/shell/audit-log" });
  const navigate = useNavigate({ from: "/audit-log" });
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
        <PageHead title="Audit log" note="Every change and every sign-in of the last 400 days">
          <Button
            component="a"
            variant="default"
            href="/api/v1/audit-log/export?format=csv"
            download
          >
            Download as CSV
          </Button>
        </PageHead>
        <Verification />
        <search className="filters">
          <ActorFilter
            value={search.actor}
            onChange={(actor) => navigate({ search: { actor }, replace: true })}
          />
        </search>
        <RowTable
          label="Entries"
          columns={columnsIn(timezone)}
          list={list}
          openId={search.entry}
          onOpen={open}
          empty={
            <EmptyState title="No entry">
              <p>Changes by members, API keys and operators are listed here.</p>
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
      noun="member"
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
        Check that no entry was changed
      </Button>
      <ErrorNote error={checking.error} />
      {data && (
        <p role="status">
          {data.intact
            ? `${formatNumber(data.checkedEntries)} entries are unchanged.`
            : data.problems.map(({ description }) => description).join(" ")}
        </p>
      )}
    </div>
  );
}

const nameOf = ({ actor: { type, name } }: AuditEntry): string =>
  name ?? (type === "anonymous" ? "Not signed in" : wordsOf(type.replaceAll("_", " ")));

/** "campaigns/4" becomes "Campaign 4". */
function recordOf(target: string): string {
  const [kind = "", ...ids] = target.split("/");
  const noun = kind.replace("sending-configs", "sender").replaceAll("-", " ").replace(/s$/, "");
  return [wordsOf(noun), ...ids].join(" ");
}

const outcomeTones = {
  done: "good",
  failed: "bad",
  second_factor_required: "info",
  unknown: "warn",
};

const columnsIn = (timezone: string): Column<AuditEntry>[] => [
  {
    label: "Action",
    className: "c-main",
    render: ({ action, target, count }) => (
      <span className="who">
        <b>
          {wordsOf(action)} {count > 1 && `(${formatNumber(count)} times)`}
        </b>
        {target && <span>{recordOf(target)}</span>}
      </span>
    ),
  },
  {
    label: "Outcome",
    className: "c-status",
    render: ({ outcome }) => <StatusMark status={outcome} tone={outcomeTones[outcome] as "good"} />,
  },
  { label: "By", className: "c-tags", render: nameOf },
  { label: "When", className: "c-when quiet", render: ({ at }) => formatAgo(at, timezone) },
];

interface EntryPanelProps {
  entry: AuditEntry;
  onClose(): void;
}

type Change = AuditEntry["changes"][number];

const changeColumns: PlainColumn<Change>[] = [
  { label: "Field", render: ({ field }) => field },
  { label: "Before", breaks: true, render: ({ from }) => textOf(from) },
  { label: "After", breaks: true, render: ({ to }) => textOf(to) },
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
      <h2>{wordsOf(action)}</h2>
      <p>{formatTime(at, timezone)}</p>
    </>
  );
  return (
    <SidePanel label="Entry" title={title} onClose={onClose}>
      <FieldList
        fields={[
          ["By", nameOf(entry)],
          ["Record", target && recordOf(target)],
          ["Changed fields", changedFields.join(", ")],
          ["From", address],
          ["Program", userAgent],
          ["Request", requestId],
        ]}
      />
      {changes.length > 0 && (
        <PlainTable
          label="Changes"
          columns={changeColumns}
          rows={changes}
          keyOf={({ field }) => field}
        />
      )}
    </SidePanel>
  );
}
