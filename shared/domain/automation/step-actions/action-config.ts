// What an action step of a sequence does with a contact.
import * as z from "zod";
import { config } from "../../../config.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { findUrlFault, maxUrlLength } from "../../../kernel/public-urls.ts";
import { StoredNumber } from "../../../kernel/stored-json.ts";
import { GroupName } from "../../audience/contacts/contact-schema.ts";
import {
  maxItemLength,
  maxListItems,
  maxTextLength,
} from "../../audience/contacts/parse-field-value.ts";
import { maxFieldName } from "../../audience/segments/segment-fields.ts";

export const stepActions = [
  "add_tag",
  "remove_tag",
  "add_to_list",
  "remove_from_list",
  "join_topic",
  "leave_topic",
  "set_field",
  "add_to_field",
  "clear_field",
  "adjust_score",
  "enroll",
  "leave_sequence",
  "unsubscribe",
  "notify",
  "call_url",
] as const;
export type StepActionName = (typeof stepActions)[number];

/** Fields of a contact, apart from custom ones, that actions can change. */
export const changeableFields = [
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "locale",
  "source",
] as const;
export type ChangeableField = (typeof changeableFields)[number];

const customPrefix = "customFields.";

/** Undefined for a standard field. */
export const customNameOf = (field: string): string | undefined =>
  field.startsWith(customPrefix) ? field.slice(customPrefix.length) : undefined;

export const maxNotifiedMembers = 20;
const maxSaved = 10;
const fieldRule = `must be ${changeableFields.join(", ")} or customFields.<key>`;
const isChangeable = (field: string): boolean =>
  (changeableFields as readonly string[]).includes(field) || Boolean(customNameOf(field));

const maxPoints = 1_000_000;
const Id = z.int().positive();

const fields = {
  action: z
    .enum(stepActions)
    .describe(
      "`add_tag` and `add_to_list` start the sequences that the tag or list triggers, and give " +
        "no points. Join a topic only with the consent of the contact. `set_field`, " +
        "`add_to_field` and `clear_field` change a field. `adjust_score` adds points. `enroll` " +
        "and `leave_sequence` start and end another sequence. After `unsubscribe`, the contact " +
        "leaves the sequence, unless its trigger is `unsubscribed`. `notify` emails members of " +
        "the organization, at most 1,000 emails a day. `call_url` sends a signed POST request, " +
        "with the retries of a webhook endpoint, and the contact goes on at once.",
    ),
  tagId: Id.optional().describe("For `add_tag` and `remove_tag`: the tag."),
  tagName: GroupName.optional().describe(
    "For `add_tag`, instead of `tagId`: name of the tag. A tag that does not exist yet is " +
      "created, and the step has its `tagId`.",
  ),
  listId: Id.optional().describe("For `add_to_list` and `remove_from_list`: the list."),
  topicId: Id.optional().describe("For `join_topic` and `leave_topic`: the topic."),
  sequenceId: Id.optional().describe("For `enroll` and `leave_sequence`: the other sequence."),
  field: z
    .string()
    .max(maxFieldName)
    .refine(isChangeable, fieldRule)
    .optional()
    .describe(
      "For `set_field` and `clear_field`: `customFields.<key>`, or one of " +
        `${changeableFields.map((name) => `\`${name}\``).join(", ")}. For \`add_to_field\`: ` +
        "`customFields.<key>`.",
    ),
  value: z
    .union([
      z.string().max(maxTextLength),
      StoredNumber,
      z.boolean(),
      z.array(z.string().max(maxItemLength)).max(maxListItems),
    ])
    .optional()
    .describe(
      "For `set_field`: the value, read by the declared type of the field. For `add_to_field`: " +
        "the number to add, or what to append to a list that does not have it.",
    ),
  delta: z
    .int()
    .min(-maxPoints)
    .max(maxPoints)
    .optional()
    .describe("For `adjust_score`: the points to add. A negative number subtracts."),
  memberIds: z
    .array(Id)
    .min(1)
    .max(maxNotifiedMembers)
    .optional()
    .describe("For `notify`: members who get the email. Defaults to the owners, up to 20."),
  subject: singleLineText(200)
    .min(1)
    .optional()
    .describe("For `notify`: subject of the email, with Liquid as in templates."),
  message: z
    .string()
    .min(1)
    .max(5000)
    .optional()
    .describe("For `notify`: text of the email, with Liquid as in templates."),
  url: z
    .string()
    .max(maxUrlLength)
    .superRefine((url, context) => {
      const problem = findUrlFault(url, config.allowLoopbackWebhooks);
      if (problem) context.addIssue({ code: "custom", message: problem });
    })
    .optional()
    .describe(
      "For `call_url`: URL of the request. Must be https on port 443 or 8443, at a public " +
        "address. The body is `{event, timestamp, enrollmentId, contact, sequence, step, " +
        "properties}`: `event` is `sequence.call`, and `properties` are those of the event that " +
        "mails would show, or `null`. The headers are those of webhooks, signed with " +
        "`callSecret` of the sequence. `webhook-id` is the same for every attempt.",
    ),
  saveResponse: z
    .array(
      z.strictObject({
        path: z
          .string()
          .min(1)
          .max(200)
          .describe("Place in the JSON of the response. Dots lead into objects and lists."),
        field: z
          .string()
          .max(maxFieldName)
          .refine(isChangeable, fieldRule)
          .describe("Field of the contact, as for `set_field`."),
      }),
    )
    .min(1)
    .max(maxSaved)
    .optional()
    .describe(
      "For `call_url`: values of the response that are stored in fields once, when it arrives. " +
        "At most 64 KB of the response are read.",
    ),
};

