// One origin per provider, all served by the same few steps: who asks, what for, and the provider's own answer.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Accounts } from "./accounts.ts";
import { type Account, type Answer, type Call, type Draft, type MailProvider, Refused, type Request } from "./contract.ts";
import { fate, moods, verified } from "./fates.ts";

export interface Desk {
  origin: string;
  close(): Promise<void>;
}

export interface Staff {
  accounts: Accounts;
  /** Takes over mails that were accepted. */
  accept(drafts: Draft[], provider: MailProvider, account: Account): void;
  /** Paths that need no credentials. */
  open?(request: Request): Promise<Answer | undefined>;
}

/** Listens on a free port of this machine. */
export async function openDesk(provider: MailProvider, staff: Staff): Promise<Desk> {
  const mood = moods();
  const server = createServer((incoming, outgoing) => {
    serve(incoming, provider, staff, mood).then(
      (answer) => reply(outgoing, answer),
      (error: unknown) => reply(outgoing, { status: 500, body: `The sandbox itself failed: ${error}` }),
    );
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(incoming: IncomingMessage, provider: MailProvider, staff: Staff, mood: ReturnType<typeof moods>): Promise<Answer> {
  const body = await received(incoming, provider.maxBytes);
  if (!body) return provider.errors.tooLarge;
  const [path = "/", query = ""] = (incoming.url ?? "/").split("?", 2);
  const request: Request = { method: incoming.method ?? "GET", path, query, headers: single(incoming), body };
  try {
    return (await staff.open?.(request)) ?? (await answered(request, provider, staff, mood));
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

async function answered(request: Request, provider: MailProvider, staff: Staff, mood: ReturnType<typeof moods>): Promise<Answer> {
  const account = provider.authenticate(request, (key) => staff.accounts.owner(provider, key));
  for (const [pattern, answer] of provider.routes) {
    const found = pattern.exec(`${request.method} ${request.path}`);
    if (found) return answer({ ...calling(request, account, provider, staff, mood), params: found.slice(1).map(plain) });
  }
  return provider.errors.notFound;
}

function calling(
  request: Request,
  account: Account,
  provider: MailProvider,
  staff: Staff,
  mood: ReturnType<typeof moods>,
): Omit<Call, "params"> {
  return {
    request,
    account,
    json: () => parsed(request, provider),
    rejects: (email) => fate(email) === "rejected",
    mayUse: verified,
    submit(drafts) {
      const status = mood.refusal(drafts.map(({ to }) => to.email));
      if (status) throw new Refused(provider.errors.busy(status));
      staff.accept(drafts, provider, account);
    },
  };
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The body as JSON, parsed once however often it is asked for. */
export function parsed(request: Request, { errors }: Pick<MailProvider, "errors">): unknown {
  if (parses.has(request)) return parses.get(request);
  try {
    const json: unknown = JSON.parse(request.body.toString("utf8"));
    parses.set(request, json);
    return json;
  } catch {
    throw new Refused(errors.malformed);
  }
}

const parses = new WeakMap<Request, unknown>();

/** Undefined when it is larger than the provider takes. */
async function received(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming) {
    size += (part as Buffer).length;
    if (size <= maxBytes) parts.push(part as Buffer);
  }
  return size > maxBytes ? undefined : Buffer.concat(parts, size);
}

const single = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]));

function reply(outgoing: ServerResponse, { status, headers = {}, body = "" }: Answer): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? {} : { "content-type": "application/json" };
  outgoing.writeHead(status, { ...type, "content-length": Buffer.byteLength(text), ...headers }).end(text);
}
