import { Autocomplete, Button, Select } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ContactField } from "pennymail";
import { useState } from "react";
import { fieldQueries } from "../../data/field-queries.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { recordOptions } from "../filters.tsx";
import { useNamedRecords } from "../record-select.tsx";
import { EventOptions, PropertyName } from "./event-options.tsx";
import {
  customFieldOf,
  fieldGroups,
  findField,
  operatorChoices,
  type RuleField,
  type RuleFieldGroup,
} from "./rule-catalog.ts";
import { useRuleChoices } from "./rule-choices.ts";
import {
  type ConditionDraft,
  createCondition,
  createCustomCondition,
  createGroup,
  type GroupDraft,
  isGroup,
} from "./rule-draft.ts";
import { keptValues, RemoveAction, Value, withMissing } from "./rule-parts.tsx";

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
  const { createFirst } = useRuleChoices();
  const add = (node: ConditionDraft | GroupDraft) =>
    onChange({ ...group, conditions: [...conditions, node] });
  return (
    <fieldset className="rule-group">
      <legend className="visually-hidden">{t("Conditions")}</legend>
      <div className="rule-match">
        <Select
          aria-label={t("How many conditions must hold")}
          w={92}
          size="xs"
          allowDeselect={false}
          data={[
            { value: "all", label: t("All") },
            { value: "any", label: t("Any") },
          ]}
          value={match}
          onChange={(value) => onChange({ ...group, match: value as GroupDraft["match"] })}
        />
        <span>{match === "all" ? t("of these hold") : t("of these holds")}</span>
        {onRemove && <RemoveAction label={t("Remove group")} onRemove={onRemove} />}
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
          onClick={() => add(createFirst())}
        >
          {t("Add condition")}
        </Button>
        {depth < maxDepth && (
          <Button variant="subtle" size="xs" onClick={() => add(createGroup())}>
            {t("Add group")}
          </Button>
        )}
      </div>
    </fieldset>
  );
}

const toOptions = (groups: RuleFieldGroup[]) =>
  groups.map(({ group, fields }) => ({
    group,
    items: fields.map(({ key, label }) => ({ value: key, label })),
  }));

/** The custom fields of the site are after the fields of a person. */
function toFieldOptions(extraGroups: RuleFieldGroup[], ownFields: ContactField[]) {
  const items = ownFields.map(({ key, label }) => ({ value: key, label }));
  const options = toOptions(fieldGroups);
  return [
    ...toOptions(extraGroups),
    ...(items.length > 0 ? options.toSpliced(1, 0, { group: t("Your fields"), items }) : options),
  ];
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
  const options = toFieldOptions(useRuleChoices().groups, own);
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
        aria-label={t("Field")}
        searchable
        allowDeselect={false}
        data={isKnown ? options : [chosen, ...options]}
        value={chosen}
        onChange={(key) => key && choose(key)}
      />
      {field.subject && <Subject siteId={siteId} condition={condition} onChange={change} />}
      {field.kind === "property" && (
        <PropertyName value={condition.property} onChange={(property) => change({ property })} />
      )}
      <Select
        aria-label={t("Comparison")}
        allowDeselect={false}
        data={choicesOf(field, condition.choice)}
        value={condition.choice}
        onChange={(choice) =>
          choice && change({ choice, values: keptValues(field, condition, choice) })
        }
      />
      <Value siteId={siteId} condition={condition} field={field} onChange={change} />
      {field.kind === "event" && (
        <EventOptions siteId={siteId} condition={condition} onChange={change} />
      )}
      <RemoveAction
        label={t("Remove the condition on {label}", { label: field.label })}
        onRemove={onRemove}
      />
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

interface PartProps {
  siteId: number;
  condition: ConditionDraft;
  onChange(changes: Partial<ConditionDraft>): void;
}

/** Which topic, form, campaign, custom field or event the condition is about. */
function Subject({ siteId, condition: { field: key, subject }, onChange }: PartProps) {
  const { records, subject: label = "", choose = "", isOfEvent, kind } = findField(key);
  const [text, setText] = useState("");
  const names = useNamedRecords({
    group: records ?? "forms",
    siteId: records && siteId,
    text,
    chosen: records && subject ? [Number(subject)] : [],
  });
  const events = useQuery({ ...queries.eventNames(siteId), enabled: isOfEvent === true });
  const { emails } = useRuleChoices();
  const isStep = kind === "step";
  if (!records && !isStep)
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
      placeholder={isStep && emails.length === 0 ? t("No email comes before") : choose}
      searchable
      nothingFoundMessage={t("There is none")}
      data={withMissing(isStep ? emails : recordOptions(names), [subject])}
      onSearchChange={setText}
      value={subject || null}
      onChange={(id) => onChange({ subject: id ?? "" })}
    />
  );
}
