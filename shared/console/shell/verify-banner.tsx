import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useChange } from "../data/changes.ts";
import { api } from "../data/client.ts";
import { queries } from "../data/queries.ts";
import { useMe } from "../data/session.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "../parts/error-note.tsx";

/** Until the owner has opened the mailed link, the service refuses to send and to invite. */
export function VerifyBanner() {
  const { user, auth } = useMe();
  // The link opens another tab.
  useQuery({ ...queries.me(), refetchOnWindowFocus: "always", enabled: !auth.isVerified });
  const mailing = useChange({
    run: () => api.account.resendVerification(),
    refreshes: ["account"],
  });
  if (auth.isVerified) return null;
  return (
    <section className="banner" aria-label={t("Verify your address")}>
      <p role="status">
        {mailing.isSuccess
          ? t("A new link is on its way to {email}.", { email: user.email })
          : t("You can send email after you opened the link that was mailed to {email}.", {
              email: user.email,
            })}
      </p>
      <Button
        variant="default"
        size="compact-sm"
        loading={mailing.isPending}
        onClick={() => mailing.mutate()}
      >
        {t("Send the link again")}
      </Button>
      <ErrorNote error={mailing.error} />
    </section>
  );
}
