// Mail that somebody sent to a site, as the API returns it and as it is stored.
import * as z from "zod";
import * as objects from "../../adapters/s3/objects.ts";
import type { CompressedValue } from "../../kernel/compressed-values.ts";
import { decompress } from "../../kernel/compressed-values.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { Count, RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";

export const inboundKinds = [
  "reply",
  "auto_reply",
  "unsubscribe",
  "bounce",
  "complaint",
  "report",
  "other",
] as const;
export type InboundKind = (typeof inboundKinds)[number];

const matches = ["reference", "address", "sender"] as const;
export type MatchedBy = (typeof matches)[number];

export const InboundEmail = z
  .object({
    id: RecordId.describe("Id of the email, for GET /inbound-emails/:id."),
    siteId: RecordSiteId,
    kind: z
      .enum(inboundKinds)
      .describe(
        "`reply`: a person replied to a send. `auto_reply`: a machine answered, such as an " +
          "out-of-office note. `unsubscribe`: a mail program unsubscribed its sender by the " +
          "`mailto` of List-Unsubscribe. `bounce` and `complaint`: a mail server reports that a " +
          "send failed, is late, or was called spam; with a proof it becomes an event of the " +
          "send. `report`: a mailbox provider reports about one of your domains (DMARC or TLS); " +
          "see GET /domains/:id/dmarc-reports. `other`: no send to its sender is known, or the " +
          "provider calls it spam.",
      ),
    provider: z.string().describe("Email provider that received it."),
    fromEmail: z.string().describe("Email address of its sender, as the email says."),
    fromName: z.string().nullable().describe("Name of its sender, or `null`."),
    toEmails: z.array(z.string()).describe("Email addresses that it was sent to, at most 20."),
    subject: z.string().describe("Subject line, at most 500 characters."),
    sendId: RecordId.nullable().describe("Send that it answers, or `null`."),
    matchedBy: z
      .enum(matches)
      .nullable()
      .describe(
        "How the send was found. `reference`: the email refers to its message id. `address`: it " +
          "went to the return address of the send. `sender`: the send is the newest to this " +
          "sender. `null` without a send.",
      ),
    contactId: RecordId.nullable().describe("Contact of the site who sent it, or `null`."),
    isSpam: z
      .boolean()
      .nullable()
      .describe("Whether the provider calls it spam. `null`: it does not say."),
    spamScore: z.number().nullable().describe("Spam score of the provider, or `null`."),
    attachmentCount: Count.describe("Number of its files."),
    receivedAt: Timestamp.describe("When the provider passed it on. It is kept for 60 days."),
  })
  .meta({ id: "InboundEmail" });
export type InboundEmail = z.output<typeof InboundEmail>;

export const InboundEmailDetail = InboundEmail.extend({
  messageId: z.string().nullable().describe("Its message id, without angle brackets, or `null`."),
  text: z.string().nullable().describe("Its text, at most 500,000 characters, or `null`."),
  html: z
    .string()
    .nullable()
    .describe(
      "Its HTML as sent, at most 500,000 characters, or `null`. Strangers wrote it: show it only " +
        "in a sandbox without scripts.",
    ),
  headers: z
    .array(
      z.object({
        name: z.string().describe("Name in lower case."),
        value: z.string().describe("Value, at most 4,000 characters."),
      }),
    )
    .describe("Its headers in their order, at most 300."),
  attachments: z
    .array(
      z
        .object({
          filename: z.string().describe("Name of the file."),
          type: z.string().describe("Content type that the email names."),
          size: Count.describe("Size in bytes."),
          contentId: z.string().nullable().describe("Content id that the HTML names, or `null`."),
          url: z.string().describe("Link that downloads the file. It works for 15 minutes."),
        })
        .meta({ id: "InboundAttachment" }),
    )
    .describe("Its files, at most 100."),
}).meta({ id: "InboundEmailDetail" });
export type InboundEmailDetail = z.output<typeof InboundEmailDetail>;

export interface InboundFile {
  filename: string;
  type: string;
  size: number;
  contentId?: string | undefined;
  /** S3 key. */
  blob: string;
}

/** The stored item. Empty fields are left out. */
export interface InboundEmailItem extends CompressedValue {
  id: number;
  orgId: number;
  siteId: number;
  kind: InboundKind;
  provider: string;
  from: string;
  fromName?: string | undefined;
  to: string[];
  subject: string;
  messageId?: string | undefined;
  sendId?: number | undefined;
  matchedBy?: MatchedBy | undefined;
  contactId?: number | undefined;
  isSpam?: boolean | undefined;
  spamScore?: number | undefined;
  files: InboundFile[];
  receivedAt: string;
  /** What follows from the mail was done. */
  done?: true;
  /** Epoch seconds. */
  expires: number;
}

export type InboundContent = Pick<InboundEmailDetail, "text" | "html" | "headers">;

export const toApi = (item: InboundEmailItem): InboundEmail => ({
  id: item.id,
  siteId: item.siteId,
  kind: item.kind,
  provider: item.provider,
  fromEmail: item.from,
  fromName: item.fromName ?? null,
  toEmails: item.to,
  subject: item.subject,
  sendId: item.sendId ?? null,
  matchedBy: item.matchedBy ?? null,
  contactId: item.contactId ?? null,
  isSpam: item.isSpam ?? null,
  spamScore: item.spamScore ?? null,
  attachmentCount: item.files.length,
  receivedAt: item.receivedAt,
});

const linkSeconds = 15 * 60;

export async function toDetail(item: InboundEmailItem): Promise<InboundEmailDetail> {
  const [content, attachments] = await Promise.all([
    decompress<InboundContent>(item),
    inParallel(8, item.files, async ({ blob, contentId, ...file }) => ({
      ...file,
      contentId: contentId ?? null,
      url: await objects.presignDownload(blob, toAscii(file.filename), linkSeconds),
    })),
  ]);
  return { ...toApi(item), messageId: item.messageId ?? null, ...content, attachments };
}

/** For a header. */
const toAscii = (filename: string): string => filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
