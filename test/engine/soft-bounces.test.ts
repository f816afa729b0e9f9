// Soft bounces suppress an address for marketing mail: those in a row that the site allows, until a
// later mail arrives or 30 days are over.
import { beforeAll, describe, expect, test } from "vitest";
import { insertMany, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds, advanceClock, now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { filterSuppressed } from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { drain } from "../../shared/domain/due-work.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { indexSingleWrites } from "../../shared/domain/sending/recipient-index/recipient-log.ts";
import * as ids from "../../shared/ids.ts";
import { dueShards, keys } from "../../shared/keys.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { createTestSite, newContact } from "../support/contacts.ts";
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

/** Creates a site with this limit, and mails to one address, one after another. */
async function createMails(
  softBounceLimit: number | null,
  n: number,
  { provider = "postmark", secondsApart = 1 } = {},
) {
  const createdAt = (i: number) => timeAfterStart(i * secondsApart);
  const { caller, orgId } = await createTestSite();
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Shop", softBounceLimit }));
  const first = (await ids.nextSendBlock()) * 1000;
  const sendIds = Array.from({ length: n }, (_, i) => first + i);
  await insertMany(
    sendIds.map((id, i) => ({
      key: keys.send(orgId, id),
      item: { ...sentItem(id, site.id, email), provider, createdAt: createdAt(i) },
    })),
  );
  const indexed = sendIds.flatMap((id, i) =>
    indexSingleWrites(orgId, { id, toEmail: email, createdAt: createdAt(i) }, []),
  );
  await writeMany(indexed);
  const apply = async (...events: Omit<QueuedEvent, "id">[]) =>
    applyMessages(await createEventMessage(orgId, events));
  const isSuppressed = async () => (await suppressions.find(orgId, email)) !== undefined;
  return { caller, siteId: site.id, orgId, sendIds, apply, isSuppressed };
}

let seconds = 100;
const about = (sendId: number, type: QueuedEvent["type"], more: Partial<QueuedEvent> = {}) =>
  createEvent(sendId, type, ++seconds, { email, timestamp: now().toISOString(), ...more });
const hardBounce = (sendId: number) =>
  about(sendId, "bounce", { data: { bounceType: "hard", reason: "550 5.1.1 unknown" } });
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

  test.each([
    [7, false],
    [1, true],
  ])("takes mail of SMTP servers for arrived days later: every %d days", async (days, expected) => {
    const options = { provider: "smtp", secondsApart: days * 24 * 3600 };
    const { sendIds, apply, isSuppressed } = await createMails(3, 5, options);
    // The second and the fourth mail have no bounce.
    for (const i of [0, 2, 4]) await apply(softBounce(sendIds[i]!));
    expect(await isSuppressed()).toBe(expected);
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

/** Which mail may go to the address. */
async function findBlocked(orgId: number) {
  const [marketing, transactional] = await Promise.all(
    (["marketing", "transactional"] as const).map((purpose) =>
      filterSuppressed(orgId, [email], { purpose, consistent: true }),
    ),
  );
  return { marketing: marketing!.size > 0, transactional: transactional!.size > 0 };
}
const nothing = { marketing: false, transactional: false };
const onlyMarketing = { marketing: true, transactional: false };
const everything = { marketing: true, transactional: true };

const permutations = <T>(items: T[]): T[][] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, i) =>
        permutations(items.toSpliced(i, 1)).map((others) => [item, ...others]),
      );

const quietDays = 30;

async function passDays(days: number): Promise<void> {
  advanceClock(days * 24 * 3600);
  for (let shard = 0; shard < dueShards; shard++) await drain("SUPPRESSION", shard);
}

describe("a suppression by soft bounces", () => {
  test("blocks marketing mail only, says so, and sets the status of the contact", async () => {
    const { caller, siteId, orgId, sendIds, apply } = await createMails(null, 1);
    const { id } = await contacts.create(caller, { siteId, ...newContact(email) });
    const bounce = softBounce(sendIds[0]!);
    await apply(bounce);
    expect(await findBlocked(orgId)).toEqual(onlyMarketing);
    expect(await suppressions.find(orgId, email)).toMatchObject({
      reason: "bounce",
      bounceType: "soft",
      detail: "452 4.2.2 full",
      liftsAt: addSeconds(quietDays * 24 * 3600, new Date(bounce.timestamp)).toISOString(),
    });
    expect(await contacts.find(caller, id)).toMatchObject({ status: "suppressed" });
    await apply(hardBounce(sendIds[0]!));
    expect(await findBlocked(orgId)).toEqual(everything);
  });

  test("ends when a later mail is delivered, and not when an earlier one is", async () => {
    const { caller, siteId, orgId, sendIds, apply } = await createMails(null, 3);
    const { id } = await contacts.create(caller, { siteId, ...newContact(email) });
    const [earlier = 0, bounced = 0, later = 0] = sendIds;
    await apply(softBounce(bounced));
    await apply(delivery(earlier));
    expect(await findBlocked(orgId)).toEqual(onlyMarketing);
    await apply(about(later, "open"));
    expect(await findBlocked(orgId)).toEqual(nothing);
    expect(await contacts.find(caller, id)).toMatchObject({ status: "subscribed" });
    expect((await suppressions.getCounts(orgId)).bounce).toBe(0);
  });

  test("is the same for any order of the events, and for repeated ones", async () => {
    const stories: { limit: number; events: string; blocks: typeof nothing }[] = [
      { limit: 1, events: "bbd", blocks: nothing },
      { limit: 1, events: "bdb", blocks: onlyMarketing },
      { limit: 2, events: "bbd", blocks: nothing },
      { limit: 2, events: "dbb", blocks: onlyMarketing },
      { limit: 2, events: "bdb", blocks: nothing },
      { limit: 1, events: "hbd", blocks: everything },
    ];
    const makers: Record<string, typeof delivery> = { b: softBounce, d: delivery, h: hardBounce };
    for (const { limit, events, blocks } of stories)
      for (const order of permutations([0, 1, 2])) {
        const { orgId, sendIds, apply } = await createMails(limit, 3);
        const made = sendIds.map((sendId, i) => makers[events[i]!]!(sendId));
        for (const i of order) await apply(made[i]!);
        for (const i of order) await apply(made[i]!, made[order[0]!]!);
        expect([events, order, await findBlocked(orgId)]).toEqual([events, order, blocks]);
      }
  });

  test("is one entry, however many workers apply its events at the same time", async () => {
    const { orgId, sendIds, apply } = await createMails(null, 5);
    await Promise.all(sendIds.map((sendId) => apply(softBounce(sendId))));
    expect(await findBlocked(orgId)).toEqual(onlyMarketing);
    expect((await suppressions.getCounts(orgId)).bounce).toBe(1);
    const { sendIds: others, apply: applyOther, orgId: otherOrg } = await createMails(null, 2);
    const [first = 0, second = 0] = others;
    await Promise.all([applyOther(softBounce(first)), applyOther(delivery(second))]);
    expect(await findBlocked(otherOrg)).toEqual(nothing);
  });

  test("ends in bounded time if the clock of the provider is years ahead", async () => {
    const { orgId, sendIds, apply } = await createMails(null, 1);
    const bounce = softBounce(sendIds[0]!);
    await apply({ ...bounce, timestamp: "2099-01-01T00:00:00.000Z" });
    const { liftsAt } = (await suppressions.find(orgId, email))!;
    expect(liftsAt).toBe(addSeconds(75 * 24 * 3600, new Date(timeAfterStart(0))).toISOString());
  });

  test("gives way to an unsubscription, which a delivery does not end", async () => {
    const { orgId, sendIds, apply } = await createMails(null, 2);
    await apply(softBounce(sendIds[0]!));
    const source = "test";
    await suppressions.suppress(orgId, { email, reason: "unsubscribe", source });
    await apply(softBounce(sendIds[0]!), delivery(sendIds[1]!));
    expect(await suppressions.find(orgId, email)).toMatchObject({ reason: "unsubscribe" });
    expect(await suppressions.getCounts(orgId)).toMatchObject({ bounce: 0, unsubscribe: 1 });
  });

  test("ends when a mail is delivered also if the worker dies at any step", async () => {
    await crashAtSomeSteps(async (crash) => {
      const { caller, siteId, orgId, sendIds, apply } = await createMails(null, 2);
      const { id } = await contacts.create(caller, { siteId, ...newContact(email) });
      await apply(softBounce(sendIds[0]!));
      const message = await createEventMessage(orgId, [delivery(sendIds[1]!)]);
      await crash(() => applyMessages(message));
      await applyMessages({ ...message, attempt: 2 });
      expect(await findBlocked(orgId)).toEqual(nothing);
      expect(await contacts.find(caller, id)).toMatchObject({ status: "subscribed" });
    });
  });

  test("ends after 30 days without a bounce; a hard bounce stays", async () => {
    const { caller, siteId, orgId, sendIds, apply } = await createMails(2, 5);
    const { id } = await contacts.create(caller, { siteId, ...newContact(email) });
    const hard = await createMails(null, 1);
    await hard.apply(hardBounce(hard.sendIds[0]!));
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = sendIds;
    await apply(softBounce(a), softBounce(b));
    await passDays(quietDays - 1);
    await apply(softBounce(c));
    await passDays(quietDays - 1);
    expect(await findBlocked(orgId)).toEqual(onlyMarketing);
    await passDays(2);
    expect(await findBlocked(orgId)).toEqual(nothing);
    expect(await contacts.find(caller, id)).toMatchObject({ status: "subscribed" });
    expect(await findBlocked(hard.orgId)).toEqual(everything);
    // The bounces so far do not count again.
    await apply(softBounce(d));
    expect(await findBlocked(orgId)).toEqual(nothing);
    await apply(softBounce(e));
    expect(await findBlocked(orgId)).toEqual(onlyMarketing);
  });
});
