// What a step lacks before its sequence can be active.

import type { SegmentRules } from "pennymail";
import { t } from "../../language/translate.ts";
import { areComplete } from "../../parts/rules/rule-draft.ts";
import { problemsOfAction } from "./action-texts.ts";
import {
  type DraftStep,
  isRules,
  noStep,
  type StepRules,
  type StepWait,
  stepKeyOf,
} from "./step-draft.ts";

export function problemsOf(step: DraftStep): string[] {
  const { type, templateId, delayMinutes, rules, wait, action } = step;
  if (type === "email" && templateId === null) return [t("Choose a template.")];
  if (type === "delay" && delayMinutes === null) return [t("Say how long to wait.")];
  if (type === "wait_until") return problemsOfWait(wait ?? {});
  if (type === "action") return problemsOfAction(action);
  if (type !== "condition") return [];
  if (!rules || rules.conditions.length === 0) return [t("Add a condition.")];
  return isComplete(rules) ? [] : [t("Complete the condition.")];
}

function problemsOfWait(wait: StepWait): string[] {
  const { eventName, filter, timeoutMinutes, field, weekdays, hour } = wait;
  if (eventName !== undefined) {
    if (eventName === "") return [t("Name the event.")];
    if (filter && !isComplete(filter)) return [t("Complete the condition.")];
    return timeoutMinutes ? [] : [t("Say how long to wait at most.")];
  }
  if (field !== undefined) return field.endsWith(".") ? [t("Name the field.")] : [];
  if (!weekdays || weekdays.length === 0) return [t("Choose a day.")];
  return hour === undefined ? [t("Choose an hour.")] : [];
}

const isComplete = (rules: StepRules): boolean =>
  areComplete(rules as SegmentRules) && stepKeysIn(rules).every((key) => key !== noStep);

const stepKeysIn = ({ conditions }: StepRules): string[] =>
  conditions.flatMap((node) => (isRules(node) ? stepKeysIn(node) : (stepKeyOf(node.field) ?? [])));
