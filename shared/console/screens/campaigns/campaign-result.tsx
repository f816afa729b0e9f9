import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type {
  CampaignDetail,
  CampaignLink,
  CampaignVariant,
  ResendCampaignRequest,
} from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { formatNumber, formatRate } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { Figure } from "../../parts/figure.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";

export function CampaignResult({ campaign }: { campaign: CampaignDetail }) {
  return (
    <>
      <Progress campaign={campaign} />
      <Funnel campaign={campaign} />
      {campaign.variants.length > 0 && <Variants campaign={campaign} />}
      <div className="columns">
        <Links campaignId={campaign.id} />
        <NotMailed campaign={campaign} />
      </div>
      {campaign.status === "sent" && <Resend campaign={campaign} />}
    </>
  );
}

function Progress({ campaign: { status, accounting } }: { campaign: CampaignDetail }) {
  if (status !== "sending" && status !== "paused") return null;
  const { accepted, queued, sending } = accounting;
  const done = accepted - queued - sending;
  return (
    <section className="card" aria-label="Progress">
      <p role="status">
        {formatNumber(done)} of {formatNumber(accepted)} emails are handed over.
      </p>
      <progress className="wide-progress" max={accepted || 1} value={done} aria-label="Progress" />
    </section>
  );
}

function Funnel({ campaign: { stats } }: { campaign: CampaignDetail }) {
  const { recipients, sent, delivered, opened, clicked, bounced, unsubscribed, complained } = stats;
  const figures: [label: string, count: number, of: number][] = [
    ["Sent", sent, recipients],
    ["Delivered", delivered, sent],
    ["Opened", opened, delivered],
    ["Clicked", clicked, delivered],
    ["Bounced", bounced, sent],
    ["Unsubscribed", unsubscribed, delivered],
    ["Complained", complained, delivered],
  ];
  return (
    <section className="figures" aria-label="Result">
      {figures.map(([label, count, whole]) => (
        <Figure key={label} label={label} value={formatNumber(count)}>
          <small>{whole ? formatRate(count / whole) : "–"}</small>
        </Figure>
      ))}
    </section>
  );
}

const variantColumns: PlainColumn<CampaignVariant>[] = [
  {
    label: "Variant",
    render: ({ name, isWinner }) => (
      <>
        {name} {isWinner && <span className="tag">Winner</span>}
      </>
    ),
  },
  { label: "Sent", isNumber: true, render: ({ recipients }) => formatNumber(recipients) },
  { label: "Opened", isNumber: true, render: ({ openRate }) => formatRate(openRate) },
  { label: "Clicked", isNumber: true, render: ({ clickRate }) => formatRate(clickRate) },
];

function Variants({ campaign: { variants } }: { campaign: CampaignDetail }) {
  return (
    <Card title="Variants">
      <PlainTable
        label="Variants"
        columns={variantColumns}
        rows={variants}
        keyOf={({ id }) => id}
      />
    </Card>
  );
}

const linkColumns: PlainColumn<CampaignLink>[] = [
  { label: "Link", breaks: true, render: ({ url }) => url ?? "All other links" },
  { label: "Recipients", isNumber: true, render: ({ uniqueClicks }) => formatNumber(uniqueClicks) },
  { label: "Clicks", isNumber: true, render: ({ clicks }) => formatNumber(clicks) },
];

function Links({ campaignId }: { campaignId: number }) {
  const { data, error } = useQuery(queries.campaignLinks(campaignId));
  return (
    <Card title="Clicked links">
      <ErrorNote error={error} />
      {data?.links.length === 0 && <p className="quiet">Nobody has clicked a link yet.</p>}
      {data && data.links.length > 0 && (
        <PlainTable
          label="Clicked links"
          columns={linkColumns}
          rows={data.links}
          keyOf={({ url }) => url ?? ""}
        />
      )}
    </Card>
  );
}

function NotMailed({ campaign: { accounting } }: { campaign: CampaignDetail }) {
  const reasons: [string, number][] = [
    ["Suppressed", accounting.suppressed],
    ["Unsubscribed or not confirmed", accounting.unsubscribed],
    ["Got marketing email too recently", accounting.capped],
    ["Address twice in the audience", accounting.duplicate],
    ["Address not valid", accounting.invalid],
    ["Failed", accounting.failed],
    ["Uncertain", accounting.uncertain],
    ["Cancelled", accounting.cancelled],
  ];
  const shown = reasons.filter(([, count]) => count > 0);
  return (
    <Card title="Who did not get it">
      {shown.length === 0 && <p className="quiet">Everybody in the audience got it.</p>}
      <CountList counts={shown} />
    </Card>
  );
}

type ResendTarget = ResendCampaignRequest["to"];

const resendTexts: Record<ResendTarget, string> = {
  unopened: "Everybody who has not opened it gets the email once more.",
  failed: "Everybody whose email bounced or was refused gets it once more.",
};

function Resend({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const navigate = useNavigate();
  const [target, setTarget] = useState<ResendTarget>();
  const resending = useChange({
    run: (to: ResendTarget) => api.campaigns.resend(campaign.id, { to }),
    refreshes: ["campaigns"],
    onDone: ({ id }) => {
      setTarget(undefined);
      return navigate({ to: "/campaigns/$id", params: { id } });
    },
  });
  if (!mayWrite || campaign.resendOf) return null;
  return (
    <div className="buttons">
      <Button variant="default" onClick={() => setTarget("unopened")}>
        Resend to those who did not open
      </Button>
      <Button variant="default" onClick={() => setTarget("failed")}>
        Resend where it failed
      </Button>
      <ConfirmDialog
        title="Resend"
        action="Resend now"
        target={target}
        change={resending}
        onClose={() => setTarget(undefined)}
      >
        {target && resendTexts[target]} Suppressed and unsubscribed contacts and the frequency cap
        are respected.
      </ConfirmDialog>
    </div>
  );
}
