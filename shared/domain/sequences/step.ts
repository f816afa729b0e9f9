// A step of a sequence: a mail, a wait, or a fork in the way.
import * as z from "zod";
import { GivenStepRules, Rules } from "../segments/grammar.ts";

export const stepTypes = ["email", "delay", "condition"] as const;
export type StepType = (typeof stepTypes)[number];

const Id = z.int().positive();
const maxOrder = 1_000_000;
const Order = z.int().min(1).max(maxOrder);
const maxDelayMinutes = 2 * 365 * 24 * 60;

const jump = (what: string) =>
  Order.nullable()
    .optional()
    .describe(`${what}; always a later one, so that nobody goes in circles. Absent: the next in order. null: the sequence ends here`);

const wayFields = {
  nextStepOrder: jump("email, delay: the order of the step that follows"),
  trueBranchStepOrder: jump("condition: the order of the step that follows when it holds"),
  falseBranchStepOrder: jump("condition: the order of the step that follows when it does not hold"),
};

export const Step = z
  .object({
    id: z.int(),
    stepOrder: z.int(),
    type: z.enum(stepTypes),
    templateId: z.int().nullable(),
    delayMinutes: z.int().nullable(),
    conditionConfig: Rules.nullable(),
    ...wayFields,
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "SequenceStep" });
export type Step = z.output<typeof Step>;

const given = {
  templateId: Id.nullable().describe("email: the template; needed before the sequence can be active"),
  delayMinutes: z.int().min(0).max(maxDelayMinutes).nullable().describe("delay: how long to wait; at most two years"),
  conditionConfig: GivenStepRules.nullable().describe(
    "condition: rules as of segments, asked of the contact at that moment; `step.<order>.opened` and `step.<order>.clicked` besides ask whether this contact opened or clicked the mail of that step",
  ),
  ...wayFields,
};

export const NewStep = z.object({
  type: z.enum(stepTypes),
  stepOrder: Order.optional().describe("Absent: after the last one"),
  templateId: given.templateId.optional(),
  delayMinutes: given.delayMinutes.optional(),
  conditionConfig: given.conditionConfig.optional(),
  ...wayFields,
});
export type NewStep = z.output<typeof NewStep>;

const mostAtOnce = 200;
export const NewSteps = z
  .object({
    steps: z.array(NewStep).min(1).max(mostAtOnce).optional().describe("Or the fields of one step, without an array"),
    insert: z.boolean().optional().describe("true: where an order is taken, the steps from there on move up to make room"),
    ...NewStep.partial().shape,
  })
  .refine(({ steps, type }) => (steps === undefined) !== (type === undefined), {
    message: "give steps, or the fields of one step",
    path: ["steps"],
  })
  .meta({
    examples: [
      {
        steps: [
          { stepOrder: 1, type: "email", templateId: 1 },
          { stepOrder: 2, type: "delay", delayMinutes: 4320 },
          {
            stepOrder: 3,
            type: "condition",
            conditionConfig: { match: "all", conditions: [{ field: "step.1.opened", operator: "exists" }] },
            trueBranchStepOrder: null,
            falseBranchStepOrder: 4,
          },
          { stepOrder: 4, type: "email", templateId: 2 },
        ],
      },
    ],
  });
export type NewSteps = z.output<typeof NewSteps>;

export const StepChanges = z
  .object({ type: z.enum(stepTypes), ...given })
  .partial()
  .meta({ examples: [{ delayMinutes: 1440 }] });
export type StepChanges = z.output<typeof StepChanges>;
