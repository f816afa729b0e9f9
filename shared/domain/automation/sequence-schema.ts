// The record of a sequence: its name, status, trigger and sender. Its steps are stored apart
// (step-graph-store.ts).
import * as z from "zod";
import { allEqual, equals } from "../../adapters/dynamodb/conditions.ts";
import { queryAll, update, type Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { EmailAddress, singleLineText } from "../../kernel/email-fields.ts";
import {
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { createSealer } from "../../kernel/sealed-tokens.ts";
import { type GroupKind, keys, ranges } from "../../keys.ts";
import { TopicId } from "../audience/topics/topic-schema.ts";
import { type MailSender, mailSenderFields, toMailSender } from "../senders/mail-sender.ts";
import { Utm, utmDescription } from "../sending/rendering/utm.ts";
import { SendWindow } from "./send-window.ts";
import { goalFields, goalInputFields } from "./sequence-goals.ts";
import { SequenceTriggerConfig, triggerTypes } from "./trigger-schema.ts";

export const sequenceStatuses = ["draft", "active", "paused", "archived"] as const;
export type SequenceStatus = (typeof sequenceStatuses)[number];
const Id = z.int().positive();
const status = z
  .enum(sequenceStatuses)
  .describe(
    "`active`: contacts are triggered and move on. `draft` and `paused`: no trigger, no " +
      "progress, no email; enrollments keep their place and continue within about a minute of " +
      "becoming active. `archived`: like `paused`, and no one can be enrolled.",
  );
const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the sequence."),
  status,
  triggerType: z
    .enum(triggerTypes)
    .describe(
      "What enrolls contacts while the sequence is active. `email_opened` and `email_clicked`: " +
        "the first open of an email, and the first click on a link in it; those of machines do " +
        "not count. `field_changed`: a field of an existing contact changed. `unsubscribed`: the " +
        "contact unsubscribed from its site; the sequence can do internal work, such as telling " +
        "members, but send no email. `segment_enter` and `segment_leave`: the contact begins or " +
        "ceases to match a segment, by a change of the contact or by time; contacts that match " +
        "when the sequence becomes active have not entered. `date`: on a day before or after a " +
        "date of the contact, in its own time zone or else the organization's. Until all " +
        "contacts were looked at, some minutes after activation, these start none. " +
        "Imports trigger sequences only with " +
        "`startSequences: true`. Requests and `webhookUrl` can enroll contacts with any " +
        "trigger.",
    ),
  triggerConfig: SequenceTriggerConfig.nullable().describe(
    "Details of the trigger. Required for `tag_add`, `list_join`, `form_submit`, " +
      "`custom_event`, `score_reached`, `field_changed`, `segment_enter`, `segment_leave` " +
      "and `date`.",
  ),
  sendingConfigId: Id.nullable().describe(
    "Sending config of every email of the sequence. `null`: the organization's oldest " +
      "verified one.",
  ),
  ...mailSenderFields,
  topicId: TopicId.describe(
    "Topic of every email of the sequence. For contacts who are not subscribed to it, the " +
      "sequence goes on without its emails. `null`: no topic.",
  ),
  autoBcc: EmailAddress.nullable().describe(
    "Email address that gets a blind copy of each email of the sequence. `null`: the " +
      "`autoBcc` of the site.",
  ),
  utm: Utm.nullable().describe(
    `${utmDescription} Holds for every email of the sequence. \`null\`: links stay unchanged.`,
  ),
  sendWindow: SendWindow.nullable().describe(
    "Days and hours at which emails may be sent. `null`: at any time.",
  ),
};

export const Sequence = z
  .object({
    id: RecordId.describe("Id of the sequence, for GET /sequences/:id and `sequenceId` of forms."),
    siteId: RecordSiteId,
    ...fields,
    ...goalFields,
    statusReason: z
      .string()
      .nullable()
      .describe("Why the service paused the sequence. `null` otherwise."),
    webhookUrl: z
      .string()
      .nullable()
      .describe(
        "URL that enrolls or cancels a contact by email address, with a POST request. It " +
          "needs no other credential: keep it secret. `null` for callers who may only read.",
      ),
    callSecret: z
      .string()
      .nullable()
      .describe(
        "Secret that signs the requests of actions `call_url`, as that of a webhook endpoint " +
          "does. `null` for callers who may only read.",
      ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("A series of emails, delays and conditions that contacts run through.")
  .meta({ id: "Sequence" });
export type Sequence = z.output<typeof Sequence>;

export const NewSequence = z
  .object({
    siteId: NewSiteId,
    name: fields.name,
    status: fields.status.default("draft"),
    triggerType: fields.triggerType.default("manual"),
    triggerConfig: fields.triggerConfig.default(null),
    sendingConfigId: fields.sendingConfigId.default(null),
    fromEmail: fields.fromEmail.default(null),
    fromName: fields.fromName.default(null),
    replyTo: fields.replyTo.default(null),
    topicId: fields.topicId.default(null),
    autoBcc: fields.autoBcc.default(null),
    utm: fields.utm.default(null),
    sendWindow: fields.sendWindow.default(null),
    goals: goalInputFields.goals.default([]),
    exits: goalInputFields.exits.default([]),
  })
  .meta({
    examples: [{ name: "Welcome", triggerType: "tag_add", triggerConfig: { tagName: "customer" } }],
  });
export type NewSequence = z.output<typeof NewSequence>;

export const SequenceChanges = z
  .object({ ...fields, ...goalInputFields })
  .partial()
  .meta({ examples: [{ status: "active" }] });
export type SequenceChanges = z.output<typeof SequenceChanges>;

/** The stored record. */
export interface SequenceItem
  extends Omit<Sequence, "webhookUrl" | "callSecret" | "goals" | "exits" | keyof MailSender>,
    MailSender {
  /** Absent in records of earlier versions of the service. */
  goals?: Sequence["goals"] | undefined;
  exits?: Sequence["exits"] | undefined;
  /** Part of the secret in its webhook URL, and of `callSecret`. A new value changes both. */
  hook: string;
  stepsVersion: number;
  /** While it is active: the list or tag that triggers it. */
  waitsAt: { kind: GroupKind; id: number } | null;
  /** Optimistic lock: every change raises it, and writes compare it. */
  revision: number;
}

export const findItem = (caller: CallerScope, id: number): Promise<SequenceItem> =>
  records.find<SequenceItem>("SEQUENCE", caller, id);

/** Ids of the active sequences of a site. */
export async function activeIds(orgId: number, siteId: number): Promise<number[]> {
  const active = await queryAll<{ id: number }>(ranges.records(orgId, "SEQUENCE"), {
    filter: allEqual({ siteId, status: "active" satisfies SequenceStatus }),
    attributes: ["id"],
    consistent: true,
  });
  return active.map(({ id }) => id);
}

/** Fails if the sequence has changed since it was read. */
export const changeWrite = (
  orgId: number,
  { id, revision }: SequenceItem,
  changes: Partial<SequenceItem>,
): Write =>
  update(
    keys.record(orgId, "SEQUENCE", id),
    { set: { ...changes, revision: revision + 1, updatedAt: now().toISOString() } },
    { if: equals("revision", revision) },
  );

export const changeWithRetry = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict("The sequence", attempt);

/** Adds the webhook URLs. */
export async function toApiAll(orgId: number, items: SequenceItem[]): Promise<Sequence[]> {
  const [seal, sealCall] = await Promise.all([createSealer("sequence"), createSealer("call")]);
  return items.map((item) => ({
    ...item,
    ...toMailSender(item),
    goals: item.goals ?? [],
    exits: item.exits ?? [],
    callSecret: sealCall([orgId, item.id, item.hook]),
    webhookUrl: `${config.publicUrl}/api/v1/wh/sq/${seal([orgId, item.id, item.hook])}`,
  }));
}

/** Signs the requests of its actions. */
export const getCallSecret = async (
  orgId: number,
  { id, hook }: Pick<SequenceItem, "id" | "hook">,
): Promise<string> => (await createSealer("call"))([orgId, id, hook]);

export const toApi = async (orgId: number, item: SequenceItem): Promise<Sequence> =>
  (await toApiAll(orgId, [item]))[0]!;
