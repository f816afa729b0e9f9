// Renders again what was sent, from the content that is stored with the send. Rendering is
// deterministic, so the result is what the provider got, except for links with a token of the
// recipient: they say `hidden`, because whoever has such a link can act for the recipient.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { conflict, missing, Problem, undefinedIfMissing } from "../../errors.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import { fillMergeText, type Mailbox as StoredMailbox } from "../../providers/provider-adapter.ts";
import { compose } from "./rendering/compose.ts";
import { loadMailParts, type MailParts } from "./rendering/mail-content.ts";
import { createLinksWithoutToken } from "./rendering/marketing-mail.ts";
import { findStored } from "./sends.ts";
import { findStoredMail, type StoredMail } from "./stored-mail.ts";

const Addressee = z
  .object({
    email: z.string().describe("Email address."),
    name: z.string().nullable().describe("Name, or `null`."),
  })
  .meta({ id: "Addressee" });

export const SentContent = z
  .object({
    sendId: RecordId.describe("Id of the send."),
    from: Addressee.describe("Sender of the email."),
    to: z.array(Addressee).describe("Recipients. The first is the recipient of the send."),
    cc: z.array(Addressee).describe("Addresses that got a copy."),
    bcc: z.array(Addressee).describe("Addresses that got a blind copy, with that of the site."),
    replyTo: z.array(z.string()).describe("Email addresses that replies go to."),
    subject: z.string().describe("Subject line."),
    html: z.string().nullable().describe("HTML part, or `null`."),
    text: z.string().nullable().describe("Plain text part, or `null`."),
    headers: z
      .record(z.string(), z.string())
      .describe("Further email headers, such as `List-Unsubscribe`."),
    tags: z.array(z.string()).describe("Tags given with the email."),
    attachments: z
      .array(
        z.object({
          filename: z.string().describe("Name of the file."),
          type: z.string().describe("Content type of the file."),
          size: Count.describe("Size of the file in bytes."),
          contentId: z
            .string()
            .nullable()
            .describe("Content id of an image that the HTML shows, or `null`."),
        }),
      )
      .describe("Attached files, without their content."),
    templateId: RecordId.nullable().describe("Template of the email, or `null`."),
    templateVersion: Count.nullable().describe("Version of the template, or `null`."),
    secure: z
      .boolean()
      .describe("Whether this is the notice of a secure message, whose content is encrypted."),
  })
  .meta({ id: "SentContent" });
export type SentContent = z.output<typeof SentContent>;

/**
 * Throws 404 for a send that does not exist or whose content is no longer stored, and 409 for one
 * that cannot be rendered.
 */
export async function findSentContent(caller: Caller, id: number): Promise<SentContent> {
  const send = await findStored(caller, id);
  const mail = await findStoredMail(caller.orgId, send);
  if (!mail)
    throw missing(
      "The content of this send is not stored: it is kept for 60 days, unless the recipient is " +
        "erased or was suppressed",
    );
  const parts = await loadMailParts(caller.orgId, mail.content).catch(undefinedIfMissing);
  if (!parts) throw missing("The template of this send no longer exists");
  try {
    return render(mail, hideTokens(parts));
  } catch (error) {
    if (error instanceof Problem && error.kind === "invalid")
      throw conflict(`The email cannot be rendered: ${error.message}`);
    throw error;
  }
}

const hidden = "hidden";

const hideTokens = ({ marketing, secureLinkOf, ...parts }: MailParts): MailParts => ({
  ...parts,
  ...(marketing && { marketing: createLinksWithoutToken(marketing, hidden) }),
  ...(secureLinkOf && { secureLinkOf: () => `${config.publicUrl}/secure/${hidden}` }),
});

function render({ content, recipient }: StoredMail, parts: MailParts): SentContent {
  const { common, renderRecipient } = compose(content, parts, []);
  const rendered = renderRecipient(recipient);
  const { to = [], cc = [], bcc = [] } = content.copies ?? {};
  return {
    sendId: recipient.sendId,
    from: toAddressee(content.from),
    to: [rendered.to, ...to].map(toAddressee),
    cc: cc.map(toAddressee),
    bcc: [...bcc, ...(content.bcc ? [{ email: content.bcc }] : [])].map(toAddressee),
    replyTo: common.replyTo ?? [],
    subject: fillMergeText(common.subject, rendered),
    html: common.html ? fillMergeText(common.html, rendered) : null,
    text: common.text ? fillMergeText(common.text, rendered) : null,
    headers: { ...common.headers, ...rendered.headers },
    tags: content.tags,
    attachments: content.attachments.map(({ filename, type, size, contentId }) => ({
      filename,
      type,
      size,
      contentId: contentId ?? null,
    })),
    templateId: content.template?.id ?? null,
    templateVersion: content.template?.version ?? null,
    secure: content.secure ?? false,
  };
}

const toAddressee = ({ email, name }: StoredMailbox): z.output<typeof Addressee> => ({
  email,
  name: name ?? null,
});
