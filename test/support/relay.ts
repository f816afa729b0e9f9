// A service whose providers are a sandbox of the test's own. What these post to webhooks is kept here: a test passes it on, when
// and as it likes, to the byte as the provider signed it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "../../infra/local/sandbox/index.ts";
import { type Client, must, signedUp } from "./client.ts";
import { type Running, started as startedService } from "./launch.ts";
import { type Received, receiver } from "./receiver.ts";
import { account, type Keys, started as startedSandbox } from "./sandbox.ts";

export interface Config {
  id: number;
  key: string;
  webhookSecret: string;
  /** Where the provider posts, with the secret put in where it has one there. */
  hook: URL;
}

export interface Relay {
  service: Running;
  sandbox: Sandbox;
  client(): Promise<Client>;
  /** A fresh account at all ten. */
  account(): Promise<Record<string, Keys>>;
  /** A sending config with these keys, and its webhook at the provider. */
  configured(client: Client, key: string, keys: Keys, webhookSecret?: string | null): Promise<Config>;
  /** Sends a mail; answers its id and the provider's first call that tells `what` of it. */
  told(client: Client, config: Config, to: string, what: RegExp): Promise<{ id: number; call: Received }>;
  /** Passes a call on, changed as the test likes. */
  pass(call: Received, changes?: { url?: URL; body?: string; headers?: Record<string, string> }): Promise<number>;
  stop(): Promise<void>;
}

const own = new Set(["host", "connection", "content-length", "accept-encoding", "transfer-encoding"]);

export async function relay(settings: Record<string, string> = {}): Promise<Relay> {
  const sandbox = await startedSandbox();
  const receiving = await receiver(async (call) => {
    // SNS posts events only once its topic's subscription was confirmed.
    if (call.headers["x-amz-sns-message-type"] === "SubscriptionConfirmation") await pass(call);
  });
  const origins = Object.entries(sandbox.urls).map(([key, url]) => [`PROVIDER_URL_${key.toUpperCase()}`, url]);
  const service = await startedService({
    SANDBOX: "off",
    PUBLIC_URL: receiving.origin,
    SNS_URL: sandbox.snsUrl,
    ADDRESS_LIMIT_PER_MINUTE: "1000000",
    DEFAULT_PLAN: "enterprise",
    ...Object.fromEntries(origins),
    ...settings,
  });

  const pass: Relay["pass"] = async (call, { url = call.url, body = call.body, headers = {} } = {}) => {
    const kept = Object.entries(call.headers).filter(([name]) => !own.has(name));
    const to = `${service.url}${url.pathname}${url.search}`;
    return (await fetch(to, { method: "POST", headers: { ...Object.fromEntries(kept), ...headers }, body })).status;
  };

  return {
    service,
    sandbox,
    client: () => signedUp({ service: service.url }),
    account: () => account(sandbox),
    pass,
    async configured({ call }, key, keys, webhookSecret = keys.webhookSecret) {
      const request = { provider: key, fromEmail: "shop@pennymail.test", credentials: keys.credentials };
      const fields = webhookSecret === null ? request : { ...request, webhookSecret };
      const { data } = must(201, await call<{ id: number; webhookUrl: string }>("POST", "/sending-configs", fields)).body;
      sandbox.observe({ method: "POST", path: "/api/v1/sending-configs", requestBody: fields, responseBody: { data } });
      const hook = new URL(data.webhookUrl.replace("YOUR_SECRET", encodeURIComponent(keys.webhookSecret)));
      return { id: data.id, key, webhookSecret: webhookSecret ?? "", hook };
    },
    async told({ call }, config, to, what) {
      const mail = { to, sendingConfigId: config.id, subject: "Hello", html: '<p>Hi <a href="https://shop.example/">shop</a></p>' };
      const { id } = must(202, await call<{ id: number }>("POST", "/send", mail)).body.data;
      const isIt = ({ url, body, headers }: Received) => {
        const form = headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
        const text = form ? decodeURIComponent(body.replaceAll("+", " ")) : body;
        return url.searchParams.get("config_id") === String(config.id) && text.includes(to) && what.test(text);
      };
      for (let waited = 0; waited < 15_000; waited += 20) {
        const found = receiving.received.find(isIt);
        if (found) return { id, call: found };
        await sleep(20);
      }
      throw new Error(`${config.key} told nothing like ${what} of ${to}`);
    },
    async stop() {
      await service.stop();
      await sandbox.stop();
      await receiving.close();
    },
  };
}
