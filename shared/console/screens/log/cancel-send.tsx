import { Button } from "@mantine/core";
import type { SendDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

/** Cancels an email that waits for its time. Those of a campaign are cancelled with it. */
export function CancelSend({ send }: { send: SendDetail }) {
  const mayWrite = useRight("sending:write");
  const { timezone } = useMe().organization;
  const [target, setTarget] = useState<SendDetail>();
  const cancelling = useChange({
    run: ({ id }: SendDetail) => api.sends.cancel(id),
    refreshes: ["sends"],
    onDone: () => setTarget(undefined),
  });
  if (!mayWrite || send.status !== "scheduled" || send.campaignId !== null) return null;
  return (
    <div className="buttons">
      <Button variant="default" size="compact-sm" onClick={() => setTarget(send)}>
        {t("Cancel email")}
      </Button>
      <ConfirmDialog
        title={t("Cancel the email to {toEmail}", { toEmail: send.toEmail })}
        action={t("Cancel email")}
        isDangerous
        target={target}
        change={cancelling}
        onClose={() => {
          cancelling.reset();
          setTarget(undefined);
        }}
      >
        {t("It is not sent on {time}. This cannot be undone.", {
          time: formatTime(send.scheduledAt ?? send.createdAt, timezone),
        })}
      </ConfirmDialog>
    </div>
  );
}
