// The webhook URLs of the sandbox accounts. At a real provider a person enters the webhook URL in
// the console. Here the local runner reports each saved sending config, and the sandbox stores its
// webhook URL under the account of its credentials.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { SandboxAccounts } from "./accounts.ts";
import { writeAtomically } from "./root-keys.ts";
import type { SandboxProvider, WebhookTarget } from "./types.ts";

/** A call of the Pennymail API and its response. Bodies are text, bytes or parsed JSON. */
export interface ObservedApiCall {
  method: string;
  path: string;
  requestBody: unknown;
  responseBody: unknown;
}

export type WebhookTargets = ReturnType<typeof openWebhookTargets>;

/** Real providers limit the webhooks of an account too. */
const maxPerAccount = 10;

/** Without `file`, a restart loses the targets. */
export function openWebhookTargets(file: string | undefined, accounts: SandboxAccounts) {
  const targets = new Map<number, WebhookTarget>();
  if (file) {
    for (const [configId, target] of loadTargets(file)) targets.set(configId, target);
    writeAtomically(file, [...targets].map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  function saveTarget(configId: number, target: WebhookTarget | undefined): void {
    if (target) targets.set(configId, target);
    else if (!targets.delete(configId)) return;
    if (file) appendFileSync(file, `${JSON.stringify([configId, target ?? null])}\n`);
  }

  return {
    /** Returns the target that this call created or changed. */
    observe(
      { method, path, requestBody, responseBody }: ObservedApiCall,
      providers: SandboxProvider[],
    ): WebhookTarget | undefined {
      const [, pathId] = /^\/api\/v1\/sending-configs(?:\/(\d+))?$/.exec(path) ?? [undefined, ""];
      if (pathId === "") return undefined;
      if (method === "DELETE") return void saveTarget(Number(pathId), undefined);
      const { id, provider: key, webhookUrl } = asRecord(parseBody(responseBody).data);
      const provider = providers.find((provider) => provider.key === key);
      if (!provider || typeof id !== "number" || typeof webhookUrl !== "string") return undefined;
      const account = accounts.findByApiKey(provider, keyIn(parseBody(requestBody)));
      if (!account) return undefined;
      const stored = targets.get(id);
      if (stored?.isCreated && stored.account === account.id && stored.provider === key)
        return undefined;
      const secret = encodeURIComponent(provider.webhook.deriveSecret(account));
      const target: WebhookTarget = {
        configId: id,
        provider: provider.key,
        account: account.id,
        url: webhookUrl.replace("YOUR_SECRET", secret),
      };
      saveTarget(id, target);
      return target;
    },
    /** Returns the target that a request to the provider's API created. */
    create(
      url: string,
      target: Omit<WebhookTarget, "configId" | "url" | "confirmed">,
    ): WebhookTarget | undefined {
      const configId = configIdOf(url);
      if (!configId) return undefined;
      const created: WebhookTarget = { ...target, configId, url, isCreated: true };
      saveTarget(configId, created);
      return created;
    },
    removeUrl(url: string): void {
      const configId = configIdOf(url);
      if (configId && targets.get(configId)?.url === url) saveTarget(configId, undefined);
    },
    listFor: (provider: string, account: string): WebhookTarget[] =>
      [...targets.values()]
        .filter((target) => target.provider === provider && target.account === account)
        .slice(-maxPerAccount),
    markConfirmed: (target: WebhookTarget): void =>
      saveTarget(target.configId, { ...target, confirmed: true }),
    find: (target: WebhookTarget): WebhookTarget | undefined => targets.get(target.configId),
  };
}

const configIdOf = (url: string): number =>
  Number(URL.parse(url)?.searchParams.get("config_id") ?? 0);

type Json = Record<string, unknown>;

/** The API key or its id in the body of a request for a sending config. */
function keyIn(request: Json): string {
  const { apiKey, accessKeyId } = { ...request, ...asRecord(request.credentials) };
  return String(accessKeyId ?? apiKey);
}

function parseBody(body: unknown): Json {
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return asRecord(body);
  try {
    return asRecord(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}

const asRecord = (value: unknown): Json =>
  value && typeof value === "object" ? (value as Json) : {};

/**
 * Reads lines of `[configId, target | null]`, of which the last one counts. Skips a line that a
 * crash cut short.
 */
function loadTargets(file: string): Map<number, WebhookTarget> {
  mkdirSync(dirname(file), { recursive: true });
  const targets = new Map<number, WebhookTarget>();
  for (const line of readLines(file)) {
    const [configId, target] = JSON.parse(line) as [number, WebhookTarget | null];
    if (target) targets.set(configId, target);
    else targets.delete(configId);
  }
  return targets;
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("]"));
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw error;
  }
}
