import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Campaign, CampaignDetail } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { CampaignDraft } from "./campaign-draft.tsx";
import { CampaignResult } from "./campaign-result.tsx";

/** A draft is edited here; afterwards the same address shows the result. */
export function CampaignScreen() {
  const { id } = useParams({ from: "/shell/campaigns/$id" });
  const { data: campaign, error } = useQuery(queries.campaign(id));
  if (!campaign)
    return <div className="page">{error ? <ErrorNote error={error} /> : <Skeleton h={240} />}</div>;
  return (
    <div className="page">
      <PageHead title={campaign.name} note={<Note campaign={campaign} />}>
        <Actions campaign={campaign} />
      </PageHead>
      {campaign.status === "draft" ? (
        <CampaignDraft campaign={campaign} />
      ) : (
        <CampaignResult campaign={campaign} />
      )}
    </div>
  );
}

function Note({ campaign }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  const { status, statusReason, scheduledAt, startedAt } = campaign;
  const when = startedAt ?? scheduledAt;
  return (
    <>
      <Link to="/campaigns">Campaigns</Link> · <StatusMark status={status} />
      {when && ` ${startedAt ? "Started" : "Starts"} ${formatTime(when, timezone)}`}
      {statusReason && ` · ${statusReason}`}
    </>
  );
}

interface Action {
  label: string;
  run(id: number): Promise<Campaign>;
}

const pause: Action = { label: "Pause campaign", run: (id) => api.campaigns.pause(id) };
const resume: Action = { label: "Resume campaign", run: (id) => api.campaigns.resume(id) };
const cancel: Action = { label: "Cancel campaign", run: (id) => api.campaigns.cancel(id) };

/** What can be done next, by status. */
const actionsByStatus: Partial<Record<Campaign["status"], Action[]>> = {
  scheduled: [cancel],
  held: [cancel],
  sending: [pause, cancel],
  paused: [resume, cancel],
};

function Actions({ campaign: { id, status } }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const running = useChange({ run: ({ run }: Action) => run(id), refreshes: ["campaigns"] });
  if (!mayWrite) return null;
  return (
    <>
      <ErrorNote error={running.error} />
      {actionsByStatus[status]?.map((action) => (
        <Button
          key={action.label}
          variant="default"
          loading={running.isPending}
          onClick={() => running.mutate(action)}
        >
          {action.label}
        </Button>
      ))}
    </>
  );
}
