// Events that arrive while their mail is being handed over, or after the worker crashed.
import { beforeAll, describe, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { getOverview } from "../../shared/domain/analytics/overview.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import type { SendItem } from "../../shared/domain/sending/send-schema.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import { keys } from "../../shared/keys.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEventMessage } from "../support/delivery-events.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

type Item = Partial<SendItem> & {
  duepk?: string;
  lease?: string;
  attempt?: number;
  content?: unknown;
};
const readItem = ({ caller }: mailTest.TestSender, id: number) =>
  get<Item>(keys.send(caller.orgId, id));

const settled = ["duepk", "lease", "attempt", "content"];
const dueAttributesOf = (item: Item | undefined) =>
  Object.keys(item ?? {}).filter((name) => settled.includes(name));

const applyEvent =
  (
    { caller: { orgId } }: mailTest.TestSender,
    ids: number[],
    type: "delivered" | "bounce" = "delivered",
  ) =>
  async () =>
    applyMessages(
      await createEventMessage(
        orgId,
        ids.map((id) => ({
          type,
          email: "p@example.com",
          sendId: id,
          providerEventId: `${type}-${id}`,
          providerMessageId: `m-${id}`,
          timestamp: clock.now().toISOString(),
          data:
            type === "bounce" ? { bounceType: "hard" as const, reason: "550 no such user" } : {},
        })),
      ),
    );

describe.each(["delivered", "bounce"] as const)(
  "a %s event before the response of the provider",
  (type) => {
    const status = type === "bounce" ? "failed" : "delivered";

    test("removes a single send from the due index, and the send keeps time and id of its hand-over", async () => {
      const from = await mailTest.createSender("postmark");
      const { id } = await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to });
      const { orgId } = from.caller;
      await mailTest.whileProviderWaits(
        from,
        () => handOverSingle(orgId, id),
        applyEvent(from, [id], type),
      );
      const item = await readItem(from, id);
      expect(item).toMatchObject({
        status,
        providerMessageId: `m-${id}`,
        sentAt: expect.any(String),
      });
      expect(dueAttributesOf(item)).toEqual([]);
      await from.provider.stop();
    });

    // Sends of a small batch get items at the hand-over.
    test.each([3, 6])(
      "leaves %i sends of a batch with time and id of their hand-over",
      async (n) => {
        const from = await mailTest.createSender("postmark");
        const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(n));
        const ids = results.map((result) => result.id!);
        await mailTest.whileProviderWaits(
          from,
          () => mailTest.runLane(from.caller.orgId, from.configId),
          applyEvent(from, ids.slice(0, 2), type),
        );
        const found = await Promise.all(ids.map((id) => findDetail(from.caller, id)));
        for (const [i, id] of ids.entries())
          expect(found[i]).toMatchObject({
            status: i < 2 ? status : "sent",
            providerMessageId: `m-${id}`,
            sentAt: expect.any(String),
          });
        await from.provider.stop();
      },
    );
  },
);

test("an event before a response that is lost counts the mail of a batch as sent", async () => {
  const from = await mailTest.createSender("postmark");
  const { results } = await mailTest.sendBatch(from, mailTest.uniqueRecipients(6));
  const ids = results.map((result) => result.id!);
  from.provider.faultFor = () => "lost";
  await mailTest.whileProviderWaits(
    from,
    () => mailTest.runLane(from.caller.orgId, from.configId),
    applyEvent(from, ids.slice(0, 2)),
  );
  const overview = await getOverview(from.caller, { period: "7d", interval: "day" });
  expect(overview.totals).toMatchObject({ sent: 2, delivered: 2, uncertain: 4, failed: 0 });
  await from.provider.stop();
});

test("a second worker does not take a delivered send while the first one waits for the response", async () => {
  const from = await mailTest.createSender("postmark");
  const { id } = await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to });
  const { orgId } = from.caller;
  await mailTest.whileProviderWaits(
    from,
    () => handOverSingle(orgId, id),
    async () => {
      await applyEvent(from, [id])();
      await handOverSingle(orgId, id);
    },
  );
  expect(await readItem(from, id)).toMatchObject({
    status: "delivered",
    sentAt: expect.any(String),
  });
  expect(dueAttributesOf(await readItem(from, id))).toEqual([]);
  await from.provider.stop();
});

test.each(["postmark", "resend"] as const)(
  "after a crash at any step at %s, an event settles the send and removes it from the due index",
  async (key) => {
    const from = await mailTest.createSender(key);
    const countMails = (id: number) =>
      from.provider.mails.filter(({ sendId }) => sendId === id).length;
    await crashAtSomeSteps(async (crash) => {
      const { id } = await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to });
      mailTest.pendingMessages.length = 0;
      await crash(() => handOverSingle(from.caller.orgId, id));
      if (countMails(id)) await applyEvent(from, [id])();
      await mailTest.runWorkers({ lookUps: true });
      if (countMails(id)) await applyEvent(from, [id])();
      const item = await readItem(from, id);
      expect(countMails(id)).toBeLessThanOrEqual(1);
      // Without an idempotency key the call cannot be repeated safely.
      if (!countMails(id)) expect(item).toMatchObject({ status: "uncertain" });
      else expect(item).toMatchObject({ status: "delivered", providerMessageId: `m-${id}` });
      expect(dueAttributesOf(item)).toEqual([]);
    });
    await from.provider.stop();
  },
);

test("a delivered event clears the error of an uncertain send", async () => {
  const from = await mailTest.createSender("postmark");
  from.provider.faultFor = () => "lost";
  const { id } = await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to });
  await mailTest.runWorkers();
  expect(await readItem(from, id)).toMatchObject({
    status: "uncertain",
    error: expect.any(String),
  });
  await applyEvent(from, [id])();
  expect(await findDetail(from.caller, id)).toMatchObject({
    status: "delivered",
    error: null,
    providerMessageId: `m-${id}`,
  });
  await from.provider.stop();
});
