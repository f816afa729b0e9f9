// What starts a sequence: the types of triggers and their details.
import * as z from "zod";
import { invalid } from "../../errors.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { StoredNumber } from "../../kernel/stored-json.ts";
import { maxFieldName, parseField } from "../audience/segments/segment-fields.ts";
import { EventFilterInput } from "../audience/segments/segment-rules.ts";
import { isDateField, isWatchableField } from "./contact-field-values.ts";

export const triggerTypes = [
  "manual",
  "tag_add",
  "list_join",
  "form_submit",
  "webhook",
  "custom_event",
  "score_reached",
  "email_opened",
  "email_clicked",
  "contact_created",
  "field_changed",
  "unsubscribed",
  "segment_enter",
  "segment_leave",
  "date",
] as const;
export type SequenceTriggerType = (typeof triggerTypes)[number];

const Id = z.int().positive();
const maxReentryDays = 3650;
const Reentry = z
  .union([
    z.enum(["always", "once"]),
    z.strictObject({
      afterDays: z
        .int()
        .min(1)
        .max(maxReentryDays)
        .describe("Days since the contact last entered the sequence."),
    }),
  ])
  .describe(
    "Whether the trigger starts the sequence again for a contact that was in it before. " +
      '`always`: yes. `once`: no. `{"afterDays": 30}`: once it entered the sequence at least ' +
      "30 days ago. Enrollments by requests count, too. Defaults to `always`. A contact that is " +
      "in the sequence never enters it a second time.",
  );
export type Reentry = z.output<typeof Reentry>;

const maxOffsetDays = 3650;
const maxYearlyOffset = 365;
const FieldValue = z.union([z.string().max(2000), StoredNumber, z.boolean(), z.null()]);

export const SequenceTriggerConfig = z
  .strictObject({
    tagId: Id.describe("For `tag_add`: id of the tag."),
    tagName: singleLineText(100)
      .trim()
      .min(1)
      .describe("For `tag_add`: name of the tag. A tag that does not exist yet is created."),
    listId: Id.describe("For `list_join`: id of the list."),
    formId: Id.describe("For `form_submit`: id of the form."),
    eventName: singleLineText(100).trim().min(1).describe("For `custom_event`: name of the event."),
    score: z
      .int()
      .min(-1_000_000)
      .max(1_000_000)
      .describe(
        "For `score_reached`: the score to reach. Triggers when the score rises from below " +
          "this value to this value or above.",
      ),
    campaignId: Id.describe(
      "For `email_opened` and `email_clicked`: only emails of this campaign.",
    ),
    sequenceId: Id.describe(
      "For `email_opened` and `email_clicked`: only emails of this sequence.",
    ),
    stepId: Id.describe("With `sequenceId`: only the email of this step."),
    url: z
      .url({ protocol: /^https?$/, error: "must be an http(s) URL" })
      .max(2000)
      .describe(
        "For `email_clicked`: only clicks on this link. Tracking parameters such as `utm_source` " +
          "are ignored.",
      ),
    field: z
      .string()
      .max(maxFieldName)
      .refine((name) => parseField(name) !== undefined, "must be the name of a field")
      .describe(
        "For `field_changed`: a text field of the contact such as `company`, `status`, or " +
          "`customFields.<key>`. For `date`: `customFields.<key>` with a date or a time, or a " +
          "time such as `createdAt`.",
      ),
    from: FieldValue.describe(
      "For `field_changed`: only changes from this value, ignoring case. `null`: the field was " +
        "empty.",
    ),
    to: FieldValue.describe(
      "For `field_changed`: only changes to this value, ignoring case. `null`: the field is " +
        "empty now.",
    ),
    segmentId: Id.describe("For `segment_enter` and `segment_leave`: the segment."),
    offsetDays: z
      .int()
      .min(-maxOffsetDays)
      .max(maxOffsetDays)
      .describe("For `date`: days after the date. Negative: before. With `yearly` at most 365."),
    hour: z
      .int()
      .min(0)
      .max(23)
      .describe("For `date`: hour of the contact's day at which it starts. Defaults to 9."),
    yearly: z
      .boolean()
      .describe(
        "For `date`: every year, as for a birthday. 29 February is the 28th in other years.",
      ),
    filter: EventFilterInput.describe(
      "For every trigger: rules that the contact must match, as the change leaves it. Contacts " +
        "that do not match are not started. Requests and `webhookUrl` enroll them all the same.",
    ),
    reentry: Reentry,
  })
  .partial()
  .meta({ id: "SequenceTriggerConfig" });
