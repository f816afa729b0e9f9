// SendGrid's Mail Send API, version 3 (docs.sendgrid.com), as its official libraries call it.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import {
  acceptBatch,
  prepareRecipients,
  validateRecipients,
} from "../../domain/sending/accept/accept-batch.ts";
import { BatchMessage } from "../../domain/sending/accept/batch-message.ts";
import { loadIntake } from "../../domain/sending/accept/intake.ts";
import { storedObject } from "../../kernel/stored-json.ts";
import { validate } from "../validate.ts";
import { readName } from "./mailboxes.ts";
import {
  acceptEach,
  acceptMail,
  bareContentId,
  checkSharedFiles,
  closed,
  type FieldNames,
  renamed,
  requireAllAcceptable,
  supportedFields,
  type TranslatedFields,
  toLiteral,
  toMessage,
  wrongField,
} from "./translated-mail.ts";
import type { WireError, WireFormat } from "./wire-format.ts";

const Mailbox = supportedFields({
  email: z.string().min(1).max(1000).describe("Email address."),
  name: z
    .string()
    .max(100)
    .overwrite(readName)
    .optional()
    .describe("Name shown beside the address."),
}).meta({ id: "SendgridMailbox", ...closed });
const Mailboxes = z.array(Mailbox).min(1).max(50);
const HeaderFields = z.record(z.string().max(100), z.string().max(998));
const CustomArgs = z.record(z.string().max(40), z.string().max(500));
const sendTime = z.int().min(0).max(9_999_999_999);

const Personalization = supportedFields({
  to: Mailboxes.describe("Recipients, who see each other."),
  cc: Mailboxes.optional().describe("Addresses that get a copy."),
  bcc: Mailboxes.optional().describe("Addresses that get a blind copy."),
  from: Mailbox.optional().describe("Sender, instead of that of the request."),
  subject: z.string().min(1).max(998).optional().describe("Subject line of these recipients."),
  headers: HeaderFields.optional().describe("Further email headers of these recipients."),
  substitutions: z
    .record(z.string().min(1).max(200), z.string().max(10_000))
    .optional()
    .describe(
      "Texts that replace others in `subject` and `content`. With `template_id`, values for the " +
        "variables of the template: `-name-`, `%name%` and `{{name}}` are the variable `name`.",
    ),
  dynamic_template_data: storedObject(10_000)
    .optional()
    .describe("Values for the variables of the template."),
  custom_args: CustomArgs.optional().describe("`metadata` of these sends."),
  send_at: sendTime.optional().describe("When to send, in Unix seconds."),
});
type Personalization = z.output<typeof Personalization>;

const Content = supportedFields({
  type: z.enum(["text/plain", "text/html"]).describe("Type of the part."),
  value: z.string().min(1).max(1_000_000).describe("The part, without Liquid."),
});
const Attachment = supportedFields({
  content: z.string().max(14_000_000).describe("Content of the file in base64."),
  filename: z.string().min(1).max(200).describe("Name of the file."),
  type: z.string().max(100).optional().describe("Content type of the file."),
  disposition: z
    .enum(["attachment", "inline"])
    .optional()
    .describe("`inline`: the HTML shows the image by its `content_id`."),
  content_id: z.string().max(102).optional().describe("Name of an inline image."),
});
const OnlyOff = supportedFields({
  enable: z.literal(false).describe("Only `false`: Pennymail does not do this."),
})
  .meta({ id: "SendgridSwitchedOff", ...closed })
  .optional()
  .describe("Only switched off.");
const Switch = (what: string) =>
  supportedFields({ enable: z.boolean().describe(what) })
    .optional()
    .describe(what);

export const SendgridMail = supportedFields({
  personalizations: z
    .array(Personalization)
    .min(1)
    .max(1000)
    .describe(
      "An email each: up to 100, or up to 1,000 if they differ in nothing but the one address of " +
        "`to`, `dynamic_template_data` and `custom_args`.",
    ),
  from: Mailbox.describe("Sender."),
  reply_to: Mailbox.optional().describe("Address for replies. Its name is left out."),
  reply_to_list: z
    .array(Mailbox)
    .min(1)
    .max(10)
    .optional()
    .describe("Addresses for replies. Their names are left out."),
  subject: z.string().min(1).max(998).optional().describe("Subject line."),
  content: z.array(Content).min(1).max(2).optional().describe("The parts of the email."),
  attachments: z.array(Attachment).max(20).optional().describe("Up to 20 files."),
  template_id: z
    .string()
    .regex(/^(?:d-)?\d{1,15}$/, "must be the id of a template of Pennymail, such as 12 or d-12")
    .max(17)
    .optional()
    .describe(
      "Id of a template of Pennymail. The official libraries need the form `d-12`. With it, " +
        "`subject` and `content` are ignored, as SendGrid does.",
    ),
  headers: HeaderFields.optional().describe("Further email headers."),
  categories: z
    .array(z.string().min(1).max(50))
    .max(10)
    .optional()
    .describe("Up to 10 tags for the provider's statistics."),
  custom_args: CustomArgs.optional().describe("`metadata` of the sends."),
  send_at: sendTime.optional().describe("When to send, in Unix seconds, up to 30 days ahead."),
  mail_settings: supportedFields({
    sandbox_mode: OnlyOff,
    footer: OnlyOff,
    bypass_list_management: OnlyOff,
  })
    .optional()
    .describe("Settings of the email."),
  tracking_settings: supportedFields({
    click_tracking: supportedFields({
      enable: z.boolean().describe("Whether clicks are tracked."),
      enable_text: z.boolean().optional().describe("As `enable`."),
    })
      .optional()
      .describe("Whether clicks are tracked."),
    open_tracking: Switch("Whether opens are tracked."),
    subscription_tracking: OnlyOff,
    ganalytics: OnlyOff,
  })
    .optional()
    .describe("What is tracked."),
}).meta({
  id: "SendgridMail",
  ...closed,
  examples: [
    {
      personalizations: [{ to: [{ email: "ada@example.com" }] }],
      from: { email: "hello@shop.example", name: "Shop" },
      subject: "Your order is on its way",
      content: [{ type: "text/html", value: "<p>It arrives on Tuesday.</p>" }],
    },
  ],
});
type SendgridMail = z.output<typeof SendgridMail>;

