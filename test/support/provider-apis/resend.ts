import { expect } from "vitest";
import { jsonReply, type ProviderApi, parseMailbox } from "./provider-api.ts";

interface ResendRequestEmail {
  from: string;
  to: string[];
  bcc?: string[];
  reply_to?: string[];
  subject: string;
  html?: string;
  text?: string;
  headers: Record<string, string>;
  attachments?: { filename: string; content: string; content_type: string }[];
  tags: { name: string; value: string }[];
}

const acceptedResult = (n: number) => ({ id: `56761188-7520-42d8-8898-ff6fc54ce61${n}` });
const error = (
  statusCode: number,
  name: string,
  message = "It cannot be",
  headers: Record<string, string> = {},
) => jsonReply(statusCode, { statusCode, name, message }, headers);

export const resend: ProviderApi = {
  credentials: { apiKey: "re_example_key_000000" },
  secrets: ["re_example_key_000000"],
  path: "/emails",
  maxTags: 10,
  readMails({ path, headers, body }) {
    expect(headers.authorization).toBe("Bearer re_example_key_000000");
    expect(headers["user-agent"]).toBeTruthy();
    expect(headers["idempotency-key"]).toMatch(/^.{1,256}$/u);
    const parsed: ResendRequestEmail | ResendRequestEmail[] = JSON.parse(body.toString());
    expect(path).toBe(Array.isArray(parsed) ? "/emails/batch" : "/emails");
    expect(headers["x-batch-validation"]).toBe(Array.isArray(parsed) ? "permissive" : undefined);
    return [parsed].flat().map((email) => {
      expect(Object.hasOwn(email, "attachments") && Array.isArray(parsed)).toBe(false);
      for (const { name, value } of email.tags)
        expect(`${name} ${value}`).toMatch(/^[\w-]{1,256} [\w-]{1,256}$/u);
      expect(new Set(email.tags.map(({ name }) => name)).size).toBe(email.tags.length);
      const { "X-Send-Id": sendId, ...otherHeaders } = email.headers;
      expect(email.tags[0]).toEqual({ name: "send_id", value: sendId });
      return {
        from: parseMailbox(email.from),
        to: parseMailbox(email.to[0]!),
        replyTo: email.reply_to?.join(", "),
        bcc: email.bcc?.[0],
        subject: email.subject,
        text: email.text,
        html: email.html,
        headers: otherHeaders,
        tags: email.tags.slice(1).map(({ value }) => value),
        sendId: sendId!,
        attachments: (email.attachments ?? []).map(({ filename, content, content_type }) => ({
          filename,
          content,
          type: content_type,
        })),
      };
    });
  },
  success: (count) =>
    jsonReply(
      200,
      count === 1
        ? acceptedResult(0)
        : { data: Array.from({ length: count }, (_, n) => acceptedResult(n)) },
    ),
  messageId: (n) => acceptedResult(n).id,
  invalidMailReply: (message) => error(422, "validation_error", message),
  accountErrors: [
    error(401, "missing_api_key"),
    error(401, "restricted_api_key"),
    error(403, "invalid_api_key"),
    error(400, "invalid_api_key"),
    error(403, "validation_error", "The example.com domain is not verified."),
  ],
  rateLimits: [
    {
      reply: error(429, "rate_limit_exceeded", "Too many requests", { "retry-after": "2" }),
      seconds: 2,
    },
    {
      reply: error(429, "rate_limit_exceeded", "Too many requests", { "ratelimit-reset": "3" }),
      seconds: 3,
    },
    { reply: error(429, "daily_quota_exceeded"), seconds: 3600 },
    { reply: error(429, "monthly_quota_exceeded"), seconds: 3600 },
  ],
  outages: [],
  doubtful: [
    error(500, "application_error"),
    error(500, "internal_server_error"),
    error(409, "concurrent_idempotent_requests"),
  ],
  partialRefusal: (message) =>
    jsonReply(200, {
      data: [acceptedResult(0), acceptedResult(2)],
      errors: [{ index: 1, message }],
    }),
};
