// The official SDKs of Resend, Postmark and SendGrid, directed to this service: only the address
// and the key differ. Their own types would bring those of React and browsers into this project.
import { createRequire } from "node:module";
import { inject, vi } from "vitest";

const require = createRequire(import.meta.url);

interface ResendAnswer<T> {
  data: T | null;
  error: { statusCode: number; name: string; message: string } | null;
}
interface ResendClient {
  emails: {
    send(email: object, options?: object): Promise<ResendAnswer<{ id: string }>>;
    get(id: string): Promise<ResendAnswer<Record<string, unknown>>>;
  };
  batch: {
    send(emails: object[], options?: object): Promise<ResendAnswer<{ data: { id: string }[] }>>;
  };
  domains: { list(): Promise<ResendAnswer<unknown>> };
}
const { Resend } = require("resend") as { Resend: new (key: string) => ResendClient };

interface PostmarkAnswer {
  ErrorCode: number;
  Message: string;
  MessageID: string;
}
interface PostmarkClient {
  sendEmail(email: object): Promise<PostmarkAnswer>;
  sendEmailBatch(emails: object[]): Promise<PostmarkAnswer[]>;
  sendEmailWithTemplate(email: object): Promise<PostmarkAnswer>;
  sendEmailBatchWithTemplates(emails: object[]): Promise<PostmarkAnswer[]>;
  getBounces(): Promise<unknown>;
}
const { ServerClient, Errors } = require("postmark") as {
  ServerClient: new (key: string, options: object) => PostmarkClient;
  Errors: { InactiveRecipientsError: new () => Error };
};
export const { InactiveRecipientsError } = Errors;

interface SendgridResponse {
  statusCode: number;
  body: unknown;
  headers: Record<string, string>;
}
interface SendgridClient {
  client: { setApiKey(key: string): void; setDefaultRequest(name: string, value: string): void };
  send(mail: object): Promise<[SendgridResponse, object]>;
}
const { MailService } = require("@sendgrid/mail") as { MailService: new () => SendgridClient };

const urlOf = (name: string) =>
  `${inject("baseUrl").replace(/\/api\/v1$/, "")}/api/v1/compat/${name}`;

export function resendOf(key: string): ResendClient {
  vi.stubEnv("RESEND_BASE_URL", urlOf("resend"));
  const resend = new Resend(key);
  vi.unstubAllEnvs();
  return resend;
}

export function postmarkOf(key: string): PostmarkClient {
  const { host, pathname, protocol } = new URL(urlOf("postmark"));
  return new ServerClient(key, { requestHost: host + pathname, useHttps: protocol === "https:" });
}

export function sendgridOf(key: string): SendgridClient {
  const service = new MailService();
  // It warns about keys that do not start with `SG.`.
  const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
  service.client.setApiKey(key);
  warning.mockRestore();
  service.client.setDefaultRequest("baseUrl", urlOf("sendgrid"));
  return service;
}
