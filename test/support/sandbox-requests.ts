// Raw requests to the provider sandbox, as in the providers' documentation.
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { createAccount, type ProviderKeys, startSandbox } from "./provider-sandbox.ts";

export let sandbox: Sandbox;
export let providerKeys: Record<string, ProviderKeys>;

export async function openSandboxAccount(): Promise<void> {
  sandbox = await startSandbox();
  providerKeys = await createAccount(sandbox);
}

const apiKey = (provider: string) => providerKeys[provider]!.credentials.apiKey!;

/** The authentication headers of each provider. Mandrill has its key in the body, and SES signs. */
export const authHeaders: Record<string, () => Record<string, string>> = {
  sendgrid: () => ({ authorization: `Bearer ${apiKey("sendgrid")}` }),
  postmark: () => ({ "x-postmark-server-token": apiKey("postmark") }),
  mailgun: () => ({ authorization: `Basic ${btoa(`api:${apiKey("mailgun")}`)}` }),
  sparkpost: () => ({ authorization: apiKey("sparkpost") }),
  brevo: () => ({ "api-key": apiKey("brevo") }),
  mailjet: () => ({
    authorization: `Basic ${btoa(`${apiKey("mailjet")}:${providerKeys.mailjet!.credentials.secretKey}`)}`,
  }),
  mandrill: () => ({}),
  resend: () => ({ authorization: `Bearer ${apiKey("resend")}`, "user-agent": "test" }),
  smtp2go: () => ({ "x-smtp2go-api-key": apiKey("smtp2go") }),
};

/** Sends a GET request, or a POST request if there is a body. A text is sent as it is. */
export async function callProvider(
  provider: string,
  path: string,
  { body, headers }: { body?: unknown; headers?: Record<string, string> } = {},
) {
  const isForm = body instanceof FormData;
  const isEncoded = isForm || typeof body === "string" || body === undefined;
  const response = await fetch(sandbox.originByProvider[provider] + path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...authHeaders[provider]!(),
      ...(!isForm && { "content-type": "application/json" }),
      ...headers,
    },
    body: isEncoded ? (body ?? null) : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const repeat = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));
export const recipientAddress = (n = 0) => `limit${n}@example.net`;
export const senderAddress = "news@pennymail.test";

export const sendgridBody = (changes: object = {}) => ({
  from: { email: senderAddress },
  subject: "Hi",
  personalizations: [{ to: [{ email: recipientAddress() }] }],
  content: [{ type: "text/plain", value: "x" }],
  ...changes,
});
export const postmarkBody = (changes: object = {}) => ({
  From: senderAddress,
  To: recipientAddress(),
  Subject: "Hi",
  TextBody: "x",
  ...changes,
});
export const sparkpostBody = (content: object = {}, changes: object = {}) => ({
  recipients: [{ address: { email: recipientAddress() } }],
  content: { from: { email: senderAddress }, subject: "Hi", text: "x", ...content },
  ...changes,
});
export const brevoBody = (changes: object = {}) => ({
  sender: { email: senderAddress },
  to: [{ email: recipientAddress() }],
  subject: "Hi",
  htmlContent: "x",
  ...changes,
});
export const mailjetBody = (changes: object = {}) => ({
  From: { Email: senderAddress },
  To: [{ Email: recipientAddress() }],
  Subject: "Hi",
  TextPart: "x",
  ...changes,
});
export const mandrillBody = (changes: object = {}) => ({
  key: apiKey("mandrill"),
  message: {
    from_email: senderAddress,
    to: [{ email: recipientAddress() }],
    subject: "Hi",
    text: "x",
    ...changes,
  },
});
export const resendBody = (changes: object = {}) => ({
  from: senderAddress,
  to: [recipientAddress()],
  subject: "Hi",
  text: "x",
  ...changes,
});
export const smtp2goBody = (changes: object = {}) => ({
  sender: senderAddress,
  to: [recipientAddress()],
  subject: "Hi",
  text_body: "x",
  ...changes,
});
export function mailgunForm(changes: Record<string, string[]> = {}): FormData {
  const form = new FormData();
  for (const [name, values] of Object.entries({
    from: [senderAddress],
    to: [recipientAddress()],
    subject: ["Hi"],
    text: ["x"],
    ...changes,
  }))
    for (const value of values) form.append(name, value);
  return form;
}
export const mailgunPath = "/v3/mg.pennymail.test/messages";
