// A sandbox whose accounts have webhooks, as customers set them up in each provider's console.
import { afterAll, afterEach } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import { getProvider as lookup } from "../../shared/providers/registry.ts";
import { createAccount, type ProviderKeys, startSandbox, useSandbox } from "./provider-sandbox.ts";
import {
  eventName,
  readEvents,
  startWebhookReceiver,
  type WebhookReceiver,
} from "./webhook-receiver.ts";

export interface SandboxConsole {
  sandbox: Sandbox;
  receiver: WebhookReceiver;
  /**
   * Creates a sending config with the keys of a new account, and reports the request to the sandbox
   * like the local runner.
   */
  createConfig(key: string, observer?: Sandbox): Promise<ProviderKeys & { id: number }>;
  /** The provider's names of the events of an address, in order. */
  eventNamesFor(key: string, email: string): string[];
}

/**
 * Opens a console for the tests of one file. Received webhooks are cleared after each test, and the
 * sandbox stops after the last one.
 */
export async function openSandboxConsole(): Promise<SandboxConsole> {
  const sandbox = await startSandbox();
  useSandbox(sandbox);
  const receiver = await startWebhookReceiver(({ body }) => confirmSubscription(sandbox, body));
  afterEach(() => {
    receiver.received.length = 0;
    receiver.answers = [200];
  });
  afterAll(() => Promise.all([sandbox.stop(), receiver.close()]));
  let lastId = 0;
  return {
    sandbox,
    receiver,
    async createConfig(key, observer = sandbox) {
      const keys = (await createAccount(observer))[key]!;
      const id = ++lastId;
      const secret = lookup(key)!.webhookProof === "secret" ? "&secret=YOUR_SECRET" : "";
      const webhookUrl = `${receiver.origin}/api/v1/webhooks/${key}?config_id=${id}${secret}`;
      const requestBody = JSON.stringify({ provider: key, ...keys });
      observer.observeApiCall({
        method: "POST",
        path: "/api/v1/sending-configs",
        requestBody,
        responseBody: JSON.stringify({ data: { id, provider: key, webhookUrl } }),
      });
      return { ...keys, id };
    },
    eventNamesFor: (key, email) =>
      receiver.received
        .flatMap(readEvents[key]!)
        .filter((event) => JSON.stringify(event).toLowerCase().includes(`"${email}"`))
        .map(eventName[key]!),
  };
}

/** Visits the SubscribeURL, because SNS posts events only to confirmed subscriptions. */
async function confirmSubscription({ snsUrl }: Sandbox, body: string): Promise<void> {
  if (!body.includes("SubscriptionConfirmation")) return;
  const url = new URL(JSON.parse(body).SubscribeURL);
  await fetch(snsUrl + url.pathname + url.search);
}
