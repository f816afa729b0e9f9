// Postmark inbound webhook (postmarkapp.com/developer/webhooks/inbound-webhook): one mail in a
// request, as JSON. Postmark does not sign.
import { asObject, asObjects, parseJson, type UntrustedJson } from "../inbound/normalize.ts";
import {
  fileOfBase64,
  type InboundMailAdapter,
  type MailParts,
  mailboxText,
  parseMime,
  toReceivedMail,
} from "./received-mail.ts";

export const postmark: InboundMailAdapter = {
  async read({ body }) {
    const row = asObject(parseJson(Buffer.from(body)));
    // Events of Postmark's other webhooks have other values.
    if ((row.RecordType ?? "Inbound") !== "Inbound" || typeof row.MessageID !== "string") return [];
    const common = {
      envelopeTo: [row.OriginalRecipient],
      isSpam: spamOf(headerIn(row, "x-spam-status")),
      score: headerIn(row, "x-spam-score"),
      providerId: row.MessageID,
    };
    if (typeof row.RawEmail === "string") {
      const mail = await parseMime(row.RawEmail, common);
      return mail ? [mail] : [];
    }
    return [toReceivedMail({ ...common, ...partsOf(row) })];
  },
  // Postmark gives up after 403 alone.
  rejectedStatus: 403,
};

const headerIn = ({ Headers }: UntrustedJson, name: string): unknown =>
  asObjects(Headers).find(({ Name }) => String(Name).toLowerCase() === name)?.Value;

const spamOf = (status: unknown): boolean | undefined =>
  typeof status === "string" ? /^yes\b/i.test(status) : undefined;

/** Postmark takes the main headers out of `Headers`. */
function partsOf(row: UntrustedJson): Pick<MailParts, "headers" | "text" | "html" | "files"> {
  const boxes = (value: unknown) =>
    asObjects(value)
      .map(({ Email, Name }) => mailboxText(Email, Name))
      .join(", ");
  const given = asObjects(row.Headers).map(({ Name, Value }) => [String(Name), Value] as const);
  const own = [
    ["from", boxes(row.FromFull)],
    ["to", boxes(row.ToFull)],
    ["cc", boxes(row.CcFull)],
    ["subject", row.Subject],
    ["date", row.Date],
    ["reply-to", row.ReplyTo],
  ] as const;
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return {
    headers: [...own.filter(([name, value]) => value && !names.has(name)), ...given],
    text: row.TextBody,
    html: row.HtmlBody,
    files: asObjects(row.Attachments).map((file) =>
      fileOfBase64({
        filename: file.Name,
        type: file.ContentType,
        contentId: file.ContentID,
        base64: file.Content,
      }),
    ),
  };
}
