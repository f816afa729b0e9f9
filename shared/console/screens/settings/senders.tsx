import {
  Button,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  Skeleton,
  Switch,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SendingConfig, UpdateSendingConfigRequest } from "pennymail";
import { useState } from "react";
import { trackingOf } from "../../../domain/senders/tracking-modes.ts";
import { useChange, useDeletion } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ConnectProvider } from "../../parts/connect-provider.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard, FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { RowMenu } from "../../parts/row-menu.tsx";
import {
  CredentialFields,
  checkCredentials,
  RefusedCredentials,
  SenderFields,
  useCredentials,
  useSenderFields,
} from "../../parts/sender-fields.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";

const refreshes = ["sendingConfigs", "organization"];

/** The addresses that email comes from, each with the provider that sends it. */
export function Senders() {
  const { data, error } = useQuery(queries.sendingConfigs());
  const mayWrite = useRight("credentials:write");
  return (
    <>
      <ErrorNote error={error} />
      <Card title={t("Senders")}>
        {!data && <Skeleton h={120} />}
        {data?.sendingConfigs.length === 0 && (
          <p className="quiet">
            {t("A sender is an address with the provider that sends its email.")}
          </p>
        )}
        {data && data.sendingConfigs.length > 0 && (
          <SenderTable senders={data.sendingConfigs} mayWrite={mayWrite} />
        )}
      </Card>
      {mayWrite && <NewSender />}
    </>
  );
}

/** The form, which is empty again after each new sender, and how the sender is connected. */
function NewSender() {
  const [added, setAdded] = useState<SendingConfig>();
  const [isConnecting, setConnecting] = useState(false);
  const connect = (sender: SendingConfig) => {
    setAdded(sender);
    setConnecting(true);
  };
  return (
    <>
      <NewSenderForm key={added?.id} onDone={connect} />
      {added && isConnecting && (
        <ConnectDialog sender={added} onClose={() => setConnecting(false)} />
      )}
    </>
  );
}

function NewSenderForm({ onDone }: { onDone(sender: SendingConfig): void }) {
  const sender = useSenderFields();
  const [tracking, setTracking] = useState<Tracking>();
  const adding = useChange({
    run: async () => {
      await checkCredentials(sender.provider ?? "", sender.credentials.filled());
      return api.sendingConfigs.create({ ...sender.request(), ...(tracking && { tracking }) });
    },
    refreshes,
    onDone,
  });
  const { fromEmail, credentials } = sender;
  useUnsavedChanges(fromEmail.value !== "" || Object.keys(credentials.filled()).length > 0);
  return (
    <FormCard
      title={t("New sender")}
      action={t("Add sender")}
      submission={adding.error instanceof RefusedCredentials ? { ...adding, error: null } : adding}
    >
      <div className="stack narrow">
        <SenderFields sender={sender} error={adding.error} />
        {sender.provider && (
          <TrackingSelect
            provider={sender.provider}
            value={trackingOf({ tracking, provider: sender.provider })}
            onChange={setTracking}
          />
        )}
      </div>
    </FormCard>
  );
}

interface SenderTableProps {
  senders: SendingConfig[];
  mayWrite: boolean;
}

