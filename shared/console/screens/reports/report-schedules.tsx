import { Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReportSchedule } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";
import type { ReportProps } from "./reports.tsx";

const refreshes = ["reportSchedules"];

type Frequency = ReportSchedule["frequency"];

const frequencies: { value: Frequency; label: string }[] = [
  { value: "daily", label: "Every day" },
  { value: "weekly", label: "Every Monday" },
  { value: "monthly", label: "On the first of each month" },
];
const labelOf = (frequency: Frequency): string =>
  frequencies.find(({ value }) => value === frequency)!.label;

/** Summaries of the site's email that come by email. */
export function ReportSchedules({ siteId }: ReportProps) {
  const { timezone } = useMe().organization;
  const mayWrite = useRight("statistics:write");
  const { data, error } = useQuery(queries.reportSchedules(siteId));
  const [deleted, setDeleted] = useState<ReportSchedule>();
  const changing = useChange({
    run: ({ id, active }: ReportSchedule) => api.reports.updateSchedule(id, { active: !active }),
    refreshes,
  });
  const deleting = useChange({
    run: ({ id }: ReportSchedule) => api.reports.deleteSchedule(id),
    refreshes,
    onDone: () => setDeleted(undefined),
  });
  const columns: PlainColumn<ReportSchedule>[] = [
    {
      label: "To",
      render: ({ recipient, frequency, lastError }) => (
        <>
          {recipient}
          <small>{labelOf(frequency)}</small>
          {lastError && <small className="tone-bad">{lastError}</small>}
        </>
      ),
    },
    {
      label: "Next",
      isWide: true,
      render: ({ nextAt }) => (nextAt ? formatTime(nextAt, timezone) : "Paused"),
    },
    {
      label: "Actions",
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
              {schedule.active ? "Pause" : "Resume"}
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => setDeleted(schedule)}>
              Delete
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={error ?? changing.error} />
      <Card title="Summaries by email">
        {!data && <Skeleton h={80} />}
        {data?.length === 0 && (
          <p className="quiet">
            A summary has the totals of the site, its days and its campaigns. Nobody gets one yet.
          </p>
        )}
        {data && data.length > 0 && (
          <PlainTable
            label="Summaries by email"
            columns={columns}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </Card>
      {mayWrite && <NewSchedule siteId={siteId} />}
      <ConfirmDialog
        title="Delete summary"
        action="Delete summary"
        isDangerous
        target={deleted}
        change={deleting}
        onClose={() => setDeleted(undefined)}
      >
        {deleted?.recipient} gets no further summary of this site.
      </ConfirmDialog>
    </>
  );
}

function NewSchedule({ siteId }: { siteId: number }) {
  const recipient = useTextField(useMe().user.email);
  const [frequency, setFrequency] = useState<Frequency>("weekly");
  const adding = useChange({
    run: () => api.reports.createSchedule({ siteId, frequency, recipient: recipient.value }),
    refreshes,
    onDone: () => recipient.set(""),
  });
  return (
    <FormCard title="New summary" action="Add summary" submission={adding}>
      <div className="stack narrow">
        <TextInput label="Send it to" type="email" required {...recipient.input} />
        <Select
          label="When"
          data={frequencies}
          allowDeselect={false}
          value={frequency}
          onChange={(value) => setFrequency(value as Frequency)}
        />
      </div>
    </FormCard>
  );
}
