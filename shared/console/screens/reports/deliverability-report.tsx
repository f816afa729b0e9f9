import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Deliverability } from "pennymail";
import { lazy, Suspense, useMemo } from "react";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { daysOfReports } from "../../data/reported.ts";
import { useMe } from "../../data/session.ts";
import { formatDay, formatNumber, formatRate } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { Figure } from "../../parts/figure.tsx";
import type { Series } from "../../parts/line-chart.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import type { ReportProps } from "./reports.tsx";

const LineChart = lazy(async () => ({
  default: (await import("../../parts/line-chart.tsx")).LineChart,
}));

/** How much email arrives, where it does not, and why. */
export function DeliverabilityReport({ siteId, period }: ReportProps) {
  const { data, error, isPlaceholderData } = useQuery(queries.deliverability(siteId, period));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={420} />;
  if (data.funnel.sent + data.funnel.failed === 0)
    return (
      <EmptyState title={t("No email in this period")}>
        <p>
          {t(
            "Once email is sent, this report says how much of it arrives, and why " +
              "some does not.",
          )}
        </p>
      </EmptyState>
    );
  return (
    <div className={isPlaceholderData ? "stack stale" : "stack"}>
      <Funnel report={data} />
      <Card title={t("Delivered and bounced by day")}>
        <Suspense fallback={<Skeleton h={300} />}>
          <DailyTrends report={data} />
        </Suspense>
      </Card>
      <div className="columns even">
        <Card title={t("Mailbox providers")}>
          {data.ispGroups.length === 0 ? (
            <p className="quiet">{t("No mailbox provider has answered yet.")}</p>
          ) : (
            <PlainTable
              label={t("Mailbox providers")}
              columns={receiverColumns}
              rows={data.ispGroups}
              keyOf={({ group }) => group}
            />
          )}
        </Card>
        <Bounces report={data} />
      </div>
      <Card title={t("Senders")}>
        <PlainTable
          label={t("Senders")}
          columns={senderColumns}
          rows={data.configPerformance}
          keyOf={({ sendingConfigId }) => sendingConfigId}
        />
      </Card>
    </div>
  );
}

type Shown = { report: Deliverability };

function Funnel({ report: { funnel, complaintRate, dailyTrends, reputation } }: Shown) {
  const { timezone } = useMe().organization;
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  // The figures leave out days before the first report of a provider.
  const firstReports = configs.map(({ firstEventAt }) => firstEventAt);
  const { days, since } = daysOfReports(dailyTrends, firstReports, timezone);
  const sumOf = (name: "sent" | "delivered" | "bounced") =>
    days.reduce((sum, day) => sum + day[name], 0);
  const isKnown = reputation.score !== "unknown" || funnel.sent === 0;
  const sinceText = since
    ? t(" since {since}, when reports began", { since: formatDay(since) })
    : "";
  // While email is being sent, reports of providers can be ahead of the count of what was sent.
  const shareOf = (part: number, whole: number) =>
    whole ? formatRate(Math.min(part / whole, 1)) : "–";
  return (
    <section className="figures" aria-label={t("Figures")}>
      <Figure label={t("Sent")} value={formatNumber(funnel.sent)}>
        <small>{t("{failed} failed or bounced", { failed: formatNumber(funnel.failed) })}</small>
      </Figure>
      <Figure
        label={t("Delivered")}
        value={isKnown ? shareOf(sumOf("delivered"), sumOf("sent")) : t("Not known")}
      >
        <small>
          {t("{number} emails{sinceText}", {
            number: formatNumber(sumOf("delivered")),
            sinceText,
          })}
        </small>
      </Figure>
      <Figure
        label={t("Bounced")}
        value={isKnown ? shareOf(sumOf("bounced"), sumOf("sent")) : t("Not known")}
      >
        <small>
          {t("{number} emails; under 5 % is healthy", { number: formatNumber(sumOf("bounced")) })}
        </small>
      </Figure>
      <Figure
        label={t("Reported as spam")}
        value={isKnown ? formatRate(complaintRate, 2) : t("Not known")}
      >
        <small>{t("Under {limit} is healthy", { limit: formatRate(0.001, 2) })}</small>
      </Figure>
    </section>
  );
}

