// Requests of providers with received mail, as their documentation shows them.
import { createHmac } from "node:crypto";
import type { InboundMailProvider } from "../../shared/providers/inbound-mail/provider-keys.ts";

export interface SampleMail {
  from: string;
  to?: string;
  subject?: string;
  text?: string;
  /** Further headers. */
  headers?: Record<string, string>;
  messageId?: string;
  /** How many servers the mail passed. */
  hops?: number;
  /** Instead of the small PDF; of `postmark`. */
  files?: { filename: string; content: Buffer; type?: string }[];
}

const headersOf = ({
  from,
  to = "replies@in.shop.example",
  subject = "Re: Hello",
  headers = {},
  messageId = `${crypto.randomUUID()}@mail.example`,
  hops = 0,
}: SampleMail): [string, string][] => [
  ...Array.from({ length: hops }, (_, i): [string, string] => ["Received", `from a${i}.example`]),
  ["From", from],
  ["To", to],
  ["Subject", subject],
  ["Message-ID", `<${messageId}>`],
  ["Date", "Tue, 01 Dec 2026 09:00:00 +0100"],
  ...Object.entries(headers),
];

const boundary = "=_parts";

/** A mail with a text, an HTML part and a small file. */
export function writeMime(mail: SampleMail): string {
  const { text = "Yes, please!" } = mail;
  return [
    ...headersOf(mail).map(([name, value]) => `${name}: ${value}`),
    "MIME-Version: 1.0",
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    "Content-Type: text/plain; charset=utf-8",
    "",
    text,
    `--${boundary}`,
    'Content-Type: application/pdf; name="order.pdf"',
    'Content-Disposition: attachment; filename="order.pdf"',
    "Content-Transfer-Encoding: base64",
    "",
    fileContent.toString("base64"),
    `--${boundary}--`,
    "",
  ].join("\r\n");
}

export const fileContent = Buffer.from("%PDF-1.4 a small file");
const pdfFile = { filename: "order.pdf", content: fileContent, type: "application/pdf" };

export interface SampleRequest {
  contentType: string;
  body: Buffer;
}

const toJson = (value: unknown): SampleRequest => ({
  contentType: "application/json",
  body: Buffer.from(JSON.stringify(value)),
});

async function toForm(fields: Record<string, string | File>): Promise<SampleRequest> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const request = new Response(form);
  return {
    contentType: request.headers.get("content-type")!,
    body: Buffer.from(await request.arrayBuffer()),
  };
}

const pdf = () => new File([new Uint8Array(fileContent)], "order.pdf", { type: "application/pdf" });

/** Keys that sign the requests. */
export const mailgunKey = "key-of-mailgun";

const mailgunSignature = (now: Date) => {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const token = "a".repeat(50);
  const signature = createHmac("sha256", mailgunKey)
    .update(timestamp + token)
    .digest("hex");
  return { timestamp, token, signature };
};

/** By provider: the request with the parts of the mail, and the one with the whole mail. */
export const writeRequest: Record<
  InboundMailProvider,
  (mail: SampleMail, raw?: boolean, now?: Date) => Promise<SampleRequest>
