import { describe, expect, test } from "vitest";
import { get, insertMany } from "../../shared/adapters/dynamodb/table.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as history from "../../shared/domain/delivery-events/send-history.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { keys } from "../../shared/keys.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import {
  applyMessages,
  createEvent,
  createEventMessage,
  createSentMails,
  readDayCounters,
} from "../support/delivery-events.ts";

interceptClients();

/** Creates a recipient of `n` mails, each with its own unsubscribe link. */
async function createRecipient(n = 1, known = true) {
  const mail = await createSentMails(0);
  const { caller, orgId, siteId } = mail;
  const email = `ann${orgId}@example.com`;
  await rules.create(
    caller,
    rules.NewScoringRule.parse({ siteId, name: "Left", trigger: "unsubscribe", points: -10 }),
  );
  const contact = known
    ? await contacts.create(caller, { siteId, ...newContact(email) })
    : undefined;
  const base = orgId * 100_000;
  const sendIds = Array.from({ length: n }, (_, i) => base + i);
  const sent = sendIds.map((id) => ({
    ...mail.item(id),
    toEmail: email,
    contactId: contact?.id ?? null,
  }));
  await insertMany(sent.map((item) => ({ key: keys.send(orgId, item.id), item })));
  const seal = await createTokenMaker("unsubscribe");
  const tokenOf = (sendId?: number) =>
    seal({ orgId, siteId, contactId: contact?.id, email, sendId });
  const item = (): Promise<ContactItem> => contacts.findItem(caller, contact!.id);
  const state = async (token = tokenOf()) => (await unsubscribes.findStatus(token)).state;
  const eventsOf = async (sendId: number) =>
    (await history.findDetail(caller, sendId)).events.map(({ type }) => type);
  const countEvents = async () =>
    (await history.listEvents(caller, { limit: 100 }, {})).events.length;
  const readTotals = async () => (await readDayCounters(orgId, siteId)).totals;
  return {
    ...mail,
    email,
    contact: contact!,
    sendIds,
    tokenOf,
    links: sendIds.map(tokenOf),
    item,
    state,
    eventsOf,
    countEvents,
    readTotals,
  };
}

test("an unsubscribe by link changes the contact, records one event and scores once", async () => {
  const { links, item, state, eventsOf, sendIds, caller, contact, countEvents } =
    await createRecipient();
  expect(await state(links[0])).toBe("subscribed");
  for (let n = 0; n < 3; n++)
    await unsubscribes.unsubscribe(links[0]!, { source: "one_click", ipAddress: "192.0.2.7" });
  expect(await item()).toMatchObject({ status: "unsubscribed", score: -10 });
  expect(await eventsOf(sendIds[0]!)).toEqual(["unsubscribe"]);
  expect(await countEvents()).toBe(1);
  expect((await history.findDetail(caller, sendIds[0]!)).events).toMatchObject([
    { ipAddress: "192.0.2.7", providerEventId: "link" },
  ]);
  expect((await scores.listLog(caller, contact.id, { limit: 10 })).log).toHaveLength(1);
  expect(await state(links[0])).toBe("unsubscribed");
});

test("reading the status of a link changes nothing", async () => {
  const { links, item, eventsOf, sendIds } = await createRecipient();
  const before = await item();
  for (let n = 0; n < 3; n++) await unsubscribes.findStatus(links[0]!);
  expect(await item()).toEqual(before);
  expect(await eventsOf(sendIds[0]!)).toEqual([]);
});

test("an unsubscribed contact causes a second event only after it resubscribed", async () => {
  const { links, item, eventsOf, sendIds, state } = await createRecipient(2);
  await unsubscribes.unsubscribe(links[0]!);
  await unsubscribes.unsubscribe(links[1]!);
  expect([await eventsOf(sendIds[0]!), await eventsOf(sendIds[1]!)]).toEqual([["unsubscribe"], []]);
  await unsubscribes.resubscribe(links[0]!);
  expect([await state(), (await item()).status]).toEqual(["subscribed", "subscribed"]);
  await unsubscribes.unsubscribe(links[0]!);
  expect([await state(), (await item()).score]).toEqual(["unsubscribed", -10]);
  await unsubscribes.resubscribe(links[0]!);
  await unsubscribes.unsubscribe(links[1]!);
  expect([await eventsOf(sendIds[1]!), (await item()).score]).toEqual([["unsubscribe"], -20]);
});

