import { Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReportSchedule } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKept } from "../../data/hidden-records.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import type { ReportProps } from "./reports.tsx";

const group = "reportSchedules";
const refreshes = [group];

type Frequency = ReportSchedule["frequency"];

const frequencies: { value: Frequency; label: string }[] = [
  { value: "daily", label: t("Every day") },
  { value: "weekly", label: t("Every Monday") },
  { value: "monthly", label: t("On the first of each month") },
];
const labelOf = (frequency: Frequency): string =>
  frequencies.find(({ value }) => value === frequency)!.label;

/** Summaries of the site's email that come by email. */
export function ReportSchedules({ siteId }: ReportProps) {
  const { timezone } = useMe().organization;
  const mayWrite = useRight("statistics:write");
  const { data, error } = useQuery(queries.reportSchedules(siteId));
  const schedules = useKept(group, data ?? []);
  const changing = useChange({
    run: ({ id, active }: ReportSchedule) => api.reports.updateSchedule(id, { active: !active }),
    refreshes,
  });
  const columns: PlainColumn<ReportSchedule>[] = [
    {
      label: t("To"),
      render: ({ recipient, frequency, lastError }) => (
        <>
          {recipient}
          <small>{labelOf(frequency)}</small>
          {lastError && <small className="tone-bad">{lastError}</small>}
        </>
      ),
    },
    {
      label: t("Next"),
      isWide: true,
      render: ({ nextAt }) => (nextAt ? formatTime(nextAt, timezone) : t("Paused")),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (schedule) =>
        mayWrite && (
          <div className="buttons">
            <Button
              variant="default"
              size="compact-xs"
              loading={changing.isPending && changing.variables.id === schedule.id}
              onClick={() => changing.mutate(schedule)}
            >
              {schedule.active ? t("Pause") : t("Resume")}
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => remove(schedule)}>
              {t("Delete")}
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={error ?? changing.error} />
      <Card title={t("Summaries by email")}>
        {!data && <Skeleton h={80} />}
        {data && schedules.length === 0 && (
          <p className="quiet">
            {t(
              "A summary has the totals of the site, its days and its campaigns. " +
                "Nobody gets one yet.",
            )}
          </p>
        )}
        {schedules.length > 0 && (
          <PlainTable
            label={t("Summaries by email")}
            columns={columns}
            rows={schedules}
            keyOf={({ id }) => id}
          />
        )}
      </Card>
      {mayWrite && <NewSchedule siteId={siteId} />}
    </>
  );
}

const remove = ({ id, recipient }: ReportSchedule) =>
  removeWithUndo({
    group,
    id,
    name: t("Summary by email"),
    consequence: t("{recipient} gets no further summary of this site.", { recipient }),
    remove: (client) => client.reports.deleteSchedule(id),
    refreshes,
  });

function NewSchedule({ siteId }: { siteId: number }) {
  const recipient = useTextField(useMe().user.email);
  const [frequency, setFrequency] = useState<Frequency>("weekly");
  const adding = useChange({
    run: () => api.reports.createSchedule({ siteId, frequency, recipient: recipient.value }),
    refreshes,
    onDone: () => recipient.set(""),
  });
  return (
    <FormCard title={t("New summary")} action={t("Add summary")} submission={adding}>
      <div className="stack narrow">
        <TextInput
          label={t("Send it to")}
          type="email"
          required
          data-field="recipient"
          {...recipient.input}
        />
        <Select
          label={t("When")}
          data={frequencies}
          allowDeselect={false}
          value={frequency}
          onChange={(value) => setFrequency(value as Frequency)}
        />
      </div>
    </FormCard>
  );
}
