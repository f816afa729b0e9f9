// Providers can be faster than we are: events that come while their mail is still being handed over, or after whoever did so died.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import * as sends from "../../shared/domain/sends.ts";
import { get } from "../../shared/doors/table.ts";
import { keys } from "../../shared/keys.ts";
import { atEveryStep } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";
import { message, work } from "../support/sent-mail.ts";

beforeAll(mailroom.opened);

type Item = Partial<sends.SendItem> & { duepk?: string; lease?: string; attempt?: number; content?: unknown };
const stored = ({ caller }: mailroom.Sender, id: number) => get<Item>(keys.send(caller.orgId, id));

const settled = ["duepk", "lease", "attempt", "content"];
const leftOn = (item: Item | undefined) => Object.keys(item ?? {}).filter((name) => settled.includes(name));

const told =
  ({ caller: { orgId } }: mailroom.Sender, ids: number[], type: "delivered" | "bounce" = "delivered") =>
  async () =>
    work(
      await message(
        orgId,
        ids.map((id) => ({
          type,
          email: "p@example.com",
          sendId: id,
          providerEventId: `${type}-${id}`,
          providerMessageId: `m-${id}`,
          timestamp: clock.now().toISOString(),
          data: type === "bounce" ? { bounceType: "hard" as const, reason: "550 no such user" } : {},
        })),
      ),
    );

/** Has `happen` while the provider still keeps `handOver` waiting for its answer. */
async function meanwhile({ provider }: mailroom.Sender, handOver: () => Promise<unknown>, happen: () => Promise<unknown>) {
  provider.slowMs = 300;
  const calls = provider.calls.length;
  const running = handOver();
  while (provider.calls.length === calls) await sleep(5);
  await happen();
  await running;
  provider.slowMs = 0;
}

describe.each(["delivered", "bounce"] as const)("%s, told before the provider has answered the call", (type) => {
  const status = type === "bounce" ? "failed" : "delivered";

  test("of a single send: it is off the due index, and knows when and as what it was handed over", async () => {
    const from = await mailroom.sender("postmark");
    const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
    const { orgId } = from.caller;
    await meanwhile(from, () => singles.deliver(orgId, id), told(from, [id], type));
    const item = await stored(from, id);
    expect(item).toMatchObject({ status, providerMessageId: `m-${id}`, sentAt: expect.any(String) });
    expect(leftOn(item)).toEqual([]);
    await from.provider.stop();
  });

  test("of sends of a batch: they know when and as what they were handed over", async () => {
    const from = await mailroom.sender("postmark");
    const { results } = await mailroom.sendBatch(from, mailroom.recipients(3));
    const ids = results.map((result) => result.id!);
    await meanwhile(from, () => mailroom.runLane(from.caller.orgId, from.configId), told(from, ids.slice(0, 2), type));
    const items = await Promise.all(ids.map((id) => stored(from, id)));
    for (const [i, id] of ids.entries())
      expect(items[i]).toMatchObject({ status: i < 2 ? status : "sent", providerMessageId: `m-${id}`, sentAt: expect.any(String) });
    await from.provider.stop();
  });
});

test("a second worker that comes by while the first waits for the answer takes nothing from it", async () => {
  const from = await mailroom.sender("postmark");
  const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
  const { orgId } = from.caller;
  await meanwhile(
    from,
    () => singles.deliver(orgId, id),
    async () => {
      await told(from, [id])();
      await singles.deliver(orgId, id);
    },
  );
  expect(await stored(from, id)).toMatchObject({ status: "delivered", sentAt: expect.any(String) });
  expect(leftOn(await stored(from, id))).toEqual([]);
  await from.provider.stop();
});

test.each(["postmark", "resend"] as const)(
  "%s: when a worker dies at any step, an event settles the send, and the due index forgets it",
  async (key) => {
    const from = await mailroom.sender(key);
    const has = (id: number) => from.provider.mails.filter(({ sendId }) => sendId === id).length;
    await atEveryStep(async (kill) => {
      const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
      mailroom.messages.length = 0;
      await kill(() => singles.deliver(from.caller.orgId, id));
      if (has(id)) await told(from, [id])();
      await mailroom.settle();
      if (has(id)) await told(from, [id])();
      const item = await stored(from, id);
      expect(has(id)).toBeLessThanOrEqual(1);
      // Without keys nobody can ask again whether the call was heard.
      if (!has(id)) expect(item).toMatchObject({ status: "uncertain" });
      else expect(item).toMatchObject({ status: "delivered", providerMessageId: `m-${id}` });
      expect(leftOn(item)).toEqual([]);
    });
    await from.provider.stop();
  },
);

test("an uncertain send that turns out to have arrived says nothing of doubt any more", async () => {
  const from = await mailroom.sender("postmark");
  from.provider.trouble = () => "lost";
  const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
  await mailroom.settle();
  expect(await stored(from, id)).toMatchObject({ status: "uncertain", error: expect.any(String) });
  await told(from, [id])();
  expect(await sends.detail(from.caller, id)).toMatchObject({ status: "delivered", error: null, providerMessageId: `m-${id}` });
  await from.provider.stop();
});
