// Builds the text of a mail (RFC 5322, MIME) with the composer of nodemailer. The same mail always
// has the same bytes.
import MailComposer from "nodemailer/lib/mail-composer";

interface Address {
  email: string;
  name?: string | undefined;
}

interface MimePart {
  filename: string;
  type: string;
  /** Base64. */
  content: string;
  /** The HTML shows the part by `cid:<contentId>`. */
  contentId?: string | undefined;
}

/** Email addresses are in ASCII. */
export interface MimeMail {
  from: Address;
  to: Address[];
  cc: Address[];
  replyTo: Address[];
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** Without line breaks. */
  headers: Record<string, string>;
  attachments: MimePart[];
  /** Without angle brackets. Different mails have different ids. */
  messageId: string;
  date: Date;
}

export const composeMime = (mail: MimeMail): Promise<Buffer> =>
  new MailComposer({
    from: toMailbox(mail.from),
    to: mail.to.map(toMailbox),
    cc: mail.cc.map(toMailbox),
    replyTo: mail.replyTo.map(toMailbox),
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: mail.headers,
    attachments: mail.attachments.map(({ filename, type, content, contentId }) => ({
      filename,
      contentType: type,
      content,
      encoding: "base64",
      ...(contentId !== undefined && { cid: contentId, contentDisposition: "inline" }),
    })),
    messageId: `<${mail.messageId}>`,
    date: mail.date,
    baseBoundary: mail.messageId.replace(/[^A-Za-z0-9]/g, "").slice(0, 40),
    normalizeHeaderKey: (name) => name,
    newline: "win",
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();

const toMailbox = ({ email, name = "" }: Address) => ({ address: email, name });
