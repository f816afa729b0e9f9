import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { SnippetMeta } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { usePagedRows } from "../../../data/paged-rows.ts";
import { queries } from "../../../data/queries.ts";
import { useMe, useRight, useSite } from "../../../data/session.ts";
import { formatAgo } from "../../../format.ts";
import { t } from "../../../language/translate.ts";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { SearchBox } from "../../../parts/filters.tsx";
import { PageHead } from "../../../parts/page-head.tsx";
import { type Column, RowTable } from "../../../parts/row-table.tsx";
import { useShortcuts } from "../../../parts/shortcuts.ts";
import { TemplateTabs } from "../template-tabs.tsx";

const NewSnippet = lazy(async () => ({
  default: (await import("./new-snippet.tsx")).NewSnippet,
}));

/** The pieces that several emails have in common. */
export function Snippets() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const mayWrite = useRight("content:write");
  const navigate = useNavigate({ from: "/snippets" });
  const { search } = useSearch({ from: "/shell/snippets" });
  const list = usePagedRows(
    queries.snippetPages({
      ...(site && { siteId: site.id }),
      ...(search !== undefined && { search }),
    }),
    ({ snippets }) => snippets,
  );
  const [isCreating, setCreating] = useState(false);
  const create = () => setCreating(mayWrite && site !== undefined);
  useShortcuts([{ keys: ["c"], label: t("New snippet"), run: create }]);
  const open = (id: number) => navigate({ to: "/snippets/$id", params: { id } });
  return (
    <div className="page list-page">
      <PageHead title={t("Snippets")} note={t("Pieces that several emails have in common")}>
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {t("New snippet")}
          </Button>
        )}
      </PageHead>
      <TemplateTabs />
      <search className="filters">
        <SearchBox
          label={t("Search snippets")}
          placeholder={t("Part of the name")}
          value={search}
          onSearch={(next) => navigate({ search: { search: next } })}
        />
      </search>
      <RowTable
        label={t("Snippets")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={({ id }) => open(id)}
        empty={
          search !== undefined ? (
            <EmptyState title={t("No snippet matches")}>
              <p>{t("Clear the search, or try another word.")}</p>
            </EmptyState>
          ) : (
            <EmptyState title={t("No snippet yet")}>
              <p>
                {t(
                  "A snippet is a piece such as a header or a signature. When you " +
                    "change it, every email that has it changes too.",
                )}
              </p>
              {mayWrite && site && (
                <Button variant="default" onClick={create}>
                  {t("Create a snippet")}
                </Button>
              )}
            </EmptyState>
          )
        }
      />
      {site && isCreating && (
        <Suspense>
          <NewSnippet siteId={site.id} onClose={() => setCreating(false)} onCreated={open} />
        </Suspense>
      )}
    </div>
  );
}

const columnsIn = (timezone: string): Column<SnippetMeta>[] => [
  {
    label: t("Snippet"),
    className: "c-main",
    render: ({ name, isLayout }) => (
      <span className="who">
        <b>{name}</b>
        <span>{isLayout && t("Layout: it stands around an email")}</span>
      </span>
    ),
  },
  {
    label: t("Fields"),
    className: "c-tags quiet",
    render: ({ variables }) => variables.filter((name) => !name.startsWith("brand")).join(", "),
  },
  {
    label: t("Changed"),
    className: "c-when quiet",
    render: ({ updatedAt }) => formatAgo(updatedAt, timezone),
  },
];
