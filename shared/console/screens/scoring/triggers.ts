import type { ScoringRule } from "pennymail";
import { t } from "../../language/translate.ts";

export type Trigger = ScoringRule["trigger"];
type Match = NonNullable<ScoringRule["match"]>;

interface TriggerWords {
  /** What the contact does. */
  label: string;
  /** The field that narrows it down to some events. */
  matchField: keyof Match;
}

export const triggers: Record<Trigger, TriggerWords> = {
  email_open: { label: t("Opens an email"), matchField: "campaignId" },
  email_click: { label: t("Clicks a link in an email"), matchField: "url" },
  page_view: { label: t("Visits a page"), matchField: "url" },
  form_submit: { label: t("Submits a form"), matchField: "formId" },
  custom_event: { label: t("Does something that a program reports"), matchField: "eventName" },
  tag_add: { label: t("Gets a tag"), matchField: "tagId" },
  unsubscribe: { label: t("Unsubscribes"), matchField: "campaignId" },
  bounce: { label: t("Email to them bounces"), matchField: "campaignId" },
};

/** "Visits a page: /pricing" */
export function describeTrigger({ trigger, match }: Pick<ScoringRule, "trigger" | "match">) {
  const { label } = triggers[trigger];
  const text = match?.url ?? match?.eventName ?? match?.tagName;
  if (text) return `${label}: ${text}`;
  return match && Object.keys(match).length > 0 ? t("{label}, of those chosen", { label }) : label;
}
