// A caller who can send: an organization with a sending config at the sandbox, and a look into the sandbox's inbox.
import { inject } from "vitest";
import { type Answer, type CallOptions, type Client, must, signedUp } from "./client.ts";
import type {} from "./service.ts";

const origin = () => inject("baseUrl").replace(/\/api\/v1$/, "");
const local = (path: string, init: RequestInit = {}) =>
  fetch(`${origin()}/_local${path}`, { headers: { accept: "application/json" }, ...init });
const read = async <T>(path: string): Promise<T> => ((await (await local(path)).json()) as { data: T }).data;

/** The sandbox stands in for the providers on a service of one machine only. */
export const atHome = async (): Promise<boolean> => (await local("/sandbox")).ok;

export interface Sent {
  id: number;
  status: string;
}
export interface BatchSent {
  batchId: number;
  accepted: number;
  rejected: number;
  results: { index: number; to: string; id: number | null; status: string; error: string | null }[];
}
export interface SendRow {
  id: number;
  toEmail: string;
  subject: string;
  status: string;
  error: string | null;
  batchId: number | null;
  siteId: number;
}
export interface SendPage {
  sends: SendRow[];
  pagination: { page: number; limit: number; total: number | null; nextCursor: string | null };
}

export interface Shop extends Client {
  configId: number;
  /** POST /send with what the body leaves out. */
  send(fields: object, options?: CallOptions): Promise<Answer<Sent>>;
  sendBatch(recipients: unknown, fields?: object, options?: CallOptions): Promise<Answer<BatchSent>>;
  sends(query?: string): Promise<SendPage>;
}

export const fromEmail = "shop@pennymail.test";

export async function shop(provider = "postmark"): Promise<Shop> {
  const client = await signedUp();
  const config = { provider, credentials: { apiKey: "secret-token" }, fromEmail, fromName: "Shop" };
  if (await atHome())
    config.credentials = (await read<{ providers: Record<string, typeof config> }>("/sandbox")).providers[provider]!.credentials;
  const added = must(201, await client.call<{ id: number }>("POST", "/sending-configs", config));
  const configId = added.body.data.id;
  const content = { sendingConfigId: configId, subject: "Hello", html: "<p>Hello</p>" };
  return {
    ...client,
    configId,
    send: (fields, options) => client.call("POST", "/send", { ...content, ...fields }, options),
    sendBatch: (recipients, fields, options) => client.call("POST", "/send/batch", { ...content, recipients, ...fields }, options),
    sends: async (query = "") => must(200, await client.call<SendPage>("GET", `/sends${query}`)).body.data,
  };
}

/** Lets the service finish what is in its queues. */
export const settled = () => local("/settle", { method: "POST" });

export interface InboxMail {
  id: number;
  subject: string;
  from: { email: string; name?: string };
  html: string | null;
  text: string | null;
  headers: Record<string, string>;
  attachments: { filename: string; url: string }[];
}

/** What the sandbox took for this address, whole. */
export async function inboxOf(email: string): Promise<InboxMail[]> {
  const { mails } = await read<{ mails: { id: number }[] }>(`/inbox?to=${encodeURIComponent(email)}`);
  return Promise.all(mails.map(({ id }) => read<InboxMail>(`/inbox/${id}`)));
}

export const bytesOf = async (path: string): Promise<Buffer> => Buffer.from(await (await fetch(`${origin()}${path}`)).arrayBuffer());

/** Addresses that no other test writes to. */
export const addresses = (n: number): string[] => {
  const word = crypto.randomUUID().slice(0, 8);
  return Array.from({ length: n }, (_, i) => `${word}-${i}@example.com`);
};
