import { expect } from "vitest";
import { jsonReply, type ProviderApi, parseMailbox } from "./provider-api.ts";

interface Smtp2goRequestEmail {
  sender: string;
  to: string[];
  bcc?: string[];
  subject: string;
  html_body?: string;
  text_body?: string;
  custom_headers: { header: string; value: string }[];
  attachments?: { filename: string; fileblob: string; mimetype: string }[];
}

const request_id = "aa253464-0bd0-467a-b24b-6159dcd7be60";
const id = (n: number) => `1u0SwL-B9zBpi9ffUq-JAB${n}`;
const errorData = (code: string, error = "It cannot be") => ({
  error,
  error_code: `E_ApiResponseCodes.${code}`,
});
const error = (status: number, code: string, message?: string) =>
  jsonReply(status, { request_id, data: errorData(code, message) });

export const smtp2go: ProviderApi = {
  credentials: { apiKey: "api-example-000000000000", region: "eu" },
  secrets: ["api-example-000000000000"],
  path: "/v3/email/send",
  maxTags: 0,
  readMails({ path, headers, body }) {
    expect(headers["x-smtp2go-api-key"]).toBe("api-example-000000000000");
    const parsed: Smtp2goRequestEmail | { emails: Smtp2goRequestEmail[] } = JSON.parse(
      body.toString(),
    );
    const emails = "emails" in parsed ? parsed.emails : [parsed];
    expect(path).toBe("emails" in parsed ? "/v3/email/batch" : "/v3/email/send");
    return emails.map((email) => {
      const all = Object.fromEntries(
        email.custom_headers.map(({ header, value }) => [header, value]),
      );
      expect(Object.keys(all)).toHaveLength(email.custom_headers.length);
      const { "Reply-To": replyTo, "X-Send-Id": sendId = "", ...otherHeaders } = all;
      return {
        from: parseMailbox(email.sender),
        to: parseMailbox(email.to[0]!),
        replyTo,
        bcc: email.bcc?.[0],
        subject: email.subject,
        text: email.text_body,
        html: email.html_body,
        headers: otherHeaders,
        tags: [],
        sendId,
        attachments: (email.attachments ?? []).map(({ filename, fileblob, mimetype }) => ({
          filename,
          content: fileblob,
          type: mimetype,
        })),
      };
    });
  },
  success: (count) =>
    jsonReply(200, {
      request_id,
      data:
        count === 1
          ? { succeeded: 1, failed: 0, failures: [], email_id: id(0) }
          : Array.from({ length: count }, (_, n) => ({ email_id: id(n) })),
    }),
  messageId: (n) => id(n),
  invalidMailReply: (message) => error(400, "NON_VALIDATING_IN_PAYLOAD", message),
  accountErrors: [
    error(400, "ENDPOINT_PERMISSION_DENIED"),
    error(400, "API_EXCEPTION", "The sender is not verified"),
    jsonReply(400, errorData("API_EXCEPTION")),
    error(402, "PAYMENT"),
    error(403, "FORBIDDEN"),
  ],
  rateLimits: [{ reply: error(429, "RATE_LIMIT"), seconds: 60 }],
  outages: [],
  doubtful: [error(500, "INTERNAL")],
  partialRefusal: (message) =>
    jsonReply(200, {
      request_id,
      data: [
        { email_id: id(0) },
        errorData("NON_VALIDATING_IN_PAYLOAD", message),
        { email_id: id(2) },
      ],
    }),
};
