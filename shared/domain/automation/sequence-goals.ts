// Goals and exits of a sequence: who meets one leaves the sequence at once. Goals are conversions,
// whose value can come from a property of the event.
import * as z from "zod";
import type { SiteRef } from "../../caller.ts";
import { isStorableNumber } from "../../kernel/stored-json.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { withGroupIds } from "../audience/segments/group-ids.ts";
import { readField } from "../audience/segments/rule-tests.ts";
import { parseField, withEventProperties } from "../audience/segments/segment-fields.ts";
import {
  EventFilterInput,
  SegmentRules,
  SegmentRulesInput,
} from "../audience/segments/segment-rules.ts";
import type { ActivityItem } from "../audience/tracking/activities.ts";
import { EventName } from "../audience/tracking/custom-events.ts";

const maxGoals = 10;
const eventName = EventName.optional().describe(
  "Name of a custom event that arrives while the contact is in the sequence; `email_replied` is " +
    "a reply of the contact by email. Give either this or `rules`.",
);
const filterText = "With `eventName`: rules that the event must match.";
const rulesText =
  "Segment rules, tested whenever the contact changes or moves on. Rules that depend on time are " +
  "tested when it moves on. Give either this or `eventName`.";
const valueProperty = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe(
    "With `eventName`: property of the event with the value of the conversion, such as `total`. " +
      "Dots lead into objects.",
  );

export const SequenceExit = z
  .object({
    eventName,
    filter: SegmentRules.optional().describe(filterText),
    rules: SegmentRules.optional().describe(rulesText),
  })
  .meta({ id: "SequenceExit" });
export type SequenceExit = z.output<typeof SequenceExit>;
export const SequenceGoal = SequenceExit.extend({ valueProperty }).meta({ id: "SequenceGoal" });
export type SequenceGoal = z.output<typeof SequenceGoal>;

const inputFields = {
  eventName,
  filter: EventFilterInput.optional().describe(`${filterText} They can name \`properties.<key>\`.`),
  rules: SegmentRulesInput.optional().describe(rulesText),
};

function checkKind(goal: SequenceGoal, context: z.RefinementCtx): void {
  const addIssue = (path: keyof SequenceGoal, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  if ((goal.eventName === undefined) === (goal.rules === undefined))
    addIssue("eventName", "exactly one of eventName and rules is required");
  for (const name of ["filter", "valueProperty"] as const)
    if (goal.rules !== undefined && goal[name] !== undefined)
      addIssue(name, "is not used with rules");
}

const goalsText =
  "Who meets one of them leaves the sequence at once as `completed`, also while waiting, and " +
  "counts as a conversion. Up to 10.";
const exitsText = "Who meets one of them leaves the sequence at once as `completed`. Up to 10.";

export const goalFields = {
  goals: z.array(SequenceGoal).describe(goalsText),
  exits: z.array(SequenceExit).describe(exitsText),
};
const NewGoal = z
  .strictObject({ ...inputFields, valueProperty })
  .superRefine(checkKind)
  .meta({ id: "NewSequenceGoal" });
const NewExit = z.strictObject(inputFields).superRefine(checkKind).meta({ id: "NewSequenceExit" });
export const goalInputFields = {
  goals: z.array(NewGoal).max(maxGoals).describe(goalsText),
  exits: z.array(NewExit).max(maxGoals).describe(exitsText),
};

/** Goals and exits with ids in place of the names of lists and tags. */
export const withGoalReferences = <T extends SequenceExit>(
  site: SiteRef,
  goals: T[],
  path: "goals" | "exits",
): Promise<T[]> =>
  Promise.all(
    goals.map(async (goal, i) => {
      const { filter, rules } = goal;
      const at = `${path}.${i}`;
      return {
        ...goal,
        ...(filter && { filter: await withGroupIds(site, filter, `${at}.filter`) }),
        ...(rules && { rules: await withGroupIds(site, rules, `${at}.rules`) }),
      };
    }),
  );

const maxValue = 1_000_000_000_000;

/** 0 without a number. */
export function conversionValueOf(
  { valueProperty: path }: SequenceGoal,
  contact: ContactItem,
  event: ActivityItem | undefined,
): number {
  const field = path === undefined ? undefined : parseField(`properties.${path}`);
  const given = field && readField(field, withEventProperties(contact, event?.properties));
  const value = typeof given === "string" && given.trim() ? Number(given) : given;
  return isStorableNumber(value) && Math.abs(value) <= maxValue ? value : 0;
}
