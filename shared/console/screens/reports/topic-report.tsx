import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { TopicStatistics } from "pennymail";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import type { ReportProps } from "./reports.tsx";

/** How many get each kind of email, and how many left it. */
export function TopicReport({ siteId, period }: ReportProps) {
  const { data, error } = useQuery(queries.topicStatistics(siteId, period));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={200} />;
  if (data.topics.length === 0)
    return (
      <EmptyState title={t("No topic yet")}>
        <p>
          {t(
            "A topic is a kind of email, such as a newsletter, that contacts can " +
              "leave without leaving the others. This report says how many do.",
          )}
        </p>
      </EmptyState>
    );
  return (
    <Card title={t("Topics")}>
      <PlainTable label={t("Topics")} columns={columns} rows={data.topics} keyOf={({ id }) => id} />
    </Card>
  );
}

const columns: PlainColumn<TopicStatistics["topics"][number]>[] = [
  { label: t("Topic"), render: ({ name }) => name },
  {
    label: t("Subscribers"),
    isNumber: true,
    render: ({ subscribers }) => formatNumber(subscribers),
  },
  { label: t("Left in the period"), isNumber: true, render: ({ left }) => formatNumber(left) },
];
