import { Skeleton } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AnalyticsOverview, Dashboard } from "pennymail";
import { lazy, Suspense, useMemo, useState } from "react";
import { type Period, queries } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { formatAgo, formatNumber, formatRate } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Figure } from "../../parts/figure.tsx";
import type { Series } from "../../parts/line-chart.tsx";
import { Meter } from "../../parts/meter.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { PeriodChoice } from "../../parts/period-choice.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { NeedsAttention } from "./needs-attention.tsx";
import { SetupChecklist } from "./setup-checklist.tsx";

const LineChart = lazy(async () => ({
  default: (await import("../../parts/line-chart.tsx")).LineChart,
}));

export function Home() {
  const { organization } = useMe();
  const { site } = useSite();
  const [period, setPeriod] = useState<Period>("30d");
  const setup = useQuery(queries.setup());
  // Before the first email, the steps that lead to it tell more than zeros.
  const isUnused = setup.data?.steps.some(({ key, done }) => key === "first_send" && !done);
  // Members who are limited to sites may not read the checklist.
  const enabled = setup.isError || isUnused === false;
  const overview = useQuery({ ...queries.overview(site?.id, period), enabled });
  const dashboard = useQuery({ ...queries.dashboard(site?.id, period), enabled });
  return (
    <div className={overview.isPlaceholderData ? "page stale" : "page"}>
      <PageHead
        title="Home"
        note={`${site?.name ?? organization.name}, all times in ${organization.timezone}`}
      >
        {!isUnused && <PeriodChoice period={period} onChange={setPeriod} />}
      </PageHead>
      <ErrorNote error={overview.error ?? dashboard.error} />
      {setup.data && !setup.data.complete && <SetupChecklist setup={setup.data} />}
      {!isUnused && (
        <>
          <NeedsAttention />
          {overview.data ? <KeyFigures overview={overview.data} /> : <FigureSkeletons />}
          <Card title="Emails by day">
            <Suspense fallback={<Skeleton h={300} />}>
              {overview.data ? <EmailsByDay overview={overview.data} /> : <Skeleton h={300} />}
            </Suspense>
          </Card>
          <div className="columns">
            <LatestCampaigns dashboard={dashboard.data} timezone={organization.timezone} />
            <Health dashboard={dashboard.data} />
          </div>
        </>
      )}
    </div>
  );
}

function KeyFigures({ overview: { totals, change } }: { overview: AnalyticsOverview }) {
  const rateOf = (rate: number) => (totals.sent === 0 ? "–" : formatRate(rate));
  return (
    <section className="figures" aria-label="Figures">
      <Figure label="Sent" value={formatNumber(totals.sent)}>
        <Change change={change.sent} unit="%" />
      </Figure>
      <Figure label="Delivered" value={rateOf(totals.deliveryRate)}>
        <Change change={change.deliveryRate} unit="points" />
      </Figure>
      <Figure label="Opened" value={rateOf(totals.openRate)}>
        <Change change={change.openRate} unit="points" />
      </Figure>
      <Figure label="Clicked" value={rateOf(totals.clickRate)}>
        <Change change={change.clickRate} unit="points" />
      </Figure>
    </section>
  );
}

interface ChangeProps {
  /** Growth as a fraction, or the difference of rates. Null if there is nothing to compare with. */
  change: number | null;
  unit: "%" | "points";
}

function Change({ change, unit }: ChangeProps) {
  if (change === null) return <small>No emails in the period before</small>;
  const isUp = change >= 0;
  const Arrow = isUp ? IconArrowUpRight : IconArrowDownRight;
  return (
    <span className={isUp ? "change good" : "change bad"}>
      <Arrow size={14} aria-label={isUp ? "up" : "down"} />
      {Math.abs(change * 100).toFixed(1)} {unit} <small>to the period before</small>
    </span>
  );
}

function FigureSkeletons() {
  return (
    <section className="figures" aria-label="Figures" aria-busy>
      {["Sent", "Delivered", "Opened", "Clicked"].map((label) => (
        <div key={label} className="figure">
          <p>{label}</p>
          <Skeleton h={28} w={110} mt={4} />
          <Skeleton h={14} w={150} mt={8} />
        </div>
      ))}
    </section>
  );
}

