import { Button, PasswordInput, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { InboundSettings, Site } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useRights, useSite } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { BounceMailboxes } from "./bounce-mailboxes.tsx";

const refreshes = ["inbound-settings"];

/** How replies and reports of mail servers reach the site. */
export function InboundSettingsScreen() {
  const { site, isLoaded } = useSite();
  if (!isLoaded) return <Skeleton h={400} />;
  if (!site) return <p className="quiet">{t("Add a site first.")}</p>;
  return <InboundOfSite key={site.id} site={site} />;
}

function InboundOfSite({ site }: { site: Site }) {
  const { data, error } = useQuery(queries.inboundSettings(site.id));
  return (
    <>
      <ErrorNote error={error} />
      {data ? (
        <>
          <ReceiveCard site={site} settings={data} />
          <SettingsForm settings={data} />
        </>
      ) : (
        !error && <Skeleton h={400} />
      )}
      <BounceMailboxes siteId={site.id} />
    </>
  );
}

type InboundProvider = keyof InboundSettings["urls"];

/** Where the URL is entered, and the host of the MX record if it is the same for everybody. */
const guides: Record<InboundProvider, { enter: string; mx?: string }> = {
  sendgrid: {
    enter: t(
      "Settings, Inbound Parse: add your domain with the URL, and turn on “POST the raw, full " +
        "MIME message”.",
    ),
    mx: "mx.sendgrid.net",
  },
  ses: {
    enter: t(
      "Email receiving: add a receipt rule with the action SNS, or S3 with a topic for email " +
        "over 150 KB. Subscribe the URL to the topic by HTTPS.",
    ),
    mx: "inbound-smtp.<region>.amazonaws.com",
  },
  postmark: {
    enter: t("Inbound stream of the server, Settings: enter the URL as webhook."),
    mx: "inbound.postmarkapp.com",
  },
  mailgun: {
    enter: t("Receiving, Create route: forward to the URL, with &format=mime at its end."),
    mx: "mxa.mailgun.org, mxb.mailgun.org",
  },
  sparkpost: {
    enter: t("Add the inbound domain, and a relay webhook with the URL."),
    mx: "rx1.sparkpostmail.com, rx2.sparkpostmail.com, rx3.sparkpostmail.com",
  },
  brevo: {
    enter: t("Create a webhook of the type inbound with the URL, by the API of Brevo."),
    mx: "inbound1.sendinblue.com, inbound2.sendinblue.com",
  },
  mailjet: {
    enter: t("Create a parse route with the URL, by the API of Mailjet."),
    mx: "parse.mailjet.com",
  },
  mandrill: { enter: t("Inbound, your domain: add a route for * with the URL.") },
  resend: { enter: t("Webhooks: add the URL for the event email.received.") },
  mime: {
    enter: t("Let your mail server or program POST each email to the URL, as message/rfc822."),
  },
};

interface SettingsProps {
  settings: InboundSettings;
}

