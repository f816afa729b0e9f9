// Renders again what was sent, from the content that is stored with the send. Rendering is
// deterministic, so the result is what the provider got, except for links with a token of the
// recipient: they say `hidden`, because whoever has such a link can act for the recipient. The page
// that a link in the mail opens shows them, because its visitor has the link already.
import * as z from "zod";
import { get } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import type { Brand } from "../../email/brand/brand.ts";
import { conflict, missing, Problem, undefinedIfMissing } from "../../errors.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";
import { fillMergeText, type Mailbox as StoredMailbox } from "../../providers/provider-adapter.ts";
import type { Site } from "../identity/sites.ts";
import { findSend, getSend } from "./read-sends.ts";
import { openBrowserToken } from "./rendering/browser-links.ts";
import { compose } from "./rendering/compose.ts";
import { contentTtlSeconds, type LiquidMail, loadLiquidMail } from "./rendering/mail-content.ts";
import { createLinksWithoutToken } from "./rendering/marketing-mail.ts";
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
  const send = await findSend(caller, id);
  const mail = await findStoredMail(caller.orgId, send);
  if (!mail)
    throw missing(
      "The content of this send is not stored: it is kept for 60 days, unless the recipient is " +
        "erased or was suppressed",
    );
  const fields = await loadLiquidMail(caller.orgId, mail.content).catch(undefinedIfMissing);
  if (!fields) throw missing("The template of this send no longer exists");
  try {
    return render(mail, hideTokens(fields));
  } catch (error) {
    if (error instanceof Problem && error.kind === "invalid")
      throw conflict(`The email cannot be rendered: ${error.message}`);
    throw error;
  }
}

/** The parts of a mail that its page shows. */
export interface BrowserView {
  subject: string;
  html: string | null;
  text: string;
}

export interface NoBrowserView {
  reason: "invalid" | "gone";
  /** The brand of the site, if it is known. */
  brand: Brand | null;
}

/**
 * The mail of the link `browserUrl`. `invalid` for a token that is not ours, `gone` if its content
 * is no longer stored.
 */
export async function findBrowserView(token: string): Promise<BrowserView | NoBrowserView> {
  const opened = await openBrowserToken(token);
  if (!opened) return { reason: "invalid", brand: null };
  const { orgId, sendId } = opened;
  const send = await getSend(orgId, sendId);
  if (!send) return { reason: "gone", brand: null };
  const [site, mail] = await Promise.all([
    get<Site>(keys.record(orgId, "SITE", send.siteId)),
    findStoredMail(orgId, send),
  ]);
  const gone: NoBrowserView = { reason: "gone", brand: site?.brand ?? null };
  // DynamoDB may delete expired items days late.
  if (!site || !mail || new Date(mail.content.at) < addSeconds(-contentTtlSeconds)) return gone;
  const fields = await loadLiquidMail(orgId, mail.content).catch(undefinedIfMissing);
  if (!fields) return gone;
  const { common, renderRecipient } = compose(mail.content, fields, []);
  const rendered = renderRecipient(mail.recipient);
  return {
    subject: fillMergeText(common.subject, rendered),
    html: common.html ? fillMergeText(common.html, rendered) : null,
    text: fillMergeText(common.text ?? [], rendered),
  };
}

const hidden = "hidden";

const hideTokens = ({ marketing, secureLinkOf, ...fields }: LiquidMail): LiquidMail => ({
  ...fields,
  ...(marketing && { marketing: createLinksWithoutToken(marketing, hidden) }),
  ...(secureLinkOf && { secureLinkOf: () => `${config.publicUrl}/secure/${hidden}` }),
});

function render({ content, recipient }: StoredMail, fields: LiquidMail): SentContent {
  const { common, renderRecipient } = compose(content, fields, []);
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
