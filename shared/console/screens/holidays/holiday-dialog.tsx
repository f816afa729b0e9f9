import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Holiday } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { recordOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { ownSenderTexts } from "../../parts/own-sender-texts.ts";
import { RecordSelect } from "../../parts/record-select.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { refreshes } from "./holidays.tsx";

interface HolidayDialogProps {
  siteId: number;
  /** Undefined for a new one. */
  holiday: Holiday | undefined;
  onClose(): void;
}

const toId = (choice: string | null): number | null => (choice ? Number(choice) : null);
const toChoice = (id: number | null): string | null => (id === null ? null : String(id));

export function HolidayDialog({ siteId, holiday, onClose }: HolidayDialogProps) {
  const { timezone } = useMe().organization;
  const senders = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const topics = useQuery(queries.topics(siteId)).data;
  const name = useTextField(holiday?.name);
  const date = useTextField(holiday?.date);
  const replyTo = useTextField(holiday?.replyTo ?? "");
  const [templateId, setTemplateId] = useState(holiday?.templateId ?? null);
  const [sendingConfigId, setSendingConfigId] = useState(holiday?.sendingConfigId ?? null);
  const [topicId, setTopicId] = useState(holiday?.topicId ?? null);
  const saving = useChange({
    run: () => {
      // The form cannot be sent without a template.
      const fields = { name: name.value, date: date.value, templateId: templateId! };
      const sender = { sendingConfigId, replyTo: replyTo.value || null };
      const request = { ...fields, ...sender, topicId };
      return holiday
        ? api.holidays.update(holiday.id, request)
        : api.holidays.create({ siteId, ...request });
    },
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={holiday ? t("Edit {name}", { name: holiday.name }) : t("New holiday email")}
      action={t("Save holiday email")}
      submission={saving}
      isDisabled={templateId === null}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        required
        maxLength={200}
        data-autofocus
        data-field="name"
        {...name.input}
      />
      <TextInput
        label={t("Day")}
        description={t("It is sent from 9:00, {timezone}.", { timezone })}
        type="date"
        required
        data-field="date"
        {...date.input}
      />
      <RecordSelect
        group="templates"
        siteId={siteId}
        label={t("Template")}
        required
        value={templateId}
        onChange={setTemplateId}
      />
      <Select
        label={t("Sender (optional)")}
        placeholder={t("The oldest tested one")}
        clearable
        data={senders.map(({ id, fromEmail }) => ({
          value: String(id),
          label: fromEmail ?? t("Sender {id}", { id }),
        }))}
        value={toChoice(sendingConfigId)}
        onChange={(choice) => setSendingConfigId(toId(choice))}
      />
      <TextInput type="email" {...ownSenderTexts.replyTo} data-field="replyTo" {...replyTo.input} />
      {topics && topics.length > 0 && (
        <Select
          label={t("Topic (optional)")}
          description={t("Contacts who left the topic do not get it.")}
          clearable
          data={recordOptions(topics)}
          value={toChoice(topicId)}
          onChange={(choice) => setTopicId(toId(choice))}
        />
      )}
    </FormDialog>
  );
}
