// The actions of the page behind an unsubscribe link, as JSON or as a form.
import * as z from "zod";
import { LeaveReason } from "../domain/audience/contacts/leave-reason.ts";
import { snoozeDays } from "../domain/audience/contacts/preference-choices.ts";
import type { PreferenceValues } from "../domain/audience/contacts/preference-fields.ts";
import { maxTopicsPerSite } from "../domain/audience/topics/topic-subscription.ts";
import { invalid, tooLarge } from "../errors.ts";
import { parseJson } from "../kernel/json.ts";
import { Id } from "../kernel/record-fields.ts";
import { storable } from "../kernel/stored-json.ts";
import type { ApiRequest } from "./route.ts";

const actionNames = [
  "unsubscribe",
  "unsubscribe_site",
  "unsubscribe_all",
  "choose_topics",
  "change_fields",
  "snooze",
  "end_snooze",
  "give_reason",
  "resubscribe",
] as const;
export type ActionName = (typeof actionNames)[number];

const actionField = z
  .enum(actionNames)
  .default("unsubscribe")
  .describe(
    "What to do. `unsubscribe`: leave the topic of the email, or the site if the email has none. " +
      "`unsubscribe_site`: no more email from the site. `unsubscribe_all`: no more email from " +
      "any site of the organization. `choose_topics`: join and leave topics. `change_fields`: " +
      "change fields of the contact. `snooze`: no marketing email for `days`. `end_snooze`: end " +
      "that pause. `give_reason`: say why it unsubscribed; the first answer to an email counts. " +
      "`resubscribe`: get email from the site again.",
  );
const daysField = z
  .literal(snoozeDays)
  .default(30)
  .describe("For `snooze`: number of days without marketing email: 30, 60 or 90.");
const maxComment = 500;
const commentField = z
  .string()
  .trim()
  .max(maxComment)
  .nullable()
  .default(null)
  .describe("For `give_reason`: words of the contact, at most 500 characters, or `null`.");
const maxFieldText = 2000;

export const PreferenceAction = z
  .object({
    action: actionField,
    topics: z
      .array(
        z.object({
          id: Id.describe("Id of a topic of the page."),
          subscribed: z.boolean().describe("true: joins the topic. false: leaves it."),
        }),
      )
      .max(maxTopicsPerSite)
      .default([])
      .describe("For `choose_topics`: topics to join or leave. The others stay as they are."),
    fields: z
      .record(
        z.string().max(200),
        z.union([
          z.string().max(maxFieldText),
          z.number().min(-1e15).max(1e15),
          z.boolean(),
          z.array(z.string().max(200)).max(100),
          z.null(),
        ]),
      )
      .check(storable(20_000))
      .default({})
      .describe(
        "For `change_fields`: new values by the `key` of a field of the page, read by its type. " +
          "An empty text or `null` clears a field. Fields that are not named stay.",
      ),
    days: daysField,
    reason: LeaveReason.optional(),
    comment: commentField,
  })
  .refine(({ action, reason }) => action !== "give_reason" || reason !== undefined, {
    path: ["reason"],
    message: "is required for give_reason",
  })
  .meta({
    id: "UnsubscribeAction",
    examples: [{ action: "unsubscribe" }],
  });
export type PreferenceAction = z.output<typeof PreferenceAction>;

const topicIds = z
  .string()
  .max(20)
  .regex(/^\d+$/)
  .meta({ examples: ["1"] });
export const PreferenceForm = z
  .object({
    action: actionField
      .unwrap()
      .optional()
      .describe("As in JSON. Without it, nothing changes, because a mail scanner sent the form."),
    "List-Unsubscribe": z
      .literal("One-Click")
      .optional()
      .describe("As mail clients send it: the same as the action `unsubscribe`."),
    shown: topicIds
      .optional()
      .describe("For `choose_topics`: id of a topic that the page shows. Repeated for each."),
    topic: topicIds
      .optional()
      .describe("Id of a shown topic to join. Repeated for each. The other shown ones are left."),
    days: z.enum(snoozeDays.map(String)).optional().describe("As in JSON."),
    reason: LeaveReason.optional(),
    comment: z.string().max(maxComment).optional().describe("As in JSON."),
    "field.firstName": z
      .string()
      .max(200)
      .optional()
      .describe("For `change_fields`: value of a field, here of `firstName`. One for each field."),
  })
  .meta({ examples: [{ action: "unsubscribe" }] });

const maxBytes = 32 * 1024;
const fieldPrefix = "field.";

export function parseAction(request: ApiRequest): PreferenceAction {
  if (request.rawBody.length > maxBytes) throw tooLarge("The body is larger than 32 KB");
  const { success, data, error } = PreferenceAction.safeParse(readBody(request));
  if (success) return data;
  const path = error.issues[0]?.path.join(".") || "action";
  const message = messages[path.split(".")[0]!] ?? "is not valid";
  throw invalid(`${path} ${message}`, { details: [{ path, message }] });
}

const messages: Record<string, string> = {
  action: `must be one of ${actionNames.join(", ")}`,
  topics: "must name topics of this page",
  fields: "must have values of fields of this page",
  days: `must be ${snoozeDays.join(", ")}`,
  reason: `must be one of ${LeaveReason.options.join(", ")}`,
  comment: `must be a text of at most ${maxComment} characters`,
};

function readBody({ rawBody, headers }: ApiRequest): unknown {
  const text = rawBody.toString("utf8");
  if (!isJson(headers["content-type"])) return parseForm(new URLSearchParams(text));
  const fields = text ? parseJson(text) : {};
  if (fields === undefined) throw invalid("The body is not valid JSON", { code: "invalid_json" });
  return fields;
}

/** A person presses a button, which names its action. Scanners of mail submit the form alone. */
export function isFormWithoutButton({ rawBody, headers }: ApiRequest): boolean {
  if (isJson(headers["content-type"])) return false;
  const form = new URLSearchParams(rawBody.toString("utf8"));
  return !form.has("action") && form.get("List-Unsubscribe") !== "One-Click";
}

/** A browser sends only the boxes that are ticked, so the form names all that it shows. */
function parseForm(form: URLSearchParams): unknown {
  const ticked = new Set(form.getAll("topic"));
  const topics = [...new Set(form.getAll("shown"))].map((id) => ({
    id: Number(id),
    subscribed: ticked.has(id),
  }));
  const fields: PreferenceValues = Object.fromEntries(
    [...form].flatMap(([name, value]) =>
      name.startsWith(fieldPrefix) ? [[name.slice(fieldPrefix.length), value]] : [],
    ),
  );
  return {
    action: form.get("action") ?? undefined,
    topics,
    fields,
    days: form.has("days") ? Number(form.get("days")) : undefined,
    reason: form.get("reason") ?? undefined,
    comment: form.get("comment") || null,
  };
}

export const isJson = (type = ""): boolean => /\bapplication\/json\b/i.test(type);
