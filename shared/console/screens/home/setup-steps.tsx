// The forms of the set-up.

import { Button, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SendingConfig } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { DnsRecords } from "../../parts/dns-records.tsx";
import { Form } from "../../parts/form.tsx";
import {
  checkCredentials,
  RefusedCredentials,
  SenderFields,
  useSenderFields,
} from "../../parts/sender-fields.tsx";
import { useTextField } from "../../parts/text-field.ts";
import type { StepProps } from "./setup-checklist.tsx";

interface StepFrameProps {
  action: string;
  right: string;
  submission: ReturnType<typeof useStep>;
  /** Further buttons. */
  buttons?: ReactNode;
  /** Whether the fields show the error themselves. */
  showsError?: boolean;
  children?: ReactNode;
}

/** Does the step. The checklist is read again afterwards, and the given groups of the API. */
export const useStep = (run: () => Promise<unknown>, changes: string[]) =>
  useChange({ run, refreshes: ["organization", ...changes] });

export function StepFrame({ right, submission, showsError, ...props }: StepFrameProps) {
  const { action, buttons, children } = props;
  const isAllowed = useRight(right);
  const shown = showsError ? { ...submission, error: null } : submission;
  return (
    <Form
      className="stack narrow"
      isSilent
      action={action}
      submission={{ ...shown, mutate: () => submission.mutate() }}
      isDisabled={!isAllowed}
      buttons={buttons}
    >
      {children}
      {!isAllowed && <p className="quiet">{t("Your role does not allow this. Ask an owner.")}</p>}
    </Form>
  );
}

export function SiteForm() {
  const { organization } = useMe();
  const name = useTextField(organization.name);
  const domain = useTextField();
  const saving = useStep(
    () => api.sites.create({ name: name.value, ...(domain.value && { domain: domain.value }) }),
    ["sites"],
  );
  const { sites } = useSite();
  if (sites[0])
    return (
      <p className="quiet">
        {t("{name} is your site. Settings › Sites changes its name, and adds further ones.", {
          name: sites[0].name,
        })}
      </p>
    );
  return (
    <StepFrame action={t("Create site")} right="organization:write" submission={saving}>
      <TextInput label={t("Name")} required data-field="name" {...name.input} />
      <TextInput
        label={t("Website (optional)")}
        placeholder="shop.example"
        data-field="domain"
        {...domain.input}
      />
    </StepFrame>
  );
}

/** Opened again, the step changes the sender that it made. */
export function SendingConfigForm({ step: { recordId } }: StepProps) {
  const { data } = useQuery(queries.sendingConfigs());
  if (recordId === null) return <NewSenderForm />;
  if (!data) return <Skeleton h={120} />;
  const config = data.sendingConfigs.find(({ id }) => id === recordId);
  return config ? <StoredSenderForm key={config.id} config={config} /> : null;
}

const isRefusal = (error: unknown): boolean => error instanceof RefusedCredentials;

function NewSenderForm() {
  const { user, organization } = useMe();
  const sender = useSenderFields({ fromEmail: user.email, fromName: organization.name });
  const saving = useStep(async () => {
    const request = sender.request();
    await checkCredentials(sender.provider ?? "", sender.credentials.filled());
    return api.sendingConfigs.create(request);
  }, ["sendingConfigs"]);
  return (
    <StepFrame
      action={saving.isPending ? t("Asking the provider") : t("Connect provider")}
      right="credentials:write"
      submission={saving}
      showsError={isRefusal(saving.error)}
    >
      <SenderFields sender={sender} error={saving.error} />
    </StepFrame>
  );
}

function StoredSenderForm({ config }: { config: SendingConfig }) {
  const sender = useSenderFields(config);
  const saving = useStep(async () => {
    const { provider } = sender;
    const credentials = sender.credentials.filled();
    const isKept = provider === config.provider && Object.keys(credentials).length === 0;
    if (!isKept) await checkCredentials(sender.provider ?? "", credentials);
    return api.sendingConfigs.update(config.id, {
      ...(!isKept && sender.request()),
      ...{ fromEmail: sender.fromEmail.value, fromName: sender.fromName.value || null },
    });
  }, ["sendingConfigs"]);
  return (
    <StepFrame
      action={t("Save provider")}
      right="credentials:write"
      submission={saving}
      showsError={isRefusal(saving.error)}
    >
      <p className="quiet">
        {t("The credentials are stored. Leave their fields empty to keep them.")}
      </p>
      <SenderFields sender={sender} error={saving.error} storedProvider={config.provider} />
      {saving.isSuccess && (
        <p role="status">{t("The sender is saved. Send a test email again.")}</p>
      )}
    </StepFrame>
  );
}

