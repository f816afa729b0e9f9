import { Select, Switch } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { CampaignDetail, UpdateCampaignRequest } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { SavedText } from "../../parts/saved-text.tsx";
import { AbTest } from "./ab-test.tsx";
import { ArchiveChoice } from "./archive-choice.tsx";
import { hasAudience, isComplete } from "./audience.ts";
import { AudienceChoice, AudienceCounts } from "./audience-choice.tsx";
import { ConversionChoice, HoldOutChoice } from "./conversion-choice.tsx";
import { useDraftSaving } from "./draft-saving.ts";
import { ExtraContent } from "./extra-content.tsx";
import { OwnEmail } from "./own-email.tsx";
import { Samples } from "./samples.tsx";
import { SendSection } from "./send-section.tsx";
import { SenderChoice } from "./sender-choice.tsx";
import { TestEmail } from "./test-email.tsx";

const settleMs = 600;

/** Audience, content, sender and time on one page. Each choice is saved at once. */
export function CampaignDraft({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const saving = useDraftSaving(campaign.id);
  // Several changes in a row are counted and previewed once.
  const [settled] = useDebouncedValue(campaign, settleMs);
  const isSettled = settled === campaign && !saving.isPending;
  const { templateId } = campaign;
  const email = useQuery({ ...queries.template(templateId ?? 0), enabled: templateId !== null });
  const preview = useQuery({
    ...queries.campaignPreview(settled, email.data?.version),
    enabled: isComplete(settled) && isSettled && !email.isLoading,
  });
  const shownPreview = isComplete(campaign) ? preview.data : undefined;
  const isCurrent = isSettled && !preview.isPlaceholderData;
  const choices = { campaign, onChange: saving.mutate };
  return (
    <div className="columns wizard">
      <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
        <Card title={t("1. Audience")} state={saveState(saving)}>
          <AudienceChoice {...choices} />
          {hasAudience(campaign) && <AudienceCounts campaign={settled} isCurrent={isSettled} />}
          <TopicChoice {...choices} />
          <NoticeChoice {...choices} />
        </Card>
        <Card title={t("2. Email")}>
          <OwnEmail {...choices} />
          <SenderChoice {...choices} />
          <ArchiveChoice campaign={campaign} onChange={(archive) => saving.mutate({ archive })} />
        </Card>
        <Card title={t("3. Files and values")}>
          <ExtraContent {...choices} />
        </Card>
        <Card title={t("4. A/B test")}>
          <AbTest {...choices} />
          <HoldOutChoice {...choices} />
        </Card>
        <Card title={t("5. Tracking")}>
          <Tracking {...choices} />
          <ConversionChoice {...choices} />
        </Card>
        <ErrorNote error={saving.error ?? preview.error} />
        <TestEmail campaign={campaign} isSaving={saving.isPending} />
        <SendSection campaign={campaign} preview={shownPreview} isSaving={!isCurrent} />
      </fieldset>
      <Card title={t("Preview")} className="preview-card">
        <Samples campaign={campaign} preview={shownPreview} />
      </Card>
    </div>
  );
}

function saveState({ isPending, isSuccess }: { isPending: boolean; isSuccess: boolean }): string {
  if (isPending) return t("Saving");
  return isSuccess ? t("Saved") : "";
}

export interface ChoiceProps {
  campaign: CampaignDetail;
  onChange(changes: UpdateCampaignRequest): void;
}

export function TopicChoice({ campaign: { siteId, topicId }, onChange }: ChoiceProps) {
  const topics = useQuery(queries.topics(siteId)).data ?? [];
  if (topics.length === 0) return null;
  return (
    <Select
      label={t("Topic (optional)")}
      description={t("Only contacts who get this topic. They can leave it and stay subscribed.")}
      placeholder={t("No topic")}
      clearable
      clearButtonProps={{ "aria-label": t("No topic") }}
      data={recordOptions(topics)}
      value={topicId === null ? null : String(topicId)}
      onChange={(id) => onChange({ topicId: id ? Number(id) : null })}
    />
  );
}

function NoticeChoice({ campaign: { purpose, status }, onChange }: ChoiceProps) {
  const maySend = useRight("marketing:notice");
  const isNotice = purpose === "notice";
  if (!maySend && !isNotice) return null;
  return (
    <Switch
      label={t("Legal notice")}
      description={t(
        "Also goes to contacts who unsubscribed, whatever their topics, and " +
          "without an unsubscribe link. Only for what they must know, such as " +
          "new terms.",
      )}
      checked={isNotice}
      disabled={!maySend || status !== "draft"}
      onChange={(event) =>
        onChange({ purpose: event.currentTarget.checked ? "notice" : "marketing" })
      }
    />
  );
}

const utmFields = [
  ["source", t("Source"), "newsletter"],
  ["medium", t("Medium"), "email"],
  ["campaign", t("Campaign"), t("The name of the campaign")],
  ["term", t("Term"), ""],
  ["content", t("Content"), t("The name of the variant")],
] as const;

function Tracking({ campaign: { utm }, onChange }: ChoiceProps) {
  return (
    <>
      <Switch
        label={t("Mark links for website analytics")}
        description={t(
          "Adds UTM parameters, so that analytics tools know where a visit comes from.",
        )}
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
