import { Autocomplete, NumberInput, Select, TagsInput, TextInput } from "@mantine/core";
import { inSentence, t } from "../../language/translate.ts";
import { yesOrNo } from "../../parts/contact-field-types.ts";
import { RecordSelect } from "../../parts/record-select.tsx";
import { actionGroups, recordOfAction } from "./action-texts.ts";
import { customPrefix, FieldChoice, personFields, useOwnFields } from "./field-choice.tsx";
import { CallFields, NotifyFields } from "./message-fields.tsx";
import type { DraftStep, StepAction } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";
import { useStepChange } from "./use-step-change.ts";

interface ActionProps {
  given: StepAction;
  onChange(action: StepAction): void;
}

/** What the step does with the contact. */
export function ActionFields({ step }: { step: DraftStep }) {
  const change = useStepChange(step);
  const given = step.action;
  const onChange = (action: StepAction) => change({ action });
  const Detail = given ? detailOf(given.action) : undefined;
  return (
    <>
      <Select
        label={t("What happens")}
        placeholder={t("Choose an action")}
        searchable
        allowDeselect={false}
        data={actionGroups}
        value={given?.action ?? null}
        onChange={(action) => action && onChange({ action })}
      />
      {given && Detail && <Detail given={given} onChange={onChange} />}
    </>
  );
}

function detailOf(action: string): ((props: ActionProps) => React.ReactNode) | undefined {
  if (action === "add_tag") return TagName;
  if (action in recordOfAction) return RecordChoice;
  return details[action];
}

/** A tag can be named before it exists. */
function TagName({ given: { tagId, tagName = "" }, onChange }: ActionProps) {
  const { choices, names } = useStepEditor();
  return (
    <Autocomplete
      label={t("Tag")}
      description={t("A tag that does not exist yet is made.")}
      maxLength={100}
      data={choices.tags.map(({ name }) => name)}
      value={tagId === undefined ? String(tagName) : names.tag(tagId)}
      onChange={(text) => {
        const known = choices.tags.find(({ name }) => name === text);
        const named = text.trim() ? { tagName: text } : {};
        onChange({ action: "add_tag", ...(known ? { tagId: known.id } : named) });
      }}
    />
  );
}

const recordTexts = {
  tags: { label: t("Tag"), none: t("No tag has this name") },
  lists: { label: t("List"), none: t("No list has this name") },
  topics: { label: t("Topic"), none: t("No topic has this name") },
  sequences: { label: t("Sequence"), none: t("No other sequence has this name") },
};

const notes: Record<string, string> = {
  join_topic: t("Only for contacts who agreed to it."),
  enroll: t("A contact who is in it already stays at its step."),
  leave_sequence: t("A contact who is not in it goes on."),
};

function RecordChoice({ given, onChange }: ActionProps) {
  const { sequence } = useStepEditor();
  const { action } = given;
  const { field, kind } = recordOfAction[action]!;
  const { label, none } = recordTexts[kind];
  const id = given[field];
  return (
    <RecordSelect
      group={kind}
      siteId={sequence.siteId}
      {...(kind === "sequences" && { without: sequence.id })}
      label={label}
      {...(notes[action] && { description: notes[action] })}
      placeholder={t("Choose a {label}", { label: inSentence(label) })}
      allowDeselect={false}
      nothingFoundMessage={none}
      value={id === undefined ? null : Number(id)}
      onChange={(chosen) => chosen && onChange({ action, [field]: chosen })}
    />
  );
}

function ActionField({ given: { action, field }, onChange }: ActionProps) {
  const isAdding = action === "add_to_field";
  return (
    <FieldChoice
      label={t("Field")}
      value={field === undefined ? undefined : String(field)}
      standard={isAdding ? [] : personFields}
      {...(isAdding && { types: ["number", "list"], description: t("A number or a list.") })}
      onChange={(chosen) => onChange({ action, ...(chosen && { field: chosen }) })}
    />
  );
}

function FieldValue({ given, onChange }: ActionProps) {
  const own = useOwnFields();
  const field = own.find(({ name }) => customPrefix + name === given.field);
  const { value, ...rest } = given;
  const set = (next: unknown) => onChange(next === "" ? rest : { ...rest, value: next });
  if (given.field === undefined) return null;
  const isAdding = given.action === "add_to_field";
  if (field?.type === "list")
    return (
      <TagsInput
        label={isAdding ? t("Entries to add") : t("Entries")}
        maxTags={100}
        maxLength={200}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(next) => set(next.length > 0 ? next : "")}
      />
    );
  if (isAdding || field?.type === "number")
    return (
      <NumberInput
        label={isAdding ? t("Number to add") : t("Value")}
        {...(isAdding && { description: t("A negative number subtracts.") })}
        value={typeof value === "number" ? value : ""}
        onChange={(next) => set(next === "" ? "" : Number(next))}
      />
    );
  if (field?.type === "boolean")
    return (
      <Select
        label={t("Value")}
        allowDeselect={false}
        data={yesOrNo}
        value={value === undefined ? null : String(value)}
        onChange={(next) => set(next === "true")}
      />
    );
  return (
    <TextInput
      label={t("Value")}
      type={field?.type === "date" ? "date" : "text"}
      maxLength={2000}
      value={value === undefined ? "" : String(value)}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

const FieldAndValue = (props: ActionProps) => (
  <>
    <ActionField {...props} />
    <FieldValue {...props} />
  </>
);

function Points({ given: { delta }, onChange }: ActionProps) {
  return (
    <NumberInput
      label={t("Points")}
      description={t("A negative number takes points off.")}
      min={-1_000_000}
      max={1_000_000}
      allowDecimal={false}
      value={typeof delta === "number" ? delta : ""}
      onChange={(next) =>
        onChange({ action: "adjust_score", ...(next !== "" && { delta: Number(next) }) })
      }
    />
  );
}

const LeavingNote = () => (
  <p className="quiet">
    {t("The contact gets no more marketing email, and leaves this sequence.")}
  </p>
);

const details: Record<string, (props: ActionProps) => React.ReactNode> = {
  set_field: FieldAndValue,
  add_to_field: FieldAndValue,
  clear_field: ActionField,
  adjust_score: Points,
  unsubscribe: LeavingNote,
  notify: NotifyFields,
  call_url: CallFields,
};
