// The provider sandbox posts each provider's own events, with valid signatures, to the webhook URL
// of the sending config.
import { describe, expect, it } from "vitest";
import { apiProviders } from "../support/api-providers.ts";
import { eventNamesByProvider, expectedEvents } from "../support/provider-event-names.ts";
import {
  createAccount,
  handOver,
  mailing,
  recipient,
  simulatorAddress,
} from "../support/provider-sandbox.ts";
import { openSandboxConsole } from "../support/sandbox-console.ts";
import { isGenuine, readEvents } from "../support/webhook-receiver.ts";

const sandboxConsole = await openSandboxConsole();

describe.each(apiProviders)("$name", (provider) => {
  const { key } = provider;

  it("posts its own signed events for each simulator address", async () => {
    const { credentials, webhookSecret } = await sandboxConsole.createConfig(key);
    for (const fate of Object.keys(expectedEvents)) {
      const [outcome] = await handOver(
        provider,
        credentials,
        mailing([recipient(simulatorAddress(fate))]),
        `${key} ${fate}`,
      );
      expect(outcome).toMatchObject({ status: "accepted" });
    }
    await sandboxConsole.sandbox.flushWebhooks();
    for (const [fate, kinds] of Object.entries(expectedEvents)) {
      const expected = kinds.map((kind) => eventNamesByProvider[key]![kind]).filter(Boolean);
      // Webhooks are posted concurrently, so their order is not defined.
      expect([fate, sandboxConsole.eventNamesFor(key, simulatorAddress(fate)).toSorted()]).toEqual([
        fate,
        [...expected].sort(),
      ]);
    }
    for (const one of sandboxConsole.receiver.received)
      expect(await isGenuine[key]!(one, webhookSecret, sandboxConsole.sandbox.snsUrl)).toBe(true);
  });

  it("includes the send, the mail and the clicked link in its events", async () => {
    const { credentials } = await sandboxConsole.createConfig(key);
    const to = recipient(`clicked+${key}@simulator.pennymail.test`);
    const [outcome] = await handOver(provider, credentials, mailing([to]), `${key} names`);
    await sandboxConsole.sandbox.flushWebhooks();
    const events = sandboxConsole.receiver.received.flatMap(readEvents[key]!);
    for (const event of events) {
      expect(JSON.stringify(event)).toContain(String(to.sendId));
      expect(JSON.stringify(event)).toContain((outcome as { messageId: string }).messageId);
    }
    expect(JSON.stringify(events)).toContain("https://shop.example/?a=1&b=2");
  });

  it("signs with the secret of the account", async () => {
    const { credentials, webhookSecret } = await sandboxConsole.createConfig(key);
    await handOver(
      provider,
      credentials,
      mailing([recipient("someone@example.net")]),
      `${key} forged`,
    );
    await sandboxConsole.sandbox.flushWebhooks();
    const one = sandboxConsole.receiver.received.at(-1)!;
    expect(await isGenuine[key]!(one, webhookSecret, sandboxConsole.sandbox.snsUrl)).toBe(true);
    const elsewhere = (await createAccount(sandboxConsole.sandbox))[key]!.webhookSecret;
    expect(await isGenuine[key]!(one, elsewhere, sandboxConsole.sandbox.snsUrl)).toBe(false);
  });
});
