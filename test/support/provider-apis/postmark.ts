import { expect } from "vitest";
import { jsonReply, type ProviderApi, parseMailbox } from "./provider-api.ts";

interface PostmarkRequestMessage {
  From: string;
  To: string;
  Bcc?: string;
  ReplyTo?: string;
  Subject: string;
  TextBody?: string;
  HtmlBody?: string;
  MessageStream?: string;
  Tag?: string;
  TrackOpens?: boolean;
  TrackLinks?: string;
  Metadata: Record<string, string>;
  Headers: { Name: string; Value: string }[];
  Attachments?: { Name: string; Content: string; ContentType: string }[];
}

const acceptedResult = (n: number) => ({
  ErrorCode: 0,
  Message: "OK",
  MessageID: `b7bc2f4a-e38e-4336-af7d-${n}`,
  SubmittedAt: "2026-03-26T12:00:00Z",
  To: "x@example.net",
});
const error = (ErrorCode: number, Message = "It cannot be") => ({ ErrorCode, Message });

export const postmark: ProviderApi = {
  credentials: { apiKey: "example-server-token", messageStream: "outbound" },
  secrets: ["example-server-token"],
  path: "/email",
  maxTags: 1,
  readMails({ path, headers, body }) {
    expect(headers).toMatchObject({
      "x-postmark-server-token": "example-server-token",
      accept: "application/json",
      "content-type": "application/json",
    });
    const parsed: PostmarkRequestMessage | PostmarkRequestMessage[] = JSON.parse(body.toString());
    expect(path).toBe(Array.isArray(parsed) ? "/email/batch" : "/email");
    return [parsed].flat().map((message) => {
      expect(message.MessageStream).toBe("outbound");
      return {
        from: parseMailbox(message.From),
        to: parseMailbox(message.To),
        replyTo: message.ReplyTo,
        bcc: message.Bcc,
        subject: message.Subject,
        text: message.TextBody,
        html: message.HtmlBody,
        headers: Object.fromEntries(message.Headers.map(({ Name, Value }) => [Name, Value])),
        tags: message.Tag ? [message.Tag] : [],
        sendId: message.Metadata.sendId!,
        attachments: (message.Attachments ?? []).map(({ Name, Content, ContentType }) => ({
          filename: Name,
          content: Content,
          type: ContentType,
        })),
        trackOpens: message.TrackOpens,
        trackClicks: message.TrackLinks && message.TrackLinks !== "None",
      };
    }) as ReturnType<ProviderApi["readMails"]>;
  },
  success: (count) =>
    jsonReply(
      200,
      count === 1 ? acceptedResult(0) : Array.from({ length: count }, (_, n) => acceptedResult(n)),
    ),
  messageId: (n) => acceptedResult(n).MessageID,
  invalidMailReply: (message) => jsonReply(422, error(300, message)),
  accountErrors: [
    jsonReply(401, error(10)),
    jsonReply(422, error(400)),
    jsonReply(422, error(401)),
    jsonReply(422, error(412)),
    jsonReply(422, error(413)),
    { status: 403, body: "<html>Forbidden</html>" },
  ],
  rateLimits: [{ reply: jsonReply(422, error(405)), seconds: 3600 }, { reply: jsonReply(429, {}) }],
  outages: [jsonReply(422, error(100)), jsonReply(503, error(100))],
  doubtful: [jsonReply(500, error(0))],
  partialRefusal: (message) =>
    jsonReply(200, [acceptedResult(0), error(406, message), acceptedResult(2)]),
};
