import { expect } from "vitest";
import { jsonReply, type ProviderApi } from "./provider-api.ts";

interface MandrillRequestMessage {
  from_email: string;
  from_name?: string;
  to: { email: string; name?: string; type: string }[];
  subject: string;
  html?: string;
  text?: string;
  headers: Record<string, string>;
  track_opens?: boolean;
  track_clicks?: boolean;
  auto_text: boolean;
  preserve_recipients: boolean;
  merge: boolean;
  merge_language?: string;
  merge_vars?: { rcpt: string; vars: { name: string; content: string }[] }[];
  recipient_metadata: { rcpt: string; values: Record<string, string> }[];
  tags: string[];
  attachments?: { type: string; name: string; content: string }[];
}

/**
 * The recipients of a batch in the conformance suite. Mandrill's results contain the address, and
 * their order is not documented.
 */
const emails = (count: number) =>
  Array.from({ length: count }, (_, n) => `person${9_007_199_254_740_000 + n}@example.net`);

const id = (n: number) => `8f0c1d5e2a7b4c3d9e6f1a2b3c4d5e${10 + n}`;
const acceptedResult = (email: string, n: number) => ({
  email,
  status: n % 2 ? "queued" : "sent",
  _id: id(n),
  reject_reason: null,
});
const error = (name: string, message = "It cannot be", status = 500) =>
  jsonReply(status, { status: "error", code: -1, name, message });

export const mandrill: ProviderApi = {
  credentials: { apiKey: "md-example-key-000000" },
  secrets: ["md-example-key-000000"],
  path: "/api/1.0/messages/send",
  maxTags: 10,
  readMails({ body }) {
    const { key, message }: { key: string; message: MandrillRequestMessage } = JSON.parse(
      body.toString(),
    );
    expect(key).toBe("md-example-key-000000");
    const [copy, ...further] = message.to.filter(({ type }) => type === "bcc");
    expect(further).toEqual([]);
    // With a copy, the mail must show its recipient. Without, no recipient may see another.
    expect(message).toMatchObject({ preserve_recipients: copy !== undefined, auto_text: false });
    if (copy) expect(message.to).toHaveLength(2);
    for (const tag of message.tags) expect(tag).toMatch(/^[^_].{0,49}$/su);
    return message.to.flatMap(({ email, name, type }) => {
      if (type !== "to") return [];
      const vars =
        message.merge_vars?.findLast(({ rcpt }) => rcpt.toLowerCase() === email.toLowerCase())
          ?.vars ?? [];
      const values = new Map(vars.map(({ name, content }) => [name.toUpperCase(), content]));
      if (message.merge) expect(message.merge_language).toBe("mailchimp");
      const renderMergeTags = (text: string) =>
        message.merge
          ? text.replace(
              /\*\|(.*?)\|\*/gsu,
              (tag, name: string) => values.get(name.toUpperCase()) ?? tag,
            )
          : text;
      const { "Reply-To": replyTo, ...headers } = message.headers;
      return {
        from: {
          email: message.from_email,
          ...(message.from_name && { name: renderMergeTags(message.from_name) }),
        },
        to: { email, ...(name && { name }) },
        replyTo,
        bcc: copy?.email,
        subject: renderMergeTags(message.subject),
        text: message.text && renderMergeTags(message.text),
        html: message.html && renderMergeTags(message.html),
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, renderMergeTags(value)]),
        ),
        tags: message.tags,
        sendId: message.recipient_metadata.find(({ rcpt }) => rcpt === email)?.values.sendId ?? "",
        attachments: (message.attachments ?? []).map(({ type, name, content }) => ({
          type,
          filename: name,
          content,
        })),
        trackOpens: message.track_opens,
        trackClicks: message.track_clicks,
      };
    });
  },
  success: (count) => jsonReply(200, emails(count).map(acceptedResult).toReversed()),
  messageId: (n) => id(n),
  invalidMailReply: (reason) => error("ValidationError", reason),
  accountErrors: [
    error("Invalid_Key", "Invalid API key"),
    error("PaymentRequired", "Add funds", 402),
    error("Unknown_Subaccount", "No subaccount exists", 404),
  ],
  rateLimits: [{ reply: error("RequestLimitExceeded") }],
  outages: [error("ServiceUnavailable")],
  doubtful: [error("GeneralError")],
  partialRefusal: (reason) =>
    jsonReply(
      200,
      emails(3).map((email, n) =>
        n === 1
          ? { email, status: "rejected", _id: id(n), reject_reason: reason }
          : acceptedResult(email, n),
      ),
    ),
};
