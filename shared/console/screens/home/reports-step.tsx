// The step of the set-up that ends with the first event of the provider.

import { PasswordInput, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SendingConfig } from "pennymail";
import { useEffect } from "react";
import { api } from "../../data/client.ts";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConnectProvider } from "../../parts/connect-provider.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { useTextField } from "../../parts/text-field.ts";
import type { StepProps } from "./setup-checklist.tsx";
import { StepFrame, useStep } from "./setup-steps.tsx";

/** Where each provider has its webhooks, and what verifies them. */
const places: Record<string, string> = {
  sendgrid: t("Settings › Mail Settings › Event Webhooks, with the Signed Event Webhook"),
  ses: t("an SNS topic of the configuration set, with a subscription to the address"),
  postmark: t("the message stream, under Webhooks"),
  mailgun: t("Sending › Webhooks"),
  sparkpost: t("Configuration › Webhooks"),
  brevo: t("Transactional › Settings › Webhook"),
  mailjet: t("Account settings › Event notifications"),
  mandrill: t("Settings › Webhooks"),
  resend: t("Webhooks"),
  smtp2go: t("Webhooks"),
};

export function ReportsForm({ step: { recordId } }: StepProps) {
  const { data } = useQuery(queries.sendingConfigs());
  if (recordId === null) return <p className="quiet">{t("Connect your email provider first.")}</p>;
  if (!data) return <Skeleton h={160} />;
  const config = data.sendingConfigs.find(({ id }) => id === recordId);
  if (!config) return null;
  return config.webhookUrl === null ? (
    <ConnectProvider config={config} />
  ) : (
    <ProviderReports key={config.id} config={config} webhookUrl={config.webhookUrl} />
  );
}

const pollMs = 3_000;

function ProviderReports({ config, webhookUrl }: { config: SendingConfig; webhookUrl: string }) {
  const { user, organization } = useMe();
  const provider = useProviderNames()(config.provider);
  const secret = useTextField();
  const testing = useStep(async () => {
    if (secret.value) await api.sendingConfigs.update(config.id, { webhookSecret: secret.value });
    return api.sendingConfigs.verify(config.id, { to: user.email });
  }, ["sendingConfigs"]);
  const isWaiting = testing.isSuccess && config.firstEventAt === null;
  // The address and the secret can also be entered in another window.
  const { refetch } = useQuery({
    ...queries.setup(),
    refetchInterval: isWaiting ? pollMs : false,
  });
  useQuery({ ...queries.sendingConfigs(), refetchInterval: isWaiting ? pollMs : false });
  const { firstEventAt } = config;
  useEffect(() => {
    if (firstEventAt !== null) refetch();
  }, [firstEventAt, refetch]);
  if (firstEventAt !== null)
    return (
      <p role="status">
        {t("{provider} reports since {firstEventAt}.", {
          provider,
          firstEventAt: formatTime(firstEventAt, organization.timezone),
        })}
      </p>
    );
  return (
    <StepFrame
      action={t("Send a test email and wait for its report")}
      right="credentials:write"
      submission={testing}
    >
      <p>
        {t(
          "Without reports, deliveries, opens, clicks and bounces are not known, " +
            "and addresses that bounced get email again.",
        )}
      </p>
      <ConnectProvider config={config} />
      <p className="quiet">{t("Or do it by hand:")}</p>
      <p>
        {t("In {provider}, open {place}. Turn on all events, and enter this address:", {
          provider,
          place: places[config.provider],
        })}
        <br />
        <span className="mono breaks">{webhookUrl}</span>{" "}
        <CopyAction value={webhookUrl} label={t("Copy the address for the provider")} />
      </p>
      <PasswordInput
        label={
          config.webhookSecretSet ? t("Secret of the reports (stored)") : t("Secret of the reports")
        }
        description={
          webhookUrl.includes("YOUR_SECRET")
            ? t(
                "Choose one with 12 characters or more, and enter it in the address, " +
                  "too, in place of YOUR_SECRET.",
              )
            : t("The provider shows it where you enter the address.")
        }
        required={!config.webhookSecretSet}
        autoComplete="off"
        data-field="webhookSecret"
        {...secret.input}
      />
      {isWaiting && (
        <p role="status">
          {t(
            "The test email has left. Waiting for the report of {provider}: it " +
              "takes a few seconds to a few minutes.",
            { provider },
          )}
        </p>
      )}
    </StepFrame>
  );
}
