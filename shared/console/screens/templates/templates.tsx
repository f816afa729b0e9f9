import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { TemplateMeta } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { SearchBox } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { Folders } from "./folders.tsx";

const NewTemplate = lazy(async () => ({
  default: (await import("../../editors/visual/new-template.tsx")).NewTemplate,
}));

export function Templates() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const mayWrite = useRight("content:write");
  const navigate = useNavigate({ from: "/templates" });
  const { search, folder } = useSearch({ from: "/shell/templates" });
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
  useShortcuts([{ keys: ["c"], label: "New template", run: choose }]);
  const newTemplate = mayWrite && site && (
    <Button leftSection={<IconPlus size={16} />} onClick={choose}>
      New template
    </Button>
  );
  return (
    <div className="page list-page">
      <PageHead title="Templates" note="Content for campaigns, sequences and the API">
        {newTemplate}
      </PageHead>
      <search className="filters">
        <SearchBox
          label="Search templates"
          placeholder="Part of the name"
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
      </search>
      <RowTable
        label="Templates"
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ id }) => navigate({ to: "/templates/$id", params: { id } })}
        empty={
          isFiltered ? (
            <NothingMatches />
          ) : (
            <NoTemplates onCreate={mayWrite && site ? choose : undefined} />
          )
        }
      />
      {site && isChoosing && (
        <Suspense>
          <NewTemplate
            siteId={site.id}
            folderId={folder ?? null}
            onClose={() => setChoosing(false)}
            onCreated={(id) => navigate({ to: "/templates/$id", params: { id } })}
          />
        </Suspense>
      )}
    </div>
  );
}

const NothingMatches = () => (
  <EmptyState title="No template matches">
    <p>Clear the search, or choose another folder.</p>
  </EmptyState>
);

const NoTemplates = ({ onCreate }: { onCreate: (() => void) | undefined }) => (
  <EmptyState title="No template yet">
    <p>A template is the content of an email, with fields that each recipient fills.</p>
    {onCreate && (
      <Button variant="default" onClick={onCreate}>
        Create a template
      </Button>
    )}
  </EmptyState>
);

const columnsIn = (timezone: string): Column<TemplateMeta>[] => [
  {
    label: "Template",
    className: "c-main",
    render: ({ name, subject }) => (
      <span className="who">
        <b>{name}</b>
        <span>{subject}</span>
      </span>
    ),
  },
  { label: "Fields", className: "c-tags quiet", render: ({ variables }) => variables.join(", ") },
  {
    label: "Changed",
    className: "c-when quiet",
    render: ({ updatedAt }) => formatAgo(updatedAt, timezone),
  },
];
