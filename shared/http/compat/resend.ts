// Resend's API for sending (resend.com/docs/api-reference), as its official libraries call it.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { maxFileBytes } from "../../domain/sending/accept/attachments.ts";
import { findSend } from "../../domain/sending/read-sends.ts";
import { type Send, toApi } from "../../domain/sending/send-schema.ts";
import { findSentContent } from "../../domain/sending/sent-content.ts";
import { Problem, undefinedIfMissing } from "../../errors.ts";
import { storedObject } from "../../kernel/stored-json.ts";
import { toUuid } from "../../kernel/uuid-ids.ts";
import { permits } from "../../rights.ts";
import { validate } from "../validate.ts";
import { parseMailbox, parseMailboxes } from "./mailboxes.ts";
import {
  acceptEach,
  acceptMail,
  bareContentId,
  closed,
  type FieldNames,
  orEmptyList,
  renamed,
  requireAllAcceptable,
  SendUuid,
  supportedFields,
  type TranslatedFields,
  toLiteral,
  toMessage,
  tryToMessage,
  withoutComposerHeaders,
  wrongField,
} from "./translated-mail.ts";
import type { WireError, WireFormat } from "./wire-format.ts";

const AddressText = z.string().min(1).max(1000);
const AddressList = z.string().min(1).max(20_000);
const Addresses = z.union([z.array(AddressText).min(1).max(50), AddressList]);
const FurtherAddresses = z.union([z.array(AddressText).max(50), AddressList]);
const addressForm = "`ada@example.com` or `Ada <ada@example.com>`";

const ResendTag = supportedFields({
  name: z.string().min(1).max(40).describe("Name of the field of `metadata`."),
  value: z.string().max(500).describe("Value of the field."),
}).meta({ id: "ResendTag", ...closed });

const isByte = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;

/** With one error for all of them, because a list of millions could have as many. */
const Bytes = z
  .array(z.unknown())
  .max(maxFileBytes, { abort: true })
  .refine((bytes) => bytes.every(isByte), "must be numbers from 0 to 255")
  .meta({ items: { type: "integer", minimum: 0, maximum: 255 } }) as unknown as z.ZodType<number[]>;
/**
 * Libraries for Go, Ruby, Python and Rust write bytes as numbers, and older ones for Node write a
 * Buffer.
 */
const FileContent = z.union([
  z.string().max(14_000_000),
  Bytes,
  supportedFields({
    type: z.literal("Buffer").describe("Always `Buffer`."),
    data: Bytes.describe("Bytes of the file."),
  }),
]);

const Attachment = supportedFields({
  filename: z.string().min(1).max(200).describe("Name of the file."),
  content: FileContent.describe("Content of the file in base64, or its bytes."),
  content_type: z.string().max(100).nullish().describe("Content type of the file."),
  content_id: z
    .string()
    .max(102)
    .nullish()
    .describe("Shows the image where the HTML has `cid:<content_id>`."),
});

const HeaderText = z.string().max(998);
const HeaderValue = z
  .union([HeaderText, z.array(HeaderText).length(1, "must be one text")])
  .transform((value) => [value].flat()[0]!);

export const ResendEmail = supportedFields({
  from: AddressText.describe(`Sender: ${addressForm}.`),
  to: Addresses.describe(`Recipients: ${addressForm}, or a list of up to 50.`),
  subject: z
    .string()
    .min(1)
    .max(998)
    .optional()
    .describe("Subject line. Required without `template`."),
  cc: FurtherAddresses.nullish().describe("Addresses that get a copy."),
  bcc: FurtherAddresses.nullish().describe("Addresses that get a blind copy."),
  reply_to: FurtherAddresses.nullish().describe("Addresses for replies. Their names are left out."),
  html: z.string().min(1).max(1_000_000).nullish().describe("HTML part, without Liquid."),
  text: z.string().max(1_000_000).nullish().describe("Plain text part, without Liquid."),
  headers: orEmptyList(z.record(z.string().max(100), HeaderValue))
    .nullish()
    .describe("Further email headers."),
  tags: z.array(ResendTag).max(20).nullish().describe("Become `metadata` of the send."),
  scheduled_at: z
    .string()
    .max(100)
    .nullish()
    .describe("When to send, as a time with a zone. Words such as `in 1 hour` are refused."),
  attachments: z.array(Attachment).max(20).nullish().describe("Up to 20 files."),
  template: supportedFields({
    id: z
      .string()
      .regex(/^\d{1,15}$/, "must be the id of a template of Pennymail, such as 12")
      .max(15)
      .describe("Id of a template of Pennymail."),
    variables: orEmptyList(storedObject(10_000))
      .nullish()
      .describe("Values for the variables of the template."),
  })
    .nullish()
    .describe("A template of Pennymail, instead of `html` and `text`."),
}).meta({
  id: "ResendEmail",
  ...closed,
  examples: [
    {
      from: "Shop <hello@shop.example>",
      to: ["ada@example.com"],
      subject: "Your order is on its way",
      html: "<p>It arrives on Tuesday.</p>",
    },
  ],
});
type ResendEmail = z.output<typeof ResendEmail>;

