// Starts one HTTP server per stand-in. That of a provider authenticates the request, finds the
// route and responds as the provider does.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as clock from "../../../shared/clock.ts";
import { findBrowserRefusal } from "../local-access.ts";
import type { SandboxAccounts } from "./accounts.ts";
import type { SandboxInbox } from "./inbox.ts";
import { notSupported, parseJson, refuse } from "./request-reader.ts";
import type { SandboxResources } from "./resources.ts";
import type { MailSchedule } from "./schedule.ts";
import { createFlakyTracker, isVerifiedSender, simulatedOutcome } from "./simulator.ts";
import {
  type AcceptedMail,
  type SandboxAccount,
  type SandboxCall,
  type SandboxProvider,
  SandboxRefusal,
  type SandboxRequest,
  type SandboxResponse,
} from "./types.ts";
import type { WebhookTargets } from "./webhook-targets.ts";

export interface ProviderServer {
  origin: string;
  close(): Promise<void>;
}

export interface ServerContext {
  accounts: SandboxAccounts;
  /** Delivers accepted mails. */
  accept(drafts: AcceptedMail[], provider: SandboxProvider, account: SandboxAccount): void;
  /** Receives mails with a later delivery time. */
  schedule: Pick<MailSchedule, "add" | "of" | "remove">;
  inbox: Pick<SandboxInbox, "filter">;
  resources: SandboxResources;
  webhookTargets: Pick<WebhookTargets, "create" | "removeUrl">;
  /** Responds to requests that need no credentials. */
  servePublic?(request: SandboxRequest): Promise<SandboxResponse | undefined>;
}

export type Dispatch = (request: SandboxRequest) => Promise<SandboxResponse>;

export const startProviderServer = (
  provider: SandboxProvider,
  context: ServerContext,
): Promise<ProviderServer> =>
  startServer(createDispatch(provider, context), {
    maxBytes: provider.maxBytes,
    tooLarge: provider.errors.tooLarge,
  });

interface ServerLimits {
  maxBytes: number;
  /** The response to a larger request. */
  tooLarge: SandboxResponse;
}

/** Listens on a free port of this machine. */
export async function startServer(
  dispatch: Dispatch,
  { maxBytes, tooLarge }: ServerLimits,
): Promise<ProviderServer> {
  const server = createServer((incoming, outgoing) => {
    const refusal = findBrowserRefusal(incoming.headers, host);
    if (refusal) return writeResponse(outgoing, { status: 403, body: { error: refusal } });
    handleRequest(incoming, maxBytes, dispatch)
      .then((response) => response ?? tooLarge)
      .catch((error: unknown) =>
        error instanceof SandboxRefusal
          ? error.response
          : { status: 500, body: `The sandbox itself failed: ${error}` },
      )
      .then((response) => writeResponse(outgoing, response));
  });
  let host = "";
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(0, "127.0.0.1", resolve),
  );
  server.unref();
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: `http://${host}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns undefined when the body is larger than `maxBytes`. */
async function handleRequest(
  incoming: IncomingMessage,
  maxBytes: number,
  dispatch: Dispatch,
): Promise<SandboxResponse | undefined> {
  const body = await readBody(incoming, maxBytes);
  const [path = "/", query = ""] = (incoming.url ?? "/").split("?", 2);
  const { method = "GET" } = incoming;
  return body && dispatch({ method, path, query, headers: flattenHeaders(incoming), body });
}

/** Answers the requests to a provider. Throws `SandboxRefusal` where the provider refuses. */
export function createDispatch(provider: SandboxProvider, context: ServerContext): Dispatch {
  const flakyTracker = createFlakyTracker();
  const routes = Object.entries(provider.routes).map(
    ([pattern, answer]) =>
      [new RegExp(`^${pattern.replace(/:\w+/g, "([^/]+)")}(?:\\.json)?$`), answer] as const,
  );
  return async (request) => {
    const publicResponse = await context.servePublic?.(request);
    if (publicResponse) return publicResponse;
    const account = authenticate(request, provider, context);
    for (const [pattern, answer] of routes) {
      const match = pattern.exec(`${request.method} ${request.path}`);
      if (!match) continue;
      if (typeof answer !== "function") return answer;
      const call = createCall({ request, account, provider, context, flakyTracker });
      return answer({ ...call, params: match.slice(1).map(decodePathParam) });
    }
    return provider.errors.notFound(`${request.method} ${request.path} ${notSupported}`);
  };
}

function authenticate(
  request: SandboxRequest,
  provider: SandboxProvider,
  { accounts }: ServerContext,
): SandboxAccount {
  const account = accounts.findByApiKey(provider, provider.readKey(request));
  if (!account) return refuse(provider.errors.unauthorized);
  provider.verify?.(request, account);
  return account;
}

interface CallContext {
  request: SandboxRequest;
  account: SandboxAccount;
  provider: SandboxProvider;
  context: ServerContext;
  flakyTracker: ReturnType<typeof createFlakyTracker>;
}

function createCall({
  request,
  account,
  provider,
  context,
  flakyTracker,
}: CallContext): Omit<SandboxCall, "params"> {
  const { inbox, schedule } = context;
  const scheduled = (id?: string) =>
    schedule.of(provider.key, account.id).filter((one) => id === undefined || one.id === id);
  return {
    request,
    account,
    json: () => parseJson(request, provider.errors.malformed),
    isRejected: (email) => simulatedOutcome(email) === "rejected",
    isVerifiedSender,
    sent: (matches) =>
      inbox.filter(
        (mail) =>
          mail.provider === provider.key &&
          mail.account === account.id &&
          (typeof matches === "string" ? mail.messageId === matches : matches(mail)),
      ),
    scheduled,
    resources: context.resources.of(provider.key, account.id),
    watch: (url, options = {}) =>
      context.webhookTargets.create(url, {
        provider: provider.key,
        account: account.id,
        ...options,
      }),
    unwatch: (url) => context.webhookTargets.removeUrl(url),
    cancel(id) {
      const found = scheduled(id);
      schedule.remove(found);
      return found.length > 0;
    },
    accept(drafts, due, id) {
      refuseFlaky(drafts, provider, flakyTracker);
      if (!due || due <= clock.now()) return context.accept(drafts, provider, account);
      for (const [messageId, group] of Map.groupBy(drafts, (draft) => draft.messageId))
        schedule.add({
          id: id ?? messageId,
          due,
          provider: provider.key,
          account: account.id,
          drafts: group,
        });
    },
  };
}

function refuseFlaky(
  drafts: AcceptedMail[],
  { errors }: SandboxProvider,
  flakyTracker: CallContext["flakyTracker"],
): void {
  const status = flakyTracker.nextRefusal(drafts.map(({ to }) => to.email));
  if (status === 429) refuse(errors.rateLimited());
  if (status === 503)
    refuse({ ...errors.outage, status, headers: { ...errors.outage.headers, "retry-after": "1" } });
}

function decodePathParam(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming) {
    size += (part as Buffer).length;
    if (size <= maxBytes) parts.push(part as Buffer);
  }
  return size > maxBytes ? undefined : Buffer.concat(parts, size);
}

const flattenHeaders = ({ headers }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );

function writeResponse(
  outgoing: ServerResponse,
  { status, headers = {}, body = "" }: SandboxResponse,
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? {} : { "content-type": "application/json" };
  outgoing
    .writeHead(status, { ...type, "content-length": Buffer.byteLength(text), ...headers })
    .end(text);
}