function SenderTable({ senders, mayWrite }: SenderTableProps) {
  const [edited, setEdited] = useState<SendingConfig>();
  const [deleted, setDeleted] = useState<SendingConfig>();
  const [tested, setTested] = useState<SendingConfig>();
  const [connected, setConnected] = useState<SendingConfig>();
  const remove = useDeletion({
    run: ({ id }: SendingConfig, query) => api.sendingConfigs.delete(id, query),
    refreshes,
    onDone: () => setDeleted(undefined),
  });
  const columns: PlainColumn<SendingConfig>[] = [
    {
      label: t("Address"),
      render: ({ fromEmail, fromName }) => (
        <>
          {fromEmail}
          {fromName && <small>{fromName}</small>}
        </>
      ),
    },
    { label: t("Provider"), isWide: true, render: (sender) => <ProviderCell sender={sender} /> },
    {
      label: t("Status"),
      render: ({ verified, webhookUrl, firstEventAt }) => (
        <>
          <StatusMark
            status={verified ? t("Tested") : t("Not tested")}
            tone={verified ? "good" : "warn"}
          />
          {webhookUrl !== null && firstEventAt === null && <small>{t("No report yet")}</small>}
        </>
      ),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (sender) =>
        mayWrite && (
          <div className="buttons">
            <Button variant="default" size="compact-xs" onClick={() => setConnected(sender)}>
              {t("Connect")}
            </Button>
            <RowMenu
              name={sender.fromEmail ?? sender.provider}
              actions={[
                { label: t("Test"), run: () => setTested(sender) },
                { label: t("Edit"), run: () => setEdited(sender) },
                { label: t("Delete"), isDangerous: true, run: () => setDeleted(sender) },
              ]}
            />
          </div>
        ),
    },
  ];
  return (
    <>
      <PlainTable label={t("Senders")} columns={columns} rows={senders} keyOf={({ id }) => id} />
      {connected && <ConnectDialog sender={connected} onClose={() => setConnected(undefined)} />}
      {tested && <TestDialog sender={tested} onClose={() => setTested(undefined)} />}
      {edited && (
        <SenderDialog
          key={edited.id}
          sender={edited}
          others={senders.filter(({ id }) => id !== edited.id)}
          onClose={() => setEdited(undefined)}
        />
      )}
      <ConfirmDialog
        title={t("Delete sender")}
        action={t("Delete {name}", { name: deleted?.fromEmail ?? "" })}
        isDangerous
        target={deleted}
        change={remove}
        typed={deleted && (deleted.fromEmail ?? deleted.provider)}
        onClose={() => setDeleted(undefined)}
      >
        {t(
          "The credentials are deleted. Templates, campaigns and sequences that " +
            "use this sender cannot be sent until they have another one.",
        )}
      </ConfirmDialog>
    </>
  );
}

function ProviderCell({ sender: { provider, accountLimits, warmUp } }: { sender: SendingConfig }) {
  const name = useProviderNames()(provider);
  return (
    <>
      {name}
      {warmUp && <small>{t("Warm-up over {days} days", { days: warmUp.days })}</small>}
      {accountLimits?.emailsPer24Hours != null && (
        <small>
          {t("{sentLast24Hours} of {emailsPer24Hours} emails in 24 hours", {
            sentLast24Hours: formatNumber(accountLimits.sentLast24Hours),
            emailsPer24Hours: formatNumber(accountLimits.emailsPer24Hours),
          })}
        </small>
      )}
    </>
  );
}

interface SenderDialogProps {
  sender: SendingConfig;
  onClose(): void;
}

/** Sets up the provider, and shows what is left to do. */
function ConnectDialog({ sender, onClose }: SenderDialogProps) {
  const provider = useProviderNames()(sender.provider);
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        sender.fromEmail
          ? t("{address} by {provider}", { address: sender.fromEmail, provider })
          : provider
      }
      lockScroll={false}
    >
      <ConnectProvider config={sender} />
    </Modal>
  );
}

