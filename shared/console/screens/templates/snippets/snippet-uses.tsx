import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SnippetUse } from "pennymail";
import { queries } from "../../../data/queries.ts";
import { t } from "../../../language/translate.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";

/** What uses the snippet. */
export function SnippetUses({ id }: { id: number }) {
  const { data, error } = useQuery({ ...queries.snippetUses(id), refetchOnMount: "always" });
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={120} />;
  if (data.uses.length === 0)
    return (
      <p className="quiet">
        {t("Nothing uses it yet. Add the block “Snippet” to an email to have it there.")}
      </p>
    );
  return (
    <div className="stack">
      <p className="quiet">{t("A change that you save appears in all of these at once.")}</p>
      <UseList uses={data.uses} />
    </div>
  );
}

const kindNames: Record<SnippetUse["kind"], string> = {
  template: t("Template"),
  snippet: t("Snippet"),
  campaign: t("Campaign"),
};

export function UseList({ uses }: { uses: readonly SnippetUse[] }) {
  return (
    <ul className="bullets" aria-label={t("Used by")}>
      {uses.map(({ kind, id, name }) => (
        <li key={`${kind} ${id}`}>
          {kindNames[kind]}:{" "}
          <Link to={paths[kind]} params={{ id }}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

const paths = {
  template: "/templates/$id",
  snippet: "/snippets/$id",
  campaign: "/campaigns/$id",
} as const;