/** Names of the fields that all emails share, and of those of one personalization. */
const sharedNames: FieldNames = {
  fromEmail: "from",
  fromName: "from",
  replyTo: "reply_to",
  html: "content",
  text: "content",
  templateId: "template_id",
  tags: "categories",
  scheduledAt: "send_at",
  contentId: "content_id",
};
const namesAt = (i: number): FieldNames => ({
  ...sharedNames,
  to: `personalizations.${i}.to`,
  cc: `personalizations.${i}.cc`,
  bcc: `personalizations.${i}.bcc`,
  metadata: "custom_args",
  variables: `personalizations.${i}.dynamic_template_data`,
});

const maxMails = 100;

/** Accepts all emails or none. Returns the id of the first send, or that of the batch. */
export async function acceptMails(caller: Caller, mail: SendgridMail): Promise<string> {
  const { personalizations } = mail;
  if (personalizations.length > maxMails) return acceptManyRecipients(caller, mail);
  const messages = personalizations.map((one, i) => toMessage(toFields(mail, one), namesAt(i)));
  if (messages.length === 1) {
    const { id } = await acceptMail(caller, messages[0]!, namesAt(0));
    return String(id);
  }
  const rename = (error: unknown, i: number) => renamed(error, namesAt(i));
  const files = await checkSharedFiles(caller, messages, namesAt(0));
  await requireAllAcceptable(caller, messages, { rename, files });
  const results = await acceptEach(caller, messages, files);
  const rejected = results.filter(({ problem }) => problem);
  if (!rejected.length) return String(results[0]!.id);
  // The checks were passed, so something changed in the meantime.
  const { index, error } = rejected[0]!;
  const accepted = results.length - rejected.length;
  throw wrongField(`personalizations.${index}`, `${error} (${accepted} others were accepted)`);
}

/** Its template has a subject and a content, and examples of SendGrid give both nevertheless. */
const hasDynamicTemplate = ({ template_id }: SendgridMail): boolean =>
  template_id?.startsWith("d-") ?? false;

/** The fields that do not depend on the recipients. */
function toSharedFields(mail: SendgridMail): Omit<TranslatedFields, "to"> {
  const { attachments, template_id, tracking_settings: tracking } = mail;
  const content = (hasDynamicTemplate(mail) ? undefined : mail.content) ?? [];
  const replyTos = mail.reply_to_list ?? (mail.reply_to ? [mail.reply_to] : undefined);
  if (mail.reply_to && mail.reply_to_list)
    throw wrongField("reply_to_list", "cannot be given together with reply_to");
  if (!template_id && !content.length) throw wrongField("content", "is required");
  if (template_id && content.length)
    throw wrongField("content", "cannot be given together with template_id");
  const partOf = (type: string) => content.find((part) => part.type === type)?.value;
  if (content.length === 2 && content[0]!.type === content[1]!.type)
    throw wrongField("content", "must have one part of each type");
  return {
    fromEmail: mail.from.email,
    fromName: mail.from.name,
    replyTo: replyTos?.map(({ email }) => email),
    html: partOf("text/html"),
    text: partOf("text/plain"),
    templateId: template_id === undefined ? undefined : Number(template_id.replace("d-", "")),
    tags: mail.categories,
    trackOpens: tracking?.open_tracking?.enable,
    trackClicks: tracking?.click_tracking?.enable,
    attachments: attachments?.map(
      ({ content: bytes, filename, type, disposition, content_id }) => ({
        filename,
        content: bytes,
        type,
        contentId: disposition === "inline" && content_id ? bareContentId(content_id) : undefined,
      }),
    ),
  };
}