export const ActionConfig = z.object(fields).meta({ id: "ActionConfig" });
export type ActionConfig = z.output<typeof ActionConfig>;

type ActionField = Exclude<keyof ActionConfig, "action">;

/** The fields that each action needs. */
const fieldsByAction: Record<StepActionName, ActionField[]> = {
  add_tag: ["tagId"],
  remove_tag: ["tagId"],
  add_to_list: ["listId"],
  remove_from_list: ["listId"],
  join_topic: ["topicId"],
  leave_topic: ["topicId"],
  set_field: ["field", "value"],
  add_to_field: ["field", "value"],
  clear_field: ["field"],
  adjust_score: ["delta"],
  enroll: ["sequenceId"],
  leave_sequence: ["sequenceId"],
  unsubscribe: [],
  notify: ["message"],
  call_url: ["url"],
};
const optionalFields: Partial<Record<StepActionName, ActionField[]>> = {
  add_tag: ["tagName"],
  notify: ["memberIds", "subject"],
  call_url: ["saveResponse"],
};

export const ActionConfigInput = z
  .strictObject(fields)
  .superRefine(({ action, ...given }, context) => {
    const addIssue = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const names = (Object.keys(given) as ActionField[]).filter((name) => given[name] !== undefined);
    const needed = fieldsByAction[action];
    const isNamed = action === "add_tag" && given.tagName !== undefined;
    for (const name of needed)
      if (!names.includes(name) && !isNamed) addIssue(name, `is required with ${action}`);
    const allowed = [...needed, ...(optionalFields[action] ?? [])];
    for (const name of names)
      if (!allowed.includes(name)) addIssue(name, `is not used with ${action}`);
    if (isNamed && given.tagId !== undefined)
      addIssue("tagName", "cannot be given together with tagId");
    if (action === "add_to_field" && given.field && customNameOf(given.field) === undefined)
      addIssue("field", "must be customFields.<key> with add_to_field");
  })
  .meta({
    documentedAs: ActionConfig,
    examples: [{ action: "add_tag", tagName: "customer" }],
  });