test.each([
  ["unsubscribe", unsubscribes.unsubscribe, "unsubscribed"],
  ["resubscribe", unsubscribes.resubscribe, "subscribed"],
] as const)(
  "after a crash at any step and a repeated request, %s is complete and counted once",
  async (name, change, status) => {
    await crashAtSomeSteps(async (crash) => {
      const { links, item, eventsOf, sendIds, countEvents, readTotals } = await createRecipient();
      if (name === "resubscribe") await unsubscribes.unsubscribe(links[0]!);
      await crash(() => change(links[0]!));
      await change(links[0]!);
      expect(await item()).toMatchObject({ status, score: -10 });
      expect([await eventsOf(sendIds[0]!), await countEvents()]).toEqual([["unsubscribe"], 1]);
      expect(await readTotals()).toMatchObject({ all: 1, unsubscribe: 1 });
    });
  },
);

test("30 concurrent clicks record one event and one score", async () => {
  const { links, item, eventsOf, sendIds, readTotals } = await createRecipient();
  await Promise.all(Array.from({ length: 30 }, () => unsubscribes.unsubscribe(links[0]!)));
  expect(await item()).toMatchObject({ status: "unsubscribed", score: -10 });
  expect(await eventsOf(sendIds[0]!)).toEqual(["unsubscribe"]);
  expect(await readTotals()).toMatchObject({ all: 1, unsubscribe: 1 });
});

test("a link without a send, or of a deleted send, unsubscribes from its site only", async () => {
  const { tokenOf, item, email, orgId, state } = await createRecipient();
  for (const token of [tokenOf(), tokenOf(orgId * 100_000 + 999)]) {
    await unsubscribes.unsubscribe(token);
    expect([(await item()).status, await suppressions.find(orgId, email)]).toEqual([
      "unsubscribed",
      undefined,
    ]);
    await unsubscribes.resubscribe(token);
    expect(await state(token)).toBe("subscribed");
  }
});

test("a link works after the address changes, shows the old one, and works for a new contact", async () => {
  const { links, caller, contact, email, siteId, item, state } = await createRecipient();
  await contacts.change(caller, contact.id, { email: `new-${email}` });
  expect((await unsubscribes.findStatus(links[0]!)).email).toBe(email);
  await unsubscribes.unsubscribe(links[0]!);
  expect((await item()).status).toBe("unsubscribed");
  await contacts.remove(caller, contact.id);
  const again = await contacts.create(caller, { siteId, ...newContact(email) });
  expect(await state(links[0])).toBe("subscribed");
  await unsubscribes.unsubscribe(links[0]!);
  expect((await contacts.find(caller, again.id)).status).toBe("unsubscribed");
});

const contactOf = (orgId: number, siteId: number, email: string) =>
  get<ContactItem>(keys.contact(orgId, siteId, email));

