import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type {
  CampaignDetail,
  CampaignSeries,
  SeriesRun,
  UpdateCampaignSeriesRequest,
} from "pennymail";
import { useState } from "react";
import { useChange } from "../../../data/changes.ts";
import { api } from "../../../data/client.ts";
import { queries } from "../../../data/queries.ts";
import { useMe, useRight } from "../../../data/session.ts";
import { formatTime } from "../../../format.ts";
import { t } from "../../../language/translate.ts";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { PageHead } from "../../../parts/page-head.tsx";
import { type PlainColumn, PlainTable } from "../../../parts/plain-table.tsx";
import { RecordLoading } from "../../../parts/record-loading.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { ArchiveChoice } from "../archive-choice.tsx";
import { AudienceChoice } from "../audience-choice.tsx";
import { TopicChoice } from "../campaign-draft.tsx";
import { SenderChoice } from "../sender-choice.tsx";
import { TemplateChoice } from "../template-choice.tsx";
import { SkipUnchanged } from "./recurring-start.tsx";
import { type NewRss, RssFields, RssStateNote, SeriesPreviewButton } from "./rss-fields.tsx";
import { ScheduleFields } from "./schedule-fields.tsx";

const refreshes = ["series"];

/** A recurring campaign: its next time, what it sends, and what it has sent. */
export function SeriesScreen() {
  const { id } = useParams({ from: "/shell/recurring/$id" });
  const { data: series, error } = useQuery(queries.seriesDetail(id));
  const mayWrite = useRight("marketing:write");
  const saving = useChange({
    run: (changes: UpdateCampaignSeriesRequest) => api.campaignSeries.update(id, changes),
    refreshes,
  });
  if (!series)
    return (
      <RecordLoading
        missing={t("This recurring campaign does not exist")}
        list={{ to: "/campaigns", label: t("Show all recurring campaigns") }}
        error={error}
      />
    );
  const choices = {
    campaign: { ...series, resendOf: null, variants: [] } as unknown as CampaignDetail,
    onChange: saving.mutate,
  };
  return (
    <div className="page">
      <PageHead title={series.name} note={<Note series={series} />}>
        {mayWrite && <Actions series={series} />}
      </PageHead>
      <ErrorNote error={saving.error} />
      {series.lastError && (
        <p className="tone-bad">
          {t("The latest time failed: {lastError}", { lastError: series.lastError })}
        </p>
      )}
      <div className="columns">
        <fieldset className="stack plain-fieldset" disabled={!mayWrite} key={series.id}>
          <When series={series} onSave={saving.mutate} isSaving={saving.isPending} />
          <News series={series} onSave={saving.mutate} isSaving={saving.isPending} />
          <Card title={t("Audience")}>
            <AudienceChoice {...choices} />
            <TopicChoice {...choices} />
          </Card>
          <Card title={t("Email")}>
            <TemplateChoice {...choices} />
            <SenderChoice {...choices} />
            <ArchiveChoice campaign={series} onChange={(archive) => saving.mutate({ archive })} />
          </Card>
        </fieldset>
        <Runs seriesId={id} />
      </div>
    </div>
  );
}

function Note({ series }: { series: CampaignSeries }) {
  const { timezone } = useMe().organization;
  const { status, statusReason, nextAt } = series;
  return (
    <>
      <Link to="/campaigns">{t("Campaigns")}</Link> · <StatusMark status={status} />
      {nextAt &&
        ` ${t("Next {time} ({timezone})", { time: formatTime(nextAt, timezone), timezone })}`}
      {statusReason && ` · ${statusReason}`}
    </>
  );
}

interface WhenProps {
  series: CampaignSeries;
  isSaving: boolean;
  onSave(changes: UpdateCampaignSeriesRequest): void;
}

