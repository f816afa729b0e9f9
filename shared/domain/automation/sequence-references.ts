// The records that a sequence and its steps use, and the rules of its steps.
import { type Reference, reference } from "../../kernel/records.ts";
import { ruleReferences } from "../audience/segments/group-ids.ts";
import type { SegmentRules } from "../audience/segments/segment-rules.ts";
import type { SequenceExit } from "./sequence-goals.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { ActionConfig } from "./step-actions/action-config.ts";
import type { StepGraph } from "./step-graph.ts";
import type { SequenceStep } from "./step-schema.ts";

export const sequenceReferences = (
  { triggerConfig, sendingConfigId, topicId, goals = [], exits = [] }: SequenceItem,
  { steps }: StepGraph,
): Reference[] => [
  ...reference("triggerConfig.tagId", "TAG", triggerConfig?.tagId),
  ...reference("triggerConfig.listId", "LIST", triggerConfig?.listId),
  ...reference("triggerConfig.formId", "FORM", triggerConfig?.formId),
  ...reference("triggerConfig.campaignId", "CAMPAIGN", triggerConfig?.campaignId),
  ...reference("triggerConfig.segmentId", "SEGMENT", triggerConfig?.segmentId),
  ...reference("triggerConfig.sequenceId", "SEQUENCE", triggerConfig?.sequenceId),
  ...(triggerConfig?.filter ? ruleReferences(triggerConfig.filter, "triggerConfig.filter") : []),
  ...reference("sendingConfigId", "CONFIG", sendingConfigId),
  ...reference("topicId", "TOPIC", topicId),
  ...goalRulesOf({ goals, exits }).flatMap(({ path, rules }) => ruleReferences(rules, path)),
  ...steps.flatMap((step, i) => [
    ...reference(`steps.${i}.templateId`, "TEMPLATE", step.templateId),
    ...actionReferences(step.actionConfig, `steps.${i}.actionConfig`),
    ...rulesOf(step).flatMap(({ path, rules }) => ruleReferences(rules, `steps.${i}.${path}`)),
  ]),
];

const actionReferences = (config: ActionConfig | null, path: string): Reference[] => [
  ...reference(`${path}.tagId`, "TAG", config?.tagId),
  ...reference(`${path}.listId`, "LIST", config?.listId),
  ...reference(`${path}.topicId`, "TOPIC", config?.topicId),
  ...reference(`${path}.sequenceId`, "SEQUENCE", config?.sequenceId),
];

interface StepRules {
  /** Path of the rules in the step or the sequence. */
  path: string;
  rules: SegmentRules;
}

/** The rules of goals and exits. */
export const goalRulesOf = ({
  goals = [],
  exits = [],
}: Pick<SequenceItem, "goals" | "exits">): StepRules[] => [
  ...goals.flatMap((goal, i) => exitRules(goal, `goals.${i}`)),
  ...exits.flatMap((exit, i) => exitRules(exit, `exits.${i}`)),
];

const exitRules = ({ filter, rules }: SequenceExit, path: string): StepRules[] => [
  ...(filter ? [{ path: `${path}.filter`, rules: filter }] : []),
  ...(rules ? [{ path: `${path}.rules`, rules }] : []),
];

export const rulesOf = ({
  conditionConfig,
  waitConfig,
}: Partial<Pick<SequenceStep, "conditionConfig" | "waitConfig">>): StepRules[] => [
  ...(conditionConfig ? [{ path: "conditionConfig", rules: conditionConfig }] : []),
  ...(waitConfig?.filter ? [{ path: "waitConfig.filter", rules: waitConfig.filter }] : []),
];