export function DomainForm({ step }: StepProps) {
  const { data: configs } = useQuery(queries.sendingConfigs());
  const sender = configs?.sendingConfigs[0]?.fromEmail;
  const [typed, setTyped] = useState<string>();
  const name = typed ?? sender?.split("@")[1] ?? "";
  const saving = useStep(() => api.domains.create({ name }), ["domains"]);
  if (step.recordId !== null) return <DnsRecords domainId={step.recordId} />;
  return (
    <StepFrame action={t("Show DNS records")} right="credentials:write" submission={saving}>
      <TextInput
        label={t("Domain of the sender")}
        required
        value={name}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </StepFrame>
  );
}

export function VerifyForm({ step: { recordId }, onOpen }: StepProps) {
  const { user } = useMe();
  const to = useTextField(user.email);
  const sending = useStep(
    () => api.sendingConfigs.verify(recordId ?? 0, { to: to.value }),
    ["sendingConfigs"],
  );
  if (recordId === null) return <p className="quiet">{t("Connect your email provider first.")}</p>;
  return (
    <StepFrame
      action={t("Send test email")}
      right="credentials:write"
      submission={sending}
      buttons={
        sending.error && (
          <Button variant="default" onClick={() => onOpen("sending_config")}>
            {t("Change the key")}
          </Button>
        )
      }
    >
      <TextInput label={t("Send it to")} type="email" required data-field="to" {...to.input} />
      {sending.isSuccess && (
        <p role="status">
          {t("The provider has accepted the email to {email}.", { email: to.value })}
        </p>
      )}
    </StepFrame>
  );
}

export function AddressForm() {
  const { data } = useQuery(queries.compliance());
  if (!data) return <Skeleton h={90} />;
  return <StoredAddressForm stored={data.physicalAddress ?? ""} />;
}

function StoredAddressForm({ stored }: { stored: string }) {
  const address = useTextField(stored);
  const saving = useStep(
    () => api.compliance.updateSettings({ physicalAddress: address.value }),
    ["compliance"],
  );
  return (
    <StepFrame action={t("Save address")} right="organization:write" submission={saving}>
      <Textarea
        label={t("Postal address")}
        description={t("The law requires one in marketing email. A post office box is fine.")}
        required
        autosize
        minRows={2}
        data-field="physicalAddress"
        {...address.input}
      />
    </StepFrame>
  );
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>" };
const toHtml = (text: string): string =>
  `<p>${text.replace(/[&<>\n]/g, (character) => entities[character]!)}</p>`;

export function FirstSendForm() {
  const { user } = useMe();
  const { site } = useSite();
  const to = useTextField(user.email);
  const subject = useTextField(t("Hello from Pennymail"));
  const text = useTextField(t("This is my first email."));
  const { data } = useQuery(queries.sendingConfigs());
  const sendingConfigId = data?.sendingConfigs.find(({ verified }) => verified)?.id;
  const sending = useStep(
    () =>
      api.send({
        siteId: site!.id,
        sendingConfigId: sendingConfigId!,
        to: to.value,
        subject: subject.value,
        text: text.value,
        html: toHtml(text.value),
      }),
    ["analytics", "sends"],
  );
  if (!site || !sendingConfigId)
    return <p className="quiet">{t("Create a site and send a test email first.")}</p>;
  return (
    <StepFrame action={t("Send email")} right="sending:write" submission={sending}>
      <TextInput label={t("To")} type="email" required data-field="to" {...to.input} />
      <TextInput label={t("Subject")} required data-field="subject" {...subject.input} />
      <Textarea label={t("Text")} required autosize minRows={3} data-field="text" {...text.input} />
      {sending.isSuccess && (
        <p role="status">{t("The email to {email} is on its way.", { email: to.value })}</p>
      )}
    </StepFrame>
  );
}
