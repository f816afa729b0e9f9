import { Button, SegmentedControl } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { TemplateMeta } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { readStored, writeStored } from "../../data/stored-choice.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { SearchBox } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { Folders } from "./folders.tsx";
import { TemplateGrid } from "./template-grid.tsx";
import { TemplateTabs } from "./template-tabs.tsx";

const NewEmail = lazy(async () => ({
  default: (await import("../../editors/visual/new-template.tsx")).NewEmail,
}));

/** The view that was chosen last in this browser. */
const viewKey = "pennymail-template-view";

export function Templates() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const mayWrite = useRight("content:write");
  const navigate = useNavigate({ from: "/templates" });
  const { search, folder, view } = useSearch({ from: "/shell/templates" });
  const isFiltered = search !== undefined || folder !== undefined;
  const list = usePagedRows(
    queries.templatePages({
      ...(site && { siteId: site.id }),
      ...(search !== undefined && { search }),
      ...(folder !== undefined && { folderId: folder }),
    }),
    ({ templates }) => templates,
  );
  const [isChoosing, setChoosing] = useState(false);
  const choose = () => setChoosing(mayWrite && site !== undefined);
  useShortcuts([{ keys: ["c"], label: t("New template"), run: choose }]);
  const newTemplate = mayWrite && site && (
    <Button leftSection={<IconPlus size={16} />} onClick={choose}>
      {t("New template")}
    </Button>
  );
  const shownView = view ?? readStored(viewKey) ?? "grid";
  const show = (next: string) => {
    writeStored(viewKey, next);
    navigate({ search: (old) => ({ ...old, view: next as typeof view }), replace: true });
  };
  const empty = isFiltered ? (
    <NothingMatches />
  ) : (
    <NoTemplates onCreate={mayWrite && site ? choose : undefined} />
  );
  return (
    <div className="page list-page">
      <PageHead title={t("Templates")} note={t("Content for campaigns, sequences and the API")}>
        {newTemplate}
      </PageHead>
      <TemplateTabs />
      <search className="filters">
        <SearchBox
          label={t("Search templates")}
          placeholder={t("Part of the name")}
          value={search}
          onSearch={(next) => navigate({ search: (old) => ({ ...old, search: next }) })}
        />
        {site && (
          <Folders
            siteId={site.id}
            folder={folder}
            onChange={(next) => navigate({ search: (old) => ({ ...old, folder: next }) })}
          />
        )}
        <SegmentedControl
          aria-label={t("View")}
          value={shownView}
          onChange={show}
          data={[
            { value: "grid", label: t("Grid") },
            { value: "list", label: t("List") },
          ]}
        />
      </search>
      {shownView === "grid" ? (
        <TemplateGrid list={list} timezone={timezone} empty={empty} />
      ) : (
        <RowTable
          label={t("Templates")}
          columns={columnsIn(timezone)}
          list={list}
          onOpen={({ id }) => navigate({ to: "/templates/$id", params: { id } })}
          empty={empty}
        />
      )}
      {site && isChoosing && (
        <Suspense>
          <NewEmail
            siteId={site.id}
            title={t("New template")}
            onClose={() => setChoosing(false)}
            create={async (content) => {
              const place = { siteId: site.id, folderId: folder ?? null };
              const { id } = await api.templates.create({ ...place, ...content });
              await navigate({ to: "/templates/$id", params: { id } });
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

const NothingMatches = () => (
  <EmptyState title={t("No template matches")}>
    <p>{t("Clear the search, or choose another folder.")}</p>
  </EmptyState>
);

const NoTemplates = ({ onCreate }: { onCreate: (() => void) | undefined }) => (
  <EmptyState title={t("No template yet")}>
    <p>{t("A template is the content of an email, with fields that each recipient fills.")}</p>
    {onCreate && (
      <Button variant="default" onClick={onCreate}>
        {t("Create a template")}
      </Button>
    )}
  </EmptyState>
);

const columnsIn = (timezone: string): Column<TemplateMeta>[] => [
  {
    label: t("Template"),
    className: "c-main",
    render: ({ name, subject }) => (
      <span className="who">
        <b>{name}</b>
        <span>{subject}</span>
      </span>
    ),
  },
  {
    label: t("Fields"),
    className: "c-tags quiet",
    render: ({ variables }) => variables.join(", "),
  },
  {
    label: t("Changed"),
    className: "c-when quiet",
    render: ({ updatedAt }) => formatAgo(updatedAt, timezone),
  },
];