/** Sends a test email, which proves that the credentials work. */
function TestDialog({ sender, onClose }: SenderDialogProps) {
  const to = useTextField(useMe().user.email);
  const testing = useChange({
    run: () => api.sendingConfigs.verify(sender.id, { to: to.value }),
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={
        sender.fromEmail ? t("Test {email}", { email: sender.fromEmail }) : t("Test the sender")
      }
      action={t("Send test email")}
      submission={testing}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Send it to")}
        type="email"
        required
        data-autofocus
        data-field="to"
        {...to.input}
      />
    </FormDialog>
  );
}

function SenderDialog({
  sender,
  others,
  onClose,
}: SenderDialogProps & { others: SendingConfig[] }) {
  const fromEmail = useTextField(sender.fromEmail ?? "");
  const fromName = useTextField(sender.fromName ?? "");
  const replyTo = useTextField(sender.replyTo ?? "");
  const webhookSecret = useTextField();
  const [rate, setRate] = useState(toRate(sender.ratePerSecond));
  const [fallback, setFallback] = useState(sender.fallbackConfigId);
  const [share, setShare] = useState(sender.share);
  const [tracking, setTracking] = useState(sender.tracking);
  const warmUp = useWarmUp(sender);
  const credentials = useCredentials();
  const saving = useChange({
    run: async () => {
      const filled = credentials.filled();
      if (Object.keys(filled).length > 0) await checkCredentials(sender.provider, filled);
      return api.sendingConfigs.update(sender.id, {
        fromEmail: fromEmail.value,
        fromName: fromName.value || null,
        replyTo: replyTo.value || null,
        ratePerSecond: rate.count === "" ? null : rate.count / secondsOf[rate.unit],
        fallbackConfigId: fallback,
        share,
        tracking,
        ...warmUp.changes(),
        ...(webhookSecret.value && { webhookSecret: webhookSecret.value }),
        ...(Object.keys(filled).length > 0 && { credentials: filled }),
      });
    },
    refreshes,
    onDone: onClose,
  });
  const providerName = useProviderNames();
  const choices = others.map(({ id, fromEmail: address, provider }) => ({
    value: String(id),
    label: t("{address} by {provider}", { address, provider: providerName(provider) }),
  }));
  return (
    <FormDialog
      title={sender.fromEmail ? t("Edit {email}", { email: sender.fromEmail }) : t("Edit sender")}
      action={t("Save sender")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Sender address")}
        type="email"
        required
        data-field="fromEmail"
        {...fromEmail.input}
      />
      <TextInput label={t("Sender name (optional)")} data-field="fromName" {...fromName.input} />
      <TextInput
        label={t("Replies to (optional)")}
        description={t("Answers go to this address, unless the site has one.")}
        type="email"
        data-field="replyTo"
        {...replyTo.input}
      />
      <RateFields rate={rate} onChange={setRate} />
      <WarmUpFields warmUp={warmUp} />
      <Select
        label={t("Fallback (optional)")}
        description={t(
          "Takes new email, and waiting email of campaigns and sequences, while this " +
            "provider fails.",
        )}
        clearable
        data={choices}
        value={fallback === null ? null : String(fallback)}
        onChange={(id) => setFallback(id ? Number(id) : null)}
      />
      <ShareFields share={share} choices={choices} onChange={setShare} />
      <TrackingSelect provider={sender.provider} value={tracking} onChange={setTracking} />
      {sender.webhookUrl && (
        <>
          <p>
            {t(
              "“Connect” lets the provider report opens, bounces and complaints. By hand, " +
                "enter this address there:",
            )}
            <br />
            <span className="mono breaks">{sender.webhookUrl}</span>{" "}
            <CopyAction value={sender.webhookUrl} label={t("Copy the address for the provider")} />
          </p>
          <PasswordInput
            label={
              sender.webhookSecretSet
                ? t("Secret of the reports (stored)")
                : t("Secret of the reports (not stored)")
            }
            description={t("The provider shows it where you enter the address. Empty keeps it.")}
            autoComplete="off"
            data-field="webhookSecret"
            {...webhookSecret.input}
          />
        </>
      )}
      <p className="quiet">{t("Credentials that stay empty are kept.")}</p>
      <CredentialFields provider={sender.provider} credentials={credentials} isChange />
    </FormDialog>
  );
}

interface ShareFieldsProps {
  share: SendingConfig["share"];
  choices: { value: string; label: string }[];
  onChange(share: SendingConfig["share"]): void;
}

/** Another sender that takes a part of the email. */
function ShareFields({ share, choices, onChange }: ShareFieldsProps) {
  return (
    <>
      <Select
        label={t("Share with (optional)")}
        description={t("Takes a part of the email of campaigns and sequences, such as to try it.")}
        clearable
        data-field="share.sendingConfigId"
        data={choices}
        value={share === null ? null : String(share.sendingConfigId)}
        onChange={(id) =>
          onChange(id ? { percent: 10, ...share, sendingConfigId: Number(id) } : null)
        }
      />
      {share && (
        <NumberInput
          label={t("Its part in percent")}
          required
          min={1}
          max={100}
          allowDecimal={false}
          data-field="share.percent"
          value={share.percent || ""}
          onChange={(value) => onChange({ ...share, percent: Number(value) })}
        />
      )}
    </>
  );
}

interface Rate {
  count: number | "";
  unit: "second" | "hour";
}

const secondsOf: Record<Rate["unit"], number> = { second: 1, hour: 3600 };

function toRate(perSecond: number | null): Rate {
  if (perSecond === null) return { count: "", unit: "second" };
  if (Number.isInteger(perSecond)) return { count: perSecond, unit: "second" };
  return { count: Math.max(1, Math.round(perSecond * secondsOf.hour)), unit: "hour" };
}

function RateFields({ rate, onChange }: { rate: Rate; onChange(rate: Rate): void }) {
  const units: { value: Rate["unit"]; label: string }[] = [
    { value: "second", label: t("One second") },
    { value: "hour", label: t("One hour") },
  ];
  return (
    <fieldset className="plain-fieldset field-grid" aria-label={t("Speed")}>
      <NumberInput
        label={t("Emails at most (optional)")}
        min={1}
        max={100_000}
        allowDecimal={false}
        data-field="ratePerSecond"
        value={rate.count}
        onChange={(value) => onChange({ ...rate, count: value === "" ? "" : Number(value) })}
      />
      <Select
        label={t("Within")}
        allowDeselect={false}
        data={units}
        value={rate.unit}
        onChange={(unit) => unit && onChange({ ...rate, unit: unit as Rate["unit"] })}
      />
    </fieldset>
  );
}

type Tracking = SendingConfig["tracking"];

interface TrackingSelectProps {
  provider: string;
  value: Tracking;
  onChange(value: Tracking): void;
}

/** Chooses who records opens and clicks. An SMTP server records none, so it is not offered. */
function TrackingSelect({ provider, value, onChange }: TrackingSelectProps) {
  const choices: { value: Tracking; label: string }[] = [
    { value: "provider", label: t("The provider records them") },
    { value: "own", label: t("Pennymail records them") },
    { value: "off", label: t("Nobody records them") },
  ];
  return (
    <Select
      label={t("Opens and clicks")}
      description={
        value === "own"
          ? t(
              "Links lead through Pennymail, and an invisible picture reports opens. If your " +
                "account at the provider tracks too, turn that off there.",
            )
          : undefined
      }
      allowDeselect={false}
      data-field="tracking"
      data={choices.filter((choice) => provider !== "smtp" || choice.value !== "provider")}
      value={value}
      onChange={(chosen) => chosen && onChange(chosen as Tracking)}
    />
  );
}

type WarmUp = NonNullable<UpdateSendingConfigRequest["warmUp"]>;

const suggestedWarmUp: WarmUp = { firstDayMails: 50, lastDayMails: 20_000, days: 30 };

/** The plan of a warm-up. The form sends it only if it changed, because a warm-up then restarts. */
function useWarmUp({ warmUp: current }: SendingConfig) {
  const [plan, setPlan] = useState<WarmUp | null>(
    current && {
      firstDayMails: current.firstDayMails,
      lastDayMails: current.lastDayMails,
      days: current.days,
    },
  );
  const isChanged =
    plan?.firstDayMails !== current?.firstDayMails ||
    plan?.lastDayMails !== current?.lastDayMails ||
    plan?.days !== current?.days;
  return {
    plan,
    setPlan,
    isRunning: current !== null,
    isChanged,
    changes: () => (isChanged ? { warmUp: plan } : {}),
  };
}

function WarmUpFields({ warmUp }: { warmUp: ReturnType<typeof useWarmUp> }) {
  const { plan, setPlan, isRunning, isChanged } = warmUp;
  const numberField = (label: string, name: keyof WarmUp, [min, max]: [number, number]) => (
    <NumberInput
      label={label}
      required
      min={min}
      max={max}
      allowDecimal={false}
      value={plan?.[name] || ""}
      onChange={(value) => plan && setPlan({ ...plan, [name]: Number(value) })}
    />
  );
  return (
    <>
      <Switch
        label={t("Warm up the address")}
        description={t(
          "A daily limit for campaigns and sequences that grows. Single emails always go.",
        )}
        checked={plan !== null}
        onChange={({ currentTarget }) => setPlan(currentTarget.checked ? suggestedWarmUp : null)}
      />
      {plan && (
        <fieldset className="plain-fieldset field-grid" aria-label={t("Plan of the warm-up")}>
          {numberField(t("Emails on the first day"), "firstDayMails", [1, 100_000_000])}
          {numberField(t("Emails on the last day"), "lastDayMails", [1, 100_000_000])}
          {numberField(t("Days"), "days", [2, 180])}
        </fieldset>
      )}
      {plan && isRunning && isChanged && (
        <p className="quiet">{t("A changed plan starts with its first day again.")}</p>
      )}
    </>
  );
}
