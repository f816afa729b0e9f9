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
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import { CountList } from "../../parts/field-list.tsx";

const labels: Record<CampaignAudit["outcomes"][number]["outcome"], string> = {
  mailed: t("Accepted by the provider"),
  failed: t("Refused"),
  uncertain: t("Uncertain"),
  waiting: t("Waiting"),
  cancelled: t("Cancelled"),
  suppressed: t("On the suppression list"),
  unsubscribed: t("Unsubscribed or not confirmed"),
  notInTopic: t("Not subscribed to the topic"),
  snoozed: t("Paused marketing email"),
  capped: t("Got marketing email too recently"),
  duplicate: t("Address twice in the audience"),
  invalid: t("Address not valid"),
  heldOut: t("In the hold-out group"),
  contradictory: t("Contradictory"),
};

/** What became of each contact of the audience, and a hash that proves it. Few people need it. */
export function Audit({ campaignId }: { campaignId: number }) {
  const [isShown, setShown] = useState(false);
  return (
    <Card title={t("Audit")}>
      {isShown ? (
        <AuditResult campaignId={campaignId} />
      ) : (
        <>
          <p className="quiet">
            {t("What became of every contact of the audience, with a hash that proves it.")}
          </p>
          <div className="buttons">
            <Button variant="default" onClick={() => setShown(true)}>
              {t("Show audit")}
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
          {tNodes("Hash of {time}: {code}", {
            time: auditedAt && formatTime(auditedAt, timezone),
            code: <code>{hash}</code>,
          })}
        </p>
      )}
      <div className="buttons">
        {mayExport && (
          <Button variant="default" onClick={() => setExporting(true)}>
            {t("Export audit")}
          </Button>
        )}
        {mayWrite && (
          <Button
            variant="default"
            loading={checking.isPending || status === "auditing"}
            onClick={() => checking.mutate()}
          >
            {t("Audit again")}
          </Button>
        )}
      </div>
      <ExportDialog
        title={t("Export audit")}
        request={{ type: "campaign-audit", campaignId }}
        opened={isExporting}
        onClose={() => setExporting(false)}
      >
        {t(
          "The file has a row for each contact of the audience, with the outcome " +
            "and the email.",
        )}
      </ExportDialog>
    </>
  );
}
