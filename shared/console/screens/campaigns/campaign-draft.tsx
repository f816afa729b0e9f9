import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Campaign, CampaignDetail, CampaignPreview, UpdateCampaignRequest } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";

/** Audience, content, sender and time on one page. Each choice is saved at once. */
export function CampaignDraft({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const saving = useChange({
    run: (changes: UpdateCampaignRequest) => api.campaigns.update(campaign.id, changes),
    refreshes: ["campaigns"],
  });
  const preview = useQuery({
    ...queries.campaignPreview(campaign.id),
    enabled: isComplete(campaign) && !saving.isPending,
  });
  const change = (changes: UpdateCampaignRequest) => saving.mutate(changes);
  return (
    <div className="columns">
      <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
        <Card title="Audience" state={saveState(saving)}>
          <AudienceChoice campaign={campaign} onChange={change} />
          {preview.data && <AudienceCounts preview={preview.data} />}
        </Card>
        <Card title="Content">
          <ContentChoice campaign={campaign} onChange={change} />
        </Card>
        <Card title="Sender">
          <SenderChoice campaign={campaign} onChange={change} />
        </Card>
        <ErrorNote error={saving.error ?? preview.error} />
        <SendSection campaign={campaign} preview={preview.data} />
      </fieldset>
      <Card title="Preview" className="preview-card">
        <Sample preview={preview.data} />
      </Card>
    </div>
  );
}

const isComplete = ({ templateId, listId, tagId, segmentId, sendingConfigId }: CampaignDetail) =>
  templateId !== null && sendingConfigId !== null && (listId ?? tagId ?? segmentId) !== null;

function saveState({ isPending, isSuccess }: { isPending: boolean; isSuccess: boolean }): string {
  if (isPending) return "Saving";
  return isSuccess ? "Saved" : "";
}

interface ChoiceProps {
  campaign: CampaignDetail;
  onChange(changes: UpdateCampaignRequest): void;
}

const toOptions = (prefix: string, groups: { id: number; name: string }[] | undefined) =>
  (groups ?? []).map(({ id, name }) => ({ value: `${prefix} ${id}`, label: name }));

function AudienceChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, listId, tagId, segmentId } = campaign;
  const lists = useQuery(queries.lists(siteId)).data?.lists;
  const tags = useQuery(queries.tags(siteId)).data?.tags;
  const segments = useQuery(queries.segments(siteId)).data?.segments;
  const chosen = Object.entries({ list: listId, tag: tagId, segment: segmentId }).find(
    ([, id]) => id !== null,
  );
  const choose = (value: string | null) => {
    const [kind, id] = value?.split(" ") ?? [];
    const idOf = (name: string) => (kind === name ? Number(id) : null);
    onChange({ listId: idOf("list"), tagId: idOf("tag"), segmentId: idOf("segment") });
  };
  return (
    <Select
      label="Send to"
      placeholder="A list, a tag or a segment"
      searchable
      data={[
        { group: "Lists", items: toOptions("list", lists) },
        { group: "Tags", items: toOptions("tag", tags) },
        { group: "Segments", items: toOptions("segment", segments) },
      ].filter(({ items }) => items.length > 0)}
      value={chosen ? `${chosen[0]} ${chosen[1]}` : null}
      onChange={choose}
    />
  );
}

/** How many get it, and why the others do not. */
function AudienceCounts({ preview }: { preview: CampaignPreview }) {
  const { candidates, wouldReceive, suppressed, unsubscribed, capped } = preview;
  const reasons: [number, string][] = [
    [suppressed, "suppressed"],
    [unsubscribed, "unsubscribed or not confirmed"],
    [capped, "got marketing email too recently"],
  ];
  return (
    <p>
      <b>{formatNumber(wouldReceive)}</b> of {formatNumber(candidates)} contacts get it.
      {reasons
        .filter(([count]) => count > 0)
        .map(([count, reason]) => ` ${formatNumber(count)} ${reason}.`)}
    </p>
  );
}

function ContentChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, templateId, subject } = campaign;
  const templates = useQuery(queries.templates(siteId)).data?.templates ?? [];
  const [text, setText] = useState(subject ?? "");
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
      {templates.length === 0 && (
        <p className="quiet">
          There is no template yet. <Link to="/templates">Make one first.</Link>
        </p>
      )}
      <TextInput
        label="Subject (optional)"
        description="Without it, the subject of the template is used."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => text !== (subject ?? "") && onChange({ subject: text || null })}
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

function Sample({ preview }: { preview: CampaignPreview | undefined }) {
  const [index, setIndex] = useState(0);
  const sample = preview?.samples[index] ?? preview?.samples[0];
  if (!preview) return <p className="quiet">Choose audience, template and sender first.</p>;
  if (!sample) return <p className="quiet">Nobody would get this campaign now.</p>;
  return (
    <div className="stack">
      <Select
        label="As it looks for"
        data={preview.samples.map(({ email }, i) => ({ value: String(i), label: email }))}
        value={String(index)}
        allowDeselect={false}
        onChange={(value) => setIndex(Number(value))}
      />
      <p>
        <b>{sample.subject}</b>
      </p>
      {sample.missingVariables.length > 0 && (
        <p className="quiet">Empty for this contact: {sample.missingVariables.join(", ")}</p>
      )}
      {sample.error && <p className="tone-bad">{sample.error}</p>}
      {sample.html && <EmailPreview html={sample.html} title={`Email to ${sample.email}`} />}
    </div>
  );
}

interface SendSectionProps {
  campaign: CampaignDetail;
  preview: CampaignPreview | undefined;
}

function SendSection({ campaign, preview }: SendSectionProps) {
  const { user, organization } = useMe();
  const [recipients, setRecipients] = useState<number>();
  const [time, setTime] = useState("");
  const count = preview?.wouldReceive ?? 0;
  const start = useChange<number, Campaign>({
    run: () =>
      time
        ? api.campaigns.schedule(campaign.id, { scheduledAt: new Date(time).toISOString() })
        : api.campaigns.send(campaign.id),
    refreshes: ["campaigns"],
  });
  const test = useMutation({
    mutationFn: () => api.campaigns.sendProofs(campaign.id, { emails: [user.email] }),
  });
  const verb = time ? "Schedule for" : "Send to";
  const action = `${verb} ${formatNumber(count)} ${count === 1 ? "contact" : "contacts"}`;
  return (
    <Card title="Send">
      <TextInput
        type="datetime-local"
        label="Time (optional)"
        description="In the time zone of this device. Empty: now."
        value={time}
        onChange={(event) => setTime(event.currentTarget.value)}
      />
      <ErrorNote error={test.error} />
      {test.isSuccess && <p role="status">The test email is on its way to {user.email}.</p>}
      <div className="buttons">
        <Button
          variant="default"
          disabled={!isComplete(campaign)}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          Send me a test email
        </Button>
        <Button disabled={count === 0} onClick={() => setRecipients(count)}>
          {action}
        </Button>
      </div>
      <ConfirmDialog
        title={campaign.name}
        action={action}
        target={recipients}
        change={start}
        onClose={() => setRecipients(undefined)}
      >
        {formatNumber(count)} {count === 1 ? "contact gets" : "contacts get"} this email
        {time ? ` on ${new Date(time).toLocaleString("en-GB")}` : " now"}. You can pause it while it
        is being sent. Reports use {organization.timezone}.
      </ConfirmDialog>
    </Card>
  );
}
