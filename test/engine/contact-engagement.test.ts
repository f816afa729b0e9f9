import { describe, expect, test } from "vitest";
import { type Engaged, engaged, type Sent } from "../../shared/domain/contacts/engagement.ts";
import { maxCampaigns } from "../../shared/domain/contacts/facts.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { insertMany, queryAll } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys, ranges } from "../../shared/keys.ts";
import type { InboundEvent } from "../../shared/queues.ts";
import { type Audience, audience, create, handedOver as sent } from "../support/audience.ts";
import { armed, atEveryStep } from "../support/killer.ts";
import { eventOf, message, taken, work } from "../support/sent-mail.ts";

armed();

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 8, minute)).toISOString();
const open = ({ siteId }: Audience, key: number, more: Partial<Engaged> = {}): Engaged => ({
  siteId,
  toEmail: "Ann@x.com",
  type: "open",
  key,
  at: at(key % 60),
  ...more,
});
const mail = ({ siteId }: Audience, id: number): Sent => ({ siteId, toEmail: "ann@x.com", id, sentAt: at(id % 60) });

describe("what people do", () => {
  test("is counted once however often it is told, with its latest time", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    await Promise.all([
      engaged(shop.orgId, [open(shop, 1), open(shop, 5), open(shop, 5)]),
      engaged(shop.orgId, [open(shop, 5), open(shop, 2, { type: "click" })]),
    ]);
    await engaged(shop.orgId, [open(shop, 1), open(shop, 2, { type: "click" })]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({ openCount: 2, lastOpenedAt: at(5), clickCount: 1, lastClickedAt: at(2) });
  });

  test("finds a contact that has another address by now, and nobody where there is none", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    await contacts.change(shop.caller, id, { email: "bea@x.com" });
    await engaged(shop.orgId, [open(shop, 1), open(shop, 2, { contactId: id }), open(shop, 3, { toEmail: "none@x.com" })]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({ openCount: 1, lastOpenedAt: at(2) });
  });

  test("loses no change that is made at the same time", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    await Promise.all([
      ...Array.from({ length: 5 }, (_, i) => engaged(shop.orgId, [open(shop, i + 1)])),
      contacts.change(shop.caller, id, { firstName: "Ann" }),
    ]);
    expect(await contacts.find(shop.caller, id)).toMatchObject({ openCount: 5, firstName: "Ann" });
  });
});

describe("mail that was handed over", () => {
  test("is counted once, dead at any step and told again", async () => {
    await atEveryStep(async (kill) => {
      const shop = await audience();
      const { id } = await create(shop, "ann@x.com");
      const sends = Array.from({ length: 40 }, (_, i) => mail(shop, i + 1));
      await sent(shop.orgId, sends.slice(0, 10));
      await kill(() => sent(shop.orgId, sends));
      await sent(shop.orgId, sends.slice(20));
      expect((await contacts.find(shop.caller, id)).sendCount).toBeOneOf([30, 40]);
      await sent(shop.orgId, sends);
      const contact = await contacts.item(shop.caller, id);
      expect(contact.lastSentAt).toBe(at(40));
      const lines = await queryAll<{ ids: number[] }>(ranges.contactLog(shop.orgId, id, "SENDS|"));
      const all = new Set([...lines.flatMap((line) => line.ids), ...contact.sendIds!]);
      expect([...all].sort((a, b) => a - b)).toEqual(sends.map((one) => one.id));
    });
  });

  test("of ever so many campaigns the latest are remembered", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    for (let from = 1; from <= maxCampaigns + 20; from += 20)
      await sent(
        shop.orgId,
        Array.from({ length: 20 }, (_, i) => ({ ...mail(shop, from + i), campaignId: from + i })),
      );
    const { sentCampaigns, sendCount } = await contacts.item(shop.caller, id);
    expect([sentCampaigns!.size, sentCampaigns!.has(1), sentCampaigns!.has(maxCampaigns + 20), sendCount]).toEqual([
      maxCampaigns,
      false,
      true,
      maxCampaigns + 20,
    ]);
  });
});

describe("events of providers", () => {
  async function mailed({ orgId, siteId }: Audience): Promise<number> {
    const id = await ids.takeSend();
    await insertMany([{ address: keys.send(orgId, id), item: taken(id, siteId, "ann@x.com") }]);
    return id;
  }
  const told = ({ orgId }: Audience, sendId: number, types: InboundEvent["type"][]) =>
    message(
      orgId,
      types.map((type, i) => eventOf(sendId, type, 60 * (i + 1), { email: "ann@x.com" })),
    );

  test("move the counts of a contact once, dead at any step and delivered again", async () => {
    await atEveryStep(async (kill) => {
      const shop = await audience();
      const { id } = await create(shop, "ann@x.com");
      const events = await told(shop, await mailed(shop), ["open", "open", "click"]);
      await kill(() => work(events));
      await work(events);
      expect(await contacts.find(shop.caller, id)).toMatchObject({
        openCount: 2,
        clickCount: 1,
        lastOpenedAt: at(2),
        lastClickedAt: at(3),
      });
    });
  });

  test("make a contact unsubscribed in the site that wrote, and suppress an address without one", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com");
    await work(await told(shop, await mailed(shop), ["unsubscribe"]));
    expect(await contacts.find(shop.caller, id)).toMatchObject({ status: "unsubscribed" });
    expect(await suppressions.find(shop.orgId, "ann@x.com")).toBeUndefined();
    await contacts.remove(shop.caller, id);
    await work(await told(shop, await mailed(shop), ["unsubscribe"]));
    expect(await suppressions.find(shop.orgId, "ann@x.com")).toMatchObject({ reason: "unsubscribe" });
  });

  test("suppress a contact whose mail bounced", async () => {
    const shop = await audience();
    const { id } = await create(shop, "ann@x.com", { status: "pending" });
    await work(await told(shop, await mailed(shop), ["bounce"]));
    expect(await contacts.find(shop.caller, id)).toMatchObject({ status: "suppressed" });
  });
});