/** The emails of a batch are validated by the handler, because one may be rejected alone. */
export const ResendBatch = z
  .array(z.looseObject({}).meta({ documentedAs: ResendEmail }))
  .min(1)
  .max(100)
  .describe("1 to 100 emails.")
  .meta({
    examples: [
      [
        {
          from: "Shop <hello@shop.example>",
          to: ["ada@example.com"],
          subject: "Your order is on its way",
          html: "<p>It arrives on Tuesday.</p>",
        },
      ],
    ],
  });
type ResendBatch = z.output<typeof ResendBatch>;

export const ResendAccepted = z
  .object({ id: SendUuid })
  .meta({ id: "ResendAccepted", examples: [{ id: toUuid(101) }] });

export const ResendBatchAccepted = z
  .object({
    data: z
      .array(ResendAccepted)
      .describe("One entry per accepted email, in the order of the request."),
    errors: z
      .array(
        z.object({
          index: z.int().min(0).max(99).describe("Position of the email in the request, from 0."),
          message: z.string().describe("Why it was rejected."),
        }),
      )
      .optional()
      .describe("Rejected emails, if there are any."),
  })
  .meta({ id: "ResendBatchAccepted", examples: [{ data: [{ id: toUuid(101) }] }] });

const names: FieldNames = {
  fromEmail: "from",
  fromName: "from",
  replyTo: "reply_to",
  scheduledAt: "scheduled_at",
  metadata: "tags",
  templateId: "template.id",
  variables: "template.variables",
  type: "content_type",
  contentId: "content_id",
  // Addresses are texts.
  email: "",
  name: "",
};

const toList = (given: z.output<typeof Addresses>) =>
  typeof given === "string" ? parseMailboxes(given) : given.map(parseMailbox);
/** Libraries for PHP write an empty list for none. */
const toFurther = (given: z.output<typeof FurtherAddresses> | null | undefined) =>
  given?.length ? toList(given) : undefined;

const toBase64 = (content: z.output<typeof FileContent>): string => {
  if (typeof content === "string") return content;
  return Buffer.from(Array.isArray(content) ? content : content.data).toString("base64");
};

function toFields(email: ResendEmail): TranslatedFields {
  const { template, html, text, tags, attachments } = email;
  const isBare = typeof html !== "string" && typeof text !== "string";
  if (!template && isBare) throw wrongField("html", "is required without text and template");
  if (template && !isBare) throw wrongField("template", "cannot be given with html or text");
  if (!template && email.subject === undefined) throw wrongField("subject", "is required");
  const { email: fromEmail, name: fromName } = parseMailbox(email.from);
  return {
    fromEmail,
    fromName,
    to: toList(email.to),
    cc: toFurther(email.cc),
    bcc: toFurther(email.bcc),
    replyTo: toFurther(email.reply_to)?.map((one) => one.email),
    subject: email.subject === undefined ? undefined : toLiteral(email.subject),
    html: typeof html === "string" ? toLiteral(html) : undefined,
    text: typeof text === "string" ? toLiteral(text) : undefined,
    templateId: template ? Number(template.id) : undefined,
    variables: template?.variables ?? undefined,
    headers: email.headers ? withoutComposerHeaders(email.headers) : undefined,
    metadata: tags ? Object.fromEntries(tags.map(({ name, value }) => [name, value])) : undefined,
    scheduledAt: email.scheduled_at ?? undefined,
    attachments: attachments?.map(({ filename, content, content_type, content_id }) => ({
      filename,
      content: toBase64(content),
      type: content_type ?? undefined,
      contentId: content_id ? bareContentId(content_id) : undefined,
    })),
  };
}

export async function acceptEmail(caller: Caller, email: ResendEmail) {
  const { id } = await acceptMail(caller, toMessage(toFields(email), names), names);
  return { id: toUuid(id) };
}

/** `permissive`: an email that is not valid is rejected alone. Otherwise nothing is accepted. */
export async function acceptBatch(
  caller: Caller,
  batch: ResendBatch,
  { permissive }: { permissive: boolean },
): Promise<z.input<typeof ResendBatchAccepted>> {
  const checked = batch.map((email) =>
    tryToMessage(() => toFields(validate(ResendEmail, email) as ResendEmail), names),
  );
  if (!permissive) {
    const messages = checked.map((one, i) => {
      if (one instanceof Problem) throw renamed(one, {}, String(i));
      return one;
    });
    const rename = (error: unknown, i: number) => renamed(error, names, String(i));
    await requireAllAcceptable(caller, messages, { rename });
  }
  const results = await acceptEach(caller, checked);
  const rejected = results.filter(({ id }) => id === null);
  return {
    data: results.flatMap(({ id }) => (id === null ? [] : [{ id: toUuid(id) }])),
    ...(rejected.length && {
      errors: rejected.map(({ index, problem, error }) => ({
        index,
        message: problem ? (renamed(problem, names) as Problem).message : (error ?? ""),
      })),
    }),
  };
}

