// Requests for a walk through a sequence, and what it answers.
import * as z from "zod";
import { now } from "../../clock.ts";
import { exactlyOneOf } from "../../kernel/either-or.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { MadeUpContact } from "../audience/contacts/made-up-contacts.ts";
import { EventName, EventProperties } from "../audience/tracking/custom-events.ts";
import { endReasons } from "./enrollment-schema.ts";
import { ActionConfig } from "./step-actions/action-config.ts";
import { maxBranches, maxDelayMinutes } from "./step-configs.ts";
import { maxSteps, stepTypes } from "./step-schema.ts";

const Id = z.int().positive();
const maxYears = 5;
const yearMs = 366 * 24 * 3600 * 1000;

const WalkEvent = z
  .strictObject({
    name: EventName.optional().describe("Name of the event. Defaults to that of the trigger."),
    properties: EventProperties.default({}).describe("Properties of the event."),
  })
  .describe("For sequences that a custom event starts: the event.")
  .meta({ id: "WalkEvent" });

const WalkOutcome = z
  .strictObject({
    stepId: Id.describe("The step."),
    event: z
      .strictObject({
        properties: EventProperties.default({}).describe("Properties of the event."),
        afterMinutes: z
          .int()
          .min(0)
          .max(maxDelayMinutes)
          .default(0)
          .describe("Minutes after the contact reaches the step. Defaults to 0."),
      })
      .optional()
      .describe("For a `wait_until` for an event: the event comes. Otherwise it does not come."),
    way: z
      .int()
      .min(0)
      .max(maxBranches - 1)
      .optional()
      .describe("For `split`: the way that is drawn, from 0. Otherwise it is drawn by weight."),
    opened: z.boolean().optional().describe("For `email`: the contact opens it at once."),
    clicked: z.boolean().optional().describe("For `email`: the contact clicks a link at once."),
  })
  .meta({ id: "WalkOutcome" });
export type WalkOutcome = z.output<typeof WalkOutcome>;

export const WalkRequest = exactlyOneOf(
  z.object({
    contactId: Id.optional().describe(
      "Contact of the sequence's site. Give either this or `contact`.",
    ),
    contact: MadeUpContact.optional().describe(
      "A made-up person, who is not stored. Give either this or `contactId`.",
    ),
    startsAt: z.iso
      .datetime({ offset: true, error: "must be a time with a zone, such as 2026-12-01T09:00:00Z" })
      .refine(
        (time) => Math.abs(Date.parse(time) - now().getTime()) <= maxYears * yearMs,
        `must be within ${maxYears} years`,
      )
      .optional()
      .describe("When the contact enters the sequence. Defaults to now."),
    event: WalkEvent.optional(),
    outcomes: z
      .array(WalkOutcome)
      .max(maxSteps)
      .default([])
      .describe("What happens at steps that wait for the contact or draw a way. One per step."),
  }),
  ["contactId", "contact"],
).meta({ id: "WalkRequest", examples: [{ contactId: 1 }] });
export type WalkRequest = z.output<typeof WalkRequest>;

export const walkResults = [
  "sent",
  "snoozed",
  "capped",
  "not_in_topic",
  "met",
  "not_met",
  "drawn",
  "acted",
  "waited",
  "passed",
  "no_date",
  "event",
  "timeout",
  "ended",
  "left",
] as const;
export type WalkResult = (typeof walkResults)[number];

const WalkedMail = z.object({
  templateId: RecordId.nullable().describe("Template of the email, or `null`."),
  subject: z.string().nullable().describe("Rendered subject. `null` if it cannot be rendered."),
  previewText: z.string().nullable().describe("Rendered preview text of the step, or `null`."),
  problem: z.string().nullable().describe("Why the email could not be sent, or `null`."),
});
export type WalkedMail = z.output<typeof WalkedMail>;

export const WalkedStep = z
  .object({
    stepId: RecordId.describe("Id of the step."),
    stepOrder: Count.describe("Order of the step."),
    type: z.enum(stepTypes).describe("Type of the step."),
    at: Timestamp.describe("When the contact reaches the step."),
    leftAt: Timestamp.describe("When the contact leaves the step."),
    result: z
      .enum(walkResults)
      .describe(
        "`sent`: the email would be sent. `snoozed`, `capped` and `not_in_topic`: it would not, " +
          "by a pause of the contact, the frequency cap or the topic. `met` and `not_met`: the " +
          "condition. `drawn`: the split drew `way`. `acted`: the action would be done. " +
          "`waited`: the wait ended at its time. " +
          "`passed`: the date was in the past. `no_date`: the contact has no such date. `event`: " +
          "the event came. `timeout`: it did not come. `ended`: the sequence ends at the step. " +
          "`left`: the contact left the sequence at the step, see `end`.",
      ),
    way: Count.nullable().describe("For `split`: the way that was drawn, from 0, or `null`."),
    until: Timestamp.nullable().describe(
      "When the wait ends: of a delay, a date, a weekday, the timeout of an event, or of an " +
        "email until the send window opens. `null` without a wait.",
    ),
    timezone: z
      .string()
      .nullable()
      .describe("Time zone in which the days and hours of the wait count, or `null`."),
    action: ActionConfig.nullable().describe("For `action`: what it would do. `null` otherwise."),
    actionProblem: z
      .string()
      .nullable()
      .describe("Why the action could not be done, or `null`. The contact goes on all the same."),
    mail: WalkedMail.nullable().describe("For `email`: the email. `null` otherwise."),
  })
  .meta({ id: "WalkedStep" });
export type WalkedStep = z.output<typeof WalkedStep>;

export const Walk = z
  .object({
    startsAt: Timestamp.describe("When the contact enters the sequence."),
    matchesFilter: z
      .boolean()
      .nullable()
      .describe(
        "Whether the contact matches the `filter` of the trigger, without which the trigger does " +
          "not start the sequence. The walk goes on all the same. `null`: no filter.",
      ),
    steps: z.array(WalkedStep).describe("The steps that the contact goes through, in order."),
    end: z
      .object({
        at: Timestamp.describe("When the contact leaves the sequence."),
        status: z.enum(["completed", "cancelled"]).describe("Status of the enrollment at its end."),
        reason: z
          .enum([...endReasons, "unsubscribed", "pending", "suppressed"])
          .nullable()
          .describe(
            "`exit_step`, `goal` or `exit`, as `endReason` of an enrollment; or the status of " +
              "the contact that keeps it out. `null`: after the last step.",
          ),
        value: z.number().nullable().describe("With `goal`: value of the conversion, or `null`."),
      })
      .describe("How the walk ends."),
  })
  .meta({ id: "Walk" });
export type Walk = z.output<typeof Walk>;
