import { Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SendWindow, SequenceDetail, UpdateSequenceRequest } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { FormCard } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { useStepEditor } from "./step-editor.ts";

/** What starts and ends the sequence for a contact, the sender, and the sending times. */
export function SequenceSettings({ sequence }: { sequence: SequenceDetail }) {
  const { mayWrite } = useStepEditor();
  return (
    <div className="columns">
      <fieldset className="plain-fieldset stack" disabled={!mayWrite}>
        <TriggerForm sequence={sequence} />
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

function useSettings({ id }: SequenceDetail, draft: UpdateSequenceRequest) {
  const saving = useChange({
    run: () => api.sequences.update(id, draft),
    refreshes: ["sequences"],
  });
  useUnsavedDraft(draft, saving);
  return saving;
}

type TriggerType = SequenceDetail["triggerType"];

const triggerOptions: { value: TriggerType; label: string }[] = [
  { value: "manual", label: "You add contacts" },
  { value: "tag_add", label: "A contact gets a tag" },
  { value: "list_join", label: "A contact joins a list" },
  { value: "form_submit", label: "A contact submits a form" },
  { value: "custom_event", label: "A contact does something on your site" },
  { value: "score_reached", label: "A contact reaches a lead score" },
  { value: "webhook", label: "Your systems add contacts" },
];

/** The text that names the detail of a trigger: an id, a name or a number. */
function detailOf({ triggerConfig }: SequenceDetail): string {
  const { tagId, tagName, listId, formId, eventName, score } = triggerConfig ?? {};
  return String(tagName ?? tagId ?? listId ?? formId ?? eventName ?? score ?? "");
}

const configOf: Record<TriggerType, (detail: string) => SequenceDetail["triggerConfig"]> = {
  manual: () => null,
  webhook: () => null,
  tag_add: (detail) => (/^\d+$/.test(detail) ? { tagId: Number(detail) } : { tagName: detail }),
  list_join: (detail) => ({ listId: Number(detail) }),
  form_submit: (detail) => ({ formId: Number(detail) }),
  custom_event: (eventName) => ({ eventName }),
  score_reached: (detail) => ({ score: Number(detail) }),
};

function TriggerForm({ sequence }: SettingsProps) {
  const [type, setType] = useState<TriggerType>(sequence.triggerType);
  const [detail, setDetail] = useState(() => detailOf(sequence));
  const saving = useSettings(sequence, {
    triggerType: type,
    triggerConfig: detail ? configOf[type](detail) : null,
  });
  return (
    <FormCard title="Start" action="Save start" submission={saving}>
      <Select
        label="A contact starts when"
        allowDeselect={false}
        data={triggerOptions}
        value={type}
        onChange={(chosen) => {
          setType(chosen as TriggerType);
          setDetail("");
        }}
      />
      <TriggerDetail type={type} detail={detail} onChange={setDetail} />
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

interface TriggerDetailProps {
  type: TriggerType;
  detail: string;
  onChange(detail: string): void;
}

function TriggerDetail({ type, detail, onChange }: TriggerDetailProps) {
  const { choices } = useStepEditor();
  const { tags, lists, forms } = choices;
  const records = { tag_add: tags, list_join: lists, form_submit: forms };
  const nouns = { tag_add: "Tag", list_join: "List", form_submit: "Form" };
  if (type === "tag_add" || type === "list_join" || type === "form_submit") {
    const options = recordOptions(records[type]);
    // A tag can be named before it exists.
    const isNamed = detail !== "" && !/^\d+$/.test(detail);
    return (
      <Select
        label={nouns[type]}
        placeholder={`Choose a ${nouns[type].toLowerCase()}`}
        searchable
        nothingFoundMessage="None has this name"
        data={isNamed ? [...options, { value: detail, label: detail }] : options}
        value={detail || null}
        onChange={(value) => onChange(value ?? "")}
      />
    );
  }
  if (type === "custom_event")
    return (
      <TextInput
        label="Name of the event"
        description="As your site reports it, such as added_to_cart."
        required
        maxLength={100}
        value={detail}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (type === "score_reached")
    return (
      <TextInput
        type="number"
        label="Score"
        required
        value={detail}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return null;
}

const SavedNote = ({ isSaved }: { isSaved: boolean }) => (
  <p role="status" className="quiet">
    {isSaved ? "Saved" : ""}
  </p>
);

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
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
    <FormCard title="Sending times" action="Save sending times" submission={saving}>
      <Checkbox
        label="Send only on some days and hours"
        description="Outside of them, contacts wait for the next opening."
        checked={sendWindow !== null}
        onChange={(event) => setWindow(event.currentTarget.checked ? workdays : null)}
      />
      {sendWindow && (
        <>
          <Checkbox.Group
            label="Days"
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
              label="From"
              required
              value={sendWindow.from}
              onChange={(event) => change({ from: event.currentTarget.value })}
            />
            <TextInput
              type="time"
              label="Until"
              required
              value={sendWindow.until === "24:00" ? "23:59" : sendWindow.until}
              onChange={(event) => change({ until: event.currentTarget.value })}
            />
          </div>
          <p className="quiet">
            In the time zone of each contact; for contacts without one, in{" "}
            {sendWindow.timezone ?? timezone}.
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
  const [sender, setSender] = useState(sequence.sendingConfigId);
  const [topic, setTopic] = useState(sequence.topicId);
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const topics = useQuery(queries.topics(sequence.siteId)).data ?? [];
  const saving = useSettings(sequence, {
    name: name.value,
    sendingConfigId: sender,
    topicId: topic,
    autoBcc: bcc.value || null,
  });
  const idOf = (value: string | null) => (value ? Number(value) : null);
  const providerName = useProviderNames();
  return (
    <FormCard title="Name and sender" action="Save name and sender" submission={saving}>
      <TextInput label="Name" required maxLength={200} {...name.input} />
      <Select
        label="From (optional)"
        placeholder="The first verified sender"
        clearable
        data={configs
          .filter(({ fromEmail }) => fromEmail !== null)
          .map(({ id, fromEmail, provider }) => ({
            value: String(id),
            label: `${fromEmail} by ${providerName(provider)}`,
          }))}
        value={sender === null ? null : String(sender)}
        onChange={(value) => setSender(idOf(value))}
      />
      <Select
        label="Topic (optional)"
        description="Contacts who left the topic go on without the emails."
        placeholder="No topic"
        clearable
        data={recordOptions(topics)}
        value={topic === null ? null : String(topic)}
        onChange={(value) => setTopic(idOf(value))}
      />
      <TextInput
        type="email"
        label="Blind copy of each email to (optional)"
        maxLength={254}
        {...bcc.input}
      />
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

/** What ends the way of a contact before the last step. */
function Exits() {
  return (
    <Card title="Who leaves early">
      <p>A contact leaves before its next step when it</p>
      <ul className="bullets">
        <li>unsubscribes, or is no longer confirmed</li>
        <li>bounces or complains, or its address is suppressed</li>
        <li>is deleted, or you take it out under “Contacts”</li>
        <li>is taken out by your systems</li>
      </ul>
      <p className="quiet">
        To end the way of contacts who bought something, add a branch on a tag or an event, and let
        “Yes” lead to the end.
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
    <Card title="Add contacts from your systems">
      <p className="quiet">
        Systems add or take out a contact with a POST request to this address, with the email
        address in JSON. Whoever knows it can do so: keep it secret.
      </p>
      <p className="secret-url">
        <code>{url}</code>
        <CopyAction value={url} label="Copy the address" />
      </p>
      {mayWrite && (
        <Button variant="default" size="xs" onClick={() => setTarget(sequence.id)}>
          Replace the address
        </Button>
      )}
      <ConfirmDialog
        title="Replace the address"
        action="Replace the address"
        isDangerous
        target={target}
        change={rotating}
        typed={sequence.name}
        onClose={() => setTarget(undefined)}
      >
        The old address stops working at once. Systems that use it need the new one.
      </ConfirmDialog>
    </Card>
  );
}
