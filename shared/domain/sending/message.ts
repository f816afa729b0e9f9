// What a caller says when sending: POST /send and POST /send/batch.
import * as z from "zod";
import { EmailAddress, emailAddress, oneLine } from "../../email.ts";

const jsonSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
const maxVariablesBytes = 10_000;

const Variables = z
  .record(z.string().max(100), z.unknown())
  .refine((variables) => jsonSize(variables) <= maxVariablesBytes, `must be at most ${maxVariablesBytes} bytes of JSON`);

/** Kept on the send and shown with it; never sent to the provider. */
const Metadata = z
  .record(z.string().max(40), z.union([z.string().max(500), z.number(), z.boolean(), z.null()]))
  .refine((metadata) => Object.keys(metadata).length <= 20, "must have at most 20 fields")
  .refine((metadata) => jsonSize(metadata) <= 1000, "must be at most 1,000 bytes of JSON");

// What we or the provider set ourselves, or what would change who gets the mail.
const ownHeaders = new Set(
  "from to cc bcc subject reply-to sender return-path date message-id mime-version content-type content-transfer-encoding dkim-signature received".split(
    " ",
  ),
);
// By these a provider takes options, and some carry our send id back.
const steering = /^x-(send-id|smtpapi|mailgun-|mailin-|mailjet-|mj-|mc-|mandrill-|pm-|postmark-|msys-|ses-|sib-|smtp2go-|resend-)/i;
const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!-9;-~]+$/, "must be a header name")
  .refine((name) => !ownHeaders.has(name.toLowerCase()), "is a header that we set ourselves")
  .refine((name) => !steering.test(name), "is a header by which providers are steered");

const Headers = z.record(HeaderName, oneLine(998)).refine((headers) => Object.keys(headers).length <= 20, "must have at most 20 headers");

const Tag = z.string().regex(/^[\w.-]{1,50}$/, "must be 1 to 50 letters, digits, dots, dashes or underscores");

const maxAttachments = 20;

/** `content` in base64, or the `uploadId` that POST /attachments gave. */
export const AttachmentInput = z
  .object({
    filename: oneLine(200)
      .min(1)
      .refine((name) => !/[\\/]/.test(name), "must not have slashes"),
    type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a content type such as application/pdf")
      .max(100)
      .optional(),
    content: z.string().optional().describe("base64"),
    uploadId: z.string().max(100).optional(),
  })
  .refine(({ content, uploadId }) => (content === undefined) !== (uploadId === undefined), "needs either content or uploadId");
export type AttachmentInput = z.output<typeof AttachmentInput>;

const Message = z.object({
  siteId: z.int().positive().optional().describe("Absent: the key's site, else the organization's only one"),
  fromEmail: EmailAddress.optional().describe("Chooses the sending config that owns it, or a verified one of its domain"),
  fromName: oneLine(100).optional(),
  sendingConfigId: z.int().positive().optional().describe("Needed without fromEmail"),
  subject: oneLine(998).min(1).optional().describe("Liquid; instead of the template's"),
  html: z
    .string()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe("Liquid, its values escaped. Needed together with subject where there is no templateId; not read beside one"),
  text: z.string().max(1_000_000).optional().describe("Liquid. Made from html when absent; not read beside a templateId"),
  templateId: z.int().positive().optional(),
  variables: Variables.default({}).describe("What Liquid reads, besides email and name of the recipient; 10,000 bytes of JSON"),
  replyTo: EmailAddress.optional(),
  headers: Headers.default({}).describe("At most 20, none that we set ourselves"),
  tags: z.array(Tag).max(10).default([]).describe("For the provider's own statistics"),
  trackOpens: z
    .boolean()
    .optional()
    .describe("Absent: as the domain of the sender says (PATCH /domains/:id), else as the provider's account is set"),
  trackClicks: z.boolean().optional().describe("Absent: as the provider's account is set"),
  secure: z
    .boolean()
    .optional()
    .describe(
      "What it says is encrypted and shown on a page of ours; the mail is a notice with a link. Subject and addresses stay readable",
    ),
  secureExpiresInDays: z.int().min(1).max(365).optional().describe("From when it is due, 30 unless said; with secure only"),
  securePassphrase: z
    .string()
    .min(4)
    .max(200)
    .optional()
    .describe("The page asks for it, five tries an hour; you tell it to the recipient"),
  scheduledAt: z.iso.datetime({ offset: true }).optional().describe("At most 30 days ahead; a time that has passed means now"),
  attachments: z.array(AttachmentInput).max(maxAttachments).default([]),
});

