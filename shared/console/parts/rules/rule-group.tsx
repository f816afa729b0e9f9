import {
  ActionIcon,
  Autocomplete,
  Button,
  MultiSelect,
  Select,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ContactField } from "pennymail";
import { fieldQueries } from "../../data/field-queries.ts";
import { queries } from "../../data/queries.ts";
import { yesOrNo } from "../contact-field-types.ts";
import { recordOptions, statusOptions } from "../filters.tsx";
import {
  customFieldOf,
  fieldGroups,
  findField,
  operatorChoices,
  type RuleField,
  valueInputOf,
} from "./rule-catalog.ts";
import {
  type ConditionDraft,
  createCondition,
  createCustomCondition,
  createGroup,
  type GroupDraft,
  isGroup,
} from "./rule-draft.ts";

const maxDepth = 5;

interface RuleGroupProps {
  siteId: number;
  group: GroupDraft;
  onChange(group: GroupDraft): void;
  /** Undefined for the outermost group. */
  onRemove?(): void;
  depth?: number;
}

/** Conditions of which all or any must hold, and groups of such conditions. */
export function RuleGroup({ siteId, group, onChange, onRemove, depth = 1 }: RuleGroupProps) {
  const { match, conditions } = group;
  const change = (index: number, node: ConditionDraft | GroupDraft) =>
    onChange({ ...group, conditions: conditions.with(index, node) });
  const remove = (index: number) => {
    const rest = conditions.toSpliced(index, 1);
    // An empty group would be refused.
    if (rest.length === 0 && onRemove) onRemove();
    else onChange({ ...group, conditions: rest });
  };
  const add = (node: ConditionDraft | GroupDraft) =>
    onChange({ ...group, conditions: [...conditions, node] });
  return (
    <fieldset className="rule-group">
      <legend className="visually-hidden">Conditions</legend>
      <div className="rule-match">
        <Select
          aria-label="How many conditions must hold"
          w={92}
          size="xs"
          allowDeselect={false}
          data={[
            { value: "all", label: "All" },
            { value: "any", label: "Any" },
          ]}
          value={match}
          onChange={(value) => onChange({ ...group, match: value as GroupDraft["match"] })}
        />
        <span>of these {match === "all" ? "hold" : "holds"}</span>
        {onRemove && <RemoveAction label="Remove group" onRemove={onRemove} />}
      </div>
      {conditions.map((node, index) =>
        isGroup(node) ? (
          <RuleGroup
            key={node.id}
            siteId={siteId}
            group={node}
            onChange={(next) => change(index, next)}
            onRemove={() => remove(index)}
            depth={depth + 1}
          />
        ) : (
          <Condition
            key={node.id}
            siteId={siteId}
            condition={node}
            onChange={(next) => change(index, next)}
            onRemove={() => remove(index)}
          />
        ),
      )}
      <div className="buttons">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => add(createCondition("tag"))}
        >
          Add condition
        </Button>
        {depth < maxDepth && (
          <Button variant="subtle" size="xs" onClick={() => add(createGroup())}>
            Add group
          </Button>
        )}
      </div>
    </fieldset>
  );
}

function RemoveAction({ label, onRemove }: { label: string; onRemove(): void }) {
  return (
    <ActionIcon
      className="rule-remove"
      variant="subtle"
      color="gray"
      aria-label={label}
      onClick={onRemove}
    >
      <IconX size={16} />
    </ActionIcon>
  );
}

const fieldOptions = fieldGroups.map(({ group, fields }) => ({
  group,
  items: fields.map(({ key, label }) => ({ value: key, label })),
}));

/** The options with the custom fields of the site, after the fields of a person. */
function withOwnFields(fields: ContactField[]) {
  const items = fields.map(({ key, label }) => ({ value: key, label }));
  return items.length > 0
    ? fieldOptions.toSpliced(1, 0, { group: "Your fields", items })
    : fieldOptions;
}

interface ConditionProps {
  siteId: number;
  condition: ConditionDraft;
  onChange(condition: ConditionDraft): void;
  onRemove(): void;
}

function Condition({ siteId, condition, onChange, onRemove }: ConditionProps) {
  const own = useQuery(fieldQueries.list(siteId)).data?.fields.filter(({ custom }) => custom) ?? [];
  const ownField = findOwnField(own, condition);
  const field = ownField
    ? customFieldOf(ownField.type, ownField.label)
    : findField(condition.field);
  const change = (changes: Partial<ConditionDraft>) => onChange({ ...condition, ...changes });
  const options = withOwnFields(own);
  const chosen = ownField?.key ?? field.key;
  const isKnown = options.some(({ items }) => items.some(({ value }) => value === chosen));
  const choose = (key: string) => {
    const next = own.find((one) => one.key === key);
    const created = next
      ? createCustomCondition(next.name, customFieldOf(next.type, next.label))
      : createCondition(key);
    onChange({ ...created, id: condition.id });
  };
  return (
    <div className="rule">
      <Select
        aria-label="Field"
        searchable
        allowDeselect={false}
        data={isKnown ? options : [chosen, ...options]}
        value={chosen}
        onChange={(key) => key && choose(key)}
      />
      {field.subject && <Subject siteId={siteId} condition={condition} onChange={change} />}
      <Select
        aria-label="Comparison"
        allowDeselect={false}
        data={choicesOf(field, condition.choice)}
        value={condition.choice}
        onChange={(choice) =>
          choice && change({ choice, values: keptValues(field, condition, choice) })
        }
      />
      <Value siteId={siteId} condition={condition} field={field} onChange={change} />
      <RemoveAction label={`Remove the condition on ${field.label}`} onRemove={onRemove} />
    </div>
  );
}

