import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Deliverability } from "pennymail";
import { lazy, Suspense, useMemo } from "react";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { formatNumber, formatRate } from "../../format.ts";
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
      <EmptyState title="No email in this period">
        <p>Once email is sent, this report says how much of it arrives, and why some does not.</p>
      </EmptyState>
    );
  return (
    <div className={isPlaceholderData ? "stack stale" : "stack"}>
      <Funnel report={data} />
      <Card title="Delivered and bounced by day">
        <Suspense fallback={<Skeleton h={300} />}>
          <DailyTrends report={data} />
        </Suspense>
      </Card>
      <div className="columns even">
        <Card title="Mailbox providers">
          {data.ispGroups.length === 0 ? (
            <p className="quiet">No mailbox provider has answered yet.</p>
          ) : (
            <PlainTable
              label="Mailbox providers"
              columns={receiverColumns}
              rows={data.ispGroups}
              keyOf={({ group }) => group}
            />
          )}
        </Card>
        <Bounces report={data} />
      </div>
      <Card title="Senders">
        <PlainTable
          label="Senders"
          columns={senderColumns}
          rows={data.configPerformance}
          keyOf={({ sendingConfigId }) => sendingConfigId}
        />
      </Card>
    </div>
  );
}

type Shown = { report: Deliverability };

function Funnel({ report: { funnel, complaintRate } }: Shown) {
  // While email is being sent, reports of providers can be ahead of the count of what was sent.
  const shareOf = (part: number, whole: number) =>
    whole ? formatRate(Math.min(part / whole, 1)) : "–";
  return (
    <section className="figures" aria-label="Figures">
      <Figure label="Sent" value={formatNumber(funnel.sent)}>
        <small>{formatNumber(funnel.failed)} failed or bounced</small>
      </Figure>
      <Figure label="Delivered" value={shareOf(funnel.delivered, funnel.sent)}>
        <small>{formatNumber(funnel.delivered)} emails</small>
      </Figure>
      <Figure label="Bounced" value={shareOf(funnel.bounced, funnel.sent)}>
        <small>{formatNumber(funnel.bounced)} emails; under 5 % is healthy</small>
      </Figure>
      <Figure label="Reported as spam" value={formatRate(complaintRate, 2)}>
        <small>Under 0.10 % is healthy</small>
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
          label: "Delivered",
          values: dailyTrends.map(({ delivered }) => delivered),
          color: "--chart-1",
          filled: true,
        },
        {
          label: "Bounced",
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
      summary={`Line chart: ${delivered} emails delivered, ${bounced} bounced.`}
    />
  );
}

const receiverColumns: PlainColumn<Deliverability["ispGroups"][number]>[] = [
  { label: "Provider", render: ({ group }) => group },
  { label: "Sent", isNumber: true, isWide: true, render: ({ sent }) => formatNumber(sent) },
  {
    label: "Delivered",
    isNumber: true,
    render: ({ deliveryRate }) => formatRate(deliveryRate),
  },
  { label: "Opened", isNumber: true, render: ({ openRate }) => formatRate(openRate) },
  {
    label: "Spam reports",
    isNumber: true,
    isWide: true,
    render: ({ complained }) => formatNumber(complained),
  },
];

function Bounces({ report: { bounceBreakdown } }: Shown) {
  const { hard, soft, block, topReasons } = bounceBreakdown;
  return (
    <Card title="Bounces">
      <CountList
        counts={[
          ["No such mailbox", hard],
          ["For the moment", soft],
          ["Refused the sender", block],
        ]}
      />
      {topReasons.length > 0 && (
        <PlainTable
          label="Reasons of bounces"
          columns={reasonColumns}
          rows={topReasons}
          keyOf={({ reason }) => reason}
        />
      )}
    </Card>
  );
}

const reasonColumns: PlainColumn<Deliverability["bounceBreakdown"]["topReasons"][number]>[] = [
  { label: "Reason", breaks: true, render: ({ description }) => description },
  { label: "Bounces", isNumber: true, render: ({ count }) => formatNumber(count) },
  { label: "Share", isNumber: true, isWide: true, render: ({ share }) => formatRate(share) },
];

function ProviderName({ provider }: { provider: string }) {
  return <small>{useProviderNames()(provider)}</small>;
}

/** A rate of nothing is no 0 %. */
const rateIfSent = (rate: number, sent: number, digits?: number): string =>
  sent === 0 ? "–" : formatRate(rate, digits);

const senderColumns: PlainColumn<Deliverability["configPerformance"][number]>[] = [
  {
    label: "Sender",
    render: ({ label, provider }) => (
      <>
        {label ?? "Deleted sender"}
        {provider && <ProviderName provider={provider} />}
      </>
    ),
  },
  { label: "Sent", isNumber: true, isWide: true, render: ({ sent }) => formatNumber(sent) },
  {
    label: "Delivered",
    isNumber: true,
    render: ({ deliveryRate, sent }) => rateIfSent(deliveryRate, sent),
  },
  {
    label: "Bounced",
    isNumber: true,
    render: ({ bounceRate, sent }) => rateIfSent(bounceRate, sent),
  },
  {
    label: "Spam reports",
    isNumber: true,
    isWide: true,
    render: ({ complaintRate, sent }) => rateIfSent(complaintRate, sent, 2),
  },
];
