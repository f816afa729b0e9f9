import { ActionIcon, Button, Select, TextInput } from "@mantine/core";
import { useDebouncedValue, useHotkeys } from "@mantine/hooks";
import { IconPlus, IconSearch, IconUpload, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Contact } from "pennymail";
import { useEffect, useRef, useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { capitalize, formatAgo, formatDate, formatNumber } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { AddContact } from "./add-contact.tsx";
import { BulkActions } from "./contact-bulk-actions.tsx";
import { ContactDetail } from "./contact-detail.tsx";

const statuses = ["subscribed", "pending", "unsubscribed", "suppressed"] as const;
type Status = (typeof statuses)[number];

export function Contacts() {
  const search = useSearch({ from: "/shell/contacts" });
  const navigate = useNavigate({ from: "/contacts" });
  const { site } = useSite();
  const { organization } = useMe();
  const mayWrite = useRight("audience:write");
  const [lastVisible, setLastVisible] = useState(0);
  const [selected, setSelected] = useState<ReadonlyMap<number, string>>(new Map());
  const [isAdding, setAdding] = useState(false);
  const { rows, total, hasMore, error, isStale } = usePagedRows(
    queries.contacts({
      ...(site && { siteId: site.id }),
      ...(search.search && { search: search.search }),
      ...(search.status && { status: search.status as Status }),
      ...(search.list && { listId: search.list }),
      ...(search.tag && { tagId: search.tag }),
    }),
    ({ contacts }) => contacts,
    lastVisible,
  );
  const isFiltered = Boolean(search.search || search.status || search.list || search.tag);
  const open = (contact?: { id: number }) =>
    navigate({ search: (old) => ({ ...old, contact: contact?.id }) });
  const toggle = (id: number) =>
    setSelected((old) => {
      const next = new Map(old);
      if (!next.delete(id)) next.set(id, rows.find((row) => row.id === id)?.email ?? String(id));
      return next;
    });
  return (
    <div className={search.contact ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead title="Contacts" note={countText({ total, shown: rows.length, hasMore })}>
          {mayWrite && site && (
            <>
              <Button
                variant="default"
                leftSection={<IconUpload size={16} />}
                onClick={() => navigate({ to: "/contacts/import" })}
              >
                Import
              </Button>
              <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
                Add contact
              </Button>
            </>
          )}
        </PageHead>
        <Filters siteId={site?.id} />
        <ErrorNote error={error} />
        <div className={isStale ? "list-box stale" : "list-box"}>
          <RowTable
            label="Contacts"
            columns={columnsIn(organization.timezone)}
            rows={rows}
            total={total}
            hasMore={hasMore || (total === undefined && !error)}
            openId={search.contact}
            onOpen={open}
            onScroll={setLastVisible}
            empty={isFiltered ? <NoMatch /> : <NoContacts />}
            {...(mayWrite && {
              selection: {
                ids: new Set(selected.keys()),
                toggle,
                labelOf: (id: number) => rows.find((row) => row.id === id)?.email ?? "",
              },
            })}
          />
        </div>
        {selected.size > 0 && site ? (
          <BulkActions siteId={site.id} contacts={selected} onDone={() => setSelected(new Map())} />
        ) : (
          <p className="hints">
            <kbd>↑</kbd>
            <kbd>↓</kbd> move <kbd>Enter</kbd> open <kbd>x</kbd> select <kbd>/</kbd> search
          </p>
        )}
      </div>
      {search.contact !== undefined && (
        <ContactDetail key={search.contact} id={search.contact} onClose={() => open()} />
      )}
      {site && <AddContact siteId={site.id} opened={isAdding} onClose={() => setAdding(false)} />}
    </div>
  );
}

interface Count {
  total: number | null | undefined;
  shown: number;
  hasMore: boolean;
}

/** The API counts lists without filters. Others are counted as far as they were read. */
function countText({ total, shown, hasMore }: Count): string {
  if (total === undefined) return "Loading";
  if (total !== null) return `${formatNumber(total)} ${total === 1 ? "contact" : "contacts"}`;
  return `${formatNumber(shown)}${hasMore ? " or more" : ""} match`;
}

function columnsIn(timezone: string): Column<Contact>[] {
  return [
    {
      label: "Contact",
      className: "c-main",
      render: ({ firstName, lastName, email }) => {
        const name = [firstName, lastName].filter(Boolean).join(" ");
        return (
          <span className="who">
            <b>{name || email}</b>
            {name && <span>{email}</span>}
          </span>
        );
      },
    },
    {
      label: "Status",
      className: "c-status",
      render: ({ status }) => <StatusMark status={status} />,
    },
    { label: "Tags", className: "c-tags", render: ({ tags }) => <Tags names={tags} /> },
    {
      label: "Score",
      className: "c-score",
      isNumber: true,
      render: ({ score }) => formatNumber(score),
    },
    {
      label: "Last opened",
      className: "c-when",
      render: ({ lastOpenedAt }) =>
        lastOpenedAt ? formatAgo(lastOpenedAt, timezone) : <span className="quiet">Never</span>,
    },
    {
      label: "Added",
      className: "c-added quiet",
      render: ({ createdAt }) => formatDate(createdAt, timezone),
    },
  ];
}

const maxTags = 2;

function Tags({ names }: { names: { id: number; name: string }[] }) {
  return (
    <>
      {names.slice(0, maxTags).map(({ id, name }) => (
        <span key={id} className="tag">
          {name}
        </span>
      ))}
      {names.length > maxTags && <span className="more">+{names.length - maxTags}</span>}
    </>
  );
}

function Filters({ siteId }: { siteId: number | undefined }) {
  const search = useSearch({ from: "/shell/contacts" });
  const navigate = useNavigate({ from: "/contacts" });
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(search.search ?? "");
  const [typed] = useDebouncedValue(text, 200);
  useEffect(() => {
    if (typed !== (search.search ?? "")) change({ search: typed || undefined });
  }, [typed]);
  useHotkeys([["/", () => input.current?.focus()]]);
  return (
    <search className="filters">
      <TextInput
        ref={input}
        className="grow"
        aria-label="Search by email or name"
        placeholder="Search email or name"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          text ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Clear search"
              onClick={() => setText("")}
            >
              <IconX size={14} />
            </ActionIcon>
          ) : (
            <kbd>/</kbd>
          )
        }
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        clearButtonProps={{ "aria-label": "Any status" }}
        w={150}
        data={statuses.map((value) => ({ value, label: capitalize(value) }))}
        value={search.status ?? null}
        onChange={(status) => change({ status: status ?? undefined })}
      />
      {siteId && <GroupFilters siteId={siteId} change={change} />}
    </search>
  );
}

