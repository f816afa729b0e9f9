import { Skeleton } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AnalyticsOverview, Dashboard } from "pennymail";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { type Period, queries } from "../../data/queries.ts";
import { isReported } from "../../data/reported.ts";
import { useMe, useSite } from "../../data/session.ts";
import { formatAgo, formatDecimal, formatNumber, formatRate } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
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
  const isLoading = setup.isPending;
  // Members who are limited to sites may not read the checklist.
  const enabled = setup.isError || isUnused === false;
  const overview = useQuery({ ...queries.overview(site?.id, period), enabled });
  const dashboard = useQuery({ ...queries.dashboard(site?.id, period), enabled });
  return (
    <div className={overview.isPlaceholderData ? "page stale" : "page"}>
      <PageHead
        title={t("Home")}
        note={t("{name}, all times in {timezone}", {
          name: site?.name ?? organization.name,
          timezone: organization.timezone,
        })}
      >
        {!isUnused && !isLoading && <PeriodChoice period={period} onChange={setPeriod} />}
      </PageHead>
      <ErrorNote error={overview.error ?? dashboard.error} />
      {isLoading && <Skeleton h={320} />}
      {setup.data && (isUnused || dashboard.data) && (
        <SetupChecklist
          setup={setup.data}
          isEstablished={(dashboard.data?.recentCampaigns ?? []).some(
            ({ stats }) => stats.sent > 0,
          )}
        />
      )}
      {!isUnused && !isLoading && (
        <>
          <NeedsAttention />
          {overview.data ? <KeyFigures overview={overview.data} /> : <FigureSkeletons />}
          <Card title={t("Emails by day")}>
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
  const isKnown = isReported(totals);
  const rateOf = (rate: number) => {
    if (!isKnown) return t("Not known");
    return totals.sent === 0 ? "–" : formatRate(rate);
  };
  const changeOf = (rate: number | null) =>
    isKnown ? (
      <Change change={rate} unit="points" />
    ) : (
      <small>{t("No report of the provider yet")}</small>
    );
  return (
    <section className="figures" aria-label={t("Figures")}>
      <Figure label={t("Sent")} value={formatNumber(totals.sent)}>
        <Change change={change.sent} unit="%" />
      </Figure>
      <Figure label={t("Delivered")} value={rateOf(totals.deliveryRate)}>
        {changeOf(change.deliveryRate)}
      </Figure>
      <Figure label={t("Opened")} value={rateOf(totals.openRate)}>
        {changeOf(change.openRate)}
      </Figure>
      <Figure label={t("Clicked")} value={rateOf(totals.clickRate)}>
        {changeOf(change.clickRate)}
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
  if (change === null) return <small>{t("No emails in the period before")}</small>;
  const isUp = change >= 0;
  const values = {
    change: formatDecimal(Math.abs(change * 100), 1),
    small: (text: ReactNode) => <small>{text}</small>,
  };
  const Arrow = isUp ? IconArrowUpRight : IconArrowDownRight;
  return (
    <span className={isUp ? "change good" : "change bad"}>
      <Arrow size={14} aria-label={isUp ? t("up") : t("down")} />
      {unit === "%"
        ? tNodes("{change} % <small>to the period before</small>", values)
        : tNodes("{change} points <small>to the period before</small>", values)}
    </span>
  );
}

function FigureSkeletons() {
  return (
    <section className="figures" aria-label={t("Figures")} aria-busy>
      {[t("Sent"), t("Delivered"), t("Opened"), t("Clicked")].map((label) => (
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
          label: t("Delivered"),
          values: series.map(({ delivered }) => delivered),
          color: "--chart-1",
          filled: true,
        },
        { label: t("Opened"), values: series.map(({ opened }) => opened), color: "--chart-2" },
        { label: t("Clicked"), values: series.map(({ clicked }) => clicked), color: "--chart-3" },
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
      summary={t("Line chart: {delivered} emails delivered, {opened} opened, {clicked} clicked.", {
        delivered,
        opened,
        clicked,
      })}
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
    label: t("Campaign"),
    render: ({ id, name, startedAt, scheduledAt }) => (
      <>
        <Link to="/campaigns/$id" params={{ id }}>
          {name}
        </Link>
        <small>{whenOf(startedAt ?? scheduledAt, timezone)}</small>
      </>
    ),
  },
  { label: t("Status"), render: ({ status }) => <StatusMark status={status} /> },
  {
    label: t("Sent"),
    isNumber: true,
    isWide: true,
    render: ({ stats }) => formatNumber(stats.sent),
  },
  {
    label: t("Opened"),
    isNumber: true,
    render: ({ stats: { opened, delivered } }) => shareOf(opened, delivered),
  },
  {
    label: t("Clicked"),
    isNumber: true,
    isWide: true,
    render: ({ stats: { clicked, delivered } }) => shareOf(clicked, delivered),
  },
];

function LatestCampaigns({ dashboard, timezone }: LatestCampaignsProps) {
  return (
    <Card title={t("Latest campaigns")}>
      {!dashboard && <Skeleton h={160} />}
      {dashboard?.recentCampaigns.length === 0 && (
        <p className="quiet">
          {tNodes(
            "A campaign is one email to many contacts. There is none yet. " +
              "<link>Write one</link>",
            { link: (text) => <Link to="/campaigns">{text}</Link> },
          )}
        </p>
      )}
      {dashboard && dashboard.recentCampaigns.length > 0 && (
        <PlainTable
          label={t("Latest campaigns")}
          columns={campaignColumnsIn(timezone)}
          rows={dashboard.recentCampaigns}
          keyOf={({ id }) => id}
        />
      )}
    </Card>
  );
}

const whenOf = (iso: string | null, timezone: string): string =>
  iso ? formatAgo(iso, timezone) : t("Not scheduled");
const shareOf = (part: number, whole: number): string => (whole ? formatRate(part / whole) : "–");

/** Above these, providers and mailbox providers act against the sender. */
const bounceLimit = 0.05;
const complaintLimit = 0.001;

const reputationTones = {
  excellent: "good",
  good: "good",
  fair: "warn",
  poor: "bad",
  unknown: "quiet",
} as const;
const reputationNames = {
  excellent: t("Excellent reputation"),
  good: t("Good reputation"),
  fair: t("Fair reputation"),
  poor: t("Poor reputation"),
  unknown: t("Reputation is not known"),
};

function Health({ dashboard }: { dashboard: Dashboard | undefined }) {
  const score = dashboard?.reputation.score ?? "unknown";
  const isKnown = score !== "unknown";
  return (
    <Card title={t("Health")}>
      {!dashboard && <Skeleton h={120} />}
      {dashboard && (
        <>
          <p>
            <StatusMark status={reputationNames[score]} tone={reputationTones[score]} />
          </p>
          {isKnown && (
            <>
              <Meter
                label={t("Bounces")}
                rate={dashboard.reputation.bounceRate}
                limit={bounceLimit}
              />
              <Meter
                label={t("Complaints")}
                rate={dashboard.reputation.complaintRate}
                limit={complaintLimit}
                digits={2}
              />
            </>
          )}
          {dashboard.reputation.factors.map((factor) => (
            <p key={factor} className="quiet">
              {ofService(factor)}
            </p>
          ))}
        </>
      )}
    </Card>
  );
}
