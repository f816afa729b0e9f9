import { Button } from "@mantine/core";
import type { ResolveSendRequest, SendDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

type Outcome = ResolveSendRequest["outcome"];

const outcomes: { outcome: Outcome; action: string; effect: string }[] = [
  {
    outcome: "sent",
    action: t("It was sent"),
    effect: t("The email counts as sent. Choose this if the provider's own log shows it."),
  },
  {
    outcome: "send_again",
    action: t("Send again"),
    effect: t(
      "The email is handed over again. This is possible 72 hours after it " +
        "became uncertain, because until then the provider may still report " +
        "it. If the provider has it after all, the recipient gets it twice.",
    ),
  },
  {
    outcome: "failed",
    action: t("Give up"),
    effect: t("The email counts as failed, and nothing more is sent."),
  },
];

/** What a user can do about an email that the provider may or may not have. */
export function ResolveSend({ send }: { send: SendDetail }) {
  const mayWrite = useRight("sending:write");
  const [chosen, setChosen] = useState<Outcome>();
  const resolving = useChange({
    run: (outcome: Outcome) => api.sends.resolve(send.id, { outcome }),
    refreshes: ["sends", "events"],
    onDone: () => setChosen(undefined),
  });
  const { action, effect } = outcomes.find(({ outcome }) => outcome === chosen) ?? outcomes[0]!;
  return (
    <section className="stack" aria-label={t("Uncertain email")}>
      <p className="quiet">
        {t(
          "The connection broke while the provider took the email, so it may " +
            "have it or not. Its reports settle this, and some providers are " +
            "asked. Whoever knows better can settle it here.",
        )}
      </p>
      {mayWrite && (
        <div className="buttons">
          {outcomes.map((one) => (
            <Button
              key={one.outcome}
              variant="default"
              size="compact-sm"
              onClick={() => setChosen(one.outcome)}
            >
              {one.action}
            </Button>
          ))}
        </div>
      )}
      <ConfirmDialog
        title={t("Settle an uncertain email")}
        action={action}
        isDangerous={chosen === "failed"}
        target={chosen}
        change={resolving}
        onClose={() => {
          resolving.reset();
          setChosen(undefined);
        }}
      >
        {effect}
      </ConfirmDialog>
    </section>
  );
}
