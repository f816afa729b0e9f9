// The configs of steps that are more than one value: how a split divides contacts, and what a step
// waits for.
import * as z from "zod";
import { EventFilterInput, SegmentRules } from "../audience/segments/segment-rules.ts";
import { EventName } from "../audience/tracking/custom-events.ts";
import { isDateField } from "./contact-field-values.ts";

const maxOrder = 1_000_000;
export const Order = z.int().min(1).max(maxOrder);

export const maxBranches = 5;
const maxWeight = 1000;

export const SplitConfig = z
  .strictObject({
    branches: z
      .array(
        z.strictObject({
          weight: z
            .int()
            .min(1)
            .max(maxWeight)
            .describe("Share of the contacts that go this way, relative to the other weights."),
          nextStepOrder: Order.nullable()
            .optional()
            .describe(
              "`stepOrder` of the first step of this way. Must be greater than the step's own " +
                "`stepOrder`. If omitted: the next step in order. `null`: the sequence ends here.",
            ),
        }),
      )
      .min(2)
      .max(maxBranches)
      .describe("2 to 5 ways."),
  })
  .meta({ id: "SplitConfig" });
export type SplitConfig = z.output<typeof SplitConfig>;

export const maxDelayMinutes = 2 * 365 * 24 * 60;
const maxOffsetDays = 3650;

const waitFields = {
  eventName: EventName.optional().describe(
    "Name of a custom event to wait for; `email_replied` is a reply of the contact by email. " +
      "Give exactly one of `eventName`, `field` and `weekdays`.",
  ),
  timeoutMinutes: z
    .int()
    .min(1)
    .max(maxDelayMinutes)
    .optional()
    .describe(
      "With `eventName`: minutes to wait at most. A multiple of 1,440 is in calendar days, as " +
        "for `delayMinutes`.",
    ),
  field: z
    .string()
    .max(200)
    .refine(isDateField, "must be a custom field such as customFields.renewal, or a time")
    .optional()
    .describe(
      "Field with a date or a time, such as `customFields.renewal` or `createdAt`. A contact " +
        "without one continues at once, at `timeoutStepOrder`.",
    ),
  offsetDays: z
    .int()
    .min(-maxOffsetDays)
    .max(maxOffsetDays)
    .optional()
    .describe("With `field`: days after it, or before it if negative. Defaults to 0."),
  weekdays: z
    .array(z.int().min(1).max(7))
    .min(1)
    .max(7)
    .optional()
    .describe("Days of the week to wait for: 1 is Monday, 7 is Sunday. Needs `hour`."),
  hour: z
    .int()
    .min(0)
    .max(23)
    .optional()
    .describe(
      "Hour of the day in the time zone of the contact, the send window or the organization. " +
        "With `field` it defaults to 0 for a date, and to the time of day of a time.",
    ),
};

export const WaitConfig = z
  .object({
    ...waitFields,
    filter: SegmentRules.optional().describe("With `eventName`: rules that the event must match."),
  })
  .meta({ id: "WaitConfig" });
export type WaitConfig = z.output<typeof WaitConfig>;

type WaitField = keyof WaitConfig;
const kindFields = ["eventName", "field", "weekdays"] as const;
const fieldsByKind: Record<(typeof kindFields)[number], WaitField[]> = {
  eventName: ["timeoutMinutes", "filter"],
  field: ["offsetDays", "hour"],
  weekdays: ["hour"],
};
const requiredByKind: Record<(typeof kindFields)[number], WaitField[]> = {
  eventName: ["timeoutMinutes"],
  field: [],
  weekdays: ["hour"],
};

export const WaitConfigInput = z
  .strictObject({
    ...waitFields,
    filter: EventFilterInput.optional().describe(
      "With `eventName`: rules that the event must match. They can name `properties.<key>`.",
    ),
  })
  .superRefine((config, context) => {
    const given = (name: WaitField) => config[name] !== undefined;
    const [kind, second] = kindFields.filter(given);
    const addIssue = (path: WaitField, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (kind === undefined || second !== undefined)
      return addIssue(
        second ?? "eventName",
        "exactly one of eventName, field and weekdays is required",
      );
    for (const name of requiredByKind[kind])
      if (!given(name)) addIssue(name, `is required with ${kind}`);
    const names = Object.keys(config) as WaitField[];
    for (const name of names)
      if (name !== kind && given(name) && !fieldsByKind[kind].includes(name))
        addIssue(name, `is not used with ${kind}`);
  })
  .meta({
    documentedAs: WaitConfig,
    examples: [{ eventName: "order_placed", timeoutMinutes: 4320 }],
  });
