import { Autocomplete, Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SequenceDetail } from "pennymail";
import { useState } from "react";
import { type NamedGroup, queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { recordOptions } from "../../parts/filters.tsx";
import { FormCard } from "../../parts/form.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
import {
  contactChoices,
  eventChoices,
  RuleChoicesProvider,
} from "../../parts/rules/rule-choices.ts";
import { createGroup, type GroupDraft, toDraft, toRules } from "../../parts/rules/rule-draft.ts";
import { RuleGroup } from "../../parts/rules/rule-group.tsx";
import { HourSelect, OffsetFields } from "./date-fields.tsx";
import { dateFields, dateTypes, FieldChoice, personFields } from "./field-choice.tsx";
import { SavedNote, useSettings } from "./settings-form.tsx";
import { useStepEditor } from "./step-editor.ts";

type TriggerType = SequenceDetail["triggerType"];
type Config = NonNullable<SequenceDetail["triggerConfig"]>;

const triggerOptions: { value: TriggerType; label: string }[] = [
  { value: "manual", label: t("You add contacts") },
  { value: "contact_created", label: t("A contact is new") },
  { value: "tag_add", label: t("A contact gets a tag") },
  { value: "list_join", label: t("A contact joins a list") },
  { value: "form_submit", label: t("A contact submits a form") },
  { value: "custom_event", label: t("A contact does something on your site") },
  { value: "email_opened", label: t("A contact opens an email") },
  { value: "email_clicked", label: t("A contact clicks a link in an email") },
  { value: "score_reached", label: t("A contact reaches a lead score") },
  { value: "field_changed", label: t("A field of a contact changes") },
  { value: "segment_enter", label: t("A contact enters a segment") },
  { value: "segment_leave", label: t("A contact leaves a segment") },
  { value: "date", label: t("A date of a contact comes") },
  { value: "unsubscribed", label: t("A contact unsubscribes (for work without email)") },
  { value: "webhook", label: t("Your systems add contacts") },
];

/** What starts the sequence, for whom and how often. */
export function TriggerForm({ sequence }: { sequence: SequenceDetail }) {
  const [type, setType] = useState<TriggerType>(sequence.triggerType);
  const [config, setConfig] = useState<Config>(sequence.triggerConfig ?? {});
  const [filter, setFilter] = useState<GroupDraft | undefined>(
    () => sequence.triggerConfig?.filter && toDraft(sequence.triggerConfig.filter),
  );
  const rules = filter && toRules(filter);
  const whole: Config = { ...config };
  delete whole.filter;
  if (rules?.conditions.length) whole.filter = rules;
  const saving = useSettings(sequence, {
    triggerType: type,
    triggerConfig: Object.keys(whole).length ? whole : null,
  });
  const change = (changes: Partial<Record<keyof Config, unknown>>) =>
    setConfig((old) => withoutEmpty({ ...old, ...changes }));
  return (
    <FormCard title={t("Start")} action={t("Save start")} submission={saving}>
      <Select
        label={t("A contact starts when")}
        allowDeselect={false}
        searchable
        data={triggerOptions}
        value={type}
        onChange={(chosen) => {
          setType(chosen as TriggerType);
          setConfig(({ reentry }) => withoutEmpty({ reentry }));
        }}
      />
      <TriggerDetail type={type} config={config} siteId={sequence.siteId} onChange={change} />
      <Reentry config={config} onChange={change} />
      <Checkbox
        label={t("Only contacts who match conditions")}
        checked={filter !== undefined}
        onChange={(event) => setFilter(event.currentTarget.checked ? createGroup() : undefined)}
      />
      {filter && (
        <RuleChoicesProvider value={type === "custom_event" ? eventChoices : contactChoices}>
          <RuleGroup siteId={sequence.siteId} group={filter} onChange={setFilter} />
        </RuleChoicesProvider>
      )}
      {filter && !rules && (
        <p className="quiet">{t("Complete the conditions, or they are left out.")}</p>
      )}
      <SavedNote isSaved={saving.isSuccess} />
    </FormCard>
  );
}

const withoutEmpty = (config: Partial<Record<keyof Config, unknown>>): Config =>
  Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined && value !== ""),
  );

interface DetailProps {
  config: Config;
  onChange(changes: Partial<Record<keyof Config, unknown>>): void;
}

function Reentry({ config: { reentry = "always" }, onChange }: DetailProps) {
  const isTimed = typeof reentry === "object";
  return (
    <>
      <Select
        label={t("Contacts who were in it before")}
        allowDeselect={false}
        data={[
          { value: "always", label: t("Start again each time") },
          { value: "afterDays", label: t("Start again after some days") },
          { value: "once", label: t("Never start again") },
        ]}
        value={isTimed ? "afterDays" : reentry}
        onChange={(value) =>
          onChange({ reentry: value === "afterDays" ? { afterDays: 30 } : (value ?? undefined) })
        }
      />
      {isTimed && (
        <NumberInput
          label={t("Days since they last started")}
          min={1}
          max={3650}
          required
          value={reentry.afterDays}
          onChange={(days) => onChange({ reentry: { afterDays: Number(days) || 1 } })}
        />
      )}
    </>
  );
}