/** The field of the site that a condition asks for. */
const findOwnField = (own: ContactField[], { field, subject }: ConditionDraft) =>
  own.find(({ key }) => key.toLowerCase() === `${field}.${subject}`.toLowerCase());

/** The choices of the field. A program may have stored another one. */
function choicesOf(field: RuleField, choice: string) {
  const choices = operatorChoices(field);
  const isKnown = choices.some(({ value }) => value === choice);
  return isKnown ? choices : [...choices, { value: choice, label: choice }];
}

/** A value stays if the new comparison takes it, too. */
function keptValues(field: RuleField, { choice, values }: ConditionDraft, next: string): string[] {
  const input = valueInputOf(field, next);
  if (input === valueInputOf(field, choice) || input === "several" || input === "texts")
    return values;
  return [];
}

interface PartProps {
  siteId: number;
  condition: ConditionDraft;
  onChange(changes: Partial<ConditionDraft>): void;
}

/** Which topic, form, campaign, custom field or event the condition is about. */
function Subject({ siteId, condition: { field: key, subject }, onChange }: PartProps) {
  const { records, subject: label = "", kind } = findField(key);
  const names = useQuery({
    ...queries.names(records ?? "forms", siteId),
    enabled: records !== undefined,
  });
  const events = useQuery({ ...queries.eventNames(siteId), enabled: kind === "event" });
  if (!records)
    return (
      <Autocomplete
        aria-label={label}
        placeholder={label}
        data={events.data ?? []}
        maxLength={100}
        value={subject}
        onChange={(text) => onChange({ subject: text })}
      />
    );
  return (
    <Select
      aria-label={label}
      placeholder={`Choose a ${label.toLowerCase()}`}
      searchable
      nothingFoundMessage="There is none"
      data={withMissing(recordOptions(names.data), [subject])}
      value={subject || null}
      onChange={(id) => onChange({ subject: id ?? "" })}
    />
  );
}

type Options = { value: string; label: string }[];

/** A record that was deleted is shown by its id. */
const withMissing = (options: Options, ids: readonly string[]): Options => [
  ...options,
  ...ids
    .filter((id) => id && !options.some(({ value }) => value === id))
    .map((id) => ({ value: id, label: `Deleted (${id})` })),
];

const statuses = statusOptions(["subscribed", "pending", "unsubscribed", "suppressed"]);

const fixedOptions = ({ kind }: RuleField) => (kind === "customBoolean" ? yesOrNo : statuses);

function Value({ siteId, condition, field, onChange }: PartProps & { field: RuleField }) {
  const { choice, values } = condition;
  const input = valueInputOf(field, choice);
  const isGroupField = field.kind === "group";
  const names = useQuery({
    ...queries.names(field.records ?? "tags", siteId),
    enabled: isGroupField,
  });
  const [value = ""] = values;
  const label = `Value of ${field.label}`;
  const setOne = (text: string | null) => onChange({ values: text ? [text] : [] });
  if (input === "none") return null;
  if (input === "one" || input === "several") {
    const records = names.isPending ? [] : withMissing(recordOptions(names.data), values);
    const options = isGroupField ? records : fixedOptions(field);
    const shared = { "aria-label": label, data: options, searchable: options.length > 8 };
    const placeholder = `Choose a ${field.label.toLowerCase()}`;
    return input === "one" ? (
      <Select {...shared} placeholder={placeholder} value={value || null} onChange={setOne} />
    ) : (
      <MultiSelect
        {...shared}
        {...(values.length === 0 && { placeholder })}
        value={values}
        onChange={(chosen) => onChange({ values: chosen })}
      />
    );
  }
  if (input === "texts")
    return (
      <TagsInput
        aria-label={label}
        {...(values.length === 0 && { placeholder: "Enter after each" })}
        value={values}
        onChange={(texts) => onChange({ values: texts })}
      />
    );
  return (
    <TextInput
      aria-label={input === "days" ? "Number of days" : label}
      {...attributesOf(input, value)}
      value={value}
      onChange={(event) => setOne(event.currentTarget.value)}
    />
  );
}

/** A program may have stored a time of day, which the date input cannot show. */
function attributesOf(input: string, value: string) {
  if (input === "number") return { type: "number", step: "any" };
  if (input === "days")
    return { type: "number", min: 1, rightSection: <span className="unit">days</span> };
  const isDay = input === "date" && (!value || /^\d{4}-\d\d-\d\d$/.test(value));
  return isDay ? { type: "date" } : { type: "text" };
}
