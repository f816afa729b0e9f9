// A sandbox whose accounts have their webhooks set up, as someone would at each provider's console.
import { afterAll, afterEach } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/index.ts";
import { provider as lookup } from "../../shared/providers/index.ts";
import { events, nameOf, type Receiver, receiver } from "./receiver.ts";
import { account, type Keys, pointTo, started } from "./sandbox.ts";

export interface Console {
  sandbox: Sandbox;
  receiving: Receiver;
  /** Makes a sending config with a fresh account's keys and shows its call to the sandbox, as the local runner does. */
  configured(key: string, observer?: Sandbox): Promise<Keys & { id: number }>;
  /** What was told about an address, in order. */
  namesTo(key: string, email: string): string[];
}

/** For one file of tests: between two of them what was received is forgotten, and after the last it closes. */
export async function opened(): Promise<Console> {
  const sandbox = await started();
  pointTo(sandbox);
  const receiving = await receiver(({ body }) => confirm(sandbox, body));
  afterEach(() => {
    receiving.received.length = 0;
    receiving.answers = [200];
  });
  afterAll(() => Promise.all([sandbox.stop(), receiving.close()]));
  let lastId = 0;
  return {
    sandbox,
    receiving,
    async configured(key, observer = sandbox) {
      const keys = (await account(observer))[key]!;
      const id = ++lastId;
      const secret = lookup(key)!.webhookProof === "secret" ? "&secret=YOUR_SECRET" : "";
      const webhookUrl = `${receiving.origin}/api/v1/webhooks/${key}?config_id=${id}${secret}`;
      const requestBody = JSON.stringify({ provider: key, ...keys });
      observer.observe({
        method: "POST",
        path: "/api/v1/sending-configs",
        requestBody,
        responseBody: JSON.stringify({ data: { id, provider: key, webhookUrl } }),
      });
      return { ...keys, id };
    },
    namesTo: (key, email) =>
      receiving.received
        .flatMap(events[key]!)
        .filter((event) => JSON.stringify(event).toLowerCase().includes(`"${email}"`))
        .map(nameOf[key]!),
  };
}

/** SNS waits until someone visits the SubscribeURL. */
async function confirm({ snsUrl }: Sandbox, body: string): Promise<void> {
  if (!body.includes("SubscriptionConfirmation")) return;
  const url = new URL(JSON.parse(body).SubscribeURL);
  await fetch(snsUrl + url.pathname + url.search);
}