interface Words {
  templateId?: number | undefined;
  html?: string | undefined;
  subject?: string | undefined;
}
const saysWhat = {
  said: ({ templateId, html, subject }: Words) => (templateId ?? html ?? subject) !== undefined,
  unsaid: { error: "is required, or html together with subject", path: ["templateId"] },
  titled: ({ templateId, html, subject }: Words) => templateId !== undefined || html === undefined || subject !== undefined,
  untitled: { error: "is required together with html", path: ["subject"] },
  filled: ({ templateId, html, subject }: Words) => templateId !== undefined || subject === undefined || html !== undefined,
  empty: { error: "is required together with subject, unless there is a templateId", path: ["html"] },
};
const sender = ({ fromEmail, sendingConfigId }: { fromEmail?: string | undefined; sendingConfigId?: number | undefined }) =>
  fromEmail !== undefined || sendingConfigId !== undefined;
const secret = ({ secure = false, securePassphrase }: { secure?: boolean | undefined; securePassphrase?: string | undefined }) =>
  secure || securePassphrase === undefined;
const needsSecure = { error: "needs secure: true", path: ["securePassphrase"] };
const alone = ({ secure, attachments }: { secure?: boolean | undefined; attachments: unknown[] }) => !secure || attachments.length === 0;
const notSecure = { error: "cannot be sent with secure: true", path: ["attachments"] };
const saysWho = { error: "needs fromEmail, or sendingConfigId", path: ["fromEmail"] };

export const SingleMessage = Message.extend({
  to: emailAddress("several get theirs with POST /send/batch"),
  toName: oneLine(100).optional(),
  metadata: Metadata.optional().describe("Kept on the send and shown with it"),
})
  .refine(saysWhat.said, saysWhat.unsaid)
  .refine(saysWhat.titled, saysWhat.untitled)
  .refine(saysWhat.filled, saysWhat.empty)
  .refine(sender, saysWho)
  .refine(secret, needsSecure)
  .refine(alone, notSecure)
  .meta({
    examples: [
      {
        to: "ada@example.com",
        fromEmail: "hello@shop.example",
        subject: "Hello {{ firstName }}",
        html: "<p>Your order is on its way.</p>",
        variables: { firstName: "Ada" },
      },
    ],
  });
export type SingleMessage = z.output<typeof SingleMessage>;

/** One of a batch. Checked one by one, so that a bad recipient is rejected alone. */
export const BatchRecipient = z
  .object({
    to: EmailAddress.optional(),
    email: EmailAddress.optional().describe("Another name for to"),
    toName: oneLine(100).optional(),
    variables: Variables.optional(),
    metadata: Metadata.optional(),
    trackOpens: z.boolean().optional(),
    trackClicks: z.boolean().optional(),
  })
  .refine(({ to, email }) => to !== undefined || email !== undefined, { error: "is required", path: ["to"] });
export type BatchRecipient = z.output<typeof BatchRecipient>;

const maxRecipients = 1000;

export const BatchMessage = Message.extend({
  recipients: z
    .array(z.looseObject({}).meta({ documentedAs: BatchRecipient }))
    .min(1)
    .max(maxRecipients),
})
  .refine(saysWhat.said, saysWhat.unsaid)
  .refine(saysWhat.titled, saysWhat.untitled)
  .refine(saysWhat.filled, saysWhat.empty)
  .refine(sender, saysWho)
  .refine(secret, needsSecure)
  .refine(alone, notSecure)
  .meta({
    examples: [
      {
        templateId: 1,
        fromEmail: "hello@shop.example",
        recipients: [
          { to: "ada@example.com", variables: { firstName: "Ada" } },
          { to: "grace@example.com", variables: { firstName: "Grace" } },
        ],
      },
    ],
  });
export type BatchMessage = z.output<typeof BatchMessage>;

/** What the two have in common. */
export type Message = z.output<typeof Message>;
