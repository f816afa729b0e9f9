import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { CampaignDetail } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
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
  if (!campaign) return <RecordLoading noun="campaign" list="/campaigns" error={error} />;
  const isEditable = campaign.status === "draft" || campaign.status === "scheduled";
  return (
    <div className="page">
      <PageHead title={campaign.name} note={<Note campaign={campaign} />}>
        <CampaignActions campaign={campaign} />
      </PageHead>
      {isEditable ? (
        <CampaignDraft key={campaign.id} campaign={campaign} />
      ) : (
        <CampaignResult key={campaign.id} campaign={campaign} />
      )}
    </div>
  );
}

function Note({ campaign }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  const { status, statusReason, scheduledAt, startedAt, localTime } = campaign;
  const when = startedAt ?? scheduledAt;
  return (
    <>
      <Link to="/campaigns">Campaigns</Link> · <StatusMark status={status} />
      {when && ` ${startedAt ? "Started" : "Starts"} ${formatTime(when, timezone)} (${timezone})`}
      {localTime && ` · Each contact gets it at ${localTime.replace("T", " ")} local time`}
      {statusReason && ` · ${statusReason}`}
    </>
  );
}
