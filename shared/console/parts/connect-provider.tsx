// Sets up the provider of a sender by its API, and shows how each step ended.

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ConnectedStep, SendingConfig } from "pennymail";
import { useChange } from "../data/changes.ts";
import { api } from "../data/client.ts";
import { useProviderNames } from "../data/provider-names.ts";
import { useMe } from "../data/session.ts";
import { formatTime } from "../format.ts";
import { t } from "../language/translate.ts";
import { DnsRecords } from "./dns-records.tsx";
import { ErrorNote } from "./error-note.tsx";
import { StatusMark } from "./status-mark.tsx";

const stepNames: Record<ConnectedStep["step"], string> = {
  account: t("Account"),
  webhook: t("Reports of the provider"),
  domain: t("Domain at the provider"),
  dns: t("DNS records"),
  events: t("First report"),
  suppressions: t("Suppression list of the provider"),
};

const states: Record<
  ConnectedStep["state"],
  { name: string; tone: "good" | "info" | "warn" | "bad" }
> = {
  done: { name: t("Done"), tone: "good" },
  created: { name: t("Created"), tone: "good" },
  waiting: { name: t("Waiting"), tone: "info" },
  manual: { name: t("By hand"), tone: "warn" },
  failed: { name: t("Failed"), tone: "bad" },
};

type Values = { provider: string; detail: string; timezone: string };
const texts: Record<ConnectedStep["code"], (values: Values) => string> = {
  account_active: (values) => t("The account at {provider} can send.", values),
  account_known: (values) =>
    t("{provider} knows the key, and tells no more about the account.", values),
  login_accepted: () => t("The SMTP server accepts the login."),
  account_restricted: (values) => t("The account is restricted. {provider} says: {detail}", values),
  account_paused: (values) => t("The account cannot send. {provider} says: {detail}", values),
  account_used_up: (values) => t("The quota at {provider} is used up: {detail}", values),
  key_refused: (values) => t("{provider} does not know the key: {detail}", values),
  webhook_exists: (values) => t("{provider} reports to this service.", values),
  webhook_created: (values) => t("{provider} reports to this service from now on.", values),
  webhook_updated: (values) => t("The reports of {provider} were corrected.", values),
  webhook_unconfirmed: () => t("The subscription is not confirmed yet. Check again in a minute."),
  webhook_taken: (values) =>
    t("{provider} reports to another address already, which is kept: {detail}", values),
  not_public: (values) =>
    t(
      "{provider} cannot reach {detail}. The service needs a public https address " +
        "for the reports.",
      values,
    ),
  no_webhooks: () =>
    t("An SMTP server reports bounces by email only: let the service read its bounce mailbox."),
  bounces_read: () => t("Bounces are read from the bounce mailbox."),
  bounces_failing: (values) => t("The bounce mailbox cannot be read: {detail}", values),
  domain_verified: (values) => t("{provider} has verified the domain.", values),
  domain_added: (values) =>
    t("The domain was added at {provider}. Publish the DNS records below.", values),
  domain_unverified: (values) => t("{provider} waits for the DNS records below.", values),
  domain_by_hand: (values) =>
    t("Add {detail} in your account at {provider}. This key cannot do it.", values),
  domain_listed: () => t("An SMTP server needs no more than the records below."),
  domain_not_added: (values) => t("The domain cannot be used: {detail}", values),
  no_sender: () => t("Set the sender address first."),
  dns_found: () => t("All DNS records are there."),
  dns_missing: (values) => t("Not there yet: {detail}", values),
  events_received: (values) => t("{provider} has reported something.", values),
  events_missing: () => t("Nothing has been reported yet. Send a test email."),
  suppressions_pulled: ({ provider, detail, timezone }) =>
    t("The list of {provider} is read every day, the last time {time}.", {
      provider,
      time: formatTime(detail, timezone),
    }),
  suppressions_pending: (values) =>
    t("The list of {provider} is read within a few minutes, and every day from then on.", values),
  not_permitted: (values) =>
    t("The key may not do this. Allow it at {provider}, or do it by hand: {detail}", values),
  provider_failed: (values) => t("{provider} refused it: {detail}", values),
  rate_limited: (values) => t("{provider} asks for a pause. Check again in a minute.", values),
  no_answer: (values) => t("{provider} did not answer in time. Check again.", values),
};

/** The button, and what it has done. */
export function ConnectProvider({ config }: { config: SendingConfig }) {
  const provider = useProviderNames()(config.provider);
  const connecting = useChange({
    run: () => api.sendingConfigs.connect(config.id),
    refreshes: ["sendingConfigs", "domains", "organization"],
  });
  const { data } = connecting;
  return (
    <div className="stack">
      <p>
        {config.provider === "smtp"
          ? t("Checks the login, how bounces come back, and the DNS records of the domain.")
          : t("Your key sets up {provider}: reports, domain and signature. What exists is kept.", {
              provider,
            })}
      </p>
      <ErrorNote error={connecting.error} />
      {data && (
        <ul className="dns" aria-label={t("Steps")}>
          {data.steps.map((step) => (
            <StepRow key={step.step} step={step} provider={provider} />
          ))}
        </ul>
      )}
      <div className="buttons">
        <Button
          variant={data ? "default" : "filled"}
          loading={connecting.isPending}
          onClick={() => connecting.mutate()}
        >
          {data ? t("Check again") : actionOf(config)}
        </Button>
      </div>
      {data?.domain && <DnsRecords domainId={data.domain.id} />}
    </div>
  );
}

const actionOf = ({ provider }: SendingConfig): string =>
  provider === "smtp" ? t("Check everything") : t("Connect everything");

function StepRow({ step, provider }: { step: ConnectedStep; provider: string }) {
  const { name, tone } = states[step.state];
  const { timezone } = useMe().organization;
  const text = texts[step.code]({ provider, detail: step.detail ?? "", timezone });
  return (
    <li>
      <p className="dns-head">
        <b>{stepNames[step.step]}</b>
        <StatusMark status={name} tone={tone} />
      </p>
      <p>{text}</p>
      {(step.code === "no_webhooks" || step.code === "bounces_failing") && (
        <Link to="/settings/{-$section}" params={{ section: "inbound" }}>
          {t("Bounce mailboxes")}
        </Link>
      )}
      {step.link && (
        <a href={step.link} target="_blank" rel="noreferrer">
          {t("Show it at the provider")}
        </a>
      )}
    </li>
  );
}
