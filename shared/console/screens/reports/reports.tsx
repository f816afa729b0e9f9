import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, useState } from "react";
import type { Period } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { PeriodChoice } from "../../parts/period-choice.tsx";
import { ContactReports } from "./contact-reports.tsx";
import { DeliverabilityReport } from "./deliverability-report.tsx";
import { LeavingReport } from "./leaving-report.tsx";
import { ReportSchedules } from "./report-schedules.tsx";
import { TopicReport } from "./topic-report.tsx";

export interface ReportProps {
  siteId: number;
  period: Period;
}

interface Report {
  label: string;
  View: ComponentType<ReportProps>;
  /** Whether its figures are of a period. */
  hasPeriod: boolean;
}

/** The reports, by the last part of the address. */
const reports: Record<string, Report> = {
  delivery: { label: t("Delivery"), View: DeliverabilityReport, hasPeriod: true },
  contacts: { label: t("Contacts"), View: ContactReports, hasPeriod: false },
  topics: { label: t("Topics"), View: TopicReport, hasPeriod: true },
  leaving: { label: t("Unsubscribing"), View: LeavingReport, hasPeriod: true },
  schedules: { label: t("By email"), View: ReportSchedules, hasPeriod: false },
};

export function Reports() {
  const { report = "delivery" } = useParams({ strict: false });
  const { organization } = useMe();
  const { site } = useSite();
  const [period, setPeriod] = useState<Period>("30d");
  const { label, View, hasPeriod } = reports[report] ?? reports.delivery!;
  return (
    <div className="page">
      <PageHead
        title={t("Reports")}
        note={t("{name}, all times in {timezone}", {
          name: site?.name ?? organization.name,
          timezone: organization.timezone,
        })}
      >
        {hasPeriod && <PeriodChoice period={period} onChange={setPeriod} />}
      </PageHead>
      <nav className="tabs" aria-label={t("Reports")}>
        {Object.entries(reports).map(([key, one]) => (
          <Link
            key={key}
            to="/reports/{-$report}"
            params={{ report: key }}
            aria-current={one.label === label ? "page" : undefined}
          >
            {one.label}
          </Link>
        ))}
      </nav>
      {site && <View key={site.id} siteId={site.id} period={period} />}
    </div>
  );
}
