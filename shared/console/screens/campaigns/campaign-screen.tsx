import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { CampaignDetail } from "pennymail";
import { useEffect, useRef } from "react";
import { refreshGroups } from "../../data/changes.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { MissingNote } from "../../parts/missing-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { CampaignActions } from "./campaign-actions.tsx";
import { CampaignDraft } from "./campaign-draft.tsx";
import { CampaignResult } from "./campaign-result.tsx";

/** A draft is edited here; afterwards the same address shows the result. */
export function CampaignScreen() {
  const { id } = useParams({ from: "/shell/campaigns/$id" });
  const { data: campaign, error } = useQuery(queries.campaign(id));
  useFreshPanels(campaign);
  if (!campaign)
    return (
      <RecordLoading
        missing={t("This campaign does not exist")}
        list={{ to: "/campaigns", label: t("Show all campaigns") }}
        error={error}
      />
    );
  const isEditable = campaign.status === "draft" || campaign.status === "scheduled";
  return (
    <div className="page">
      <PageHead title={campaign.name} note={<Note campaign={campaign} />}>
        <CampaignActions campaign={campaign} />
      </PageHead>
      {isEditable && <MissingNote missing={campaign.missing} />}
      {isEditable ? (
        <CampaignDraft key={campaign.id} campaign={campaign} />
      ) : (
        <CampaignResult key={campaign.id} campaign={campaign} />
      )}
    </div>
  );
}

const refreshMs = 15_000;

/** Reads links, charts and recipients again when the figures of the campaign have changed. */
function useFreshPanels(campaign: CampaignDetail | undefined): void {
  const queryClient = useQueryClient();
  const { status = "", stats, accounting } = campaign ?? {};
  const figures = JSON.stringify([stats, accounting]);
  const shown = useRef({ status, figures, at: 0 });
  useEffect(() => {
    const before = shown.current;
    const isFirst = before.status === "";
    const hasEnded = !isFirst && before.status !== status;
    const waitMs = hasEnded || isFirst ? 0 : Math.max(0, before.at + refreshMs - Date.now());
    if (before.status === status && before.figures === figures) return;
    const timer = setTimeout(() => {
      shown.current = { status, figures, at: Date.now() };
      if (isFirst) return;
      refreshGroups(queryClient, ["sends", "analytics"]);
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [group, part] }) => group === "campaigns" && part !== "detail",
      });
    }, waitMs);
    return () => clearTimeout(timer);
  }, [queryClient, status, figures]);
}

function Note({ campaign }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  const { status, statusReason, scheduledAt, startedAt, localTime } = campaign;
  const when = startedAt ?? scheduledAt;
  return (
    <>
      <Link to="/campaigns">{t("Campaigns")}</Link> · <StatusMark status={status} />
      {when &&
        ` ${startedAt ? t("Started") : t("Starts")} ${formatTime(when, timezone)} (${timezone})`}
      {localTime &&
        t(" · Each contact gets it at {localTime} local time", {
          localTime: localTime.replace("T", " "),
        })}
      {statusReason && ` · ${statusReason}`}
    </>
  );
}
