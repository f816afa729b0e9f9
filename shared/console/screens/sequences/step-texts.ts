// Steps, triggers and conditions as sentences.

import { useQuery } from "@tanstack/react-query";
import type { SegmentCondition, Sequence } from "pennymail";
import { queries } from "../../data/queries.ts";
import { capitalize } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { describeCondition } from "../../parts/rules/rule-sentence.ts";
import { actionText, recordOfAction } from "./action-texts.ts";
import {
  type DraftStep,
  type DraftSteps,
  isRules,
  type Outlet,
  type StepRules,
  type StepWait,
  stepKeyOf,
} from "./step-draft.ts";

/** Names of records that steps and triggers refer to, by id. */
export interface Names {
  template(id: number): string;
  tag(id: unknown): string;
  list(id: unknown): string;
  form(id: unknown): string;
  topic(id: unknown): string;
  sequence(id: unknown): string;
}

export interface Choices {
  templates: { id: number; name: string }[];
  tags: { id: number; name: string }[];
  lists: { id: number; name: string }[];
  forms: { id: number; name: string }[];
  topics: { id: number; name: string }[];
  sequences: { id: number; name: string }[];
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
  const topics = useQuery({ ...queries.names("topics", site), ...readIf("topics") }).data ?? [];
  const sequences =
    useQuery({ ...queries.names("sequences", site), ...readIf("sequences") }).data ?? [];
  return { templates: templates?.templates ?? [], tags, lists, forms, topics, sequences };
}

const kindByTrigger: Partial<Record<Sequence["triggerType"], ChoiceKind>> = {
  tag_add: "tags",
  list_join: "lists",
  form_submit: "forms",
};

/** The records that triggers name. */
export const kindsOfTriggers = (sequences: readonly Trigger[]): ChoiceKind[] =>
  sequences.flatMap(({ triggerType }) => kindByTrigger[triggerType] ?? []);

/** The records that actions name. */
export const kindsOfActions = (draft: DraftSteps): ChoiceKind[] =>
  draft.flatMap(({ action }) => recordOfAction[action?.action ?? ""]?.kind ?? []);

export function namesIn(choices: Choices): Names {
  const { templates, tags, lists, forms, topics, sequences } = choices;
  const nameOf =
    (records: { id: number; name: string }[], noun: string) =>
    (id: unknown): string =>
      records.find((record) => record.id === Number(id))?.name ?? `${noun} ${id}`;
  return {
    template: nameOf(templates, t("template")),
    tag: (tag) => (typeof tag === "string" ? tag : nameOf(tags, t("tag"))(tag)),
    list: (list) => (typeof list === "string" ? list : nameOf(lists, t("list"))(list)),
    form: nameOf(forms, t("form")),
    topic: nameOf(topics, t("topic")),
    sequence: nameOf(sequences, t("sequence")),
  };
}

export const typeLabels: Record<DraftStep["type"], string> = {
  email: t("Email"),
  delay: t("Wait"),
  condition: t("Branch"),
  split: t("Split"),
  exit: t("Exit"),
  wait_until: t("Wait until"),
  action: t("Action"),
};

/** The name of a branch. */
export function outletLabel({ weights, wait }: DraftStep, outlet: Outlet): string {
  if (outlet === "yes") return t("Yes");
  if (outlet === "no") return t("No");
  if (outlet === "timeout")
    return wait?.eventName === undefined
      ? t("No date")
      : t("Not in {duration}", { duration: durationText(timeoutOf(wait)) });
  if (outlet === "next") return wait?.eventName === undefined ? t("Then") : t("It happened");
  const way = Number(outlet.slice(3));
  return `${wayName(way)} · ${shareText(weights ?? [], way)}`;
}

/** The ways of a split are called A to E. */
export const wayName = (way: number): string => String.fromCharCode(65 + way);

/** "33 %" of the contacts. */
export function shareText(weights: readonly number[], way: number): string {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return `${Math.round(((weights[way] ?? 0) / total) * 100)} %`;
}

const timeoutOf = ({ timeoutMinutes = 0 }: StepWait): number => timeoutMinutes;

/** The contacts that a figure of a step counts. */
export type PeopleKind = "here" | "sent" | "opened" | "clicked";

interface TextSources {
  names: Names;
  /** The number of a step for people. */
  numberOf(key: string): number | undefined;
}

/** What a step does, in a few words. */
export function textOf(step: DraftStep, sources: TextSources): string {
  if (step.type === "email")
    return step.templateId === null
      ? t("No template yet")
      : sources.names.template(step.templateId);
  if (step.type === "delay")
    return step.delayMinutes === null ? t("No time yet") : durationText(step.delayMinutes);
  if (step.type === "split")
    return t("{count} ways by chance", { count: step.weights?.length ?? 0 });
  if (step.type === "exit") return t("Leaves the sequence");
  if (step.type === "wait_until") return waitText(step.wait ?? {});
  if (step.type === "action") return actionText(step.action, sources.names);
  return step.rules?.conditions.length
    ? `${rulesText(step.rules, sources)}?`
    : t("No condition yet");
}

export const weekdayNames = [t("Mon"), t("Tue"), t("Wed"), t("Thu"), t("Fri"), t("Sat"), t("Sun")];

const dateTexts: Record<string, string> = {
  createdAt: t("the contact was added"),
  lastOpenedAt: t("the last open"),
  lastClickedAt: t("the last click"),
};

