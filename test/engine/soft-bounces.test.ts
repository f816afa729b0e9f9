// Soft bounces in a row, which a site can allow before they suppress an address.
import { beforeAll, describe, expect, test } from "vitest";
import { insertMany } from "../../shared/adapters/dynamodb/table.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { createTestSite } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  sentItem,
  timeAfterStart,
} from "../support/delivery-events.ts";
import { useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(() => useVirtualQueues());

const email = "ada@example.com";

/** Creates a site with this limit, and mails to one address, each a second after the last one. */
async function createMails(softBounceLimit: number | null, n: number) {
  const { caller, orgId } = await createTestSite();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop", softBounceLimit }));
  const first = (await ids.nextSendBlock()) * 1000;
  const sendIds = Array.from({ length: n }, (_, i) => first + i);
  await insertMany(
    sendIds.map((id, i) => ({
      key: keys.send(orgId, id),
      item: { ...sentItem(id, site.id, email), createdAt: timeAfterStart(i) },
    })),
  );
  const apply = async (...events: Omit<QueuedEvent, "id">[]) =>
    applyMessages(await createEventMessage(orgId, events));
  const isSuppressed = async () => (await suppressions.find(orgId, email)) !== undefined;
  return { orgId, sendIds, apply, isSuppressed };
}

let seconds = 100;
const about = (sendId: number, type: QueuedEvent["type"], more: Partial<QueuedEvent> = {}) =>
  createEvent(sendId, type, ++seconds, { email, ...more });
const softBounce = (sendId: number) =>
  about(sendId, "bounce", { data: { bounceType: "soft", reason: "452 4.2.2 full" } });
const delivery = (sendId: number) => about(sendId, "delivered");

describe("a site without a limit", () => {
  test.each([null, 1])("suppresses an address at its first soft bounce: %s", async (limit) => {
    const { sendIds, apply, isSuppressed } = await createMails(limit, 1);
    await apply(softBounce(sendIds[0]!));
    expect(await isSuppressed()).toBe(true);
  });
});

describe("a site with a limit of three", () => {
  test("suppresses an address at the third soft bounce in a row", async () => {
    const { sendIds, apply, isSuppressed } = await createMails(3, 3);
    for (const [i, sendId] of sendIds.entries()) {
      expect(await isSuppressed()).toBe(false);
      await apply(softBounce(sendId));
      expect(await isSuppressed()).toBe(i === 2);
    }
  });

  test("counts again from zero after a delivery", async () => {
    const { sendIds, apply, isSuppressed } = await createMails(3, 6);
    const [a = 0, b = 0, c = 0, ...later] = sendIds;
    await apply(softBounce(a), softBounce(b));
    await apply(delivery(c));
    for (const sendId of later.slice(0, 2)) await apply(softBounce(sendId));
    expect(await isSuppressed()).toBe(false);
    await apply(softBounce(later[2]!));
    expect(await isSuppressed()).toBe(true);
  });

  test("counts a mail that was delivered and then returned as a bounce", async () => {
    const { sendIds, apply, isSuppressed } = await createMails(3, 3);
    for (const sendId of sendIds) {
      await apply(delivery(sendId));
      await apply(softBounce(sendId));
    }
    expect(await isSuppressed()).toBe(true);
  });

  test("counts a mail once, however often its bounce is reported", async () => {
    const { sendIds, apply, isSuppressed } = await createMails(3, 3);
    const [a = 0, b = 0, c = 0] = sendIds;
    const first = softBounce(a);
    await apply(first, first);
    await apply(first);
    await apply(softBounce(a), softBounce(a), softBounce(b));
    expect(await isSuppressed()).toBe(false);
    await apply(softBounce(c));
    expect(await isSuppressed()).toBe(true);
  });

  test("counts the same in any order of arrival", async () => {
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ];
    for (const order of orders) {
      const { sendIds, apply, isSuppressed } = await createMails(3, 4);
      // Only three of the bounces are after the delivery.
      const events = [delivery(sendIds[0]!), ...sendIds.slice(1).map(softBounce)];
      for (const i of order.slice(0, 3)) await apply(events[i]!);
      expect([order, await isSuppressed()]).toEqual([order, order[3] === 0]);
      await apply(events[order[3]!]!);
      expect([order, await isSuppressed()]).toEqual([order, true]);
    }
    const { sendIds, apply, isSuppressed } = await createMails(3, 4);
    await apply(delivery(sendIds[1]!), ...[0, 2, 3].map((i) => softBounce(sendIds[i]!)));
    expect(await isSuppressed()).toBe(false);
  });

  test("suppresses at once after a hard bounce or a complaint", async () => {
    for (const event of [
      { type: "bounce", data: { bounceType: "hard" } },
      { type: "spam_report" },
    ] as const) {
      const { sendIds, apply, isSuppressed } = await createMails(3, 1);
      await apply(about(sendIds[0]!, event.type, event));
      expect(await isSuppressed()).toBe(true);
    }
  });

  test("starts at zero when the suppression is removed, also if a bounce is repeated", async () => {
    const { orgId, sendIds, apply, isSuppressed } = await createMails(3, 6);
    const bounces = sendIds.map(softBounce);
    await apply(...bounces.slice(0, 3));
    await suppressions.remove(orgId, email);
    await apply(...bounces.slice(0, 3));
    await apply(bounces[3]!, bounces[4]!);
    expect(await isSuppressed()).toBe(false);
    await apply(bounces[5]!);
    expect(await isSuppressed()).toBe(true);
  });

  test("suppresses also when the worker dies at any step", async () => {
    await crashAtSomeSteps(async (crash) => {
      const { orgId, sendIds, apply, isSuppressed } = await createMails(3, 3);
      await apply(...sendIds.slice(0, 2).map(softBounce));
      const message = await createEventMessage(orgId, [softBounce(sendIds[2]!)]);
      await crash(() => applyMessages(message));
      await applyMessages({ ...message, attempt: 2 });
      expect(await isSuppressed()).toBe(true);
    });
  });
});
