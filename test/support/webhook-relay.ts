// A service with a separate provider sandbox. The relay records the webhooks of the sandbox, and a
// test forwards them, unchanged or altered.
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { expectStatus, signedUp, type TestClient } from "./api-client.ts";
import {
  createAccount,
  type ProviderKeys,
  startSandbox as startedSandbox,
} from "./provider-sandbox.ts";
import {
  type RunningTestService,
  startServiceProcess as startedService,
} from "./service-process.ts";
import { waitFor } from "./wait-for.ts";
import { type ReceivedWebhook, startWebhookReceiver } from "./webhook-receiver.ts";

export interface RelayedConfig {
  id: number;
  key: string;
  webhookSecret: string;
  /** The URL to which the provider posts, with the secret if it is part of the URL. */
  webhookUrl: URL;
}

export interface WebhookRelay {
  service: RunningTestService;
  sandbox: Sandbox;
  client(): Promise<TestClient>;
  /** Creates an account at all ten providers. */
  account(): Promise<Record<string, ProviderKeys>>;
  /** Creates a sending config with these keys, and its webhook at the provider. */
  createConfig(
    client: TestClient,
    key: string,
    keys: ProviderKeys,
    webhookSecret?: string | null,
  ): Promise<RelayedConfig>;
  /** Sends a mail. Returns its id and the first webhook of the provider that matches `what`. */
  sendAndAwaitEvent(
    client: TestClient,
    config: RelayedConfig,
    to: string,
    pattern: RegExp,
  ): Promise<{ id: number; call: ReceivedWebhook }>;
  /** Forwards a recorded webhook with changes. Returns the status. */
  forward(
    call: ReceivedWebhook,
    changes?: { url?: URL; body?: string; headers?: Record<string, string> },
  ): Promise<number>;
  stop(): Promise<void>;
}

const connectionHeaders = new Set([
  "host",
  "connection",
  "content-length",
  "accept-encoding",
  "transfer-encoding",
]);

export async function startRelay(settings: Record<string, string> = {}): Promise<WebhookRelay> {
  const sandbox = await startedSandbox();
  const receiving = await startWebhookReceiver(async (call) => {
    // SNS posts events only after its subscription is confirmed.
    if (call.headers["x-amz-sns-message-type"] === "SubscriptionConfirmation") await forward(call);
  });
  const origins = Object.entries(sandbox.originByProvider).map(([key, url]) => [
    `PROVIDER_URL_${key.toUpperCase()}`,
    url,
  ]);
  const service = await startedService({
    PUBLIC_URL: receiving.origin,
    SNS_URL: sandbox.snsUrl,
    ADDRESS_LIMIT_PER_MINUTE: "1000000",
    DEFAULT_PLAN: "enterprise",
    ...Object.fromEntries(origins),
    ...settings,
  });

  const forward: WebhookRelay["forward"] = async (
    call,
    { url = call.url, body = call.body, headers = {} } = {},
  ) => {
    const kept = Object.entries(call.headers).filter(([name]) => !connectionHeaders.has(name));
    const to = `${service.url}${url.pathname}${url.search}`;
    return (
      await fetch(to, {
        method: "POST",
        headers: { ...Object.fromEntries(kept), ...headers },
        body,
      })
    ).status;
  };

  return {
    service,
    sandbox,
    client: () => signedUp({ service: service.url }),
    account: () => createAccount(sandbox),
    forward,
    async createConfig({ call }, key, keys, webhookSecret = keys.webhookSecret) {
      const request = {
        provider: key,
        fromEmail: "shop@pennymail.test",
        credentials: keys.credentials,
      };
      const fields = webhookSecret === null ? request : { ...request, webhookSecret };
      const { data } = expectStatus(
        201,
        await call<{ id: number; webhookUrl: string }>("POST", "/sending-configs", fields),
      ).body;
      sandbox.observeApiCall({
        method: "POST",
        path: "/api/v1/sending-configs",
        requestBody: fields,
        responseBody: { data },
      });
      const webhookUrl = new URL(
        data.webhookUrl.replace("YOUR_SECRET", encodeURIComponent(keys.webhookSecret)),
      );
      return { id: data.id, key, webhookSecret: webhookSecret ?? "", webhookUrl };
    },
    async sendAndAwaitEvent({ call }, config, to, pattern) {
      const mail = {
        to,
        sendingConfigId: config.id,
        subject: "Hello",
        html: '<p>Hi <a href="https://shop.example/">shop</a></p>',
      };
      const { id } = expectStatus(202, await call<{ id: number }>("POST", "/send", mail)).body.data;
      const matches = ({ url, body, headers }: ReceivedWebhook) => {
        const form = headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
        const text = form ? decodeURIComponent(body.replaceAll("+", " ")) : body;
        return (
          url.searchParams.get("config_id") === String(config.id) &&
          text.includes(to) &&
          pattern.test(text)
        );
      };
      return waitFor(() => {
        const call = receiving.received.find(matches);
        if (!call) throw new Error(`${config.key} sent no webhook like ${pattern} of ${to}`);
        return { id, call };
      });
    },
    async stop() {
      await service.stop();
      await sandbox.stop();
      await receiving.close();
    },
  };
}
