import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CampaignAudit } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useShownJob } from "../../data/jobs.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import { CountList } from "../../parts/field-list.tsx";

const labels: Record<CampaignAudit["outcomes"][number]["outcome"], string> = {
  mailed: "Accepted by the provider",
  failed: "Refused",
  uncertain: "Uncertain",
  waiting: "Waiting",
  cancelled: "Cancelled",
  suppressed: "On the suppression list",
  unsubscribed: "Unsubscribed or not confirmed",
  notInTopic: "Not subscribed to the topic",
  capped: "Got marketing email too recently",
  duplicate: "Address twice in the audience",
  invalid: "Address not valid",
  contradictory: "Contradictory",
};

/** What became of each contact of the audience, and a hash that proves it. Few people need it. */
export function Audit({ campaignId }: { campaignId: number }) {
  const [isShown, setShown] = useState(false);
  return (
    <Card title="Audit">
      {isShown ? (
        <AuditResult campaignId={campaignId} />
      ) : (
        <>
          <p className="quiet">
            What became of every contact of the audience, with a hash that proves it.
          </p>
          <div className="buttons">
            <Button variant="default" onClick={() => setShown(true)}>
              Show audit
            </Button>
          </div>
        </>
      )}
    </Card>
  );
}

function AuditResult({ campaignId }: { campaignId: number }) {
  const { timezone } = useMe().organization;
  const [mayWrite, mayExport] = [useRight("marketing:write"), useRight("audience:export")];
  const [isExporting, setExporting] = useState(false);
  const { data, error } = useQuery(queries.campaignAudit(campaignId));
  useShownJob("campaign_audit", campaignId);
  const checking = useChange({
    run: () => api.campaigns.checkAudit(campaignId),
    refreshes: ["campaigns", "jobs"],
  });
  if (!data) return <ErrorNote error={error} />;
  const { status, message, problems, outcomes, hash, auditedAt } = data;
  return (
    <>
      <ErrorNote error={checking.error} />
      <p role="status" className={problems.length ? "tone-bad" : undefined}>
        {message}
      </p>
      {problems.map((problem) => (
        <p key={problem}>{problem}.</p>
      ))}
      <CountList counts={outcomes.map(({ outcome, count }) => [labels[outcome], count])} />
      {hash && (
        <p className="quiet breaks">
          Hash of {auditedAt && formatTime(auditedAt, timezone)}: <code>{hash}</code>
        </p>
      )}
      <div className="buttons">
        {mayExport && (
          <Button variant="default" onClick={() => setExporting(true)}>
            Export audit
          </Button>
        )}
        {mayWrite && (
          <Button
            variant="default"
            loading={checking.isPending || status === "auditing"}
            onClick={() => checking.mutate()}
          >
            Audit again
          </Button>
        )}
      </div>
      <ExportDialog
        title="Export audit"
        request={{ type: "campaign-audit", campaignId }}
        opened={isExporting}
        onClose={() => setExporting(false)}
      >
        The file has a row for each contact of the audience, with the outcome and the email.
      </ExportDialog>
    </>
  );
}
