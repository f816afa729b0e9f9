// Where events go. At a real provider someone enters the webhook URL in its console; here the local runner plays that person:
// it shows us each sending config that was made, and we note its webhook URL under the account whose credentials it got.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Accounts } from "./accounts.ts";
import type { Hook, MailProvider } from "./contract.ts";
import { replace } from "./root.ts";

/** A call of our API that was answered. Bodies as text, bytes or parsed JSON. */
export interface Observed {
  method: string;
  path: string;
  requestBody: unknown;
  responseBody: unknown;
}

export type Hooks = ReturnType<typeof openHooks>;

/** Real providers take a handful of webhooks per account. */
const maxPerAccount = 10;

/** `file` undefined: nothing is kept over a restart. */
export function openHooks(file: string | undefined, accounts: Accounts) {
  const hooks = new Map<number, Hook>();
  if (file) {
    for (const [configId, hook] of read(file)) hooks.set(configId, hook);
    replace(file, [...hooks].map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  function note(configId: number, hook: Hook | undefined): void {
    if (hook) hooks.set(configId, hook);
    else if (!hooks.delete(configId)) return;
    if (file) appendFileSync(file, `${JSON.stringify([configId, hook ?? null])}\n`);
  }

  return {
    /** The hook that is new or changed by this call, if any. */
    observe({ method, path, requestBody, responseBody }: Observed, providers: MailProvider[]): Hook | undefined {
      const [, pathId] = /^\/api\/v1\/sending-configs(?:\/(\d+))?$/.exec(path) ?? [undefined, ""];
      if (pathId === "") return undefined;
      if (method === "DELETE") return void note(Number(pathId), undefined);
      const hook = told(accounts, providers, parsed(requestBody), parsed(responseBody));
      if (hook) note(hook.configId, hook);
      return hook;
    },
    of: (provider: string, account: string): Hook[] =>
      [...hooks.values()].filter((hook) => hook.provider === provider && hook.account === account).slice(-maxPerAccount),
    confirm: (hook: Hook): void => note(hook.configId, { ...hook, confirmed: true }),
    current: (hook: Hook): Hook | undefined => hooks.get(hook.configId),
  };
}

/** Undefined when the call gave no credentials, or not those of one of our accounts. */
function told(accounts: Accounts, providers: MailProvider[], request: Json, response: Json): Hook | undefined {
  const { id, provider: key, webhookUrl } = record(response.data);
  const provider = providers.find((one) => one.key === key);
  if (!provider || typeof id !== "number" || typeof webhookUrl !== "string") return undefined;
  const { apiKey, accessKeyId } = { ...request, ...record(request.credentials) };
  const account = accounts.owner(provider, String(accessKeyId ?? apiKey));
  if (!account) return undefined;
  const url = webhookUrl.replace("YOUR_SECRET", encodeURIComponent(provider.webhook.secret(account)));
  return { configId: id, provider: provider.key, account: account.id, url };
}

type Json = Record<string, unknown>;

function parsed(body: unknown): Json {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return record(body);
  try {
    return record(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}

const record = (value: unknown): Json => (value && typeof value === "object" ? (value as Json) : {});

/** One `[configId, hook | null]` per line, the newest last; a line cut short by a crash is skipped. */
function read(file: string): Map<number, Hook> {
  mkdirSync(dirname(file), { recursive: true });
  const hooks = new Map<number, Hook>();
  for (const line of lines(file)) {
    const [configId, hook] = JSON.parse(line) as [number, Hook | null];
    if (hook) hooks.set(configId, hook);
    else hooks.delete(configId);
  }
  return hooks;
}

function lines(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("]"));
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw error;
  }
}
