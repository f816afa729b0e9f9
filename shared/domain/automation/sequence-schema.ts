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
import { Utm, utmDescription } from "../sending/rendering/utm.ts";
import { SendWindow } from "./send-window.ts";

export const sequenceStatuses = ["draft", "active", "paused", "archived"] as const;
export type SequenceStatus = (typeof sequenceStatuses)[number];
export const triggerTypes = [
  "manual",
  "tag_add",
  "list_join",
  "form_submit",
  "webhook",
  "custom_event",
  "score_reached",
] as const;
export type SequenceTriggerType = (typeof triggerTypes)[number];

const Id = z.int().positive();
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
  })
  .partial()
  .meta({ id: "SequenceTriggerConfig" });
export type SequenceTriggerConfig = z.output<typeof SequenceTriggerConfig>;

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
      "What enrolls contacts while the sequence is active. Imports trigger it only with " +
        "`startSequences: true`. Requests and `webhookUrl` can enroll contacts with any " +
        "trigger.",
    ),
  triggerConfig: SequenceTriggerConfig.nullable().describe(
    "Details of the trigger. Required for `tag_add`, `list_join`, `form_submit`, " +
      "`custom_event` and `score_reached`.",
  ),
  sendingConfigId: Id.nullable().describe(
    "Sending config of every email of the sequence. `null`: the organization's oldest " +
      "verified one.",
  ),
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
    topicId: fields.topicId.default(null),
    autoBcc: fields.autoBcc.default(null),
    utm: fields.utm.default(null),
    sendWindow: fields.sendWindow.default(null),
  })
  .meta({
    examples: [{ name: "Welcome", triggerType: "tag_add", triggerConfig: { tagName: "customer" } }],
  });
export type NewSequence = z.output<typeof NewSequence>;

export const SequenceChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ status: "active" }] });
export type SequenceChanges = z.output<typeof SequenceChanges>;

/** The stored record. */
export interface SequenceItem extends Omit<Sequence, "webhookUrl" | "topicId" | "utm"> {
  /** Absent on sequences stored before there were topics and parameters. */
  topicId?: number | null;
  utm?: Utm | null;
  /** Part of the secret in its webhook URL. A new value invalidates the old URL. */
  hook: string;
  stepsVersion: number;
  /** While it is active: the list or tag that triggers it. */
  waitsAt?: { kind: GroupKind; id: number } | null;
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
  const seal = await createSealer("sequence");
  return items.map((item) => ({
    ...item,
    topicId: item.topicId ?? null,
    utm: item.utm ?? null,
    webhookUrl: `${config.publicUrl}/api/v1/wh/sq/${seal([orgId, item.id, item.hook])}`,
  }));
}

export const toApi = async (orgId: number, item: SequenceItem): Promise<Sequence> =>
  (await toApiAll(orgId, [item]))[0]!;