function When({ series, isSaving, onSave }: WhenProps) {
  const [schedule, setSchedule] = useState(series.schedule);
  const [skipUnchanged, setSkipUnchanged] = useState(series.skipUnchanged);
  return (
    <Card title={t("When")}>
      <ScheduleFields schedule={schedule} onChange={setSchedule} />
      <SkipUnchanged checked={skipUnchanged} onChange={setSkipUnchanged} />
      <div className="buttons">
        <Button
          variant="default"
          loading={isSaving}
          onClick={() => onSave({ schedule, skipUnchanged })}
        >
          {t("Save times")}
        </Button>
      </div>
    </Card>
  );
}

function News({ series, isSaving, onSave }: WhenProps) {
  const [rss, setRss] = useState<NewRss | null>(series.rss);
  const isSaved = JSON.stringify(rss) === JSON.stringify(series.rss);
  return (
    <Card title={t("News")}>
      <RssFields rss={rss} onChange={setRss} />
      <RssStateNote series={series} />
      <div className="buttons">
        <Button
          variant="default"
          loading={isSaving}
          disabled={isSaved || rss?.url === ""}
          onClick={() => onSave({ rss, ...(rss && { feedUrl: null }) })}
        >
          {t("Save news")}
        </Button>
      </div>
      <SeriesPreviewButton
        isDisabled={!isSaved}
        run={() => api.campaignSeries.preview(series.id)}
      />
    </Card>
  );
}

const outcomes: Record<SeriesRun["outcome"], string> = {
  campaign: t("Sent"),
  unchanged: t("Nothing new"),
  failed: t("Failed"),
};

function Runs({ seriesId }: { seriesId: number }) {
  const { timezone } = useMe().organization;
  const { data: runs, error } = useQuery(queries.seriesRuns(seriesId));
  const columns: PlainColumn<SeriesRun>[] = [
    { label: t("Time"), render: ({ at }) => formatTime(at, timezone) },
    {
      label: t("Campaign"),
      render: ({ outcome, campaigns, newItems, sentItems, error: why }) => (
        <>
          {campaigns.map(({ id, name, status }) => (
            <div key={id}>
              <Link to="/campaigns/$id" params={{ id }}>
                {name}
              </Link>{" "}
              <StatusMark status={status} />
            </div>
          ))}
          {campaigns.length === 0 && outcomes[outcome]}
          {newItems !== null && newItems > 0 && (
            <small>
              {t("{sentItems} of {newItems}", {
                sentItems,
                newItems: t("{count, plural, one {# new item} other {# new items}}", {
                  count: newItems,
                }),
              })}
            </small>
          )}
          {why && <small className="tone-bad">{why}</small>}
        </>
      ),
    },
  ];
  return (
    <Card title={t("History")}>
      <ErrorNote error={error} />
      {runs?.length === 0 && <p className="quiet">{t("It has not been sent yet.")}</p>}
      {runs && runs.length > 0 && (
        <PlainTable label={t("History")} columns={columns} rows={runs} keyOf={({ date }) => date} />
      )}
    </Card>
  );
}

function Actions({ series: { id, name, status } }: { series: CampaignSeries }) {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState<true>();
  const pausing = useChange({
    run: () => (status === "active" ? api.campaignSeries.pause(id) : api.campaignSeries.resume(id)),
    refreshes,
  });
  const deleting = useChange({
    run: (_: true) => api.campaignSeries.delete(id),
    refreshes,
    onDone: () => navigate({ to: "/campaigns" }),
  });
  return (
    <>
      <ErrorNote error={pausing.error} />
      <Button variant="default" loading={pausing.isPending} onClick={() => pausing.mutate()}>
        {status === "active" ? t("Pause") : t("Resume")}
      </Button>
      <Button variant="default" color="red" onClick={() => setDeleting(true)}>
        {t("Delete")}
      </Button>
      <ConfirmDialog
        title={name}
        action={t("Delete recurring campaign")}
        isDangerous
        target={isDeleting}
        change={deleting}
        onClose={() => setDeleting(undefined)}
      >
        {t("It sends nothing any more. Campaigns that it has sent stay, with their results.")}
      </ConfirmDialog>
    </>
  );
}
