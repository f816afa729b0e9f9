// A playbook as source data: a ready-made sequence with its mail. `[[company]]` and `[[url]]` are
// replaced when a sequence is created from it; everything in braces is Liquid and is rendered when
// a mail is sent.
import type { SegmentRules } from "../../audience/segments/segment-rules.ts";
import type { SequenceGoal } from "../sequence-goals.ts";
import type { WaitConfig } from "../step-configs.ts";
import type { SequenceTriggerConfig, SequenceTriggerType } from "../trigger-schema.ts";

/** A paragraph, heading, list or button. */
export type PlaybookBlock =
  | string
  | { heading: string }
  | { list: string[] }
  | { button: string; href: string };

export interface PlaybookMail {
  /** Name of the template. */
  name: string;
  subject: string;
  /** Preview text that mail clients show next to the subject. */
  preview: string;
  blocks: PlaybookBlock[];
}

export type PlaybookSourceStep =
  | { mail: PlaybookMail; nextStepOrder?: number | null }
  | { waitDays: number }
  | { waitUntil: WaitConfig; nextStepOrder?: number | null; timeoutStepOrder?: number | null }
  | { waitHours: number }
  | {
      when: SegmentRules;
      trueBranchStepOrder?: number | null;
      falseBranchStepOrder?: number | null;
    };

export interface PlaybookSource {
  id: number;
  key: string;
  name: string;
  description: string;
  triggerType: SequenceTriggerType;
  triggerConfig: SequenceTriggerConfig | null;
  /** Liquid variables other than contact fields. */
  variables: { name: string; purpose: string }[];
  /** Step orders start at 1. */
  steps: PlaybookSourceStep[];
  /** A contact who meets one of them leaves the sequence. */
  goals?: SequenceGoal[];
}

/** Orders, with their value. */
export const orderGoal: SequenceGoal = { eventName: "order_placed", valueProperty: "total" };

export const greeting = "Hi {{ firstName | default: 'there' }},";
export const signature = "Warmly,\nThe team at [[company]]";

type Operator = "exists" | "notExists" | "inLastDays" | "notInLastDays" | "equals" | "notEquals";
export const ruleOn = (
  field: string,
  operator: Operator,
  value?: string | number,
): SegmentRules => ({
  match: "all",
  conditions: [{ field, operator, ...(value !== undefined && { value }) }],
});
