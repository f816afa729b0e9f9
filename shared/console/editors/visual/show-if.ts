// Conditions of the recipients that see a block: as Liquid, and in words.
import { t } from "../../language/translate.ts";
import { type ConditionOperator, isVariable, type ShowCondition, type ShowIf } from "./design.ts";

export const operatorNames: Record<ConditionOperator, string> = {
  is: t("is"),
  "is-not": t("is not"),
  contains: t("contains"),
  "is-filled": t("is filled in"),
  "is-empty": t("is empty"),
  "is-more": t("is more than"),
  "is-less": t("is less than"),
};

export const takesValue = (operator: ConditionOperator): boolean =>
  operator !== "is-filled" && operator !== "is-empty";

/** Conditions that are not complete are left out. */
const isComplete = ({ field, operator, value }: ShowCondition): boolean =>
  isVariable(field) && (!takesValue(operator) || value !== "");

const isNumber = (value: string): boolean => /^-?\d+(\.\d+)?$/.test(value);

/** Liquid has no way to write both kinds of quotes in one text, nor the end of a tag. */
function quote(value: string): string {
  const text = value.replace(/[%}]\}/g, "");
  const mark = text.includes('"') ? "'" : '"';
  return `${mark}${text.replaceAll(mark, "")}${mark}`;
}

function toLiquid({ field, operator, value }: ShowCondition): string {
  const text = quote(value);
  const number = isNumber(value) ? value : "0";
  const written: Record<ConditionOperator, string> = {
    is: isNumber(value) ? `${field} == ${value} or ${field} == ${text}` : `${field} == ${text}`,
    "is-not": isNumber(value)
      ? `${field} != ${value} and ${field} != ${text}`
      : `${field} != ${text}`,
    contains: `${field} contains ${text}`,
    "is-filled": `${field} != blank`,
    "is-empty": `${field} == blank`,
    "is-more": `${field} > ${number}`,
    "is-less": `${field} < ${number}`,
  };
  return written[operator];
}

/** What stands before and after the block. Undefined: it is shown to everybody. */
export function writeCondition(
  showIf: ShowIf | undefined,
): { before: string; after: string } | undefined {
  const conditions = (showIf?.conditions ?? []).filter(isComplete).map(toLiquid);
  if (!showIf || !conditions.length) return undefined;
  // A tag for each, because Liquid has no parentheses.
  if (showIf.match === "all")
    return {
      before: conditions.map((one) => `{% if ${one} %}`).join(""),
      after: "{% endif %}".repeat(conditions.length),
    };
  return { before: `{% if ${conditions.join(" or ")} %}`, after: "{% endif %}" };
}

/** "plan is pro and 1 more" */
export function describeShowIf(showIf: ShowIf | undefined): string | undefined {
  const [first, ...others] = (showIf?.conditions ?? []).filter(isComplete);
  if (!first) return undefined;
  const { field, operator, value } = first;
  const words = [field, operatorNames[operator], takesValue(operator) ? value : ""];
  const text = words.filter(Boolean).join(" ");
  return others.length
    ? t("{condition}, and {count} more", { condition: text, count: others.length })
    : text;
}
