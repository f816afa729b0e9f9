// What the provider sandbox says back: each provider's own events, genuinely signed, to the webhook URL of the sending config.
import { describe, expect, it } from "vitest";
import { providers } from "../../shared/providers/index.ts";
import { opened } from "../support/console.ts";
import { courses, names } from "../support/fates.ts";
import { events, genuine } from "../support/receiver.ts";
import { account, handOver, mailing, recipient, simulated } from "../support/sandbox.ts";

const told = await opened();

describe.each(providers)("$name", (provider) => {
  const { key } = provider;

  it("tells what happens to each of the simulated recipients, in its own events, signed so that they verify", async () => {
    const { credentials, webhookSecret } = await told.configured(key);
    for (const fate of Object.keys(courses)) {
      const [outcome] = await handOver(provider, credentials, mailing([recipient(simulated(fate))]), `${key} ${fate}`);
      expect(outcome).toMatchObject({ status: "accepted" });
    }
    await told.sandbox.settle();
    for (const [fate, kinds] of Object.entries(courses)) {
      const expected = kinds.map((kind) => names[key]![kind]).filter(Boolean);
      // Calls go side by side: they may arrive in any order.
      expect([fate, told.namesTo(key, simulated(fate)).toSorted()]).toEqual([fate, [...expected].sort()]);
    }
    for (const one of told.receiving.received) expect(await genuine[key]!(one, webhookSecret, told.sandbox.snsUrl)).toBe(true);
  });

  it("names the send, the mail and the clicked link in its events", async () => {
    const { credentials } = await told.configured(key);
    const to = recipient(`clicked+${key}@simulator.pennymail.test`);
    const [outcome] = await handOver(provider, credentials, mailing([to]), `${key} names`);
    await told.sandbox.settle();
    const said = told.receiving.received.flatMap(events[key]!);
    for (const event of said) {
      expect(JSON.stringify(event)).toContain(String(to.sendId));
      expect(JSON.stringify(event)).toContain((outcome as { messageId: string }).messageId);
    }
    expect(JSON.stringify(said)).toContain("https://shop.example/?a=1&b=2");
  });

  it("signs with the account's own secret: that of another account does not verify", async () => {
    const { credentials, webhookSecret } = await told.configured(key);
    await handOver(provider, credentials, mailing([recipient("someone@example.net")]), `${key} forged`);
    await told.sandbox.settle();
    const one = told.receiving.received.at(-1)!;
    expect(await genuine[key]!(one, webhookSecret, told.sandbox.snsUrl)).toBe(true);
    const elsewhere = (await account(told.sandbox))[key]!.webhookSecret;
    expect(await genuine[key]!(one, elsewhere, told.sandbox.snsUrl)).toBe(false);
  });
});
