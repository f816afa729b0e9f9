import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Import } from "pennymail";
import { isRunning } from "../../data/imports.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { counts, toneOf } from "./import-status.ts";

/** Running and past imports, newest first. */
export function PastImports({ siteId }: { siteId: number }) {
  const { timezone } = useMe().organization;
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    queries.imports({ siteId }),
  );
  const imports = data?.pages.flatMap((page) => page.imports) ?? [];
  if (error) return <ErrorNote error={error} />;
  if (imports.length === 0) return null;
  return (
    <Card title={t("Imports")}>
      <PlainTable
        label={t("Imports")}
        columns={columnsIn(timezone)}
        rows={imports}
        keyOf={({ id }) => id}
      />
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t("Show older imports")}
        </Button>
      )}
    </Card>
  );
}

const columnsIn = (timezone: string): PlainColumn<Import>[] => [
  {
    label: t("File"),
    breaks: true,
    render: ({ id, filename }) => (
      <Link to="/contacts/import" search={{ id }}>
        {filename ?? t("Import {id}", { id })}
      </Link>
    ),
  },
  {
    label: t("Status"),
    render: (one) => (
      <>
        <StatusMark status={one.status} tone={toneOf(one)} />
        {isRunning(one) && <small> {one.progress} %</small>}
      </>
    ),
  },
  {
    label: t("Started"),
    render: ({ createdAt }) => (
      <time dateTime={createdAt} title={formatTime(createdAt, timezone)}>
        {formatAgo(createdAt, timezone)}
      </time>
    ),
  },
  ...counts.map(
    ({ label, of }): PlainColumn<Import> => ({
      label,
      isNumber: true,
      isWide: true,
      render: (one) => formatNumber(of(one)),
    }),
  ),
];