function DailyTrends({ report: { dailyTrends, funnel } }: Shown) {
  const chart = useMemo(
    () => ({
      times: dailyTrends.map(({ date }) => date),
      series: [
        {
          label: t("Delivered"),
          values: dailyTrends.map(({ delivered }) => delivered),
          color: "--chart-1",
          filled: true,
        },
        {
          label: t("Bounced"),
          values: dailyTrends.map(({ bounced }) => bounced),
          color: "--chart-3",
        },
      ] satisfies Series[],
    }),
    [dailyTrends],
  );
  const [delivered, bounced] = [funnel.delivered, funnel.bounced].map(formatNumber);
  return (
    <LineChart
      {...chart}
      summary={t("Line chart: {delivered} emails delivered, {bounced} bounced.", {
        delivered,
        bounced,
      })}
    />
  );
}

const receiverColumns: PlainColumn<Deliverability["ispGroups"][number]>[] = [
  { label: t("Provider"), render: ({ group }) => (group === "Other" ? t("Others") : group) },
  { label: t("Sent"), isNumber: true, isWide: true, render: ({ sent }) => formatNumber(sent) },
  {
    label: t("Delivered"),
    isNumber: true,
    render: ({ deliveryRate }) => formatRate(deliveryRate),
  },
  { label: t("Opened"), isNumber: true, render: ({ openRate }) => formatRate(openRate) },
  {
    label: t("Spam reports"),
    isNumber: true,
    isWide: true,
    render: ({ complained }) => formatNumber(complained),
  },
];

function Bounces({ report: { bounceBreakdown } }: Shown) {
  const { hard, soft, block, topReasons } = bounceBreakdown;
  return (
    <Card title={t("Bounces")}>
      <CountList
        counts={[
          [t("No such mailbox"), hard],
          [t("For the moment"), soft],
          [t("Refused the sender"), block],
        ]}
      />
      {topReasons.length > 0 && (
        <PlainTable
          label={t("Reasons of bounces")}
          columns={reasonColumns}
          rows={topReasons}
          keyOf={({ reason }) => reason}
        />
      )}
    </Card>
  );
}

const reasonColumns: PlainColumn<Deliverability["bounceBreakdown"]["topReasons"][number]>[] = [
  { label: t("Reason"), breaks: true, render: ({ description }) => description },
  { label: t("Bounces"), isNumber: true, render: ({ count }) => formatNumber(count) },
  { label: t("Share"), isNumber: true, isWide: true, render: ({ share }) => formatRate(share) },
];

function ProviderName({ provider }: { provider: string }) {
  return <small>{useProviderNames()(provider)}</small>;
}

/** A rate of nothing is no 0 %. */
const rateIfSent = (rate: number, sent: number, digits?: number): string =>
  sent === 0 ? "–" : formatRate(rate, digits);

const senderColumns: PlainColumn<Deliverability["configPerformance"][number]>[] = [
  {
    label: t("Sender"),
    render: ({ label, provider }) => (
      <>
        {label ?? t("Deleted sender")}
        {provider && <ProviderName provider={provider} />}
      </>
    ),
  },
  { label: t("Sent"), isNumber: true, isWide: true, render: ({ sent }) => formatNumber(sent) },
  {
    label: t("Delivered"),
    isNumber: true,
    render: ({ deliveryRate, sent }) => rateIfSent(deliveryRate, sent),
  },
  {
    label: t("Bounced"),
    isNumber: true,
    render: ({ bounceRate, sent }) => rateIfSent(bounceRate, sent),
  },
  {
    label: t("Spam reports"),
    isNumber: true,
    isWide: true,
    render: ({ complaintRate, sent }) => rateIfSent(complaintRate, sent, 2),
  },
];
