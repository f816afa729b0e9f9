import { expect } from "vitest";
import { jsonReply, type ProviderApi } from "./provider-api.ts";

interface SendGridRequest {
  from: { email: string; name?: string };
  reply_to?: { email: string };
  subject: string;
  personalizations: {
    to: { email: string; name?: string }[];
    bcc?: { email: string }[];
    headers: Record<string, string>;
    custom_args: Record<string, string>;
    substitutions?: Record<string, string>;
  }[];
  content: { type: string; value: string }[];
  attachments?: { content: string; filename: string; type: string; disposition: string }[];
  categories?: string[];
  tracking_settings: Record<string, { enable: boolean; enable_text?: boolean }>;
}

const error = (message: string) => ({ errors: [{ message, field: null, help: null }] });

export const sendgrid: ProviderApi = {
  credentials: { apiKey: "SG.example-key-000000" },
  secrets: ["SG.example-key-000000"],
  path: "/v3/mail/send",
  maxTags: 10,
  readMails({ headers, body }) {
    expect(headers.authorization).toBe("Bearer SG.example-key-000000");
    const parsed: SendGridRequest = JSON.parse(body.toString());
    expect(parsed.content.map(({ type }) => type)).toEqual(
      ["text/plain", "text/html"].filter((type) =>
        parsed.content.some((part) => part.type === type),
      ),
    );
    return parsed.personalizations.map(({ to, bcc, headers, custom_args, substitutions = {} }) => {
      expect(Buffer.byteLength(JSON.stringify(substitutions))).toBeLessThanOrEqual(10_000);
      const substituted = (text: string) =>
        Object.entries(substitutions).reduce(
          (done, [key, value]) => done.replaceAll(key, () => value),
          text,
        );
      const part = (contentType: string) =>
        parsed.content
          .filter(({ type }) => type === contentType)
          .map(({ value }) => substituted(value))[0];
      if (headers["List-Unsubscribe"])
        expect(parsed.tracking_settings.subscription_tracking).toEqual({ enable: false });
      return {
        from: parsed.from,
        to: to[0]!,
        replyTo: parsed.reply_to?.email,
        bcc: bcc?.[0]?.email,
        subject: substituted(parsed.subject),
        text: part("text/plain"),
        html: part("text/html"),
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, substituted(value)]),
        ),
        tags: parsed.categories ?? [],
        sendId: custom_args.sendId!,
        attachments: (parsed.attachments ?? []).map(({ content, filename, type }) => ({
          content,
          filename,
          type,
        })),
        trackOpens: parsed.tracking_settings.open_tracking?.enable,
        trackClicks: parsed.tracking_settings.click_tracking?.enable,
      };
    });
  },
  success: () => ({ status: 202, headers: { "x-message-id": "wrfRRvF7Q0GgwUo2CvDmEA" } }),
  messageId: () => "wrfRRvF7Q0GgwUo2CvDmEA",
  invalidMailReply: (message) => jsonReply(400, error(message)),
  accountErrors: [
    jsonReply(401, error("The provided authorization grant is invalid, expired, or revoked")),
    jsonReply(403, error("The from address does not match a verified Sender Identity.")),
  ],
  rateLimits: [
    { reply: jsonReply(401, error("Maximum credits exceeded")), seconds: 3600 },
    {
      reply: jsonReply(429, error("too many requests"), { "x-ratelimit-reset": "1700000000" }),
      seconds: 0,
    },
  ],
  outages: [],
  doubtful: [jsonReply(500, error("internal error"))],
};
