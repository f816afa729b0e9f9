import type { BatchGetCommandInput } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { get, insertMany, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import {
  type EngagementEvent,
  type RecordedSend,
  recordEngagement,
} from "../../shared/domain/audience/contacts/engagement.ts";
import { maxCampaignsPerContact } from "../../shared/domain/audience/contacts/segment-attributes.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as ids from "../../shared/ids.ts";
import { keys, ranges } from "../../shared/keys.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { interceptCalls } from "../support/aws-calls.ts";
import {
  createContact,
  createTestSite,
  recordHandOver as sent,
  type TestSite,
} from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  sentItem,
} from "../support/delivery-events.ts";

interceptClients();

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 8, minute)).toISOString();
const open = (
  { siteId }: TestSite,
  key: number,
  more: Partial<EngagementEvent> = {},
): EngagementEvent => ({
  siteId,
  toEmail: "Ann@x.com",
  type: "open",
  key,
  at: at(key % 60),
  ...more,
});
const mail = ({ siteId }: TestSite, id: number): RecordedSend => ({
  siteId,
  toEmail: "ann@x.com",
  id,
  sentAt: at(id % 60),
});

/** Runs `work` while eventually consistent reads of many items return these items. */
async function withStaleReads(items: object[], work: () => Promise<unknown>): Promise<void> {
  const end = interceptCalls("dynamodb", async ({ operation, input }, passThrough) => {
    if (operation !== "BatchGetItem") return passThrough();
    const [[table, request] = []] = Object.entries(
      (input as BatchGetCommandInput).RequestItems ?? {},
    );
    if (table === undefined || request?.ConsistentRead) return passThrough();
    return { Responses: { [table]: items } };
  });
  await work().finally(end);
}

describe("opens and clicks", () => {
  test("are counted once although the contact is read stale, or not at all", async () => {
    const shop = await createTestSite();
    const { id: contactId } = await createContact(shop, "ann@x.com");
    const stale = await get<object>(keys.contact(shop.orgId, shop.siteId, "ann@x.com"));
    await recordEngagement(shop.orgId, [open(shop, 1, { contactId })]);
    await withStaleReads([stale!], () =>
      recordEngagement(
        shop.orgId,
        [1, 2].map((key) => open(shop, key, { contactId })),
      ),
    );
    await withStaleReads([], () =>
      recordEngagement(
        shop.orgId,
        [2, 3].map((key) => open(shop, key, { contactId })),
      ),
    );
    expect(await contacts.find(shop.caller, contactId)).toMatchObject({
      openCount: 3,
      lastOpenedAt: at(3),
    });
  });

  test("are counted once although they are repeated, with the latest time", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    await Promise.all([
      recordEngagement(shop.orgId, [open(shop, 1), open(shop, 5), open(shop, 5)]),
      recordEngagement(shop.orgId, [open(shop, 5), open(shop, 2, { type: "click" })]),
    ]);
    await recordEngagement(shop.orgId, [open(shop, 1), open(shop, 2, { type: "click" })]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      openCount: 2,
      lastOpenedAt: at(5),
      clickCount: 1,
      lastClickedAt: at(2),
    });
  });

  test("count for a contact whose address has changed, and are ignored without a contact", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    await contacts.change(shop.caller, id, { email: "bea@x.com" });
    await recordEngagement(shop.orgId, [
      open(shop, 1),
      open(shop, 2, { contactId: id }),
      open(shop, 3, { toEmail: "none@x.com" }),
    ]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({
      openCount: 1,
      lastOpenedAt: at(2),
    });
  });

  test("lose no concurrent change of the contact", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    await Promise.all([
      ...Array.from({ length: 5 }, (_, i) => recordEngagement(shop.orgId, [open(shop, i + 1)])),
      contacts.change(shop.caller, id, { firstName: "Ann" }),
    ]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({ openCount: 5, firstName: "Ann" });
  });
});

