import type { ScoringRule } from "pennymail";

export type Trigger = ScoringRule["trigger"];
type Match = NonNullable<ScoringRule["match"]>;

interface TriggerWords {
  /** What the contact does. */
  label: string;
  /** The field that narrows it down to some events. */
  matchField: keyof Match;
}

export const triggers: Record<Trigger, TriggerWords> = {
  email_open: { label: "Opens an email", matchField: "campaignId" },
  email_click: { label: "Clicks a link in an email", matchField: "url" },
  page_view: { label: "Visits a page", matchField: "url" },
  form_submit: { label: "Submits a form", matchField: "formId" },
  custom_event: { label: "Does something that a program reports", matchField: "eventName" },
  tag_add: { label: "Gets a tag", matchField: "tagId" },
  unsubscribe: { label: "Unsubscribes", matchField: "campaignId" },
  bounce: { label: "Email to them bounces", matchField: "campaignId" },
};

/** "Visits a page: /pricing" */
export function describeTrigger({ trigger, match }: Pick<ScoringRule, "trigger" | "match">) {
  const { label } = triggers[trigger];
  const text = match?.url ?? match?.eventName ?? match?.tagName;
  if (text) return `${label}: ${text}`;
  return match && Object.keys(match).length > 0 ? `${label}, of those chosen` : label;
}
