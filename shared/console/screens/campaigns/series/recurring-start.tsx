import { Button, Checkbox } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { CampaignDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../../data/changes.ts";
import { api } from "../../../data/client.ts";
import { t } from "../../../language/translate.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { type NewRss, RssFields, SeriesPreviewButton } from "./rss-fields.tsx";
import { describeSchedule, ScheduleFields, weeklySchedule } from "./schedule-fields.tsx";

interface RecurringStartProps {
  campaign: CampaignDetail;
  isReady: boolean;
}

/** Starts a series with the audience, email and sender of the draft. */
export function RecurringStart({ campaign, isReady }: RecurringStartProps) {
  const navigate = useNavigate();
  const [schedule, setSchedule] = useState(weeklySchedule);
  const [skipUnchanged, setSkipUnchanged] = useState(false);
  const [rss, setRss] = useState<NewRss | null>(null);
  const [isConfirming, setConfirming] = useState<true>();
  const request: Parameters<typeof api.campaignSeries.create>[0] = {
    campaignId: campaign.id,
    name: campaign.name,
    schedule,
    ...(rss ? { rss, feedUrl: null } : { skipUnchanged }),
  };
  const starting = useChange({
    run: (_: true) => api.campaignSeries.create(request),
    refreshes: ["series", "campaigns"],
    onDone: ({ id }) => navigate({ to: "/recurring/$id", params: { id } }),
  });
  const hindrance = whyNot(campaign);
  if (hindrance) return <p className="quiet">{hindrance}</p>;
  return (
    <>
      <ScheduleFields schedule={schedule} onChange={setSchedule} />
      <RssFields rss={rss} onChange={setRss} />
      {rss ? (
        <SeriesPreviewButton
          isDisabled={!isReady || !rss.url}
          run={() => api.campaignSeries.previewDraft(request)}
        />
      ) : (
        <SkipUnchanged checked={skipUnchanged} onChange={setSkipUnchanged} />
      )}
      <div className="buttons">
        <Button disabled={!isReady || rss?.url === ""} onClick={() => setConfirming(true)}>
          {t("Start recurring campaign")}
        </Button>
      </div>
      <ConfirmDialog
        title={campaign.name}
        action={t("Start recurring campaign")}
        target={isConfirming}
        change={starting}
        onClose={() => setConfirming(undefined)}
      >
        <ul className="consequences">
          <li>
            {t("{schedule}, a new campaign goes to this audience.", {
              schedule: describeSchedule(schedule),
            })}
          </li>
          {rss && <li>{t("It shows what is new in the feed. Without news, nothing is sent.")}</li>}
          <li>
            {t("Each time has the template and the contacts of that time, and its own results.")}
          </li>
          <li>{t("You can change or pause it whenever you like. This draft stays as it is.")}</li>
        </ul>
      </ConfirmDialog>
    </>
  );
}

function whyNot({ variants, attachments, resendOf, purpose }: CampaignDetail): string | undefined {
  if (variants.length) return t("A campaign with variants cannot recur. Remove them first.");
  if (purpose === "notice") return t("A legal notice cannot recur.");
  if (attachments.length) return t("A campaign with files cannot recur. Remove them first.");
  return resendOf ? t("A campaign that is sent again cannot recur.") : undefined;
}

interface SkipUnchangedProps {
  checked: boolean;
  onChange(checked: boolean): void;
}

export const SkipUnchanged = ({ checked, onChange }: SkipUnchangedProps) => (
  <Checkbox
    label={t("Send nothing if nothing is new")}
    description={t(
      "Skips a time when the content, with its data feed, is as in the last campaign.",
    )}
    checked={checked}
    onChange={({ currentTarget }) => onChange(currentTarget.checked)}
  />
);