interface TriggerDetailProps extends DetailProps {
  type: TriggerType;
  siteId: number;
}

function TriggerDetail({ type, siteId, ...props }: TriggerDetailProps) {
  if (type === "tag_add") return <TagDetail {...props} />;
  if (type === "list_join")
    return (
      <RecordDetail {...props} name="listId" label={t("List")} group="lists" siteId={siteId} />
    );
  if (type === "form_submit")
    return (
      <RecordDetail {...props} name="formId" label={t("Form")} group="forms" siteId={siteId} />
    );
  if (type === "segment_enter" || type === "segment_leave")
    return (
      <RecordDetail
        {...props}
        name="segmentId"
        label={t("Segment")}
        group="segments"
        siteId={siteId}
      />
    );
  if (type === "email_opened" || type === "email_clicked")
    return <EmailDetail {...props} siteId={siteId} hasLink={type === "email_clicked"} />;
  if (type === "field_changed") return <FieldDetail {...props} />;
  if (type === "date") return <DateDetail {...props} />;
  if (type === "custom_event") return <EventDetail {...props} />;
  if (type === "score_reached")
    return (
      <NumberInput
        label={t("Score")}
        required
        value={props.config.score ?? ""}
        onChange={(score) => props.onChange({ score: score === "" ? undefined : Number(score) })}
      />
    );
  return null;
}

interface TextDetailProps extends DetailProps {
  name: "from" | "to" | "url";
  label: string;
}

const TextDetail = ({ config, onChange, name, label }: TextDetailProps) => (
  <TextInput
    label={label}
    value={String(config[name] ?? "")}
    onChange={(event) => onChange({ [name]: event.currentTarget.value })}
  />
);

interface RecordDetailProps extends DetailProps {
  name: "listId" | "formId" | "segmentId" | "campaignId";
  label: string;
  group: NamedGroup;
  siteId: number;
}

const RecordDetail = ({ config, onChange, name, ...shown }: RecordDetailProps) => (
  <RecordSelect
    {...shown}
    placeholder={t("Choose one")}
    clearable
    nothingFoundMessage={t("None has this name")}
    value={config[name] === undefined ? null : Number(config[name])}
    onChange={(id) => onChange({ [name]: id ?? undefined })}
  />
);

/** A tag can be named before it exists. */
function TagDetail({ config: { tagId, tagName }, onChange }: DetailProps) {
  const { tags } = useStepEditor().choices;
  const options = recordOptions(tags);
  return (
    <Select
      label={t("Tag")}
      placeholder={t("Choose a tag")}
      searchable
      nothingFoundMessage={t("None has this name")}
      data={tagName ? [...options, { value: tagName, label: tagName }] : options}
      value={tagName ?? (tagId === undefined ? null : String(tagId))}
      onChange={(value) => {
        const isNamed = value !== null && value === tagName;
        const id = value && !isNamed ? Number(value) : undefined;
        onChange({ tagId: id, tagName: isNamed ? tagName : undefined });
      }}
    />
  );
}

function EmailDetail({
  siteId,
  hasLink,
  ...props
}: DetailProps & { siteId: number; hasLink: boolean }) {
  return (
    <>
      <RecordDetail
        {...props}
        name="campaignId"
        label={t("Campaign (optional)")}
        group="campaigns"
        siteId={siteId}
      />
      {hasLink && <TextDetail {...props} name="url" label={t("Link (optional)")} />}
    </>
  );
}

const watchedFields = [...personFields, { value: "status", label: t("Status") }];

const FieldDetail = (props: DetailProps) => (
  <>
    <FieldChoice
      label={t("Field")}
      isRequired
      value={props.config.field}
      standard={watchedFields}
      onChange={(field) => props.onChange({ field })}
    />
    <div className="field-row">
      <TextDetail {...props} name="from" label={t("From (optional)")} />
      <TextDetail {...props} name="to" label={t("To (optional)")} />
    </div>
  </>
);

const DateDetail = ({ config, onChange }: DetailProps) => (
  <>
    <FieldChoice
      label={t("Date")}
      isRequired
      value={config.field}
      standard={dateFields}
      types={dateTypes}
      onChange={(field) => onChange({ field })}
    />
    <OffsetFields
      days={config.offsetDays ?? 0}
      onChange={(days) => onChange({ offsetDays: days || undefined })}
    />
    <HourSelect hour={config.hour ?? 9} onChange={(hour) => onChange({ hour })} />
    <Checkbox
      label={t("Every year")}
      checked={config.yearly === true}
      onChange={(event) => onChange({ yearly: event.currentTarget.checked || undefined })}
    />
  </>
);

function EventDetail({ config: { eventName = "" }, onChange }: DetailProps) {
  const { sequence } = useStepEditor();
  const events = useQuery(queries.eventNames(sequence.siteId)).data ?? [];
  return (
    <Autocomplete
      label={t("Name of the event")}
      description={t(
        "As your site reports it, such as added_to_cart. A reply by email is email_replied.",
      )}
      required
      maxLength={100}
      data={events}
      value={eventName}
      onChange={(name) => onChange({ eventName: name })}
    />
  );
}