interface GroupFiltersProps {
  siteId: number;
  change(next: { list?: number | undefined; tag?: number | undefined }): void;
}

function GroupFilters({ siteId, change }: GroupFiltersProps) {
  const search = useSearch({ from: "/shell/contacts" });
  const lists = useQuery(queries.lists(siteId)).data?.lists ?? [];
  const tags = useQuery(queries.tags(siteId)).data?.tags ?? [];
  return (
    <>
      <GroupFilter
        noun="list"
        groups={lists}
        value={search.list}
        onChange={(list) => change({ list })}
      />
      <GroupFilter
        noun="tag"
        groups={tags}
        value={search.tag}
        onChange={(tag) => change({ tag })}
      />
    </>
  );
}

interface GroupFilterProps {
  noun: string;
  groups: { id: number; name: string }[];
  value: number | undefined;
  onChange(id: number | undefined): void;
}

function GroupFilter({ noun, groups, value, onChange }: GroupFilterProps) {
  if (groups.length === 0) return null;
  return (
    <Select
      className="wide"
      aria-label={capitalize(noun)}
      placeholder={`Any ${noun}`}
      clearable
      searchable
      clearButtonProps={{ "aria-label": `Any ${noun}` }}
      w={150}
      data={groups.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value === undefined ? null : String(value)}
      onChange={(id) => onChange(id ? Number(id) : undefined)}
    />
  );
}

function NoMatch() {
  const navigate = useNavigate({ from: "/contacts" });
  return (
    <div className="empty">
      <h2>No contact matches</h2>
      <p>Check the spelling, or search all contacts.</p>
      <Button variant="default" onClick={() => navigate({ search: {} })}>
        Clear filters
      </Button>
    </div>
  );
}

function NoContacts() {
  return (
    <div className="empty">
      <h2>No contacts yet</h2>
      <p>Import a file, or add one here. Programs add them with POST /api/v1/contacts.</p>
    </div>
  );
}