export type SequenceTriggerConfig = z.output<typeof SequenceTriggerConfig>;

/** These sequences take contacts of any status, and send no email. */
export const takesUnsubscribed = (triggerType: SequenceTriggerType): boolean =>
  triggerType === "unsubscribed";

interface Trigger {
  triggerType: SequenceTriggerType;
  triggerConfig: SequenceTriggerConfig | null;
}
type ConfigField = keyof SequenceTriggerConfig;

/** One of these fields is required before the sequence can be active. */
const requiredFields: Partial<Record<SequenceTriggerType, ConfigField[]>> = {
  tag_add: ["tagId", "tagName"],
  list_join: ["listId"],
  form_submit: ["formId"],
  custom_event: ["eventName"],
  score_reached: ["score"],
  field_changed: ["field"],
  segment_enter: ["segmentId"],
  segment_leave: ["segmentId"],
  date: ["field"],
};
const optionalFields: Partial<Record<SequenceTriggerType, ConfigField[]>> = {
  email_opened: ["campaignId", "sequenceId", "stepId"],
  email_clicked: ["campaignId", "sequenceId", "stepId", "url"],
  field_changed: ["from", "to"],
  date: ["offsetDays", "hour", "yearly"],
};
const commonFields: ConfigField[] = ["filter", "reentry"];

/**
 * 400 when the config does not fit the trigger. `mustBeComplete`: the required field must be set.
 */
export function checkTriggerConfig(
  { triggerType, triggerConfig }: Trigger,
  mustBeComplete: boolean,
): void {
  const required = requiredFields[triggerType] ?? [];
  const allowed = [...required, ...(optionalFields[triggerType] ?? []), ...commonFields];
  const unexpected = Object.keys(triggerConfig ?? {}).find(
    (field) => !allowed.includes(field as ConfigField),
  );
  if (unexpected)
    throw invalidTrigger(
      `triggerConfig.${unexpected}`,
      `${triggerType} allows ${allowed.join(" or ")}`,
    );
  checkField({ triggerType, triggerConfig });
  if (triggerConfig?.stepId !== undefined && triggerConfig.sequenceId === undefined)
    throw invalidTrigger("triggerConfig.sequenceId", "is required with stepId");
  if (
    mustBeComplete &&
    required.length &&
    !required.some((field) => triggerConfig?.[field] !== undefined)
  )
    throw invalidTrigger(
      `triggerConfig.${required[0]}`,
      `${triggerType} requires ${required.join(" or ")}`,
    );
}

function checkField({ triggerType, triggerConfig }: Trigger): void {
  const { field, offsetDays = 0, yearly } = triggerConfig ?? {};
  if (field !== undefined && triggerType === "field_changed" && !isWatchableField(field))
    throw invalidTrigger(
      "triggerConfig.field",
      "must be the name of a text field, status or customFields.<key>",
    );
  if (field !== undefined && triggerType === "date" && !isDateField(field))
    throw invalidTrigger("triggerConfig.field", "must be customFields.<key> or the name of a time");
  if (yearly && Math.abs(offsetDays) > maxYearlyOffset)
    throw invalidTrigger("triggerConfig.offsetDays", "must be at most 365 with yearly");
}

const invalidTrigger = (path: string, message: string) =>
  invalid(`${path}: ${message}`, { details: [{ path, message }] });
