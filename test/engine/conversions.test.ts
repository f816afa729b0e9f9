// Conversions of campaigns: which events count, for which campaign, and that each counts once.
import { beforeAll, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, queryAll, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import { NewCustomEvent } from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as tracking from "../../shared/domain/audience/tracking/tracking.ts";
import { answerWhyOf } from "../../shared/domain/campaigns/audit/why-of-campaign.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { getReach } from "../../shared/domain/campaigns/campaign-audience.ts";
import type { NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { clearGoalCache } from "../../shared/domain/campaigns/conversions/campaign-goals.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { type ReservedIds, withReservedIds } from "../../shared/ids.ts";
import { keys, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";

interceptClients();
beforeAll(useVirtualQueues);

const conversion = {
  eventName: "order_placed",
  after: "click",
  windowDays: 7,
  valueProperty: "total",
  currency: "EUR",
  currencyProperty: "currency",
} as const;

interface Mail {
  campaignId: number;
  sendId: number;
  contactId: number;
  email: string;
  variantId: number | null;
}

/** Sends a campaign to the members of the list. Returns the emails by contact. */
async function send(from: CampaignSender, fields: Partial<NewCampaign> = {}): Promise<Mail[]> {
  const { id } = await createDraft(from, { conversion, ...fields });
  return sendDraft(from, id);
}

async function sendDraft(from: CampaignSender, campaignId: number): Promise<Mail[]> {
  await state.sendNow(from.caller, campaignId);
  await runWorkers({ forSeconds: 600 });
  const filter = { campaignId, status: "sent" } as const;
  const { sends } = await listSends(from.caller, { limit: 100 }, filter);
  const mails = sends.map(({ id: sendId, contactId, toEmail, variantId }) => ({
    campaignId,
    sendId,
    contactId: contactId!,
    email: toEmail,
    variantId,
  }));
  await report(from, mails, "delivered");
  clock.advanceClock(60);
  return mails.sort((a, b) => a.contactId - b.contactId);
}

const report = async (
  { caller: { orgId } }: CampaignSender,
  mails: Mail[],
  type: "delivered" | "click" | "open",
  more: object = {},
) => {
  const timestamp = clock.now().toISOString();
  const events = mails.map(({ sendId, email }) =>
    createEvent(sendId, type, clock.epochSeconds(), { email, timestamp, ...more }),
  );
  await applyMessages(await createEventMessage(orgId, events));
  clock.advanceClock(60);
};

const order = (from: CampaignSender, contactId: number, more: object = {}) =>
  recordCustomEvents.create(
    from.caller,
    NewCustomEvent.parse({
      contactId,
      eventName: "order_placed",
      properties: { total: 49.9 },
      ...more,
    }),
  );

const conversionsOf = async (from: CampaignSender, id: number) =>
  (await readCampaign(from, id)).conversions;

async function shop(n = 3) {
  const from = await createCampaignSender();
  const { siteId, listId, caller } = from;
  const contactIds: number[] = [];
  for (let i = 0; i < n; i++) {
    const site = { caller, orgId: caller.orgId, siteId };
    contactIds.push((await createContact(site, `p${i}@example.com`, { lists: [listId] })).id);
  }
  return { ...from, contactIds };
}

test("an order after a click counts once per contact, with all its revenue", async () => {
  const from = await shop();
  const mails = await send(from);
  const [ann, bob, carl] = mails as [Mail, Mail, Mail];
  await order(from, ann.contactId);
  expect(await conversionsOf(from, ann.campaignId)).toMatchObject({ contacts: 0, events: 0 });
  await report(from, [ann, bob], "click");
  await order(from, ann.contactId);
  await order(from, ann.contactId, { properties: { total: "0.1" } });
  await order(from, ann.contactId, { properties: { total: 0.2 } });
  await order(from, bob.contactId, { properties: { total: 10, currency: "usd" } });
  await order(from, bob.contactId, { properties: { total: 10, currency: "bitcoin" } });
  await order(from, bob.contactId, { eventName: "cart_left" });
  await order(from, carl.contactId);
  const { startedAt } = await readCampaign(from, ann.campaignId);
  expect(await conversionsOf(from, ann.campaignId)).toEqual({
    contacts: 2,
    rate: 2 / 3,
    events: 5,
    revenue: [
      { currency: "EUR", amount: 50.2 },
      { currency: "USD", amount: 10 },
    ],
    countedUntil: new Date(Date.parse(startedAt!) + 60 * 24 * 3_600_000).toISOString(),
    holdOut: null,
  });
  await readConsistentNumbers(from, ann.campaignId);
  await from.provider.stop();
});

test("the window ends, and clicks of machines and later clicks do not count", async () => {
  const from = await shop();
  const [ann, bob, carl] = (await send(from)) as [Mail, Mail, Mail];
  const beforeClick = clock.now().toISOString();
  clock.advanceClock(60);
  await report(from, [ann], "click");
  await report(from, [bob], "click", { automated: true });
  await report(from, [carl], "click");
  await order(from, carl.contactId, { occurredAt: beforeClick });
  await order(from, bob.contactId);
  clock.advanceClock(7 * 24 * 3600);
  await order(from, ann.contactId);
  expect(await conversionsOf(from, ann.campaignId)).toMatchObject({ contacts: 0, events: 0 });
  await report(from, [ann], "click");
  await order(from, ann.contactId);
  expect(await conversionsOf(from, ann.campaignId)).toMatchObject({ contacts: 1, events: 1 });
  await from.provider.stop();
});

test("an event counts for the campaign that was clicked last", async () => {
  const from = await shop(1);
  const [first] = (await send(from)) as [Mail];
  const [second] = (await send(from)) as [Mail];
  await report(from, [second], "click");
  await report(from, [first], "click");
  await order(from, first.contactId);
  expect(await conversionsOf(from, first.campaignId)).toMatchObject({ events: 1 });
  expect(await conversionsOf(from, second.campaignId)).toMatchObject({ events: 0 });
  await from.provider.stop();
});

test("an open or the email itself can be enough", async () => {
  const from = await shop(2);
  const opened = await send(from, { conversion: { ...conversion, after: "open" } });
  const [ann, bob] = opened as [Mail, Mail];
  await report(from, [ann], "open", { data: { userAgent: "Mozilla/5.0 Safari/605" } });
  await order(from, ann.contactId);
  await order(from, bob.contactId);
  expect(await conversionsOf(from, ann.campaignId)).toMatchObject({ contacts: 1 });
  const sent = await send(from, { conversion: { ...conversion, after: "delivery" } });
  await order(from, bob.contactId);
  expect(await conversionsOf(from, sent[0]!.campaignId)).toMatchObject({ contacts: 1 });
  await from.provider.stop();
});

test("each variant has its own conversions", async () => {
  const from = await shop(40);
  const { id } = await createDraft(from, { conversion });
  for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
  const mails = await sendDraft(from, id);
  const chosen = mails.find(({ variantId }) => variantId === mails[0]!.variantId)!;
  await report(from, [chosen], "click");
  await order(from, chosen.contactId);
  const { variants } = await readCampaign(from, id);
  for (const variant of variants) {
    const isChosen = variant.id === chosen.variantId;
    expect(variant).toMatchObject({
      conversions: isChosen ? 1 : 0,
      revenue: isChosen ? [{ currency: "EUR", amount: 49.9 }] : [],
    });
  }
  await from.provider.stop();
});

test("an event counts once when its request crashes at any point and is repeated", async () => {
  const from = await shop(1);
  const [ann] = (await send(from)) as [Mail];
  await report(from, [ann], "click");
  let runs = 0;
  const steps = await crashAtSomeSteps(async (crash) => {
    const memory: ReservedIds = {
      key: keys.idempotency(from.caller.orgId, `order ${++runs}`),
      taken: {},
    };
    await write(put(memory.key, {}));
    const request = () =>
      withReservedIds(memory, () => order(from, ann.contactId, { id: `order-${runs}` }));
    await crash(request);
    await request();
    await order(from, ann.contactId, { id: `order-${runs}` });
    const { contacts, events, revenue } = (await conversionsOf(from, ann.campaignId))!;
    expect({ contacts, events }).toEqual({ contacts: 1, events: runs });
    expect(revenue[0]!.amount).toBeCloseTo(49.9 * runs, 3);
  });
  expect(steps.length).toBeGreaterThan(8);
  await from.provider.stop();
});

test("concurrent events of one contact count as one conversion", async () => {
  const from = await shop(1);
  const [ann] = (await send(from)) as [Mail];
  await report(from, [ann], "click");
  await Promise.all(Array.from({ length: 6 }, () => order(from, ann.contactId)));
  expect(await conversionsOf(from, ann.campaignId)).toMatchObject({
    contacts: 1,
    events: 6,
    revenue: [{ currency: "EUR", amount: 299.4 }],
  });
  await from.provider.stop();
});

describe("a hold-out group", () => {
  test("gets no email, and its events are compared with those of the others", async () => {
    const from = await shop(40);
    const { id } = await createDraft(from, { conversion, holdOutPercent: 50 });
    expect(await getReach(from.caller, id)).toMatchObject({
      matched: 40,
      notMailed: [{ reason: "heldOut" }],
    });
    const mails = await sendDraft(from, id);
    const { heldOut, accepted } = await readConsistentNumbers(from, id);
    expect(heldOut).toBeGreaterThan(5);
    expect(accepted).toBe(40 - heldOut);
    expect(mails).toHaveLength(accepted);
    const mailed = new Set(mails.map(({ contactId }) => contactId));
    const held = from.contactIds.filter((contactId) => !mailed.has(contactId));
    const email = (await contacts.find(from.caller, held[0]!)).email;
    expect(await answerWhyOf(from.caller, { email, campaignId: id })).toMatchObject({
      reason: "held_out",
    });
    for (const contactId of [mails[0]!.contactId, mails[1]!.contactId, held[0]!, held[0]!])
      await order(from, contactId, { properties: { total: 10 } });
    await report(from, [mails[2]!], "click");
    await order(from, mails[2]!.contactId);
    const revenueOf = (amount: number) => [{ currency: "EUR", amount }];
    expect(await conversionsOf(from, id)).toMatchObject({
      ...{ contacts: 1, events: 1, revenue: revenueOf(49.9) },
      holdOut: {
        mailed: { size: accepted, contacts: 3, revenue: revenueOf(69.9) },
        heldOut: { size: heldOut, contacts: 1, revenue: revenueOf(20) },
        lift: expect.closeTo((3 * heldOut) / accepted - 1, 6),
      },
    });
    clock.advanceClock(8 * 24 * 3600);
    await order(from, held[1]!);
    expect((await conversionsOf(from, id))!.holdOut!.heldOut).toMatchObject({ contacts: 1 });
    await from.provider.stop();
  });

  test("is not for notices", async () => {
    const from = await shop(1);
    const { id } = await createDraft(from, { purpose: "notice", holdOutPercent: 10 });
    await expect(state.sendNow(from.caller, id, { confirm: "News" })).rejects.toMatchObject({
      details: [{ path: "holdOutPercent" }],
    });
    await from.provider.stop();
  });
});

describe("an A/B test", () => {
  const abTest = { testPercent: 80, durationMinutes: 600, stopEarly: true } as const;

  test("by conversions ends as soon as the winner is certain", async () => {
    const from = await shop(60);
    const { id } = await createDraft(from, {
      conversion,
      abTest: { ...abTest, metric: "conversion_rate" },
    });
    for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    const mails = await sendDraft(from, id);
    const best = mails.filter(({ variantId }) => variantId === mails[0]!.variantId);
    await runWorkers({ forSeconds: 3600 });
    expect((await readCampaign(from, id)).winner).toBeNull();
    await report(from, best, "click");
    for (const { contactId } of best) await order(from, contactId);
    await runWorkers({ forSeconds: 2 * 3600 });
    const { winner } = await readCampaign(from, id);
    expect(winner).toMatchObject({
      variantId: mails[0]!.variantId,
      reason: "best",
      decidedEarly: true,
    });
    expect(winner!.certainty).toBeGreaterThan(0.95);
    expect(winner!.results.find(({ rate }) => rate === 1)!.conversions).toBe(best.length);
    await from.provider.stop();
  });

  test("needs a conversion to be decided by it", async () => {
    const from = await shop(1);
    const { id } = await createDraft(from, { abTest: { ...abTest, metric: "conversion_rate" } });
    for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    await expect(state.sendNow(from.caller, id)).rejects.toMatchObject({
      details: [{ path: "abTest.metric" }],
    });
    await from.provider.stop();
  });
});

describe("events of visitors", () => {
  async function visit(from: CampaignSender, { contactId, email }: Mail, isProven: boolean) {
    const visitorId = `visitor-of-${email.replace(/\W/g, "-")}`;
    const track = (name: string) =>
      tracking.track(
        tracking.TrackedEvent.parse({
          ...{ siteId: from.siteId, visitorId, type: "custom", name },
          properties: { total: 5 },
        }),
      );
    for (const name of ["order_placed", "looked", "order_placed"]) await track(name);
    const makeToken = await createTokenMaker("visitor");
    const contactToken = makeToken({
      orgId: from.caller.orgId,
      siteId: from.siteId,
      contactId,
      email,
    });
    await tracking.identify(
      tracking.Identification.parse({
        ...{ siteId: from.siteId, visitorId },
        ...(isProven ? { contactToken } : { email }),
      }),
    );
    await track("order_placed");
  }

  test("count if the visitor is proven, also those from before", async () => {
    const from = await shop(2);
    const [ann, bob] = (await send(from)) as [Mail, Mail];
    await report(from, [ann, bob], "click");
    await visit(from, ann, true);
    await visit(from, bob, false);
    expect(await conversionsOf(from, ann.campaignId)).toMatchObject({
      contacts: 1,
      events: 3,
      revenue: [{ currency: "EUR", amount: 15 }],
    });
    await from.provider.stop();
  });
});

test("a deleted campaign counts nothing any more", async () => {
  const from = await shop(1);
  const [ann] = (await send(from)) as [Mail];
  await report(from, [ann], "click");
  const { orgId } = from.caller;
  await campaigns.remove(from.caller, ann.campaignId);
  await runWorkers({ forSeconds: 3600 });
  await order(from, ann.contactId);
  const source = { kind: "campaign" as const, id: ann.campaignId };
  expect(await queryAll(ranges.sourceCounts(orgId, source))).toEqual([]);
  clearGoalCache({ orgId, siteId: from.siteId });
  await order(from, ann.contactId);
  await from.provider.stop();
});

test("a campaign without a conversion costs its events nothing", async () => {
  const from = await shop(1);
  const [ann] = (await send(from, { conversion: null })) as [Mail];
  await report(from, [ann], "click");
  await order(from, ann.contactId);
  const { usage } = await measureUnits(() => order(from, ann.contactId));
  expect(usage.writeUnits).toBe(5);
  expect(await conversionsOf(from, ann.campaignId)).toBeNull();
  await from.provider.stop();
});
