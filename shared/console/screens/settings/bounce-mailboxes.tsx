import { Button, NumberInput, PasswordInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { BounceMailbox, SendingConfig, UpdateBounceMailboxRequest } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { fieldText } from "../../parts/error-texts.ts";
import { FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";

const refreshes = ["bounce-mailboxes"];

interface MailboxRow {
  sender: SendingConfig;
  mailbox: BounceMailbox | null;
}

/** The mailboxes that the service reads for the senders with an SMTP server. */
export function BounceMailboxes({ siteId }: { siteId: number }) {
  const { data, error } = useQuery(queries.bounceMailboxes());
  const mayWrite = useRight("credentials:write");
  const { timezone } = useMe().organization;
  const [edited, setEdited] = useState<MailboxRow>();
  const [removed, setRemoved] = useState<MailboxRow>();
  const remove = useChange({
    run: ({ sender }: MailboxRow) => api.sendingConfigs.deleteBounceMailbox(sender.id),
    refreshes,
    onDone: () => setRemoved(undefined),
  });
  const columns: PlainColumn<MailboxRow>[] = [
    {
      label: t("Sender"),
      render: ({ sender, mailbox }) => (
        <>
          {sender.fromEmail ?? t("SMTP server")}
          {mailbox && <small>{`${mailbox.user}, ${mailbox.host}`}</small>}
        </>
      ),
    },
    {
      label: t("State"),
      render: ({ mailbox }) => <MailboxState mailbox={mailbox} timezone={timezone} />,
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (row) =>
        mayWrite && (
          <div className="buttons">
            <Button variant="default" size="compact-xs" onClick={() => setEdited(row)}>
              {row.mailbox ? t("Edit") : t("Set up")}
            </Button>
            {row.mailbox && (
              <Button variant="default" size="compact-xs" onClick={() => setRemoved(row)}>
                {t("Remove")}
              </Button>
            )}
          </div>
        ),
    },
  ];
  return (
    <Card title={t("Bounce mailboxes")}>
      <p className="quiet">
        {t(
          "An SMTP server reports bounces by email. Enter the mailbox of its return path, and " +
            "new email in it is read every 10 minutes.",
        )}
      </p>
      <ErrorNote error={error} />
      {data?.length === 0 && <p>{t("No sender uses an SMTP server.")}</p>}
      {data && data.length > 0 && (
        <PlainTable
          label={t("Bounce mailboxes")}
          columns={columns}
          rows={data}
          keyOf={({ sender }) => sender.id}
        />
      )}
      {edited && (
        <MailboxDialog
          key={edited.sender.id}
          row={edited}
          siteId={siteId}
          onClose={() => setEdited(undefined)}
        />
      )}
      <ConfirmDialog
        title={t("Remove bounce mailbox")}
        action={t("Stop reading")}
        target={removed}
        change={remove}
        onClose={() => setRemoved(undefined)}
      >
        {t("{user} is not read any more, and its password is deleted. Its email stays there.", {
          user: removed?.mailbox?.user ?? "",
        })}
      </ConfirmDialog>
    </Card>
  );
}

const tones = { waiting: "info", working: "good", failing: "bad" } as const;
const stateTexts: Record<BounceMailbox["state"], string> = {
  waiting: t("Not read yet"),
  working: t("Working"),
  failing: t("Failing"),
};

interface MailboxStateProps {
  mailbox: BounceMailbox | null;
  timezone: string;
}

function MailboxState({ mailbox, timezone }: MailboxStateProps) {
  if (!mailbox) return <StatusMark status={t("Not set up")} tone="quiet" />;
  const { state, lastReadAt, lastError, skippedEmails } = mailbox;
  return (
    <>
      <StatusMark status={stateTexts[state]} tone={tones[state]} />
      {lastReadAt && <small>{t("Read {ago}", { ago: formatAgo(lastReadAt, timezone) })}</small>}
      {lastError && <small>{fieldText({ path: "", message: lastError })}</small>}
      {skippedEmails > 0 && (
        <small>
          {t("{n, plural, one {# email was} other {# emails were}} left out", {
            n: skippedEmails,
          })}
        </small>
      )}
    </>
  );
}

type Tls = NonNullable<UpdateBounceMailboxRequest["tls"]>;
type AfterReading = NonNullable<UpdateBounceMailboxRequest["afterReading"]>;

const tlsChoices: { value: Tls; label: string }[] = [
  { value: "tls", label: t("TLS from the start") },
  { value: "starttls", label: t("STARTTLS") },
  { value: "none", label: t("Unencrypted, in your own network") },
];
const readingChoices: { value: AfterReading; label: string }[] = [
  { value: "keep", label: t("Keep it as it is") },
  { value: "move", label: t("Move it to a folder") },
  { value: "delete", label: t("Delete it") },
];

interface MailboxDialogProps {
  row: MailboxRow;
  siteId: number;
  onClose(): void;
}

/** The service logs in before it stores the settings, and says which field is wrong. */
function MailboxDialog({ row: { sender, mailbox }, siteId, onClose }: MailboxDialogProps) {
  const host = useTextField(mailbox?.host);
  const user = useTextField(mailbox?.user);
  const password = useTextField();
  const folder = useTextField(mailbox?.folder ?? "INBOX");
  const moveTo = useTextField(mailbox?.moveTo ?? "");
  const [port, setPort] = useState<number | "">(mailbox?.port ?? "");
  const [tls, setTls] = useState<Tls>(mailbox?.tls ?? "tls");
  const [afterReading, setAfterReading] = useState<AfterReading>(mailbox?.afterReading ?? "keep");
  const saving = useChange({
    run: () =>
      api.sendingConfigs.updateBounceMailbox(sender.id, {
        siteId: mailbox?.siteId ?? siteId,
        host: host.value,
        ...(port !== "" && { port }),
        tls,
        user: user.value,
        ...(password.value && { password: password.value }),
        folder: folder.value,
        afterReading,
        ...(afterReading === "move" && { moveTo: moveTo.value }),
      }),
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("Mailbox of {email}", { email: sender.fromEmail ?? t("the SMTP server") })}
      action={t("Check and save")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("IMAP server")}
        placeholder="imap.shop.example"
        required
        data-autofocus
        data-field="host"
        {...host.input}
      />
      <Select
        label={t("Encryption")}
        allowDeselect={false}
        data={tlsChoices}
        data-field="tls"
        value={tls}
        onChange={(value) => value && setTls(value as Tls)}
      />
      <NumberInput
        label={t("Port (optional)")}
        placeholder={tls === "tls" ? "993" : "143"}
        min={1}
        max={65_535}
        allowDecimal={false}
        data-field="port"
        value={port}
        onChange={(value) => setPort(value === "" ? "" : Number(value))}
      />
      <TextInput label={t("User")} required autoComplete="off" data-field="user" {...user.input} />
      <PasswordInput
        label={mailbox ? t("Password (stored)") : t("Password")}
        description={
          mailbox
            ? t("Empty keeps it, unless server or user change.")
            : t("Gmail and others want an app password.")
        }
        required={!mailbox}
        autoComplete="off"
        data-field="password"
        {...password.input}
      />
      <TextInput label={t("Folder")} required data-field="folder" {...folder.input} />
      <Select
        label={t("Email that was read")}
        allowDeselect={false}
        data={readingChoices}
        data-field="afterReading"
        value={afterReading}
        onChange={(value) => value && setAfterReading(value as AfterReading)}
      />
      {afterReading === "move" && (
        <TextInput
          label={t("Folder for email that was read")}
          description={t("It must exist.")}
          required
          data-field="moveTo"
          {...moveTo.input}
        />
      )}
    </FormDialog>
  );
}
