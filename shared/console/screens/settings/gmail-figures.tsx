import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PostmasterDay, PostmasterStats } from "pennymail";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { queries } from "../../data/queries.ts";
import { formatDay, formatRate } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Figure } from "../../parts/figure.tsx";
import type { Series } from "../../parts/line-chart.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

const LineChart = lazy(async () => ({
  default: (await import("../../parts/line-chart.tsx")).LineChart,
}));

/** What Gmail says about email from a domain, by Google Postmaster Tools. */
export function GmailSection({ domainId }: { domainId: number }) {
  const { data, error } = useQuery(queries.postmasterStats(domainId));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  return (
    <Card title={t("Gmail's figures of the last 30 days")}>
      <PullState stats={data} />
      {data.days.length > 0 && <GmailFigures stats={data} />}
    </Card>
  );
}

interface StatsProps {
  stats: PostmasterStats;
}

/** Why there are no figures, or no new ones. */
function PullState({ stats: { state, days } }: StatsProps) {
  if (state === "off")
    return (
      <Note link={t("Connect Postmaster Tools")}>
        {days.length > 0
          ? t("New figures do not come any more, because the key of Google was removed.")
          : t(
              "Gmail reports no single complaints. Google Postmaster Tools shows how many of its " +
                "users report your email as spam.",
            )}
      </Note>
    );
  if (state === "waiting") return <Note>{t("The figures are being pulled from Google.")}</Note>;
  if (state === "not_shared")
    return (
      <Note link={t("Show the steps")}>
        {t("Google does not show this domain to your service account.")}
      </Note>
    );
  if (days.length > 0) return null;
  return (
    <Note>
      {t(
        "Gmail has no figures. It shows those of a day only if enough email went to its users, " +
          "and does not say how much that is. A day appears here about two days later.",
      )}
    </Note>
  );
}

/** `link` leads to the settings of Postmaster Tools. */
const Note = ({ link, children }: { link?: string; children: ReactNode }) => (
  <p className="quiet">
    {children}{" "}
    {link && (
      <Link to="/settings/{-$section}" params={{ section: "postmaster" }}>
        {link}
      </Link>
    )}
  </p>
);

/** From the first one on, Gmail delivers worse. From the second one on, it refuses email. */
const spamLimits = { goal: 0.001, refusal: 0.003 };

function GmailFigures({ stats: { recentSpamRate, days } }: StatsProps) {
  return (
    <>
      <div className="figures">
        <Figure
          label={t("Reported as spam")}
          value={recentSpamRate === null ? "–" : formatRate(recentSpamRate, 2)}
        >
          {recentSpamRate !== null && (
            <div>
              <SpamMark rate={recentSpamRate} />
            </div>
          )}
          <small>{t("Worst of the last 7 days with figures")}</small>
        </Figure>
        <RateFigure label={t("Passed SPF")} days={days} name="spfRate" />
        <RateFigure label={t("Passed DKIM")} days={days} name="dkimRate" />
        <RateFigure label={t("Passed DMARC")} days={days} name="dmarcRate" />
        <RateFigure label={t("Encrypted (TLS)")} days={days} name="tlsRate" />
        <RateFigure label={t("Refused or delayed")} days={days} name="deliveryErrorRate" isError />
      </div>
      <p className="quiet">
        {t("Keep reports of spam below {goal}. From {refusal} on, Gmail may refuse your email.", {
          goal: formatRate(spamLimits.goal),
          refusal: formatRate(spamLimits.refusal),
        })}
      </p>
      <Suspense fallback={<Skeleton h={300} />}>
        <SpamChart days={days} />
      </Suspense>
    </>
  );
}

function SpamMark({ rate }: { rate: number }) {
  if (rate >= spamLimits.refusal) return <StatusMark status={t("Over the limit")} tone="bad" />;
  return rate >= spamLimits.goal ? (
    <StatusMark status={t("Too high")} tone="warn" />
  ) : (
    <StatusMark status="pass" tone="good" />
  );
}

interface RateFigureProps {
  label: string;
  days: PostmasterDay[];
  name: Exclude<keyof PostmasterDay, "date">;
  /** Whether a high rate is bad. */
  isError?: boolean;
}

/** The rate of the newest day that has one, and the worst of all days. */
function RateFigure({ label, days, name, isError = false }: RateFigureProps) {
  const known = days.flatMap(({ date, [name]: rate }) => (rate === null ? [] : [{ date, rate }]));
  const newest = known.at(-1);
  if (!newest) return <Figure label={label} value="–" />;
  const all = known.map(({ rate }) => rate);
  const worst = formatRate(isError ? Math.max(...all) : Math.min(...all));
  return (
    <Figure label={label} value={formatRate(newest.rate)}>
      <small>
        {isError
          ? t("{day}, highest {worst}", { day: formatDay(newest.date), worst })
          : t("{day}, lowest {worst}", { day: formatDay(newest.date), worst })}
      </small>
    </Figure>
  );
}

function SpamChart({ days }: { days: PostmasterDay[] }) {
  const chart = useMemo(() => {
    const known = days.filter(({ spamRate }) => spamRate !== null);
    return {
      times: known.map(({ date }) => date),
      series: [
        {
          label: t("Reported as spam"),
          values: known.map(({ spamRate }) => spamRate),
          color: "--chart-1",
          filled: true,
        },
        ...(
          [
            ["--chart-2", spamLimits.goal],
            ["--chart-3", spamLimits.refusal],
          ] as const
        ).map(([color, limit]) => ({
          label: t("Limit {limitText}", { limitText: formatRate(limit) }),
          values: known.map(() => limit),
          color,
          isLimit: true,
        })),
      ] satisfies Series[],
    };
  }, [days]);
  const highest = Math.max(...days.map(({ spamRate }) => spamRate ?? 0));
  if (chart.times.length === 0) return null;
  return (
    <LineChart
      {...chart}
      isRate
      summary={t("Line chart: reports of spam by day, at most {highest}.", {
        highest: formatRate(highest, 2),
      })}
    />
  );
}
