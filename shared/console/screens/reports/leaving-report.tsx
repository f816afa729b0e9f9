import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { LeaveReasons } from "pennymail";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import type { ReportProps } from "./reports.tsx";

type LeaveReason = LeaveReasons["reasons"][number]["reason"];

export const leaveReasonWords: Record<LeaveReason, string> = {
  too_many: t("Too many emails"),
  not_relevant: t("The emails are not relevant"),
  not_interested: t("No longer interested"),
  never_subscribed: t("Never subscribed"),
  other: t("Another reason"),
};

/** Why contacts of the site unsubscribed, by their own answers. */
export function LeavingReport({ siteId, period }: ReportProps) {
  const { data, error } = useQuery(queries.leaveReasons({ siteId, period }));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={200} />;
  return (
    <Card title={t("Why contacts unsubscribed")}>
      <Reasons found={data} />
      <p className="quiet">
        {t(
          "{answers} on the page behind the unsubscribe link. Not everybody who " +
            "leaves gives one. The words of a contact are in its consent history.",
          {
            answers: t("{count, plural, one {# answer} other {# answers}}", {
              count: data.answers,
            }),
          },
        )}
      </p>
    </Card>
  );
}

/** The same of one campaign. Nothing without an answer. */
export function LeaveReasonCard({ campaignId }: { campaignId: number }) {
  const { data } = useQuery(queries.leaveReasons({ campaignId }));
  if (!data?.answers) return null;
  return (
    <Card title={t("Why they unsubscribed")}>
      <Reasons found={data} />
    </Card>
  );
}

function Reasons({ found }: { found: LeaveReasons }) {
  const counts = found.reasons.map(({ reason, count }): [string, number] => [
    leaveReasonWords[reason],
    count,
  ]);
  return <CountList counts={counts} />;
}
