import { expect } from "vitest";
import { json, type Wire } from "./wire.ts";

interface Message {
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

/** The suite's recipients of a batch: Mandrill's results name the address, and come in no promised order. */
const emails = (count: number) => Array.from({ length: count }, (_, n) => `person${9_007_199_254_740_000 + n}@example.net`);

const id = (n: number) => `8f0c1d5e2a7b4c3d9e6f1a2b3c4d5e${10 + n}`;
const taken = (email: string, n: number) => ({ email, status: n % 2 ? "queued" : "sent", _id: id(n), reject_reason: null });
const error = (name: string, message = "It cannot be", status = 500) => json(status, { status: "error", code: -1, name, message });

export const mandrill: Wire = {
  credentials: { apiKey: "md-example-key-000000" },
  secrets: ["md-example-key-000000"],
  path: "/api/1.0/messages/send",
  maxTags: 10,
  delivered({ body }) {
    const { key, message }: { key: string; message: Message } = JSON.parse(body.toString());
    expect(key).toBe("md-example-key-000000");
    const [copy, ...further] = message.to.filter(({ type }) => type === "bcc");
    expect(further).toEqual([]);
    // With a copy the mail must say whom it is to; without, nobody may see anybody else.
    expect(message).toMatchObject({ preserve_recipients: copy !== undefined, auto_text: false });
    if (copy) expect(message.to).toHaveLength(2);
    for (const tag of message.tags) expect(tag).toMatch(/^[^_].{0,49}$/su);
    return message.to.flatMap(({ email, name, type }) => {
      if (type !== "to") return [];
      const vars = message.merge_vars?.findLast(({ rcpt }) => rcpt.toLowerCase() === email.toLowerCase())?.vars ?? [];
      const values = new Map(vars.map(({ name, content }) => [name.toUpperCase(), content]));
      if (message.merge) expect(message.merge_language).toBe("mailchimp");
      const merged = (text: string) =>
        message.merge ? text.replace(/\*\|(.*?)\|\*/gsu, (tag, name: string) => values.get(name.toUpperCase()) ?? tag) : text;
      const { "Reply-To": replyTo, ...headers } = message.headers;
      return {
        from: { email: message.from_email, ...(message.from_name && { name: merged(message.from_name) }) },
        to: { email, ...(name && { name }) },
        replyTo,
        bcc: copy?.email,
        subject: merged(message.subject),
        text: message.text && merged(message.text),
        html: message.html && merged(message.html),
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, merged(value)])),
        tags: message.tags,
        sendId: message.recipient_metadata.find(({ rcpt }) => rcpt === email)?.values.sendId ?? "",
        attachments: (message.attachments ?? []).map(({ type, name, content }) => ({ type, filename: name, content })),
        trackOpens: message.track_opens,
        trackClicks: message.track_clicks,
      };
    });
  },
  success: (count) => json(200, emails(count).map(taken).toReversed()),
  messageId: (n) => id(n),
  refusal: (words) => error("ValidationError", words),
  config: [
    error("Invalid_Key", "Invalid API key"),
    error("PaymentRequired", "Add funds", 402),
    error("Unknown_Subaccount", "No subaccount exists", 404),
  ],
  pace: [{ reply: error("RequestLimitExceeded") }],
  fault: [error("GeneralError"), error("ServiceUnavailable"), { status: 500, body: "<html>Oops</html>" }],
  partial: (words) =>
    json(
      200,
      emails(3).map((email, n) => (n === 1 ? { email, status: "rejected", _id: id(n), reject_reason: words } : taken(email, n))),
    ),
};
