// The provider sandbox for tests, as the target of the provider adapters.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type * as z from "zod";
import { openSandbox, type Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import type {
  Attachment,
  HandOverOutcome,
  Mailbox,
  Mailing,
  ProviderAdapter,
  Recipient,
} from "../../shared/providers/provider-adapter.ts";

export interface InboxEntry {
  id: number;
  provider: string;
  from: Mailbox;
  to: Mailbox;
  copy: "cc" | "bcc" | null;
  copyOf: Mailbox | null;
  shown: { to: Mailbox[]; cc: Mailbox[] };
  replyTo: string | null;
  subject: string;
  html: string | null;
  text: string | null;
  headers: Record<string, string>;
  tags: string[];
  metadata: Record<string, unknown>;
  messageId: string;
  tracksOpens: boolean;
  tracksClicks: boolean;
  attachments: {
    filename: string;
    type: string;
    contentId: string | null;
    size: number;
    url: string;
  }[];
  events: { kind: string; at: string; status: number }[];
}

export interface ProviderKeys {
  credentials: Record<string, string>;
  webhookSecret: string;
}

/** Starts a sandbox, in memory unless a folder is given. */
export function startSandbox(dataDir = ":memory:"): Promise<Sandbox> {
  return openSandbox({ dataDir, publicUrl: () => "http://127.0.0.1:3000" });
}

/** Directs the provider adapters to this sandbox. */
export function useSandbox({ originByProvider }: Sandbox): void {
  for (const [key, origin] of Object.entries(originByProvider))
    process.env[`PROVIDER_URL_${key.toUpperCase()}`] = origin;
}

export async function callLocalPage(
  sandbox: Sandbox,
  path: string,
  { method = "GET", accept = "application/json" } = {},
) {
  const [pathname = "", query] = path.split("?");
  const answer = await sandbox.handleLocalRequest({
    method,
    path: pathname,
    query: new URLSearchParams(query),
    headers: { accept },
    body: Buffer.alloc(0),
  });
  if (!answer) throw new Error(`${path} is not answered`);
  return {
    ...answer,
    text: answer.body.toString(),
    json: () => JSON.parse(answer.body.toString()),
  };
}

/** Serves the sandbox's pages like the local runner, on their own origin. */
export async function serveLocalPages(
  sandbox: Sandbox,
): Promise<{ origin: string; close(): void }> {
  const server = createServer(async ({ method = "GET", url = "/", headers }, response) => {
    const { pathname, searchParams } = new URL(url, "http://local");
    const request = {
      method,
      path: pathname,
      query: searchParams,
      headers: headers as Record<string, string>,
      body: Buffer.alloc(0),
    };
    const answer = await sandbox.handleLocalRequest(request);
    response.writeHead(answer?.status ?? 404, answer?.headers).end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

/** Creates an account at all ten providers. */
export async function createAccount(sandbox: Sandbox): Promise<Record<string, ProviderKeys>> {
  return (await callLocalPage(sandbox, "/_local/sandbox")).json().data.providers;
}

/** Lists complete mails to an address, newest first. */
export async function listMailTo(sandbox: Sandbox, email: string): Promise<InboxEntry[]> {
  const { mails } = (
    await callLocalPage(sandbox, `/_local/inbox?limit=1000&to=${encodeURIComponent(email)}`)
  ).json().data;
  return Promise.all(
    mails.map(
      async ({ id }: { id: number }) =>
        (await callLocalPage(sandbox, `/_local/inbox/${id}`)).json().data,
    ),
  );
}

/** Hands a mailing over like the service. */
export const handOver = (
  provider: ProviderAdapter,
  credentials: Record<string, string>,
  mailing: Mailing,
  idempotencyKey = "key-1",
): Promise<HandOverOutcome[]> =>
  provider.send({
    mailing,
    credentials: provider.credentials.parse(credentials) as z.output<typeof provider.credentials>,
    idempotencyKey,
  });

/** The simulator address with this outcome. */
export const simulatorAddress = (kind: string) => `${kind}@simulator.pennymail.test`;

let lastSendId = 90_000;

export const recipient = (
  email: string,
  values: string[] = [],
  headers: Record<string, string> = {},
): Recipient => ({
  sendId: ++lastSendId,
  to: { email, name: 'Ada "the first" Lovelace, née Byron' },
  values,
  headers,
});

export const mailing = (recipients: Recipient[], changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@pennymail.test", name: "Grüße, Söhne & Co" },
  replyTo: ["help@pennymail.test"],
  subject: ["Hello & welcome"],
  html: ['<p>Hi</p><a href="https://shop.example/?a=1&amp;b=2">shop</a>'],
  text: ["Hi\nhttps://shop.example/?a=1&b=2"],
  headers: { "X-Campaign": "seven" },
  tags: ["campaign-7"],
  attachments: [],
  recipients,
  ...changes,
});

export const textAttachment = (
  filename: string,
  content: string,
  type = "text/plain",
): Attachment => ({
  filename,
  type,
  content: Buffer.from(content).toString("base64"),
});
