import { Button } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import type { CampaignDetail, ResendCampaignRequest } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

type ResendTarget = ResendCampaignRequest["to"];

const targets: { to: ResendTarget; action: string; done: string; text: string }[] = [
  {
    to: "unopened",
    action: t("Resend to those who did not open"),
    done: t("Resent to those who did not open"),
    text: t("Everybody who has not opened it gets the email once more."),
  },
  {
    to: "failed",
    action: t("Resend where it failed"),
    done: t("Resent where it failed"),
    text: t("Everybody whose email bounced or was refused gets it once more."),
  },
];

/** Each of the two is possible once. */
export function Resend({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const navigate = useNavigate();
  const [target, setTarget] = useState<ResendTarget>();
  const resending = useChange({
    run: (to: ResendTarget) => api.campaigns.resend(campaign.id, { to, draft: true }),
    refreshes: ["campaigns"],
    onDone: ({ id }) => {
      setTarget(undefined);
      return navigate({ to: "/campaigns/$id", params: { id } });
    },
  });
  if (!mayWrite || campaign.resendOf || campaign.status !== "sent") return null;
  return (
    <Card title={t("Send it again")}>
      <div className="buttons">
        {targets.map(({ to, action, done }) => {
          const resend = campaign.resends.find((one) => one.to === to);
          if (resend)
            return (
              <Link key={to} to="/campaigns/$id" params={{ id: resend.campaignId }}>
                {done}
              </Link>
            );
          return (
            <Button key={to} variant="default" onClick={() => setTarget(to)}>
              {action}
            </Button>
          );
        })}
      </div>
      <ConfirmDialog
        title={t("Send it again")}
        action={t("Create draft")}
        target={target}
        change={resending}
        onClose={() => setTarget(undefined)}
      >
        {targets.find(({ to }) => to === target)?.text}{" "}
        {t(
          "Suppressed and unsubscribed contacts and the frequency cap are respected. A draft " +
            "opens first: you see how many get it, and can change the subject.",
        )}
      </ConfirmDialog>
    </Card>
  );
}
