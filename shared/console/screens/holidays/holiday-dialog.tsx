import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Holiday } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { recordOptions } from "../../parts/filters.tsx";
import { FormDialog } from "../../parts/form.tsx";
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
  const templates = useQuery(queries.templates(siteId)).data?.templates;
  const senders = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const topics = useQuery(queries.topics(siteId)).data;
  const name = useTextField(holiday?.name);
  const date = useTextField(holiday?.date);
  const [templateId, setTemplateId] = useState(holiday?.templateId ?? null);
  const [sendingConfigId, setSendingConfigId] = useState(holiday?.sendingConfigId ?? null);
  const [topicId, setTopicId] = useState(holiday?.topicId ?? null);
  const saving = useChange({
    run: () => {
      // The form cannot be sent without a template.
      const fields = { name: name.value, date: date.value, templateId: templateId! };
      const request = { ...fields, sendingConfigId, topicId };
      return holiday
        ? api.holidays.update(holiday.id, request)
        : api.holidays.create({ siteId, ...request });
    },
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={holiday ? `Edit ${holiday.name}` : "New holiday email"}
      action="Save holiday email"
      submission={saving}
      isDisabled={templateId === null}
      opened
      onClose={onClose}
    >
      <TextInput label="Name" required maxLength={200} data-autofocus {...name.input} />
      <TextInput
        label="Day"
        description={`It is sent from 9:00, ${timezone}.`}
        type="date"
        required
        {...date.input}
      />
      <Select
        label="Template"
        required
        searchable
        data={recordOptions(templates)}
        value={toChoice(templateId)}
        onChange={(choice) => setTemplateId(toId(choice))}
      />
      <Select
        label="Sender (optional)"
        placeholder="The oldest tested one"
        clearable
        data={senders.map(({ id, fromEmail }) => ({
          value: String(id),
          label: fromEmail ?? `Sender ${id}`,
        }))}
        value={toChoice(sendingConfigId)}
        onChange={(choice) => setSendingConfigId(toId(choice))}
      />
      {topics && topics.length > 0 && (
        <Select
          label="Topic (optional)"
          description="Contacts who left the topic do not get it."
          clearable
          data={recordOptions(topics)}
          value={toChoice(topicId)}
          onChange={(choice) => setTopicId(toId(choice))}
        />
      )}
    </FormDialog>
  );
}