function toFields(mail: SendgridMail, one: Personalization): TranslatedFields {
  const shared = toSharedFields(mail);
  const { substitutions = {}, custom_args } = one;
  const isTemplate = shared.templateId !== undefined;
  const fill = (text: string | undefined) =>
    text === undefined ? undefined : toLiteral(substitute(text, isTemplate ? {} : substitutions));
  const subject = hasDynamicTemplate(mail) ? undefined : (one.subject ?? mail.subject);
  if (!isTemplate && subject === undefined) throw wrongField("subject", "is required");
  const sendAt = one.send_at ?? mail.send_at;
  const isNamed = custom_args ?? mail.custom_args;
  return {
    ...shared,
    to: one.to,
    cc: one.cc,
    bcc: one.bcc,
    ...(one.from && { fromEmail: one.from.email, fromName: one.from.name }),
    subject: fill(subject),
    html: fill(shared.html),
    text: fill(shared.text),
    variables: {
      ...(isTemplate && toVariables(substitutions)),
      ...one.dynamic_template_data,
    },
    headers: { ...mail.headers, ...one.headers },
    metadata: isNamed && { ...mail.custom_args, ...custom_args },
    scheduledAt: sendAt === undefined ? undefined : new Date(sendAt * 1000).toISOString(),
  };
}

/** Replaces all tags at once, so that the value of one cannot contain another. */
function substitute(text: string, values: Record<string, string>): string {
  const tags = Object.keys(values).toSorted((a, b) => b.length - a.length);
  if (!tags.length) return text;
  const any = new RegExp(tags.map(escapeRegExp).join("|"), "g");
  return text.replace(any, (tag) => values[tag]!);
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The variable of a tag such as `-name-`, `%name%` or `{{name}}`. */
const toVariables = (substitutions: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(substitutions).map(([tag, value]) => [
      tag.replace(/^[^A-Za-z0-9_]+/, "").replace(/[^A-Za-z0-9_]{1,10}$/, ""),
      value,
    ]),
  );

/** More than 100: one content to many recipients, as POST /send/batch. */
async function acceptManyRecipients(caller: Caller, mail: SendgridMail): Promise<string> {
  const { personalizations } = mail;
  const different = personalizations.findIndex(
    ({ to, ...one }) =>
      Object.keys(one).some((name) => !["dynamic_template_data", "custom_args"].includes(name)) ||
      to.length > 1,
  );
  if (different >= 0)
    throw wrongField(
      `personalizations.${different}`,
      "with more than 100 of them, can have only one address in to, dynamic_template_data and " +
        "custom_args",
    );
  const { to: _to, cc: _cc, bcc: _bcc, ...shared } = toFields(mail, personalizations[0]!);
  if (shared.templateId === undefined && shared.html === undefined)
    throw wrongField("content", "needs a text/html part with more than 100 personalizations");
  const recipients = personalizations.map((one) => ({
    to: one.to[0]!.email,
    toName: one.to[0]!.name,
    variables: one.dynamic_template_data,
    metadata: { ...mail.custom_args, ...one.custom_args },
  }));
  try {
    const fields = { ...shared, variables: {}, metadata: undefined, recipients };
    return await acceptWhole(caller, validate(BatchMessage, fields) as BatchMessage);
  } catch (error) {
    throw renamed(error, { ...sharedNames, recipients: "personalizations" });
  }
}

/** Throws 400 if one of the recipients is not valid. */
async function acceptWhole(caller: Caller, message: BatchMessage): Promise<string> {
  const checked = validateRecipients(message);
  const emails = checked.flatMap(({ recipient }) => (recipient ? [recipient.to] : []));
  const options = { emails, withSiteBcc: true, canFailOver: true };
  const context = await loadIntake(caller, message, options);
  const batch = { message, checked };
  const { rows } = prepareRecipients(batch, context);
  const wrong = rows.find(({ recipient }) => !recipient);
  if (wrong) throw wrongField(`personalizations.${wrong.index}.to`, wrong.error ?? "is not valid");
  const { batchId } = await acceptBatch(caller, batch, context);
  return String(batchId);
}

/** SendGrid's API has no other statuses for what a caller can correct. */
const failureStatuses: Record<number, number> = { 402: 403, 409: 400 };

function toError({ status, message, field }: WireError) {
  const isTemplate = status === 404 && field !== undefined;
  const wireStatus = isTemplate ? 400 : (failureStatuses[status] ?? status);
  return {
    status: wireStatus,
    body: { errors: [{ message, field: field ?? null, help: null }] },
  };
}

export const sendgridFormat: WireFormat = {
  name: "SendGrid",
  path: "/compat/sendgrid",
  Failure: z
    .object({
      errors: z
        .array(
          z.object({
            message: z.string().describe("What is wrong, in one sentence."),
            field: z.string().nullable().describe("The wrong field, or `null`."),
            help: z.string().nullable().describe("Always `null`."),
          }),
        )
        .describe("One entry."),
    })
    .meta({ id: "SendgridFailure" }),
  toError,
};