export const ResendStatus = z
  .object({
    object: z.literal("email").describe("Always `email`."),
    id: SendUuid,
    to: z.array(z.string()).describe("Recipients."),
    from: z.string().describe("Sender."),
    created_at: z.string().describe("When the email was accepted."),
    subject: z.string().describe("Subject line."),
    html: z
      .string()
      .nullable()
      .describe("HTML part, or `null`. Only for keys with the right `sending:content`."),
    text: z.string().nullable().describe("Plain text part, or `null`. As `html`."),
    cc: z.array(z.string()).describe("Addresses that got a copy. As `html`."),
    bcc: z.array(z.string()).describe("Addresses that got a blind copy. As `html`."),
    reply_to: z.array(z.string()).describe("Addresses for replies. As `html`."),
    last_event: z.string().describe("What happened last, such as `delivered`."),
    scheduled_at: z.string().nullable().describe("When it is to be sent, or `null`."),
    tags: z.array(ResendTag).describe("`metadata` of the send."),
  })
  .meta({
    id: "ResendStatus",
    examples: [
      {
        object: "email",
        id: toUuid(101),
        to: ["ada@example.com"],
        from: "Shop <hello@shop.example>",
        created_at: "2026-12-01T09:00:00.412Z",
        subject: "Your order is on its way",
        html: "<p>It arrives on Tuesday.</p>",
        text: "It arrives on Tuesday.",
        cc: [],
        bcc: [],
        reply_to: [],
        last_event: "delivered",
        scheduled_at: null,
        tags: [],
      },
    ],
  });

const lastEvents: Partial<Record<Send["status"], string>> = {
  sending: "queued",
  uncertain: "sent",
  cancelled: "canceled",
};

function lastEventOf({ status, error, openedAt, clickedAt }: Send): string {
  if (status === "failed") return error === "suppressed" ? "suppressed" : "failed";
  if (clickedAt) return "clicked";
  if (openedAt) return "opened";
  return lastEvents[status] ?? status;
}

/** The content is left out if it is no longer stored, or if the caller may not read it. */
export async function findEmail(caller: Caller, id: number): Promise<z.input<typeof ResendStatus>> {
  const send = toApi(await findSend(caller, id));
  const readsContent = permits(caller.scopes, { right: "sending:content", scope: "sends:read" });
  const content = readsContent
    ? await findSentContent(caller, id).catch(undefinedIfMissing)
    : undefined;
  const format = ({ email, name }: { email: string; name: string | null }) =>
    name ? `${name} <${email}>` : email;
  return {
    object: "email",
    id: toUuid(send.id),
    to: content?.to.map(format) ?? [send.toEmail],
    from: format({ email: send.fromEmail, name: send.fromName }),
    created_at: send.createdAt,
    subject: content?.subject ?? send.subject,
    html: content?.html ?? null,
    text: content?.text ?? null,
    cc: content?.cc.map(format) ?? [],
    bcc: content?.bcc.map(format) ?? [],
    reply_to: content?.replyTo ?? [],
    last_event: lastEventOf(send),
    scheduled_at: send.scheduledAt,
    tags: Object.entries(send.metadata ?? {}).map(([name, value]) => ({
      name,
      value: String(value),
    })),
  };
}

const failureNames: Record<string, string> = {
  unauthorized: "invalid_api_key",
  scope_missing: "restricted_api_key",
  not_found: "not_found",
  method_not_allowed: "method_not_allowed",
  payment_required: "monthly_quota_exceeded",
  rate_limited: "rate_limit_exceeded",
  idempotency_mismatch: "invalid_idempotent_request",
  idempotency_in_progress: "concurrent_idempotent_requests",
  no_sending_config: "invalid_from_address",
  domain_not_verified: "invalid_from_address",
};

/** Their API answers with another status than ours. */
const failureStatuses: Record<number, number> = { 400: 422, 402: 429 };

function toError({ status, code, message, field }: WireError) {
  const statusCode = failureStatuses[status] ?? status;
  const isServerFault = status >= 500;
  const usual = isServerFault ? "application_error" : "validation_error";
  const isAttachment = field?.startsWith("attachments") && statusCode === 422;
  const name = isAttachment ? "invalid_attachment" : (failureNames[code] ?? usual);
  return { status: statusCode, body: { statusCode, name, message } };
}

export const resendFormat: WireFormat = {
  name: "Resend",
  path: "/compat/resend",
  Failure: z
    .object({
      statusCode: z.int().min(400).max(599).describe("HTTP status."),
      name: z.string().describe("Code of the error, such as `validation_error`."),
      message: z.string().describe("What is wrong, in one sentence that names the field."),
    })
    .meta({ id: "ResendFailure" }),
  toError,
};
