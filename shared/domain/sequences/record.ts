// The record of a sequence: what it is called, what starts it, how it sends. Its steps lie apart, as a whole and by version.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { equals } from "../../conditions.ts";
import { config } from "../../config.ts";
import { Unmet, update, type Write } from "../../doors/table.ts";
import { EmailAddress, oneLine } from "../../email.ts";
import { conflict } from "../../errors.ts";
import { type GroupKind, keys } from "../../keys.ts";
import * as records from "../records.ts";
import { sealer } from "../sealed-tokens.ts";
import { SendWindow } from "./windows.ts";

export const statuses = ["draft", "active", "paused", "archived"] as const;
export type Status = (typeof statuses)[number];
export const triggerTypes = ["manual", "tag_add", "list_join", "form_submit", "webhook", "custom_event", "score_reached"] as const;
export type TriggerType = (typeof triggerTypes)[number];

const Id = z.int().positive();
export const TriggerConfig = z
  .strictObject({
    tagId: Id.describe("tag_add: the tag"),
    tagName: oneLine(100).trim().min(1).describe("tag_add: the tag by its name; made when there is none yet"),
    listId: Id.describe("list_join: the list"),
    formId: Id.describe("form_submit: the form"),
    eventName: oneLine(100).trim().min(1).describe("custom_event: the event"),
    score: z.int().min(-1_000_000).max(1_000_000).describe("score_reached: fires when the score comes from below to this or more"),
  })
  .partial();
export type TriggerConfig = z.output<typeof TriggerConfig>;

const status = z
  .enum(statuses)
  .describe(
    "active: runs. draft, paused: nobody goes on, mails that are ready are held back, and nothing triggers it; who is inside, or is enrolled by hand, keeps its place and goes on within about a minute of its being active again. archived: as paused, and nobody can be enrolled",
  );
const fields = {
  name: oneLine(200).trim().min(1),
  status,
  triggerType: z
    .enum(triggerTypes)
    .describe(
      "What enrolls contacts, while the sequence is active. Imports and POST /contacts/bulk trigger nothing. By hand and by webhookUrl they can be enrolled in any case",
    ),
  triggerConfig: TriggerConfig.nullable().describe(
    "What the trigger is about; needed for tag_add, list_join, form_submit, custom_event and score_reached",
  ),
  sendingConfigId: Id.nullable().describe("For all mails of the sequence; null: the organization's oldest verified one"),
  autoBcc: EmailAddress.nullable().describe("Gets a blind copy of every mail of this sequence; null: as the site says"),
  sendWindow: SendWindow.nullable().describe("When mails may go; null: at any time"),
};

export const Sequence = z
  .object({
    id: z.int(),
    siteId: z.int(),
    ...fields,
    statusReason: z.string().nullable().describe("Why it was paused, when nobody of yours did"),
    webhookUrl: z.string().describe("POST here enrolls or cancels a contact by its address, without any other credential: keep it secret"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Sequence" });
export type Sequence = z.output<typeof Sequence>;

export const NewSequence = z
  .object({
    siteId: Id.optional(),
    name: fields.name,
    status: fields.status.default("draft"),
    triggerType: fields.triggerType.default("manual"),
    triggerConfig: fields.triggerConfig.default(null),
    sendingConfigId: fields.sendingConfigId.default(null),
    autoBcc: fields.autoBcc.default(null),
    sendWindow: fields.sendWindow.default(null),
  })
  .meta({ examples: [{ name: "Welcome", triggerType: "tag_add", triggerConfig: { tagName: "customer" } }] });
export type NewSequence = z.output<typeof NewSequence>;

export const SequenceChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ status: "active" }] });
export type SequenceChanges = z.output<typeof SequenceChanges>;

/** As it is stored. */
export interface SequenceItem extends Omit<Sequence, "webhookUrl"> {
  /** Part of the secret in its webhook URL; another one makes the old URL worthless. */
  hook: string;
  stepsVersion: number;
  /** The list or tag whose members start it. */
  waitsAt?: { kind: GroupKind; id: number } | null;
  /** Moves with every change: who writes on what it read notices. */
  revision: number;
}

type Who = Pick<Caller, "orgId" | "siteId">;

export const find = (who: Who, id: number): Promise<SequenceItem> => records.find<SequenceItem>("SEQUENCE", who, id);

/** As long as nobody has changed it since it was read. */
export const revising = (orgId: number, { id, revision }: SequenceItem, changes: Partial<SequenceItem>): Write =>
  update(
    keys.record(orgId, "SEQUENCE", id),
    { set: { ...changes, revision: revision + 1, updatedAt: now().toISOString() } },
    { if: equals("revision", revision) },
  );

const mostTries = 10;

/** Does it again when somebody else changed the sequence between the reading and the writing. */
export async function untilSettled<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (tries >= mostTries) throw conflict("The sequence is being changed by others at the same time");
    }
}

/** With the URLs of their webhooks. */
export async function toldAll(orgId: number, items: SequenceItem[]): Promise<Sequence[]> {
  const seal = await sealer("sequence");
  return items.map((item) => ({ ...item, webhookUrl: `${config.publicUrl}/api/v1/wh/sq/${seal([orgId, item.id, item.hook])}` }));
}

export const told = async (orgId: number, item: SequenceItem): Promise<Sequence> => (await toldAll(orgId, [item]))[0]!;