/** Completes "Wait until …". */
function waitText({ eventName, field, offsetDays = 0, weekdays = [], hour }: StepWait): string {
  const atHour = (days: string) =>
    hour === undefined
      ? days
      : t("{days} at {hour}:00", { days, hour: String(hour).padStart(2, "0") });
  if (eventName === "") return t("No event yet");
  if (eventName !== undefined) return t("“{eventName}” happens", { eventName });
  if (field !== undefined) {
    const name = dateTexts[field] ?? field.replace(/^customFields\./, "");
    return atHour(dateText(offsetDays, name));
  }
  const days =
    weekdays.length === 7 ? [t("any day")] : weekdays.map((day) => weekdayNames[day - 1]);
  return weekdays.length === 0 ? t("No day yet") : atHour(days.join(", "));
}

/** "3 days before the renewal" */
function dateText(offsetDays: number, name: string): string {
  const days = Math.abs(offsetDays);
  if (days === 0) return name;
  return offsetDays < 0
    ? t("{days, plural, one {# day} other {# days}} before {name}", { days, name })
    : t("{days, plural, one {# day} other {# days}} after {name}", { days, name });
}

/** The step as one of several to choose from: "2. Email: Welcome". */
export const labelOf = (step: DraftStep, sources: TextSources): string =>
  `${sources.numberOf(step.key)}. ${typeLabels[step.type]}: ${textOf(step, sources)}`;

type Unit = "week" | "day" | "hour" | "minute";
const units: [minutes: number, name: Unit][] = [
  [7 * 24 * 60, "week"],
  [24 * 60, "day"],
  [60, "hour"],
  [1, "minute"],
];
const unitNames: Record<Unit, string> = {
  week: t("weeks"),
  day: t("days"),
  hour: t("hours"),
  minute: t("minutes"),
};

/** The largest unit of which a duration is a whole number. */
export function splitDuration(minutes: number): { count: number; unit: Unit } {
  const [size, unit] = units.find(([one]) => minutes > 0 && minutes % one === 0) ?? units[1]!;
  return { count: minutes / size, unit };
}

export const minutesIn = (unit: string): number => units.find(([, name]) => name === unit)![0];
export const unitOptions = units
  .map(([, name]) => ({ value: name, label: unitNames[name] }))
  .toReversed();

function durationText(minutes: number): string {
  const { count, unit } = splitDuration(minutes);
  return {
    week: t("{count, plural, one {# week} other {# weeks}}", { count }),
    day: t("{count, plural, one {# day} other {# days}}", { count }),
    hour: t("{count, plural, one {# hour} other {# hours}}", { count }),
    minute: t("{count, plural, one {# minute} other {# minutes}}", { count }),
  }[unit];
}

function rulesText({ match, conditions }: StepRules, sources: TextSources): string {
  const texts = conditions.map((node) =>
    isRules(node)
      ? `(${rulesText(node, sources)})`
      : conditionText(node as SegmentCondition, sources),
  );
  return texts.join(match === "all" ? t(" and ") : t(" or "));
}

function conditionText(condition: SegmentCondition, { names, numberOf }: TextSources): string {
  const { field, operator, value } = condition;
  const isNegative = /^not/.test(operator);
  const stepKey = stepKeyOf(field);
  if (stepKey) {
    const number = numberOf(stepKey);
    const email = number === undefined ? t("an email") : t("email {number}", { number });
    if (field.endsWith(".clicked"))
      return isNegative
        ? t("Not clicked in {email}", { email })
        : t("Clicked in {email}", { email });
    return isNegative ? t("Not opened {email}", { email }) : t("Opened {email}", { email });
  }
  if (/^tags?$/.test(field))
    return isNegative
      ? t("Has not the tag {tag}", { tag: names.tag(value) })
      : t("Has the tag {tag}", { tag: names.tag(value) });
  if (/^lists?$/.test(field))
    return isNegative
      ? t("Is not in the list {list}", { list: names.list(value) })
      : t("Is in the list {list}", { list: names.list(value) });
  return capitalize(describeCondition(condition, (_, id) => id));
}

type Trigger = Pick<Sequence, "triggerType" | "triggerConfig">;

/** Completes "Starts when a contact …". */
export function triggerText({ triggerType, triggerConfig }: Trigger, names: Names): string {
  const { tagId, tagName, listId, formId, eventName, score, field } = triggerConfig ?? {};
  const texts: Record<Sequence["triggerType"], string> = {
    manual: t("is added by you"),
    webhook: t("is added by your systems"),
    tag_add: t("gets the tag {tag}", { tag: tagName ?? (tagId ? names.tag(tagId) : "…") }),
    list_join: t("joins the list {list}", { list: listId ? names.list(listId) : "…" }),
    form_submit: t("submits the form {form}", { form: formId ? names.form(formId) : "…" }),
    custom_event: t("does “{event}”", { event: eventName ?? "…" }),
    score_reached: t("reaches the score {score}", { score: score ?? "…" }),
    contact_created: t("is new"),
    email_opened: t("opens an email"),
    email_clicked: t("clicks a link in an email"),
    field_changed: t("gets another {field}", { field: field ?? "…" }),
    segment_enter: t("enters a segment"),
    segment_leave: t("leaves a segment"),
    date: t("has its date {field}", { field: field ?? "…" }),
    unsubscribed: t("unsubscribes"),
  };
  return texts[triggerType];
}
