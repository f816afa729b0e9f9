// Steps, triggers and conditions as sentences.
import { useQuery } from "@tanstack/react-query";
import type { Sequence } from "pennymail";
import { queries } from "../../data/queries.ts";
import {
  type DraftStep,
  isRules,
  type Rules,
  type StepCondition,
  stepKeyOf,
} from "./step-draft.ts";

/** Names of records that steps and triggers refer to, by id. */
export interface Names {
  template(id: number): string;
  tag(id: unknown): string;
  list(id: unknown): string;
  form(id: unknown): string;
}

export interface Choices {
  templates: { id: number; name: string }[];
  tags: { id: number; name: string }[];
  lists: { id: number; name: string }[];
  forms: { id: number; name: string }[];
}

/** Kinds of records that a screen names or offers. Others are not read. */
export type ChoiceKind = keyof Choices;

/** Without a site, nothing is read. */
export function useChoices(siteId: number | undefined, kinds: ReadonlySet<ChoiceKind>): Choices {
  const site = siteId ?? 0;
  const readIf = (kind: ChoiceKind) => ({
    enabled: site > 0 && kinds.has(kind),
    staleTime: 60_000,
  });
  const templates = useQuery({ ...queries.templates(site), ...readIf("templates") }).data;
  const tags = useQuery({ ...queries.names("tags", site), ...readIf("tags") }).data ?? [];
  const lists = useQuery({ ...queries.names("lists", site), ...readIf("lists") }).data ?? [];
  const forms = useQuery({ ...queries.names("forms", site), ...readIf("forms") }).data ?? [];
  return { templates: templates?.templates ?? [], tags, lists, forms };
}

const kindByTrigger: Partial<Record<Sequence["triggerType"], ChoiceKind>> = {
  tag_add: "tags",
  list_join: "lists",
  form_submit: "forms",
};

/** The records that triggers name. */
export const kindsOfTriggers = (sequences: readonly Trigger[]): ChoiceKind[] =>
  sequences.flatMap(({ triggerType }) => kindByTrigger[triggerType] ?? []);

export function namesIn({ templates, tags, lists, forms }: Choices): Names {
  const nameOf =
    (records: { id: number; name: string }[], noun: string) =>
    (id: unknown): string =>
      records.find((record) => record.id === Number(id))?.name ?? `${noun} ${id}`;
  return {
    template: nameOf(templates, "template"),
    tag: (tag) => (typeof tag === "string" ? tag : nameOf(tags, "tag")(tag)),
    list: (list) => (typeof list === "string" ? list : nameOf(lists, "list")(list)),
    form: nameOf(forms, "form"),
  };
}

export const typeLabels: Record<DraftStep["type"], string> = {
  email: "Email",
  delay: "Wait",
  condition: "Branch",
};

interface TextSources {
  names: Names;
  /** The number of a step for people. */
  numberOf(key: string): number | undefined;
}

/** What a step does, in a few words. */
export function textOf(step: DraftStep, sources: TextSources): string {
  if (step.type === "email")
    return step.templateId === null ? "No template yet" : sources.names.template(step.templateId);
  if (step.type === "delay")
    return step.delayMinutes === null ? "No time yet" : durationText(step.delayMinutes);
  return step.rules?.conditions.length ? `${rulesText(step.rules, sources)}?` : "No condition yet";
}

/** The step as one of several to choose from: "2. Email: Welcome". */
export const labelOf = (step: DraftStep, sources: TextSources): string =>
  `${sources.numberOf(step.key)}. ${typeLabels[step.type]}: ${textOf(step, sources)}`;

const units: [minutes: number, name: string][] = [
  [7 * 24 * 60, "week"],
  [24 * 60, "day"],
  [60, "hour"],
  [1, "minute"],
];

/** The largest unit of which a duration is a whole number. */
export function splitDuration(minutes: number): { count: number; unit: string } {
  const [size, unit] = units.find(([one]) => minutes > 0 && minutes % one === 0) ?? units[1]!;
  return { count: minutes / size, unit };
}

export const minutesIn = (unit: string): number => units.find(([, name]) => name === unit)![0];
export const unitOptions = units
  .map(([, name]) => ({ value: name, label: `${name}s` }))
  .toReversed();

function durationText(minutes: number): string {
  const { count, unit } = splitDuration(minutes);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function rulesText({ match, conditions }: Rules, sources: TextSources): string {
  const texts = conditions.map((node) =>
    isRules(node) ? `(${rulesText(node, sources)})` : conditionText(node, sources),
  );
  const glue: Record<Rules["match"], string> = { all: " and ", any: " or ", none: " or " };
  return `${match === "none" ? "Not: " : ""}${texts.join(glue[match])}`;
}

export const operatorTexts: Record<string, string> = {
  equals: "is",
  notEquals: "is not",
  contains: "contains",
  notContains: "does not contain",
  startsWith: "starts with",
  endsWith: "ends with",
  in: "is one of",
  notIn: "is none of",
  exists: "is known",
  notExists: "is not known",
  greaterThan: "is more than",
  lessThan: "is less than",
  before: "is before",
  after: "is after",
  inLastDays: "in the last … days",
  notInLastDays: "not in the last … days",
};

export const fieldLabels: Record<string, string> = {
  firstName: "First name",
  lastName: "Last name",
  company: "Company",
  email: "Email address",
  source: "Source",
  timezone: "Time zone",
  score: "Lead score",
  openCount: "Opened emails",
  clickCount: "Clicked emails",
  lastOpenedAt: "Last opened",
  lastClickedAt: "Last clicked",
  createdAt: "Added",
};

export function conditionText(condition: StepCondition, { names, numberOf }: TextSources): string {
  const { field, operator, value } = condition;
  const isNegative = /^not/.test(operator);
  const stepKey = stepKeyOf(field);
  if (stepKey) {
    const fact = field.endsWith(".clicked") ? "Clicked in" : "Opened";
    const email = numberOf(stepKey);
    const text = email === undefined ? "an email" : `email ${email}`;
    return isNegative ? `Not ${fact.toLowerCase()} ${text}` : `${fact} ${text}`;
  }
  if (/^tags?$/.test(field)) return `${isNegative ? "Has not" : "Has"} the tag ${names.tag(value)}`;
  if (/^lists?$/.test(field))
    return `${isNegative ? "Is not" : "Is"} in the list ${names.list(value)}`;
  const label = fieldLabels[field] ?? field.replace(/^(customFields|event)\./, "");
  if (/InLastDays$/i.test(operator))
    return `${label}${isNegative ? " not" : ""} within the last ${value ?? "…"} days`;
  const shown = value === undefined ? "" : ` ${[value].flat().join(", ")}`;
  return `${label} ${operatorTexts[operator] ?? operator}${shown}`;
}

type Trigger = Pick<Sequence, "triggerType" | "triggerConfig">;

/** Completes "Starts when a contact …". */
export function triggerText({ triggerType, triggerConfig }: Trigger, names: Names): string {
  const { tagId, tagName, listId, formId, eventName, score } = triggerConfig ?? {};
  const texts: Record<Sequence["triggerType"], string> = {
    manual: "is added by you",
    webhook: "is added by your systems",
    tag_add: `gets the tag ${tagName ?? (tagId ? names.tag(tagId) : "…")}`,
    list_join: `joins the list ${listId ? names.list(listId) : "…"}`,
    form_submit: `submits the form ${formId ? names.form(formId) : "…"}`,
    custom_event: `does “${eventName ?? "…"}”`,
    score_reached: `reaches the score ${score ?? "…"}`,
  };
  return texts[triggerType];
}