> = {
  postmark: async (mail, raw = false) => {
    const {
      from,
      to = "replies@in.shop.example",
      subject = "Re: Hello",
      text = "Yes, please!",
    } = mail;
    const hidden = new Set(["From", "To", "Subject", "Date"]);
    const headers = headersOf(mail).filter(([name]) => !hidden.has(name));
    return toJson({
      FromName: "",
      From: from,
      FromFull: boxOf(from),
      ToFull: [boxOf(to)],
      CcFull: [],
      OriginalRecipient: to,
      Subject: subject,
      MessageID: `pm-${headers.find(([name]) => name === "Message-ID")![1]}`,
      ReplyTo: "",
      MailboxHash: "",
      Date: "Tue, 01 Dec 2026 09:00:00 +0100",
      TextBody: text,
      HtmlBody: "",
      StrippedTextReply: "",
      Tag: "",
      Headers: headers.map(([Name, Value]) => ({ Name, Value })),
      Attachments: (mail.files ?? [pdfFile]).map(({ filename, content, type = "text/plain" }) => ({
        Name: filename,
        ContentType: type,
        ContentLength: content.length,
        ContentID: "",
        Content: content.toString("base64"),
      })),
      ...(raw && { RawEmail: writeMime(mail) }),
    });
  },
  sendgrid: (mail, raw = false) => {
    const {
      from,
      to = "replies@in.shop.example",
      subject = "Re: Hello",
      text = "Yes, please!",
    } = mail;
    const common = {
      to,
      from,
      subject,
      envelope: JSON.stringify({ to: [boxOf(to).Email], from: boxOf(from).Email }),
      spam_score: "0.011",
      spam_report: "Spam detection software",
      charsets: JSON.stringify({ to: "UTF-8", text: "UTF-8" }),
    };
    if (raw) return toForm({ ...common, email: writeMime(mail) });
    const headers = headersOf(mail).map(([name, value]) => `${name}: ${value}\n`);
    return toForm({
      ...common,
      headers: headers.join(""),
      text,
      attachments: "1",
      "attachment-info": JSON.stringify({
        attachment1: { filename: "order.pdf", name: "order.pdf", type: "application/pdf" },
      }),
      attachment1: pdf(),
    });
  },
  mailgun: (mail, raw = false, now = new Date()) => {
    const {
      from,
      to = "replies@in.shop.example",
      subject = "Re: Hello",
      text = "Yes, please!",
    } = mail;
    const common = {
      recipient: boxOf(to).Email,
      sender: boxOf(from).Email,
      from,
      subject,
      ...mailgunSignature(now),
    };
    if (raw) return toForm({ ...common, "body-mime": writeMime(mail) });
    return toForm({
      ...common,
      "message-headers": JSON.stringify(headersOf(mail)),
      "body-plain": text,
      "stripped-text": text,
      "attachment-count": "1",
      "attachment-1": pdf(),
    });
  },
  ses: async (mail, raw = false) => {
    const content = writeMime(mail);
    const notification = {
      notificationType: "Received",
      mail: {
        messageId: "o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1",
        source: boxOf(mail.from).Email,
      },
      receipt: {
        recipients: [boxOf(mail.to ?? "replies@in.shop.example").Email],
        spamVerdict: { status: "PASS" },
        action: raw
          ? { type: "S3", bucketName: "mails", objectKey: "in/o3vrnil0e2ic" }
          : { type: "SNS", encoding: "BASE64" },
      },
      ...(!raw && { content: Buffer.from(content).toString("base64") }),
    };
    return {
      contentType: "text/plain; charset=UTF-8",
      body: Buffer.from(
        JSON.stringify({
          Type: "Notification",
          MessageId: "22b80b92-fdea-4c2c-8f9d-3f1f0a6a3b55",
          TopicArn: "arn:aws:sns:eu-west-1:123456789012:inbound",
          Message: JSON.stringify(notification),
          Timestamp: "2026-12-01T09:00:00.000Z",
        }),
      ),
    };
  },
  sparkpost: async (mail, raw = false) => {
    const content = writeMime(mail);
    return toJson([
      {
        msys: {
          relay_message: {
            content: {
              email_rfc822: raw ? Buffer.from(content).toString("base64") : content,
              email_rfc822_is_base64: raw,
            },
            msg_from: boxOf(mail.from).Email,
            rcpt_to: boxOf(mail.to ?? "replies@in.shop.example").Email,
            protocol: "smtp",
            webhook_id: "4839201967643219",
          },
        },
      },
    ]);
  },
  mandrill: async (mail) => {
    const msg = {
      raw_msg: writeMime(mail),
      email: boxOf(mail.to ?? "replies@in.shop.example").Email,
      spam_report: { score: 1.2 },
    };
    const events = JSON.stringify([{ event: "inbound", ts: 1_796_115_600, msg }]);
    return {
      contentType: "application/x-www-form-urlencoded",
      body: Buffer.from(new URLSearchParams({ mandrill_events: events }).toString()),
    };
  },
  mailjet: async (mail) =>
    toJson({
      Sender: boxOf(mail.from).Email,
      Recipient: boxOf(mail.to ?? "replies@in.shop.example").Email,
      From: mail.from,
      Subject: mail.subject,
      Headers: Object.fromEntries(headersOf(mail)),
      Parts: [
        { Headers: { "Content-Type": "text/plain; charset=utf-8" }, ContentRef: "Text-part" },
        {
          Headers: {
            "Content-Type": 'application/pdf; name="order.pdf"',
            "Content-Disposition": 'attachment; filename="order.pdf"',
          },
          ContentRef: "Attachment1",
        },
      ],
      "Text-part": mail.text ?? "Yes, please!",
      Attachment1: fileContent.toString("base64"),
      SpamAssassinScore: "0.602",
    }),
  brevo: async (mail) =>
    toJson({
      items: [
        {
          Uuid: ["8d79f2b1-20ae-4939-8d0b-d2517331a9e5"],
          Recipients: [boxOf(mail.to ?? "replies@in.shop.example").Email],
          Headers: Object.fromEntries(headersOf(mail)),
          RawTextBody: mail.text ?? "Yes, please!",
          RawHtmlBody: null,
          SpamScore: 0.1,
          Attachments: [
            { Name: "order.pdf", ContentType: "application/pdf", DownloadToken: "token-1" },
          ],
        },
      ],
    }),
  resend: async () =>
    toJson({
      type: "email.received",
      created_at: "2026-12-01T09:00:00.000Z",
      data: { email_id: "56761188-7520-42d8-8898-ff6fc54ce618", to: ["replies@in.shop.example"] },
    }),
  mime: async (mail) => ({
    contentType: "message/rfc822",
    body: Buffer.from(writeMime(mail)),
  }),
};

function boxOf(address: string): { Email: string; Name: string } {
  const [, name = "", email = address] = /^(.*?)\s*<(.*)>$/.exec(address) ?? [];
  return { Email: email, Name: name.replace(/^"|"$/g, "") };
}
