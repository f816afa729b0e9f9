import { Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SendWindow, SequenceDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { FormCard } from "../../parts/form.tsx";
import { ownSenderTexts } from "../../parts/own-sender-texts.ts";
import { useTextField } from "../../parts/text-field.ts";
import { GoalsForm } from "./goals-form.tsx";
import { SavedNote, useSettings } from "./settings-form.tsx";
import { useStepEditor } from "./step-editor.ts";
import { TriggerForm } from "./trigger-form.tsx";

/** What starts and ends the sequence for a contact, the sender, and the sending times. */
export function SequenceSettings({ sequence }: { sequence: SequenceDetail }) {
  const { mayWrite } = useStepEditor();
  return (
    <div className="columns">
      <fieldset className="plain-fieldset stack" disabled={!mayWrite}>
        <TriggerForm sequence={sequence} />
        <GoalsForm sequence={sequence} />
        <WindowForm sequence={sequence} />
        <SenderForm sequence={sequence} />
      </fieldset>
      <div className="stack">
        <Exits />
        {sequence.webhookUrl && <WebhookCard sequence={sequence} url={sequence.webhookUrl} />}
      </div>
    </div>
  );
}

interface SettingsProps {
  sequence: SequenceDetail;
}

const weekdays = [t("Mon"), t("Tue"), t("Wed"), t("Thu"), t("Fri"), t("Sat"), t("Sun")];
const workdays: SendWindow = {
  days: [1, 2, 3, 4, 5],
  from: "09:00",
  until: "17:00",
  timezone: null,
};

function WindowForm({ sequence }: SettingsProps) {
  const { timezone } = useMe().organization;
  const [sendWindow, setWindow] = useState(sequence.sendWindow);
  const saving = useSettings(sequence, { sendWindow });
  const change = (changes: Partial<SendWindow>) =>
    setWindow((old) => ({ ...(old ?? workdays), ...changes }));
  return (
    <FormCard title={t("Sending times")} action={t("Save sending times")} submission={saving}>
      <Checkbox
        label={t("Send only on some days and hours")}
        description={t("Outside of them, contacts wait for the next opening.")}
        checked={sendWindow !== null}
        onChange={(event) => setWindow(event.currentTarget.checked ? workdays : null)}
      />
      {sendWindow && (
        <>
          <Checkbox.Group
            label={t("Days")}
            value={sendWindow.days.map(String)}
            onChange={(days) => change({ days: days.map(Number).toSorted() })}
          >
            <div className="day-row">
              {weekdays.map((day, i) => (
                <Checkbox key={day} value={String(i + 1)} label={day} />
              ))}
            </div>
          </Checkbox.Group>
          <div className="field-row">
            <TextInput
              type="time"
              label={t("From")}
              required
              value={sendWindow.from}
              onChange={(event) => change({ from: event.currentTarget.value })}
            />
            <TextInput
              type="time"
              label={t("Until")}
              required
              value={sendWindow.until === "24:00" ? "23:59" : sendWindow.until}
              onChange={(event) => change({ until: event.currentTarget.value })}
            />
          </div>
          <p className="quiet">
            {t("In the time zone of each contact; for contacts without one, in {timezone}.", {
              timezone: sendWindow.timezone ?? timezone,
            })}
          </p>
        </>
      )}
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

function SenderForm({ sequence }: SettingsProps) {
  const name = useTextField(sequence.name);
  const bcc = useTextField(sequence.autoBcc ?? "");
  const fromName = useTextField(sequence.fromName ?? "");
  const fromEmail = useTextField(sequence.fromEmail ?? "");
  const replyTo = useTextField(sequence.replyTo ?? "");
  const [sender, setSender] = useState(sequence.sendingConfigId);
  const [topic, setTopic] = useState(sequence.topicId);
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const topics = useQuery(queries.topics(sequence.siteId)).data ?? [];
  const saving = useSettings(sequence, {
    name: name.value,
    sendingConfigId: sender,
    fromName: fromName.value || null,
    fromEmail: fromEmail.value || null,
    replyTo: replyTo.value || null,
    topicId: topic,
    autoBcc: bcc.value || null,
  });
  const idOf = (value: string | null) => (value ? Number(value) : null);
  const providerName = useProviderNames();
  return (
    <FormCard title={t("Name and sender")} action={t("Save name and sender")} submission={saving}>
      <TextInput label={t("Name")} required maxLength={200} data-field="name" {...name.input} />
      <Select
        label={t("From (optional)")}
        placeholder={t("The first verified sender")}
        clearable
        data={configs
          .filter(({ fromEmail }) => fromEmail !== null)
          .map(({ id, fromEmail, provider }) => ({
            value: String(id),
            label: t("{fromEmail} by {provider}", { fromEmail, provider: providerName(provider) }),
          }))}
        value={sender === null ? null : String(sender)}
        onChange={(value) => setSender(idOf(value))}
      />
      <TextInput {...ownSenderTexts.fromName} data-field="fromName" {...fromName.input} />
      <TextInput
        type="email"
        {...ownSenderTexts.fromEmail}
        data-field="fromEmail"
        {...fromEmail.input}
      />
      <TextInput type="email" {...ownSenderTexts.replyTo} data-field="replyTo" {...replyTo.input} />
      <Select
        label={t("Topic (optional)")}
        description={t("Contacts who left the topic go on without the emails.")}
        placeholder={t("No topic")}
        clearable
        data={recordOptions(topics)}
        value={topic === null ? null : String(topic)}
        onChange={(value) => setTopic(idOf(value))}
      />
      <TextInput
        type="email"
        label={t("Blind copy of each email to (optional)")}
        maxLength={254}
        data-field="autoBcc"
        {...bcc.input}
      />
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

/** What ends the way of a contact before the last step. */
function Exits() {
  return (
    <Card title={t("Who leaves early")}>
      <p>{t("A contact leaves before its next step when it")}</p>
      <ul className="bullets">
        <li>{t("unsubscribes, or is no longer confirmed")}</li>
        <li>{t("bounces or complains, or its address is suppressed")}</li>
        <li>{t("is deleted, or you take it out under “Contacts”")}</li>
        <li>{t("is taken out by your systems")}</li>
      </ul>
      <p className="quiet">
        {t("Goals and exits end it earlier for others, such as contacts who bought something.")}
      </p>
    </Card>
  );
}

function WebhookCard({ sequence, url }: SettingsProps & { url: string }) {
  const { mayWrite } = useStepEditor();
  const [target, setTarget] = useState<number>();
  const rotating = useChange({
    run: (id: number) => api.sequences.rotateWebhookUrl(id),
    refreshes: ["sequences"],
    onDone: () => setTarget(undefined),
  });
  return (
    <Card title={t("Add contacts from your systems")}>
      <p className="quiet">
        {t(
          "Systems add or take out a contact with a POST request to this " +
            "address, with the email address in JSON. Whoever knows it can do so: " +
            "keep it secret.",
        )}
      </p>
      <p className="secret-url">
        <code>{url}</code>
        <CopyAction value={url} label={t("Copy the address")} />
      </p>
      {mayWrite && (
        <Button variant="default" size="xs" onClick={() => setTarget(sequence.id)}>
          {t("Replace the address")}
        </Button>
      )}
      <ConfirmDialog
        title={t("Replace the address")}
        action={t("Replace the address")}
        isDangerous
        target={target}
        change={rotating}
        typed={sequence.name}
        onClose={() => setTarget(undefined)}
      >
        {t("The old address stops working at once. Systems that use it need the new one.")}
      </ConfirmDialog>
    </Card>
  );
}
