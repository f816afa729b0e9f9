import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignSeries } from "pennymail";
import { queries } from "../../../data/queries.ts";
import { useMe } from "../../../data/session.ts";
import { formatTime } from "../../../format.ts";
import { t } from "../../../language/translate.ts";
import { Card } from "../../../parts/card.tsx";
import { type PlainColumn, PlainTable } from "../../../parts/plain-table.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { describeSchedule } from "./schedule-fields.tsx";

/** The recurring campaigns of a site. Nothing if there are none. */
export function SeriesList({ siteId }: { siteId: number | undefined }) {
  const { timezone } = useMe().organization;
  const { data: series = [] } = useQuery(queries.series(siteId));
  if (series.length === 0) return null;
  const columns: PlainColumn<CampaignSeries>[] = [
    {
      label: t("Name"),
      render: ({ id, name, schedule, lastError, rssState }) => (
        <>
          <Link to="/recurring/$id" params={{ id }}>
            {name}
          </Link>
          <small>{describeSchedule(schedule)}</small>
          {rssState?.status === "retrying" && (
            <small className="tone-warn">
              {t("{error}. It is tried again.", { error: rssState.error })}
            </small>
          )}
          {lastError && <small className="tone-bad">{lastError}</small>}
        </>
      ),
    },
    { label: t("Status"), render: ({ status }) => <StatusMark status={status} /> },
    {
      label: t("Next"),
      isWide: true,
      render: ({ nextAt }) => (nextAt ? formatTime(nextAt, timezone) : "–"),
    },
  ];
  return (
    <Card title={t("Recurring campaigns")}>
      <PlainTable
        label={t("Recurring campaigns")}
        columns={columns}
        rows={series}
        keyOf={({ id }) => id}
      />
    </Card>
  );
}
