// A step of a sequence, such as an email, a delay or a condition.
import * as z from "zod";
import { exactlyOneOf } from "../../kernel/either-or.ts";
import { Count, CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import { SegmentRules, StepRulesInput } from "../audience/segments/segment-rules.ts";
import { PreviewText } from "../sending/rendering/utm.ts";
import { SendWindow } from "./send-window.ts";
import { ActionConfig, ActionConfigInput } from "./step-actions/action-config.ts";
import {
  maxDelayMinutes,
  Order,
  SplitConfig,
  WaitConfig,
  WaitConfigInput,
} from "./step-configs.ts";

export const stepTypes = [
  "email",
  "delay",
  "condition",
  "split",
  "exit",
  "wait_until",
  "action",
] as const;
export type StepType = (typeof stepTypes)[number];

const previewText = PreviewText.nullable().describe(
  "For `email`: text that mail programs show behind the subject, with Liquid. `null`: none.",
);
const Id = z.int().positive();
const typeText =
  "`email` sends an email, `delay` waits, `condition` branches by rules, `split` branches by " +
  "chance, `exit` ends the sequence for the contact, `wait_until` waits for an event, a date, or " +
  "a weekday and hour, `action` changes the contact.";
const actionText =
  "For `action`: what it does, exactly once for each enrollment. An action that is not possible, " +
  "such as with a list that was deleted, is skipped: see `actionProblems` of the enrollment.";
const waitText =
  "For `wait_until`: what to wait for. Events that arrive before the contact reaches the step do " +
  "not count.";
const splitText =
  "For `split`: the ways and their weights. The way of a contact is drawn once and stays.";
const delayText =
  "For `delay`: minutes to wait. A multiple of 1,440 is in calendar days: the wait ends at the " +
  "same time of day in the time zone of the contact, the send window or the organization, also " +
  "when the clocks change.";

const branchField = (what: string) =>
  Order.nullable()
    .optional()
    .describe(
      `${what} Must be greater than the step's own \`stepOrder\`. If omitted: the next step ` +
        "in order. `null`: the sequence ends here.",
    );

const branchFields = {
  nextStepOrder: branchField(
    "For `email`, `delay`, `wait_until` and `action`: `stepOrder` of the following step.",
  ),
  timeoutStepOrder: Order.nullable()
    .optional()
    .describe(
      "For `wait_until`: `stepOrder` of the following step if the event does not come in time, " +
        "or if the contact has no such date. Must be greater than the step's own `stepOrder`. If " +
        "omitted: as after the event or date. `null`: the sequence ends here.",
    ),
  trueBranchStepOrder: branchField(
    "For `condition`: `stepOrder` of the following step if the condition holds.",
  ),
  falseBranchStepOrder: branchField(
    "For `condition`: `stepOrder` of the following step if the condition does not hold.",
  ),
};

export const SequenceStep = z
  .object({
    id: RecordId.describe("Id of the step, for PUT /sequences/:id/steps/:stepId."),
    stepOrder: Count.describe("Position of the step in its sequence, from 1. Gaps are allowed."),
    type: z.enum(stepTypes).describe(typeText),
    templateId: RecordId.nullable().describe("For `email`: the template. `null` otherwise."),
    previewText,
    delayMinutes: Count.nullable().describe(`${delayText} \`null\` otherwise.`),
    conditionConfig: SegmentRules.nullable().describe(
      "For `condition`: the segment rules. `null` otherwise.",
    ),
    splitConfig: SplitConfig.nullable().describe(`${splitText} \`null\` otherwise.`),
    waitConfig: WaitConfig.nullable().describe(`${waitText} \`null\` otherwise.`),
    actionConfig: ActionConfig.nullable().describe(`${actionText} \`null\` otherwise.`),
    ...branchFields,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "SequenceStep" });
export type SequenceStep = z.output<typeof SequenceStep>;

const inputFields = {
  templateId: Id.nullable().describe(
    "For `email`: the template. Required before the sequence can be active.",
  ),
  previewText,
  delayMinutes: z
    .int()
    .min(0)
    .max(maxDelayMinutes)
    .nullable()
    .describe(`${delayText} At most two years (1,051,200).`),
  conditionConfig: StepRulesInput.nullable().describe(
    "For `condition`: segment rules, tested when the contact reaches the step. Also takes " +
      "`step.<order>.opened` and `step.<order>.clicked`: whether the contact opened or clicked " +
      "the email of that step; and `properties.<key>`: a property of the event that the latest " +
      "`wait_until` ended with, else of the one that started the sequence.",
  ),
  splitConfig: SplitConfig.nullable().describe(splitText),
  waitConfig: WaitConfigInput.nullable().describe(waitText),
  actionConfig: ActionConfigInput.nullable().describe(actionText),
  ...branchFields,
};

export const NewSequenceStep = z.object({
  type: z.enum(stepTypes).describe(typeText),
  stepOrder: Order.optional().describe("Position of the step. Defaults to after the last step."),
  templateId: inputFields.templateId.optional(),
  previewText: previewText.optional(),
  delayMinutes: inputFields.delayMinutes.optional(),
  conditionConfig: inputFields.conditionConfig.optional(),
  splitConfig: inputFields.splitConfig.optional(),
  waitConfig: inputFields.waitConfig.optional(),
  actionConfig: inputFields.actionConfig.optional(),
  ...branchFields,
});
export type NewSequenceStep = z.output<typeof NewSequenceStep>;

export const StepsVersion = Count.describe(
  "Version of the steps: every change of a step raises it. 0 before the first step.",
);

export const SequenceSteps = z
  .object({
    stepsVersion: StepsVersion,
    steps: z.array(SequenceStep).describe("Steps of the sequence, by `stepOrder`."),
  })
  .meta({ id: "SequenceSteps" });
export type SequenceSteps = z.output<typeof SequenceSteps>;

/** A step of PUT /sequences/:id/steps. */
const GraphStep = NewSequenceStep.extend({
  id: Id.optional().describe(
    "Id of a step that the sequence has. Its enrollments stay at it. Without an id, the step is " +
      "new.",
  ),
  stepOrder: Order.optional().describe(
    "Position of the step. Defaults to after the step before it in the list.",
  ),
}).meta({ id: "ReplacingStep" });
export type GraphStep = z.output<typeof GraphStep>;

export const maxSteps = 500;

export const ReplaceStepsRequest = z
  .object({
    stepsVersion: z
      .int()
      .min(0)
      .describe(
        "Version of the steps that were edited, from GET /sequences/:id/steps. If somebody has " +
          "changed them since, the request fails with 409.",
      ),
    steps: z
      .array(GraphStep)
      .max(maxSteps)
      .describe("All steps of the sequence, up to 500. A step that is not in the list is deleted."),
    sendWindow: SendWindow.nullable()
      .optional()
      .describe("Replaces the `sendWindow` of the sequence. If omitted, it stays."),
  })
  .meta({
    examples: [
      {
        stepsVersion: 0,
        steps: [
          { stepOrder: 1, type: "email", templateId: 1 },
          { stepOrder: 2, type: "delay", delayMinutes: 2880 },
        ],
      },
    ],
  });
export type ReplaceStepsRequest = z.output<typeof ReplaceStepsRequest>;

const maxStepsPerRequest = 200;
export const AddStepsRequest = exactlyOneOf(
  z.object({
    steps: z
      .array(NewSequenceStep)
      .min(1)
      .max(maxStepsPerRequest)
      .optional()
      .describe("1 to 200 steps. Or give the fields of one step directly in the body."),
    insert: z
      .boolean()
      .optional()
      .describe(
        "What happens if a `stepOrder` is taken. `true`: the steps from there on move up. " +
          "`false`: the request fails.",
      ),
    ...NewSequenceStep.partial().shape,
  }),
  ["steps", "type"],
  NewSequenceStep.omit({ type: true }).keyof().options,
).meta({
  examples: [
    {
      steps: [
        { stepOrder: 1, type: "email", templateId: 1 },
        { stepOrder: 2, type: "delay", delayMinutes: 4320 },
        {
          stepOrder: 3,
          type: "condition",
          conditionConfig: {
            match: "all",
            conditions: [{ field: "step.1.opened", operator: "exists" }],
          },
          trueBranchStepOrder: null,
          falseBranchStepOrder: 4,
        },
        { stepOrder: 4, type: "email", templateId: 2 },
      ],
    },
  ],
});
export type AddStepsRequest = z.output<typeof AddStepsRequest>;

export const SequenceStepChanges = z
  .object({
    type: z.enum(stepTypes).describe(typeText),
    ...inputFields,
  })
  .partial()
  .meta({ examples: [{ delayMinutes: 1440 }] });
export type SequenceStepChanges = z.output<typeof SequenceStepChanges>;
