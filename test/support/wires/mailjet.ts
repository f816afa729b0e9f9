import { expect } from "vitest";
import { json, type Wire } from "./wire.ts";

interface Mailbox {
  Email: string;
  Name?: string;
}

interface Message {
  From: Mailbox;
  To: Mailbox[];
  Bcc?: Mailbox[];
  ReplyTo?: Mailbox;
  Subject: string;
  TextPart?: string;
  HTMLPart?: string;
  TemplateLanguage?: boolean;
  CustomID: string;
  EventPayload: string;
  CustomCampaign?: string;
  TrackOpens?: string;
  TrackClicks?: string;
  Headers: Record<string, string>;
  Attachments?: { ContentType: string; Filename: string; Base64Content: string }[];
}

const basic = Buffer.from("example-api-key-1:example-secret-key").toString("base64");
const uuid = (n: number) => `5b4de5f5-63d0-44f3-b4bd-a34f222cb8a${n}`;
const sent = (n: number) => ({
  Status: "success",
  CustomID: String(n),
  To: [{ Email: "x@example.net", MessageUUID: uuid(n), MessageID: 288230380946999300 + n, MessageHref: "https://api.mailjet.com/" }],
});
const unsent = (ErrorCode: string, StatusCode: number, ErrorMessage = "It cannot be") => ({
  Status: "error",
  Errors: [{ ErrorIdentifier: "88b5ca9f", ErrorCode, StatusCode, ErrorMessage, ErrorRelatedTo: ["From"] }],
});
const error = (StatusCode: number, ErrorCode: string, ErrorMessage = "It cannot be") =>
  json(StatusCode, { ErrorIdentifier: "06df1144", ErrorCode, StatusCode, ErrorMessage });

const mailbox = ({ Email, Name }: Mailbox) => ({ email: Email, ...(Name && { name: Name }) });
const state = (value: string | undefined) => (value === undefined ? undefined : value === "enabled");

export const mailjet: Wire = {
  credentials: { apiKey: "example-api-key-1", secretKey: "example-secret-key", region: "us" },
  secrets: ["example-api-key-1", "example-secret-key", basic],
  path: "/v3.1/send",
  maxTags: 1,
  delivered({ headers, body }) {
    expect(headers.authorization).toBe(`Basic ${basic}`);
    const { Messages }: { Messages: Message[] } = JSON.parse(body.toString());
    return Messages.map((message) => {
      expect(message.TemplateLanguage ?? false).toBe(false);
      expect(message.EventPayload).toBe(`{"sendId":${message.CustomID}}`);
      expect(Object.keys(message.Headers).filter((name) => /^(reply-to|x-mj-.*|x-mailjet-.*|list-id|x-mailer)$/iu.test(name))).toEqual([]);
      if (!message.HTMLPart) expect([message.TrackOpens, message.TrackClicks]).toEqual([undefined, undefined]);
      return {
        from: mailbox(message.From),
        to: mailbox(message.To[0]!),
        replyTo: message.ReplyTo?.Email,
        bcc: message.Bcc?.[0]?.Email,
        subject: message.Subject,
        text: message.TextPart,
        html: message.HTMLPart,
        headers: message.Headers,
        tags: message.CustomCampaign ? [message.CustomCampaign] : [],
        sendId: message.CustomID,
        attachments: (message.Attachments ?? []).map(({ ContentType, Filename, Base64Content }) => ({
          filename: Filename,
          type: ContentType,
          content: Base64Content,
        })),
        trackOpens: state(message.TrackOpens),
        trackClicks: state(message.TrackClicks),
      };
    });
  },
  success: (count) => json(200, { Messages: Array.from({ length: count }, (_, n) => sent(n)) }),
  messageId: (n) => uuid(n),
  refusal: (words) => error(400, "mj-0002", words),
  config: [
    error(401, "mj-0015", "API key authentication/authorization failure."),
    error(401, "mj-0001"),
    json(403, { Messages: [unsent("send-0008", 403)] }),
    json(403, { Messages: [unsent("send-0006", 403)] }),
  ],
  pace: [{ reply: { status: 429, headers: { "content-type": "text/html" }, body: "Rate limit exceeded" } }],
  fault: [error(500, "mj-9999"), json(500, { Messages: [unsent("send-9999", 500)] })],
  partial: (words) => json(400, { Messages: [sent(0), unsent("mj-0013", 400, words), sent(2)] }),
};
