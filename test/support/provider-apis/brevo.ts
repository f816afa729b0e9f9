import { expect } from "vitest";
import { jsonReply, type ProviderApi } from "./provider-api.ts";

interface Mailbox {
  email: string;
  name?: string;
}

interface BrevoVersion {
  to: Mailbox[];
  bcc?: Mailbox[];
  subject: string;
  htmlContent: string;
  textContent?: string;
  params?: Record<string, string>;
  headers: Record<string, string>;
}

interface BrevoRequest extends BrevoVersion {
  sender: Mailbox;
  replyTo?: Mailbox;
  attachment?: { name: string; content: string }[];
  tags?: string[];
  messageVersions?: Partial<BrevoVersion>[];
}

const escaped = (text: string) => text.replace(/[&<>"']/gu, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * Renders Brevo's template language without tags. Brevo evaluates all texts and escapes values.
 */
const renderParams = (text: string, params: Record<string, string>) =>
  text.replace(/\{\{\s*(?:params\.(\w+))?.*?\}\}|\{%.*?%\}|\{#.*?#\}/gsu, (_, name?: string) =>
    escaped(params[name ?? ""] ?? ""),
  );

/** Decodes encoded words of RFC 2047. */
const decodeEncodedWords = (value: string) =>
  value
    .replace(/(\?=) (?==\?)/gu, "$1")
    .replace(/=\?UTF-8\?B\?([^?]*)\?=/gu, (_, word: string) =>
      Buffer.from(word, "base64").toString(),
    );

const types: Record<string, string> = {
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
  png: "image/png",
  ics: "text/calendar",
};

const id = (n: number) => `<202611200914.5248119073${n}@smtp-relay.mailin.fr>`;
const error = (code: string, message = "It cannot be") => ({ code, message });

export const brevo: ProviderApi = {
  credentials: { apiKey: "xkeysib-example-000000" },
  secrets: ["xkeysib-example-000000"],
  path: "/v3/smtp/email",
  maxTags: 10,
  readMails({ headers, body }) {
    expect(headers["api-key"]).toBe("xkeysib-example-000000");
    const parsed: BrevoRequest = JSON.parse(body.toString());
    expect(parsed.headers.idempotencyKey).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
    );
    expect([...(parsed.sender.name ?? "")].length).toBeLessThanOrEqual(70);
    const { idempotencyKey: _, ...ownHeaders } = parsed.headers;
    const versions = parsed.messageVersions ?? [
      { to: parsed.to, ...(parsed.bcc && { bcc: parsed.bcc }), headers: ownHeaders },
    ];
    return versions.map((version) => {
      const {
        to,
        bcc,
        subject,
        htmlContent,
        textContent,
        params = {},
        headers,
      } = { ...parsed, bcc: [], ...version };
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/u);
      const { "X-Mailin-custom": custom = "{}", ...otherHeaders } = headers;
      return {
        from: {
          ...parsed.sender,
          ...(parsed.sender.name && { name: decodeEncodedWords(parsed.sender.name) }),
        },
        to: to[0]!,
        replyTo: parsed.replyTo?.email,
        bcc: bcc[0]?.email,
        subject: renderParams(subject, params),
        text: textContent === undefined ? undefined : renderParams(textContent, params),
        html: renderParams(htmlContent, params),
        headers: Object.fromEntries(
          Object.entries(otherHeaders).map(([name, value]) => [name, decodeEncodedWords(value)]),
        ),
        // The adapter adds tags with the send ids of the call.
        tags: parsed.tags!.filter((tag) => !tag.startsWith("pennymail-")),
        sendId: String(JSON.parse(custom).sendId),
        attachments: (parsed.attachment ?? []).map(({ name, content }) => ({
          filename: name,
          content,
          type: types[name.split(".").at(-1)!] ?? "application/octet-stream",
        })),
      };
    });
  },
  success: (count) =>
    jsonReply(
      201,
      count === 1
        ? { messageId: id(0) }
        : { messageIds: Array.from({ length: count }, (_, n) => id(n)) },
    ),
  messageId: (n) => id(n),
  invalidMailReply: (message) => jsonReply(400, error("invalid_parameter", message)),
  accountErrors: [
    jsonReply(401, error("unauthorized", "Key not found")),
    jsonReply(402, error("not_enough_credits")),
    jsonReply(403, error("permission_denied")),
    jsonReply(402, error("account_under_validation")),
    jsonReply(
      400,
      error(
        "invalid_parameter",
        "Sending has been rejected because the sender you used hi@example.com is not valid.",
      ),
    ),
  ],
  rateLimits: [
    {
      reply: jsonReply(429, error("too_many_requests"), { "x-sib-ratelimit-reset": "7" }),
      seconds: 7,
    },
  ],
  outages: [],
  doubtful: [jsonReply(500, error("internal_error")), jsonReply(201, {})],
};
