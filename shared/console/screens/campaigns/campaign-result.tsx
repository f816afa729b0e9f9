import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { CampaignDetail, CampaignLink, ResendCampaignRequest } from "pennymail";
import { useState } from "react";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { formatNumber, formatRate } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

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
        <div key={label} className="figure">
          <p>{label}</p>
          <strong>{formatNumber(count)}</strong>
          <small>{whole ? formatRate(count / whole) : "–"}</small>
        </div>
      ))}
    </section>
  );
}

function Variants({ campaign: { variants } }: { campaign: CampaignDetail }) {
  return (
    <section className="card" aria-labelledby="variants">
      <h2 id="variants">Variants</h2>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            <th scope="col" className="num">
              Sent
            </th>
            <th scope="col" className="num">
              Opened
            </th>
            <th scope="col" className="num">
              Clicked
            </th>
          </tr>
        </thead>
        <tbody>
          {variants.map(({ id, name, recipients, openRate, clickRate, isWinner }) => (
            <tr key={id}>
              <td>
                {name} {isWinner && <span className="tag">Winner</span>}
              </td>
              <td className="num">{formatNumber(recipients)}</td>
              <td className="num">{formatRate(openRate)}</td>
              <td className="num">{formatRate(clickRate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Links({ campaignId }: { campaignId: number }) {
  const { data, error } = useQuery(queries.campaignLinks(campaignId));
  return (
    <section className="card" aria-labelledby="links">
      <h2 id="links">Clicked links</h2>
      <ErrorNote error={error} />
      {data?.links.length === 0 && <p className="quiet">Nobody has clicked a link yet.</p>}
      {data && data.links.length > 0 && <LinkTable links={data.links} />}
    </section>
  );
}

function LinkTable({ links }: { links: CampaignLink[] }) {
  return (
    <table className="plain">
      <thead>
        <tr>
          <th scope="col">Link</th>
          <th scope="col" className="num">
            Recipients
          </th>
          <th scope="col" className="num">
            Clicks
          </th>
        </tr>
      </thead>
      <tbody>
        {links.map(({ url, uniqueClicks, clicks }) => (
          <tr key={url ?? ""}>
            <td className="link-cell">{url ?? "All other links"}</td>
            <td className="num">{formatNumber(uniqueClicks)}</td>
            <td className="num">{formatNumber(clicks)}</td>
          </tr>
        ))}
      </tbody>
    </table>
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
    <section className="card" aria-labelledby="not-mailed">
      <h2 id="not-mailed">Who did not get it</h2>
      {shown.length === 0 && <p className="quiet">Everybody in the audience got it.</p>}
      <dl className="counts">
        {shown.map(([reason, count]) => (
          <div key={reason}>
            <dt>{reason}</dt>
            <dd>{formatNumber(count)}</dd>
          </div>
        ))}
      </dl>
    </section>
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
  const queryClient = useQueryClient();
  const [target, setTarget] = useState<ResendTarget>();
  const resending = useMutation({
    mutationFn: (to: ResendTarget) => api.campaigns.resend(campaign.id, { to }),
    onSuccess: async ({ id }) => {
      setTarget(undefined);
      await queryClient.invalidateQueries({ queryKey: ["campaigns"] });
      await navigate({ to: "/campaigns/$id", params: { id } });
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
        opened={target !== undefined}
        isRunning={resending.isPending}
        error={resending.error}
        onConfirm={() => target && resending.mutate(target)}
        onClose={() => setTarget(undefined)}
      >
        {target && resendTexts[target]} Suppressed and unsubscribed contacts and the frequency cap
        are respected.
      </ConfirmDialog>
    </div>
  );
}
