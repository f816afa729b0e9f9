import { expect } from "vitest";
import { jsonReply, type ProviderApi } from "./provider-api.ts";

interface Mailbox {
  Email: string;
  Name?: string;
}

interface MailjetRequestMessage {
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
const sentResult = (n: number) => ({
  Status: "success",
  CustomID: String(n),
  To: [
    {
      Email: "x@example.net",
      MessageUUID: uuid(n),
      MessageID: 288230380946999300 + n,
      MessageHref: "https://api.mailjet.com/",
    },
  ],
});
const failedResult = (ErrorCode: string, StatusCode: number, ErrorMessage = "It cannot be") => ({
  Status: "error",
  Errors: [
    { ErrorIdentifier: "88b5ca9f", ErrorCode, StatusCode, ErrorMessage, ErrorRelatedTo: ["From"] },
  ],
});
const error = (StatusCode: number, ErrorCode: string, ErrorMessage = "It cannot be") =>
  jsonReply(StatusCode, { ErrorIdentifier: "06df1144", ErrorCode, StatusCode, ErrorMessage });

const mailbox = ({ Email, Name }: Mailbox) => ({ email: Email, ...(Name && { name: Name }) });
const parseTracking = (value: string | undefined) =>
  value === undefined ? undefined : value === "enabled";

export const mailjet: ProviderApi = {
  credentials: { apiKey: "example-api-key-1", secretKey: "example-secret-key", region: "us" },
  secrets: ["example-api-key-1", "example-secret-key", basic],
  path: "/v3.1/send",
  maxTags: 1,
  readMails({ headers, body }) {
    expect(headers.authorization).toBe(`Basic ${basic}`);
    const { Messages }: { Messages: MailjetRequestMessage[] } = JSON.parse(body.toString());
    return Messages.map((message) => {
      expect(message.TemplateLanguage ?? false).toBe(false);
      expect(message.EventPayload).toBe(`{"sendId":${message.CustomID}}`);
      expect(
        Object.keys(message.Headers).filter((name) =>
          /^(reply-to|x-mj-.*|x-mailjet-.*|list-id|x-mailer)$/iu.test(name),
        ),
      ).toEqual([]);
      if (!message.HTMLPart)
        expect([message.TrackOpens, message.TrackClicks]).toEqual([undefined, undefined]);
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
        attachments: (message.Attachments ?? []).map(
          ({ ContentType, Filename, Base64Content }) => ({
            filename: Filename,
            type: ContentType,
            content: Base64Content,
          }),
        ),
        trackOpens: parseTracking(message.TrackOpens),
        trackClicks: parseTracking(message.TrackClicks),
      };
    });
  },
  success: (count) =>
    jsonReply(200, { Messages: Array.from({ length: count }, (_, n) => sentResult(n)) }),
  messageId: (n) => uuid(n),
  invalidMailReply: (words) => error(400, "mj-0002", words),
  accountErrors: [
    error(401, "mj-0015", "API key authentication/authorization failure."),
    error(401, "mj-0001"),
    jsonReply(403, { Messages: [failedResult("send-0008", 403)] }),
    jsonReply(403, { Messages: [failedResult("send-0006", 403)] }),
  ],
  rateLimits: [
    {
      reply: { status: 429, headers: { "content-type": "text/html" }, body: "Rate limit exceeded" },
    },
  ],
  outages: [jsonReply(500, { Messages: [failedResult("send-9999", 500)] })],
  doubtful: [error(500, "mj-9999")],
  partialRefusal: (words) =>
    jsonReply(400, {
      Messages: [sentResult(0), failedResult("mj-0013", 400, words), sentResult(2)],
    }),
};
