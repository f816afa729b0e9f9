// What a playbook is: a whole sequence as data, with the mails written out. `[[company]]` and `[[url]]` stand for the site that makes
// one of it; everything in braces is Liquid and filled in when a mail goes out.
import type { Rules } from "../../segments/grammar.ts";
import type { TriggerConfig, TriggerType } from "../record.ts";

/** A paragraph, a heading, a list, or a link to press. */
export type Block = string | { heading: string } | { list: string[] } | { button: string; href: string };

export interface Mail {
  /** Of the template. */
  name: string;
  subject: string;
  /** What mail programs show beside the subject. */
  preview: string;
  blocks: Block[];
}

export type PlaybookStep =
  | { mail: Mail; nextStepOrder?: number | null }
  | { waitDays: number }
  | { waitHours: number }
  | { when: Rules; trueBranchStepOrder?: number | null; falseBranchStepOrder?: number | null };

export interface Playbook {
  id: number;
  key: string;
  name: string;
  description: string;
  triggerType: TriggerType;
  triggerConfig: TriggerConfig | null;
  /** Liquid variables beside the contact's own fields, and what they are for. */
  variables: { name: string; purpose: string }[];
  /** Numbered from 1. */
  steps: PlaybookStep[];
}

export const hello = "Hi {{ firstName | default: 'there' }},";
export const regards = "Warmly,\nThe team at [[company]]";

type Operator = "exists" | "notExists" | "inLastDays" | "notInLastDays" | "equals" | "notEquals";
export const asking = (field: string, operator: Operator, value?: string | number): Rules => ({
  match: "all",
  conditions: [{ field, operator, ...(value !== undefined && { value }) }],
});