describe("sent mail", () => {
  test("is counted once when it is repeated after a crash at any point", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const { id } = await createContact(shop, "ann@x.com");
      const sends = Array.from({ length: 40 }, (_, i) => mail(shop, i + 1));
      await sent(shop.orgId, sends.slice(0, 10));
      await crash(() => sent(shop.orgId, sends));
      await sent(shop.orgId, sends.slice(20));
      expect((await contacts.find(shop.caller, id)).sendCount).toBeOneOf([30, 40]);
      await sent(shop.orgId, sends);
      const contact = await contacts.findItem(shop.caller, id);
      expect(contact.lastSentAt).toBe(at(40));
      const lines = await queryAll<{ ids: number[] }>(ranges.contactLog(shop.orgId, id, "SENDS|"));
      const all = new Set([...lines.flatMap((line) => line.ids), ...contact.sendIds!]);
      expect([...all].sort((a, b) => a - b)).toEqual(sends.map((one) => one.id));
    });
  });

  test("the contact stores its latest campaigns only", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    for (let from = 1; from <= maxCampaignsPerContact + 20; from += 20)
      await sent(
        shop.orgId,
        Array.from({ length: 20 }, (_, i) => ({ ...mail(shop, from + i), campaignId: from + i })),
      );
    const { sentCampaigns, sendCount } = await contacts.findItem(shop.caller, id);
    expect([
      sentCampaigns!.size,
      sentCampaigns!.has(1),
      sentCampaigns!.has(maxCampaignsPerContact + 20),
      sendCount,
    ]).toEqual([maxCampaignsPerContact, false, true, maxCampaignsPerContact + 20]);
  });
});

describe("events of providers", () => {
  async function mailed({ orgId, siteId }: TestSite): Promise<number> {
    const id = await ids.nextSendId();
    await insertMany([{ key: keys.send(orgId, id), item: sentItem(id, siteId, "ann@x.com") }]);
    return id;
  }
  const applyEvents = ({ orgId }: TestSite, sendId: number, types: QueuedEvent["type"][]) =>
    createEventMessage(
      orgId,
      types.map((type, i) => createEvent(sendId, type, 60 * (i + 1), { email: "ann@x.com" })),
    );

  test("count once when they are delivered again after a crash at any point", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createTestSite();
      const { id } = await createContact(shop, "ann@x.com");
      const events = await applyEvents(shop, await mailed(shop), ["open", "open", "click"]);
      await crash(() => applyMessages(events));
      await applyMessages(events);
      expect(await contacts.find(shop.caller, id)).toMatchObject({
        openCount: 2,
        clickCount: 1,
        lastOpenedAt: at(2),
        lastClickedAt: at(3),
      });
    });
  });

  test("unsubscribe an address in the site that sent the mail, with or without a contact", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com");
    await applyMessages(await applyEvents(shop, await mailed(shop), ["unsubscribe"]));
    expect(await contacts.find(shop.caller, id)).toMatchObject({ status: "unsubscribed" });
    expect(await suppressions.find(shop.orgId, "ann@x.com")).toBeUndefined();
    await contacts.remove(shop.caller, id);
    await applyMessages(await applyEvents(shop, await mailed(shop), ["unsubscribe"]));
    expect(await suppressions.find(shop.orgId, "ann@x.com")).toBeUndefined();
    const { items } = await pages.list(
      shop.caller,
      { limit: 50 },
      { siteId: shop.siteId, search: "ann@x.com" },
    );
    expect(items).toMatchObject([{ email: "ann@x.com", status: "unsubscribed" }]);
  });

  test("suppress a contact whose mail bounced", async () => {
    const shop = await createTestSite();
    const { id } = await createContact(shop, "ann@x.com", { status: "pending" });
    await applyMessages(await applyEvents(shop, await mailed(shop), ["bounce"]));
    expect(await contacts.find(shop.caller, id)).toMatchObject({ status: "suppressed" });
  });
});
