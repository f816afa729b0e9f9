import { expect } from "vitest";
import { json, mailboxOf, type Wire } from "./wire.ts";

interface Message {
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

const ok = (n: number) => ({
  ErrorCode: 0,
  Message: "OK",
  MessageID: `b7bc2f4a-e38e-4336-af7d-${n}`,
  SubmittedAt: "2026-03-26T12:00:00Z",
  To: "x@example.net",
});
const error = (ErrorCode: number, Message = "It cannot be") => ({ ErrorCode, Message });

export const postmark: Wire = {
  credentials: { apiKey: "example-server-token", messageStream: "outbound" },
  secrets: ["example-server-token"],
  path: "/email",
  maxTags: 1,
  delivered({ path, headers, body }) {
    expect(headers).toMatchObject({
      "x-postmark-server-token": "example-server-token",
      accept: "application/json",
      "content-type": "application/json",
    });
    const said: Message | Message[] = JSON.parse(body.toString());
    expect(path).toBe(Array.isArray(said) ? "/email/batch" : "/email");
    return [said].flat().map((message) => {
      expect(message.MessageStream).toBe("outbound");
      return {
        from: mailboxOf(message.From),
        to: mailboxOf(message.To),
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
    }) as ReturnType<Wire["delivered"]>;
  },
  success: (count) => json(200, count === 1 ? ok(0) : Array.from({ length: count }, (_, n) => ok(n))),
  messageId: (n) => ok(n).MessageID,
  refusal: (words) => json(422, error(300, words)),
  config: [
    json(401, error(10)),
    json(422, error(400)),
    json(422, error(401)),
    json(422, error(412)),
    json(422, error(413)),
    { status: 403, body: "<html>Forbidden</html>" },
  ],
  pace: [{ reply: json(422, error(405)), seconds: 3600 }, { reply: json(429, {}) }],
  fault: [json(500, error(0)), json(422, error(100)), json(503, error(100))],
  partial: (words) => json(200, [ok(0), error(406, words), ok(2)]),
};
