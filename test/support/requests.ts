// Hand-made requests to the provider sandbox, as the providers' documentation writes them.
import type { Sandbox } from "../../infra/local/sandbox/index.ts";
import { account, type Keys, started } from "./sandbox.ts";

export let sandbox: Sandbox;
export let keys: Record<string, Keys>;

export async function open(): Promise<void> {
  sandbox = await started();
  keys = await account(sandbox);
}

const apiKey = (provider: string) => keys[provider]!.credentials.apiKey!;

/** How each provider wants its key; Mandrill has it in the body, SES signs. */
export const heads: Record<string, () => Record<string, string>> = {
  sendgrid: () => ({ authorization: `Bearer ${apiKey("sendgrid")}` }),
  postmark: () => ({ "x-postmark-server-token": apiKey("postmark") }),
  mailgun: () => ({ authorization: `Basic ${btoa(`api:${apiKey("mailgun")}`)}` }),
  sparkpost: () => ({ authorization: apiKey("sparkpost") }),
  brevo: () => ({ "api-key": apiKey("brevo") }),
  mailjet: () => ({ authorization: `Basic ${btoa(`${apiKey("mailjet")}:${keys.mailjet!.credentials.secretKey}`)}` }),
  mandrill: () => ({}),
  resend: () => ({ authorization: `Bearer ${apiKey("resend")}`, "user-agent": "test" }),
  smtp2go: () => ({ "x-smtp2go-api-key": apiKey("smtp2go") }),
};

export async function ask(provider: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const form = body instanceof FormData;
  const response = await fetch(sandbox.urls[provider] + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...heads[provider]!(), ...(!form && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: form ? body : typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const many = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n));
export const to = (n = 0) => `limit${n}@example.net`;
export const from = "news@pennymail.test";

export const sendgrid = (changes: object = {}) => ({
  from: { email: from },
  subject: "Hi",
  personalizations: [{ to: [{ email: to() }] }],
  content: [{ type: "text/plain", value: "x" }],
  ...changes,
});
export const postmark = (changes: object = {}) => ({ From: from, To: to(), Subject: "Hi", TextBody: "x", ...changes });
export const sparkpost = (content: object = {}, changes: object = {}) => ({
  recipients: [{ address: { email: to() } }],
  content: { from: { email: from }, subject: "Hi", text: "x", ...content },
  ...changes,
});
export const brevo = (changes: object = {}) => ({
  sender: { email: from },
  to: [{ email: to() }],
  subject: "Hi",
  htmlContent: "x",
  ...changes,
});
export const mailjet = (changes: object = {}) => ({
  From: { Email: from },
  To: [{ Email: to() }],
  Subject: "Hi",
  TextPart: "x",
  ...changes,
});
export const mandrill = (changes: object = {}) => ({
  key: apiKey("mandrill"),
  message: { from_email: from, to: [{ email: to() }], subject: "Hi", text: "x", ...changes },
});
export const resend = (changes: object = {}) => ({ from, to: [to()], subject: "Hi", text: "x", ...changes });
export const smtp2go = (changes: object = {}) => ({ sender: from, to: [to()], subject: "Hi", text_body: "x", ...changes });
export function mailgun(changes: Record<string, string[]> = {}): FormData {
  const form = new FormData();
  for (const [name, values] of Object.entries({ from: [from], to: [to()], subject: ["Hi"], text: ["x"], ...changes }))
    for (const value of values) form.append(name, value);
  return form;
}
export const mailgunPath = "/v3/mg.pennymail.test/messages";