function EmailsByDay({ overview: { series, totals } }: { overview: AnalyticsOverview }) {
  const chart = useMemo(
    () => ({
      times: series.map(({ from }) => from),
      series: [
        {
          label: "Delivered",
          values: series.map(({ delivered }) => delivered),
          color: "--chart-1",
          filled: true,
        },
        { label: "Opened", values: series.map(({ opened }) => opened), color: "--chart-2" },
        { label: "Clicked", values: series.map(({ clicked }) => clicked), color: "--chart-3" },
      ] satisfies Series[],
    }),
    [series],
  );
  const [delivered, opened, clicked] = [totals.delivered, totals.opened, totals.clicked].map(
    formatNumber,
  );
  return (
    <LineChart
      {...chart}
      summary={`Line chart: ${delivered} emails delivered, ${opened} opened, ${clicked} clicked.`}
    />
  );
}

interface LatestCampaignsProps {
  dashboard: Dashboard | undefined;
  timezone: string;
}

type LatestCampaign = Dashboard["recentCampaigns"][number];

const campaignColumnsIn = (timezone: string): PlainColumn<LatestCampaign>[] => [
  {
    label: "Campaign",
    render: ({ id, name, startedAt, scheduledAt }) => (
      <>
        <Link to="/campaigns/$id" params={{ id }}>
          {name}
        </Link>
        <small>{whenOf(startedAt ?? scheduledAt, timezone)}</small>
      </>
    ),
  },
  { label: "Status", render: ({ status }) => <StatusMark status={status} /> },
  {
    label: "Sent",
    isNumber: true,
    isWide: true,
    render: ({ stats }) => formatNumber(stats.sent),
  },
  {
    label: "Opened",
    isNumber: true,
    render: ({ stats: { opened, delivered } }) => shareOf(opened, delivered),
  },
  {
    label: "Clicked",
    isNumber: true,
    isWide: true,
    render: ({ stats: { clicked, delivered } }) => shareOf(clicked, delivered),
  },
];

function LatestCampaigns({ dashboard, timezone }: LatestCampaignsProps) {
  return (
    <Card title="Latest campaigns">
      {!dashboard && <Skeleton h={160} />}
      {dashboard?.recentCampaigns.length === 0 && (
        <p className="quiet">A campaign is one email to many contacts. There is none yet.</p>
      )}
      {dashboard && dashboard.recentCampaigns.length > 0 && (
        <PlainTable
          label="Latest campaigns"
          columns={campaignColumnsIn(timezone)}
          rows={dashboard.recentCampaigns}
          keyOf={({ id }) => id}
        />
      )}
    </Card>
  );
}

const whenOf = (iso: string | null, timezone: string): string =>
  iso ? formatAgo(iso, timezone) : "Not scheduled";
const shareOf = (part: number, whole: number): string => (whole ? formatRate(part / whole) : "–");

/** Above these, providers and mailbox providers act against the sender. */
const bounceLimit = 0.05;
const complaintLimit = 0.001;

function Health({ dashboard }: { dashboard: Dashboard | undefined }) {
  const tone = { excellent: "good", good: "good", fair: "warn", poor: "bad" } as const;
  return (
    <Card title="Health">
      {!dashboard && <Skeleton h={120} />}
      {dashboard && (
        <>
          <p>
            <StatusMark
              status={`${dashboard.reputation.score} reputation`}
              tone={tone[dashboard.reputation.score]}
            />
          </p>
          <Meter label="Bounces" rate={dashboard.reputation.bounceRate} limit={bounceLimit} />
          <Meter
            label="Complaints"
            rate={dashboard.reputation.complaintRate}
            limit={complaintLimit}
            digits={2}
          />
          {dashboard.reputation.factors.map((factor) => (
            <p key={factor} className="quiet">
              {factor}
            </p>
          ))}
        </>
      )}
    </Card>
  );
}