function ReceiveCard({ site, settings }: SettingsProps & { site: Site }) {
  const mayWrite = useRight("credentials:write");
  const providerName = useProviderNames();
  const { data: senders } = useQuery(queries.sendingConfigs());
  const [chosen, setChosen] = useState<InboundProvider>();
  const [replaced, setReplaced] = useState<InboundSettings>();
  const replacing = useChange({
    run: ({ siteId }: InboundSettings) =>
      api.inboundEmails.updateInboundSettings(siteId, { replaceUrls: true }),
    refreshes,
    onDone: () => setReplaced(undefined),
  });
  const keys = Object.keys(settings.urls) as InboundProvider[];
  const used = senders?.sendingConfigs.map(({ provider }) => provider as InboundProvider) ?? [];
  const provider = chosen ?? used.find((key) => keys.includes(key)) ?? "sendgrid";
  const url = settings.urls[provider];
  const { enter, mx } = guides[provider];
  return (
    <Card title={t("Receive email for {name}", { name: site.name })}>
      <LastReceived siteId={site.id} />
      <p className="quiet">
        {t(
          "Use a subdomain such as in.shop.example, so that your usual mailboxes stay as they are.",
        )}
      </p>
      <Select
        className="narrow"
        label={t("Who receives it")}
        allowDeselect={false}
        data={keys.map((value) => ({
          value,
          label: value === "mime" ? t("Your own mail server or program") : providerName(value),
        }))}
        value={provider}
        onChange={(key) => key && setChosen(key as InboundProvider)}
      />
      <p>
        <span className="mono breaks">{url}</span>{" "}
        <CopyAction value={url} label={t("Copy the URL")} />
      </p>
      <ol className="numbered">
        <li>{enter}</li>
        {provider !== "mime" && (
          <li>
            {mx
              ? t("Point the MX record of the domain to {mx}.", { mx })
              : t("Publish the MX record that the provider shows for the domain.")}
          </li>
        )}
        <li>{t("Enter an address of the domain below, and as “Replies to” of the site.")}</li>
      </ol>
      <p className="quiet">
        {t("Anyone who knows the URL can store email here, so treat it like a password.")}
      </p>
      {mayWrite && (
        <div className="buttons">
          <Button variant="default" onClick={() => setReplaced(settings)}>
            {t("Replace the URLs")}
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={t("Replace the URLs")}
        action={t("Replace the URLs")}
        isDangerous
        target={replaced}
        change={replacing}
        onClose={() => setReplaced(undefined)}
      >
        {t("Email to the old URLs is refused, until you enter the new ones at your providers.")}
      </ConfirmDialog>
    </Card>
  );
}

function LastReceived({ siteId }: { siteId: number }) {
  const mayRead = useRights()("sending:content");
  const { timezone } = useMe().organization;
  const { data } = useQuery({ ...queries.latestInboundEmail(siteId), enabled: mayRead });
  if (!data) return null;
  const [latest] = data.inboundEmails;
  return latest ? (
    <p>
      <StatusMark status={t("Working")} tone="good" />{" "}
      <span className="quiet">
        {t("The last email came {ago}, from {email}.", {
          ago: formatAgo(latest.receivedAt, timezone),
          email: latest.fromEmail,
        })}
      </span>
    </p>
  ) : (
    <p>
      <StatusMark status={t("Nothing received yet")} tone="quiet" />
    </p>
  );
}

function SettingsForm({ settings }: SettingsProps) {
  const mayWrite = useRight("credentials:write");
  const address = useTextField(settings.address ?? "");
  const forwardTo = useTextField(settings.forwardTo ?? "");
  const signingKey = useTextField();
  const saving = useChange({
    run: (changes: { signingKey?: string | null } | undefined) =>
      api.inboundEmails.updateInboundSettings(settings.siteId, {
        address: address.value || null,
        forwardTo: forwardTo.value || null,
        ...(signingKey.value && { signingKey: signingKey.value }),
        ...changes,
      }),
    refreshes,
    onDone: () => signingKey.set(""),
  });
  useUnsavedDraft([address.value, forwardTo.value, signingKey.value], saving);
  const submission = { ...saving, mutate: () => saving.mutate(undefined) };
  return (
    <FormCard
      title={t("What happens with it")}
      state={saving.isSuccess ? t("Saved") : ""}
      action={t("Save")}
      submission={submission}
      isDisabled={!mayWrite}
    >
      <TextInput
        className="narrow"
        label={t("Address that receives email (optional)")}
        description={t(
          "Mail programs can then also unsubscribe by an email to it. Everything to its domain " +
            "is received.",
        )}
        type="email"
        placeholder="replies@in.shop.example"
        data-field="address"
        {...address.input}
      />
      <TextInput
        className="narrow"
        label={t("Forward email of people to (optional)")}
        description={t(
          "With its files, from your oldest verified sender. Answers of machines and spam " +
            "are left out.",
        )}
        type="email"
        data-field="forwardTo"
        {...forwardTo.input}
      />
      <PasswordInput
        className="narrow"
        label={
          settings.signingKeySet
            ? t("Signing key of the provider (stored)")
            : t("Signing key of the provider (optional)")
        }
        description={t(
          "Only SendGrid, Mailgun, SparkPost, Mandrill and Resend sign. Empty keeps it.",
        )}
        autoComplete="off"
        data-field="signingKey"
        {...signingKey.input}
      />
      {settings.signingKeySet && mayWrite && (
        <div className="buttons">
          <Button
            variant="default"
            loading={saving.isPending}
            onClick={() => saving.mutate({ signingKey: null })}
          >
            {t("Remove the signing key")}
          </Button>
        </div>
      )}
    </FormCard>
  );
}