describe("an address without a contact", () => {
  test("is stored as an unsubscribed contact, and can resubscribe", async () => {
    const { links, orgId, siteId, email, state, eventsOf, sendIds } = await createRecipient(
      1,
      false,
    );
    expect(await state(links[0])).toBe("subscribed");
    for (let n = 0; n < 2; n++) await unsubscribes.unsubscribe(links[0]!);
    expect(await suppressions.find(orgId, email)).toBeUndefined();
    expect([await state(links[0]), await eventsOf(sendIds[0]!)]).toEqual([
      "unsubscribed",
      ["unsubscribe"],
    ]);
    expect(await contactOf(orgId, siteId, email)).toMatchObject({
      status: "unsubscribed",
      source: "unsubscribe link",
    });
    for (let n = 0; n < 2; n++) await unsubscribes.resubscribe(links[0]!);
    expect([await state(links[0]), await suppressions.find(orgId, email)]).toEqual([
      "subscribed",
      undefined,
    ]);
  });

  test("unsubscribes from one site, and from all sites only on request", async () => {
    const { links, caller, orgId, email, state } = await createRecipient(1, false);
    const other = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
    const otherContact = await contacts.create(caller, { siteId: other.id, ...newContact(email) });
    await Promise.all([unsubscribes.unsubscribe(links[0]!), unsubscribes.unsubscribe(links[0]!)]);
    expect((await contacts.find(caller, otherContact.id)).status).toBe("subscribed");
    await unsubscribes.unsubscribeFromEverything(links[0]!);
    expect(await suppressions.find(orgId, email)).toMatchObject({
      reason: "unsubscribe",
      source: "unsubscribe link",
    });
    expect((await contacts.find(caller, otherContact.id)).status).toBe("suppressed");
    expect(await unsubscribes.findStatus(links[0]!)).toMatchObject({
      state: "unsubscribed",
      everything: true,
    });
    await unsubscribes.resubscribe(links[0]!);
    expect([(await contacts.find(caller, otherContact.id)).status, await state(links[0])]).toEqual([
      "subscribed",
      "subscribed",
    ]);
  });

  test("that was erased is not stored again", async () => {
    const { links, caller, orgId, siteId, email, contact, state } = await createRecipient();
    await erase(caller, contact.id);
    await unsubscribes.unsubscribe(links[0]!);
    expect([await contactOf(orgId, siteId, email), await state(links[0])]).toEqual([
      undefined,
      "suppressed",
    ]);
  });

  test("that left all sites and is created as a contact later resubscribes as that contact", async () => {
    const { links, caller, siteId, email, state } = await createRecipient(1, false);
    await suppressions.suppress(caller.orgId, {
      email,
      reason: "unsubscribe",
      detail: null,
      source: "test",
    });
    const made = await contacts.create(caller, { siteId, ...newContact(email) });
    expect([made.status, await state(links[0])]).toEqual(["suppressed", "unsubscribed"]);
    await unsubscribes.resubscribe(links[0]!);
    expect([(await contacts.find(caller, made.id)).status, await state(links[0])]).toEqual([
      "subscribed",
      "subscribed",
    ]);
  });
});

test("a bounced contact stays suppressed, and its unsubscribe applies once the bounce is removed", async () => {
  const { links, orgId, email, state, item, sendIds } = await createRecipient();
  await applyMessages(
    await createEventMessage(orgId, [createEvent(sendIds[0]!, "bounce", 1, { email })]),
  );
  expect([await state(links[0]), (await item()).status]).toEqual(["suppressed", "suppressed"]);
  await unsubscribes.unsubscribe(links[0]!);
  await unsubscribes.resubscribe(links[0]!);
  expect([await state(links[0]), (await suppressions.find(orgId, email))?.reason]).toEqual([
    "suppressed",
    "bounce",
  ]);
  await unsubscribes.unsubscribe(links[0]!);
  await suppressions.remove(orgId, email);
  expect([await state(links[0]), (await item()).status]).toEqual(["unsubscribed", "unsubscribed"]);
});

test("a forged token and a token of a deleted site are a 404 for every action", async () => {
  const { caller } = await createSentMails(0);
  const site = await sites.create(caller, sites.NewSite.parse({ name: "Gone" }));
  const deletedSiteToken = (await createTokenMaker("unsubscribe"))({
    orgId: caller.orgId,
    siteId: site.id,
    email: "ann@example.com",
  });
  await removeSite(caller, site.id);
  for (const token of [deletedSiteToken, "made-up", "x".repeat(500)])
    for (const change of [
      unsubscribes.findStatus,
      unsubscribes.unsubscribe,
      unsubscribes.resubscribe,
    ])
      await expect(change(token)).rejects.toMatchObject({ kind: "missing" });
});
