// A send is one email to one recipient. A bulk send is first a line of a chunk; its first delivery
// event inserts its item.
import * as z from "zod";
import { RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";
import { millicentsPerCent } from "../billing/credits.ts";

export const sendStatuses = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "failed",
  "uncertain",
  "cancelled",
] as const;

export const Send = z
  .object({
    id: RecordId.describe("Id of the send, for GET /sends/:id."),
    siteId: RecordSiteId,
    contactId: RecordId.nullable().describe(
      "Contact that the email was for, or that had its address in the site when it was " +
        "sent. `null` without a contact.",
    ),
    toEmail: z.string().describe("Email address of the recipient."),
    fromEmail: z.string().describe("Email address of the sender."),
    fromName: z.string().nullable().describe("Name of the sender, or `null`."),
    subject: z.string().describe("Rendered subject line, at most 300 characters for single sends."),
    status: z
      .enum(sendStatuses)
      .describe(
        "`scheduled`: waits for `scheduledAt`. `queued`: waits to be handed to the provider. " +
          "`sending`: being handed over. `sent`: accepted by the provider. `delivered`: " +
          "accepted by the recipient's server. `failed`: suppressed, refused or bounced, see " +
          "`error`. `uncertain`: the provider may or may not have accepted it. `cancelled`: " +
          "cancelled before it was sent.",
      ),
    provider: z.string().describe("Email provider, such as `sendgrid`."),
    sendingConfigId: RecordId.describe("Sending config that the email is sent with."),
    providerMessageId: z
      .string()
      .nullable()
      .describe("Id of the email at the provider, or `null`."),
    campaignId: RecordId.nullable().describe("Campaign that sent the email, or `null`."),
    variantId: RecordId.nullable().describe("Variant of the campaign, or `null`."),
    sequenceId: RecordId.nullable().describe("Sequence that sent the email, or `null`."),
    stepId: RecordId.nullable().describe("Step of the sequence, or `null`."),
    holidayId: RecordId.nullable().describe("Holiday email that the send belongs to, or `null`."),
    templateId: RecordId.nullable().describe("Template of the email, or `null`."),
    batchId: RecordId.nullable().describe("Batch that the send belongs to, or `null`."),
    tags: z.array(z.string()).describe("Tags given with the send. They are not tags of contacts."),
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("Your own data given with the send, or `null`."),
    scheduledAt: Timestamp.nullable().describe(
      "When the email is to be sent, or `null` if it was sent at once.",
    ),
    secure: z
      .boolean()
      .describe(
        "Whether the content is encrypted. The secure message has the same id: see GET " +
          "/secure-messages/:id.",
      ),
    cost: z
      .number()
      .describe("US cents taken from the credits. 0 while the plan's included emails last."),
    error: z.string().nullable().describe("Why the send failed, such as `suppressed`, or `null`."),
    createdAt: Timestamp.describe("When the email was accepted."),
    sentAt: Timestamp.nullable().describe("When the provider accepted the email, or `null`."),
    deliveredAt: Timestamp.nullable().describe(
      "When the recipient's server accepted the email, or `null`.",
    ),
    openedAt: Timestamp.nullable().describe("When a person first opened the email, or `null`."),
    clickedAt: Timestamp.nullable().describe("When a person first clicked a link, or `null`."),
    updatedAt: Timestamp.describe("When the status or a time last changed."),
  })
  .meta({ id: "Send" });
export type Send = z.output<typeof Send>;

/**
 * The stored item. Empty fields are left out, because an item over 1 KB costs more with each
 * change.
 */
export type SendItem = Pick<
  Send,
  | "id"
  | "siteId"
  | "toEmail"
  | "fromEmail"
  | "subject"
  | "status"
  | "provider"
  | "sendingConfigId"
  | "createdAt"
> & {
  [Field in Exclude<keyof Send, "cost">]?: Send[Field] | undefined;
} & {
  /** Gets a blind copy. Events of this address do not count for the send. */
  bcc?: string | undefined;
  /** Hashes of the further addresses of `to`, `cc` and `bcc`. Their events do not count either. */
  copies?: string[] | undefined;
  /** Millicents; undefined if the send was free. */
  charged?: number | undefined;
  /** Moves with every write of events; see delivery-events/apply-events.ts. */
  v: number;
  /** Mail to a member of the organization. It has an id, but is in no list and no statistics. */
  system?: true;
  /** How a user settled it when it was uncertain, and when (ISO 8601). */
  resolution?: { outcome: string; at: string };
  /** An event inserted it before the provider's response to the hand-over was stored. */
  early?: true;
};

const nullableFields = Object.entries(Send.shape)
  .filter(([, type]) => type instanceof z.ZodNullable)
  .map(([field]) => field as keyof SendItem);

/**
 * The latest time stored on a send. Only changes without a time of their own store `updatedAt`. The
 * name of a round begins with the time when its events were recorded.
 */
function lastChange({ createdAt, updatedAt, sentAt, ...item }: SendItem): string {
  const { events = [] } = item as { events?: { round: string }[] };
  const times = [createdAt, updatedAt, sentAt, ...events.map(({ round }) => round.split("#")[0])];
  return times.reduce<string>((last, time) => (time && time > last ? time : last), createdAt);
}

/**
 * Sets missing fields to null, and times of events before `sentAt` to `sentAt`, because the clock
 * of a provider can be behind ours.
 */
export const toApi = (item: SendItem): Send =>
  ({
    ...item,
    updatedAt: lastChange(item),
    tags: item.tags ?? [],
    secure: item.secure ?? false,
    cost: (item.charged ?? 0) / millicentsPerCent,
    ...Object.fromEntries(nullableFields.map((field) => [field, item[field] ?? null])),
    ...clampToSentAt(item),
  }) as Send;

function clampToSentAt({ sentAt, deliveredAt, openedAt, clickedAt }: SendItem): Partial<SendItem> {
  const times = Object.entries({ deliveredAt, openedAt, clickedAt });
  return Object.fromEntries(
    times.flatMap(([field, at]) => (sentAt && at && at < sentAt ? [[field, sentAt]] : [])),
  );
}
