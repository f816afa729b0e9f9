import { Select, Switch } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignDetail, UpdateCampaignRequest } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { SavedText } from "../../parts/saved-text.tsx";
import { AbTest } from "./ab-test.tsx";
import { hasAudience, isComplete } from "./audience.ts";
import { AudienceChoice, AudienceCounts } from "./audience-choice.tsx";
import { useDraftSaving } from "./draft-saving.ts";
import { Samples } from "./samples.tsx";
import { SendSection } from "./send-section.tsx";
import { TestEmail } from "./test-email.tsx";

const settleMs = 600;

/** Audience, content, sender and time on one page. Each choice is saved at once. */
export function CampaignDraft({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const saving = useDraftSaving(campaign.id);
  // Several changes in a row are counted and previewed once.
  const [settled] = useDebouncedValue(campaign, settleMs);
  const isSettled = settled === campaign && !saving.isPending;
  const preview = useQuery({
    ...queries.campaignPreview(settled),
    enabled: isComplete(settled) && isSettled,
  });
  const shownPreview = isComplete(campaign) ? preview.data : undefined;
  const isCurrent = isSettled && !preview.isPlaceholderData;
  const choices = { campaign, onChange: saving.mutate };
  return (
    <div className="columns wizard">
      <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
        <Card title="1. Audience" state={saveState(saving)}>
          <AudienceChoice {...choices} />
          {hasAudience(campaign) && <AudienceCounts campaign={settled} isCurrent={isSettled} />}
          <TopicChoice {...choices} />
        </Card>
        <Card title="2. Email">
          <EmailChoice {...choices} />
        </Card>
        <Card title="3. A/B test">
          <AbTest {...choices} />
        </Card>
        <Card title="4. Tracking">
          <Tracking {...choices} />
        </Card>
        <ErrorNote error={saving.error ?? preview.error} />
        <TestEmail campaign={campaign} isSaving={saving.isPending} />
        <SendSection campaign={campaign} preview={shownPreview} isSaving={!isCurrent} />
      </fieldset>
      <Card title="Preview" className="preview-card">
        <Samples campaign={campaign} preview={shownPreview} />
      </Card>
    </div>
  );
}

function saveState({ isPending, isSuccess }: { isPending: boolean; isSuccess: boolean }): string {
  if (isPending) return "Saving";
  return isSuccess ? "Saved" : "";
}

export interface ChoiceProps {
  campaign: CampaignDetail;
  onChange(changes: UpdateCampaignRequest): void;
}

function TopicChoice({ campaign: { siteId, topicId }, onChange }: ChoiceProps) {
  const topics = useQuery(queries.topics(siteId)).data ?? [];
  if (topics.length === 0) return null;
  return (
    <Select
      label="Topic (optional)"
      description="Only contacts who get this topic. They can leave it and stay subscribed."
      placeholder="No topic"
      clearable
      clearButtonProps={{ "aria-label": "No topic" }}
      data={recordOptions(topics)}
      value={topicId === null ? null : String(topicId)}
      onChange={(id) => onChange({ topicId: id ? Number(id) : null })}
    />
  );
}

function EmailChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, templateId, subject, previewText } = campaign;
  const templates = useQuery(queries.templates(siteId)).data?.templates;
  const chosen = templates?.find(({ id }) => id === templateId);
  return (
    <>
      <Select
        label="Template"
        placeholder="Choose a template"
        searchable
        data={recordOptions(templates)}
        value={templateId === null ? null : String(templateId)}
        onChange={(id) => onChange({ templateId: id ? Number(id) : null })}
      />
      {chosen && (
        <Link className="quiet" to="/templates/$id" params={{ id: chosen.id }}>
          Edit this template
        </Link>
      )}
      {templates?.length === 0 && (
        <p className="quiet">
          There is no template yet. <Link to="/templates">Make one first.</Link>
        </p>
      )}
      <SenderChoice campaign={campaign} onChange={onChange} />
      <SavedText
        label="Subject (optional)"
        description="Without it, the subject of the template is used."
        placeholder={chosen?.subject ?? ""}
        maxLength={998}
        value={subject}
        onSave={(text) => onChange({ subject: text })}
      />
      <SavedText
        label="Preview text (optional)"
        description="Inboxes show it behind the subject."
        maxLength={200}
        value={previewText}
        onSave={(text) => onChange({ previewText: text })}
      />
    </>
  );
}

function SenderChoice({ campaign: { sendingConfigId }, onChange }: ChoiceProps) {
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  return (
    <Select
      label="From"
      placeholder="Choose a sender"
      data={configs
        .filter(({ fromEmail }) => fromEmail !== null)
        .map(({ id, fromEmail, fromName, provider }) => ({
          value: String(id),
          label: `${fromName ? `${fromName} <${fromEmail}>` : fromEmail} by ${provider}`,
        }))}
      value={sendingConfigId === null ? null : String(sendingConfigId)}
      onChange={(id) => onChange({ sendingConfigId: id ? Number(id) : null })}
    />
  );
}

const utmFields = [
  ["source", "Source", "newsletter"],
  ["medium", "Medium", "email"],
  ["campaign", "Campaign", "The name of the campaign"],
  ["term", "Term", ""],
  ["content", "Content", "The name of the variant"],
] as const;

function Tracking({ campaign: { utm }, onChange }: ChoiceProps) {
  return (
    <>
      <Switch
        label="Mark links for website analytics"
        description="Adds UTM parameters, so that analytics tools know where a visit comes from."
        checked={utm !== null}
        onChange={(event) => onChange({ utm: event.currentTarget.checked ? {} : null })}
      />
      {utm && (
        <div className="field-grid">
          {utmFields.map(([key, label, placeholder]) => (
            <SavedText
              key={key}
              label={label}
              placeholder={placeholder}
              maxLength={200}
              value={utm[key]}
              onSave={(text) => {
                const { [key]: _, ...others } = utm;
                onChange({ utm: text ? { ...others, [key]: text } : others });
              }}
            />
          ))}
        </div>
      )}
    </>
  );
}
