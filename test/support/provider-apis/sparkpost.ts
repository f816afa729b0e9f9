import { expect } from "vitest";
import { jsonReply, type ProviderApi } from "./provider-api.ts";

interface SparkPostRequest {
  options: {
    open_tracking?: boolean;
    click_tracking?: boolean;
    transactional: boolean;
    perform_substitutions: boolean;
  };
  campaign_id?: string;
  recipients: {
    address: { email: string; name?: string; header_to?: string };
    metadata: Record<string, string>;
    substitution_data?: Record<string, string>;
    tags?: string[];
  }[];
  content: {
    from: { email: string; name?: string };
    reply_to?: string;
    subject: string;
    headers: Record<string, string>;
    text?: string;
    html?: string;
    attachments?: { name: string; type: string; data: string }[];
  };
}

const escaped = (text: string) => text.replace(/[&<>"'/]/gu, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * Renders placeholders of SparkPost's template language: triple braces first, and values are not
 * evaluated again.
 */
const renderTemplate = (text: string, data: Record<string, string>, html = false) =>
  text.replace(/\{\{\{(.*?)\}\}\}|\{\{(.*?)\}\}/gsu, (_, raw?: string, plain?: string) => {
    const value = data[(raw ?? plain ?? "").trim()] ?? "";
    return raw === undefined && html ? escaped(value) : value;
  });

const error = (code: string, message = "It cannot be") => ({ errors: [{ message, code }] });

export const sparkpost: ProviderApi = {
  credentials: { apiKey: "example-sparkpost-key" },
  secrets: ["example-sparkpost-key"],
  path: "/api/v1/transmissions",
  maxTags: 10,
  readMails({ headers, body }) {
    expect(headers.authorization).toBe("example-sparkpost-key");
    const { options, recipients, content, campaign_id }: SparkPostRequest = JSON.parse(
      body.toString(),
    );
    // Otherwise SparkPost replaces List-Unsubscribe.
    expect(options.transactional).toBe(true);
    return recipients.flatMap((recipient, n) => {
      const { address, metadata, substitution_data = {}, tags = [] } = recipient;
      if (address.header_to) return [];
      const copy = recipients[n + 1]?.address.header_to ? recipients[n + 1] : undefined;
      if (copy)
        expect(copy).toEqual({
          ...recipient,
          address: { email: copy.address.email, header_to: address.email },
        });
      const renderValue = (text: string) => renderTemplate(text, substitution_data);
      const part = (text: string | undefined, html = false) =>
        text !== undefined && options.perform_substitutions
          ? renderTemplate(text, substitution_data, html)
          : text;
      if (tags.length > 0) expect(campaign_id).toBe(tags[0]);
      return {
        from: {
          ...content.from,
          ...(content.from.name && { name: renderValue(content.from.name) }),
        },
        to: address,
        replyTo: content.reply_to,
        bcc: copy?.address.email,
        subject: renderValue(content.subject),
        text: part(content.text),
        html: part(content.html, true),
        headers: Object.fromEntries(
          Object.entries(content.headers).map(([name, value]) => [name, renderValue(value)]),
        ),
        tags,
        sendId: metadata.sendId!,
        attachments: (content.attachments ?? []).map(({ name, type, data }) => ({
          filename: name,
          type,
          content: data,
        })),
        trackOpens: options.open_tracking,
        trackClicks: options.click_tracking,
      };
    });
  },
  success: (count) =>
    jsonReply(200, {
      results: {
        total_rejected_recipients: 0,
        total_accepted_recipients: count,
        id: "11668787484950529",
      },
    }),
  messageId: () => "11668787484950529",
  invalidMailReply: (message) => jsonReply(422, error("1300", message)),
  accountErrors: [
    jsonReply(401, error("1303")),
    jsonReply(403, error("1100")),
    jsonReply(400, error("7001")),
    jsonReply(420, error("2103")),
  ],
  rateLimits: [
    { reply: jsonReply(420, error("2101", "Exceed Sending Limit (hourly)")), seconds: 3600 },
    { reply: jsonReply(420, error("2105")), seconds: 3600 },
  ],
  outages: [],
  doubtful: [jsonReply(500, {}), jsonReply(503, error("1900"))],
};
