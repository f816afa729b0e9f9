import { Button, Select } from "@mantine/core";
import { IconDownload, IconPlus, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Contact } from "pennymail";
import { type ReactNode, useState } from "react";
import { fieldQueries } from "../../data/field-queries.ts";
import { type PagedRows, usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import { FilterSelect, SearchBox, statusOptions } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
import { RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { ActionProgress } from "./action-progress.tsx";
import { AddContact } from "./add-contact.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import { BulkActions } from "./contact-bulk-actions.tsx";
import { contactColumns, shownColumns, useColumnChoice, widthOf } from "./contact-columns.tsx";
import { ContactDetail } from "./contact-detail.tsx";
import { useContactOrder } from "./contact-order.ts";

const statuses = ["subscribed", "pending", "unsubscribed", "suppressed"] as const;
type Status = (typeof statuses)[number];

export function Contacts() {
  const search = useSearch({ from: "/shell/contacts" });
  const navigate = useNavigate({ from: "/contacts" });
  const { site } = useSite();
  const { organization, user } = useMe();
  const fields = useQuery({ ...fieldQueries.list(site?.id ?? 0), enabled: site !== undefined });
  const columns = contactColumns(fields.data?.fields ?? [], organization.timezone);
  const choice = useColumnChoice(user.id, site?.id);
  const order = useContactOrder(user.id);
  const shown = shownColumns(columns, choice.chosen).map(({ sort, ...column }) => ({
    ...column,
    sorting: sort && order.columnSort(sort),
  }));
  const mayWrite = useRight("audience:write");
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [isAdding, setAdding] = useState(false);
  const mayExport = useRight("audience:export");
  const [isExporting, setExporting] = useState(false);
  const filter = {
    ...(search.search && { search: search.search }),
    ...(search.status && { status: search.status as Status }),
    ...(search.list && { listId: search.list }),
    ...(search.tag && { tagId: search.tag }),
    ...(search.segment && { segmentId: search.segment }),
  };
  const list = usePagedRows(
    queries.contacts({ ...(site && { siteId: site.id }), ...filter, ...order.query }),
    ({ contacts }) => contacts,
  );
  useShortcuts([
    { keys: ["c"], label: t("Add a contact"), run: () => mayWrite && setAdding(true) },
  ]);
  const { rows } = list;
  const isFiltered = Object.keys(filter).length > 0;
  const open = (contact?: { id: number }) =>
    navigate({ search: (old) => ({ ...old, contact: contact?.id }) });
  const showAction = (action?: number) =>
    navigate({ search: (old) => ({ ...old, action }), replace: true });
  const toggle = (id: number) =>
    setSelected((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <div className={search.contact ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead title={t("Contacts")} note={countText(list)}>
          {mayExport && site && (
            <Button
              variant="default"
              leftSection={<IconDownload size={16} />}
              onClick={() => setExporting(true)}
            >
              {t("Export")}
            </Button>
          )}
          {mayWrite && site && (
            <>
              <Button
                variant="default"
                leftSection={<IconUpload size={16} />}
                onClick={() => navigate({ to: "/contacts/import" })}
              >
                {t("Import")}
              </Button>
              <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
                {t("Add contact")}
              </Button>
            </>
          )}
        </PageHead>
        <Filters siteId={site?.id}>
          {order.options.length > 0 && (
            <Select
              className="phone-only"
              aria-label={t("Order")}
              w={180}
              allowDeselect={false}
              data={order.options}
              value={order.value ?? null}
              onChange={(value) => value && order.choose(value)}
            />
          )}
          <ColumnsMenu columns={columns} choice={choice} note={order.note} />
        </Filters>
        {search.action !== undefined && (
          <ActionProgress id={search.action} onClose={() => showAction()} />
        )}
        <RowTable
          label={t("Contacts")}
          columns={shown}
          {...(!choice.isDefault && { minWidth: widthOf(shown) })}
          list={list}
          openId={search.contact}
          onOpen={open}
          empty={isFiltered ? <NoMatch /> : <NoContacts mayWrite={mayWrite} />}
          {...(mayWrite && {
            selection: {
              ids: selected,
              toggle,
              labelOf: (id: number) => rows.find((row) => row.id === id)?.email ?? "",
            },
          })}
        />
        {selected.size > 0 && site ? (
          <BulkActions
            siteId={site.id}
            selectedIds={[...selected]}
            filter={filter}
            onClear={() => setSelected(new Set())}
            onStarted={(actionId) => {
              setSelected(new Set());
              showAction(actionId);
            }}
          />
        ) : (
          <p className="hints">
            {tNodes("{kbd}{kbd2} move <kbd3>Enter</kbd3> open {kbd4} select {kbd5} search", {
              kbd: <kbd>↑</kbd>,
              kbd2: <kbd>↓</kbd>,
              kbd3: (text) => <kbd>{text}</kbd>,
              kbd4: <kbd>x</kbd>,
              kbd5: <kbd>/</kbd>,
            })}
          </p>
        )}
      </div>
      {search.contact !== undefined && (
        <ContactDetail
          key={search.contact}
          id={search.contact}
          onClose={() => open()}
          onOpen={(id) => open({ id })}
        />
      )}
      {site && (
        <ExportDialog
          title={t("Export contacts")}
          request={{ type: "contacts", siteId: site.id, ...filter }}
          opened={isExporting}
          onClose={() => setExporting(false)}
        >
          {isFiltered
            ? t("The file has all fields of the contacts that match the filters.")
            : t("The file has all fields of all contacts of the site.")}
        </ExportDialog>
      )}
      {site && <AddContact siteId={site.id} opened={isAdding} onClose={() => setAdding(false)} />}
    </div>
  );
}

/** The API counts lists without filters. Others are counted as far as they were read. */
function countText({ total, rows, hasMore }: PagedRows<Contact>): string {
  if (total === undefined) return t("Loading");
  if (total !== null)
    return t("{count, plural, one {# contact} other {# contacts}}", { count: total });
  const count = formatNumber(rows.length);
  return hasMore ? t("{count} or more match", { count }) : t("{count} match", { count });
}

interface FiltersProps {
  siteId: number | undefined;
  /** Follows the filters. */
  children: ReactNode;
}

function Filters({ siteId, children }: FiltersProps) {
  const search = useSearch({ from: "/shell/contacts" });
  const navigate = useNavigate({ from: "/contacts" });
  const change = (next: Partial<typeof search>) =>
    navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <search className="filters">
      <SearchBox
        label={t("Search by email or name")}
        placeholder={t("Search email or name")}
        value={search.search}
        onSearch={(text) => change({ search: text })}
      />
      <FilterSelect
        label={t("Status")}
        any={t("Any status")}
        options={statusOptions(statuses)}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      {siteId && <GroupFilters siteId={siteId} change={change} />}
      {children}
    </search>
  );
}

type GroupNoun = "list" | "tag" | "segment";

const groupNames: Record<GroupNoun, { label: string; any: string }> = {
  list: { label: t("List"), any: t("Any list") },
  tag: { label: t("Tag"), any: t("Any tag") },
  segment: { label: t("Segment"), any: t("Any segment") },
};

interface GroupFiltersProps {
  siteId: number;
  change(next: Partial<Record<GroupNoun, number | undefined>>): void;
}

function GroupFilters({ siteId, change }: GroupFiltersProps) {
  const search = useSearch({ from: "/shell/contacts" });
  return groupFilters.map(({ noun, group }) => (
    <GroupFilter
      key={noun}
      group={group}
      siteId={siteId}
      noun={noun}
      value={search[noun]}
      onChange={(id) => change({ [noun]: id ?? undefined })}
    />
  ));
}

const groupFilters = [
  { noun: "list", group: "lists" },
  { noun: "tag", group: "tags" },
  { noun: "segment", group: "segments" },
] as const;

interface GroupFilterProps {
  group: (typeof groupFilters)[number]["group"];
  siteId: number;
  noun: GroupNoun;
  value: number | undefined;
  onChange(id: number | null): void;
}

/** Hidden while the site has none. */
function GroupFilter({ group, siteId, noun, value, onChange }: GroupFilterProps) {
  const { data } = useQuery(queries.firstNames(group, siteId));
  if (!data?.names.length && value === undefined) return null;
  return (
    <RecordSelect
      group={group}
      siteId={siteId}
      {...(value === undefined && { className: "wide" })}
      aria-label={groupNames[noun].label}
      placeholder={groupNames[noun].any}
      clearable
      clearButtonProps={{ "aria-label": groupNames[noun].any }}
      w={150}
      value={value}
      onChange={onChange}
    />
  );
}

function NoMatch() {
  const navigate = useNavigate({ from: "/contacts" });
  return (
    <EmptyState title={t("No contact matches")}>
      <p>{t("Check the spelling, or search all contacts.")}</p>
      <Button variant="default" onClick={() => navigate({ search: {} })}>
        {t("Clear filters")}
      </Button>
    </EmptyState>
  );
}

function NoContacts({ mayWrite }: { mayWrite: boolean }) {
  const navigate = useNavigate({ from: "/contacts" });
  return (
    <EmptyState title={t("No contacts yet")}>
      <p>{t("Import a file, or add one here. Your programs can add them, too.")}</p>
      {mayWrite && (
        <Button variant="default" onClick={() => navigate({ to: "/contacts/import" })}>
          {t("Upload a file")}
        </Button>
      )}
    </EmptyState>
  );
}
