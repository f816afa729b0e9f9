// A client of an organization with a sending config at the sandbox, and access to the inbox.
import { inject } from "vitest";
import {
  expectStatus,
  signedUp,
  type TestCallOptions,
  type TestClient,
  type TestResponse,
} from "./api-client.ts";
import type {} from "./setup/service.ts";

const origin = () => inject("baseUrl").replace(/\/api\/v1$/, "");
const callLocal = (path: string, init: RequestInit = {}) =>
  fetch(`${origin()}/_local${path}`, { headers: { accept: "application/json" }, ...init });
const readLocal = async <T>(path: string): Promise<T> =>
  ((await (await callLocal(path)).json()) as { data: T }).data;

/** Only the local service has the provider sandbox. */
export const isLocalService = async (): Promise<boolean> => (await callLocal("/sandbox")).ok;

export interface AcceptedSend {
  id: number;
  status: string;
}
export interface AcceptedBatch {
  batchId: number;
  accepted: number;
  rejected: number;
  results: { index: number; to: string; id: number | null; status: string; error: string | null }[];
}
export interface ListedSend {
  id: number;
  toEmail: string;
  subject: string;
  status: string;
  error: string | null;
  batchId: number | null;
  siteId: number;
}
export interface SendPage {
  sends: ListedSend[];
  pagination: { page: number; limit: number; total: number | null; nextCursor: string | null };
}

export interface SendingClient extends TestClient {
  configId: number;
  /** Calls POST /send with default values for missing fields. */
  send(fields: object, options?: TestCallOptions): Promise<TestResponse<AcceptedSend>>;
  sendBatch(
    recipients: unknown,
    fields?: object,
    options?: TestCallOptions,
  ): Promise<TestResponse<AcceptedBatch>>;
  sends(query?: string): Promise<SendPage>;
}

export const fromEmail = "shop@pennymail.test";

export async function createSendingClient(provider = "postmark"): Promise<SendingClient> {
  const client = await signedUp();
  const config = { provider, credentials: { apiKey: "secret-token" }, fromEmail, fromName: "Shop" };
  if (await isLocalService())
    config.credentials = (await readLocal<{ providers: Record<string, typeof config> }>("/sandbox"))
      .providers[provider]!.credentials;
  const added = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sending-configs", config),
  );
  const configId = added.body.data.id;
  const content = { sendingConfigId: configId, subject: "Hello", html: "<p>Hello</p>" };
  return {
    ...client,
    configId,
    send: (fields, options) => client.call("POST", "/send", { ...content, ...fields }, options),
    sendBatch: (recipients, fields, options) =>
      client.call("POST", "/send/batch", { ...content, recipients, ...fields }, options),
    sends: async (query = "") =>
      expectStatus(200, await client.call<SendPage>("GET", `/sends${query}`)).body.data,
  };
}

/** Waits until the service has processed its queues. */
export const runUntilIdle = () => callLocal("/settle", { method: "POST" });

export interface InboxMail {
  id: number;
  subject: string;
  /** `null` for an addressee in the To header. */
  copy: "cc" | "bcc" | null;
  from: { email: string; name?: string };
  html: string | null;
  text: string | null;
  headers: Record<string, string>;
  attachments: { filename: string; url: string }[];
}

/** Lists the complete mails to this address. */
export async function listInbox(email: string): Promise<InboxMail[]> {
  const { mails } = await readLocal<{ mails: { id: number }[] }>(
    `/inbox?to=${encodeURIComponent(email)}`,
  );
  return Promise.all(mails.map(({ id }) => readLocal<InboxMail>(`/inbox/${id}`)));
}

/** The only mail that came for the address, after all work is done. */
export async function findOnlyMail(email: string): Promise<InboxMail> {
  await runUntilIdle();
  const mails = await listInbox(email);
  if (mails.length !== 1) throw new Error(`${mails.length} mails came for ${email}`);
  return mails[0]!;
}

export const downloadBytes = async (path: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${origin()}${path}`)).arrayBuffer());

/** Addresses that no other test uses. */
export const uniqueAddresses = (n: number): string[] => {
  const prefix = crypto.randomUUID().slice(0, 8);
  return Array.from({ length: n }, (_, i) => `${prefix}-${i}@example.com`);
};
