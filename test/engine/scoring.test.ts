import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, test } from "vitest";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { batch } from "../../shared/domain/events/apply.ts";
import { NewForm } from "../../shared/domain/forms/form.ts";
import * as forms from "../../shared/domain/forms.ts";
import { allHappened, applyTag, type Facts, happened, met } from "../../shared/domain/scoring.ts";
import * as rules from "../../shared/domain/scoring-rules.ts";
import type { SendItem } from "../../shared/domain/sends.ts";
import * as sites from "../../shared/domain/sites.ts";
import { insertMany, put, write } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import type { InboundEvent } from "../../shared/queues.ts";
import { audience, create } from "../support/audience.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { armed, atEveryStep } from "../support/killer.ts";

armed();
afterEach(letGo);

const at = "2026-11-21T08:00:00.000Z";
let people = 0;

async function scene(...given: object[]) {
  const who = await audience();
  for (const one of given)
    await rules.create(who.caller, rules.NewScoringRule.parse({ siteId: who.siteId, name: "Rule", points: 5, ...one }));
  const newcomer = async () => {
    const contact = await create(who, `q${++people}@example.com`);
    const score = async () => (await contacts.item(who.caller, contact.id)).score ?? 0;
    const log = async () => (await scores.log(who.caller, contact.id, { limit: 100 })).log;
    return { contact, score, log };
  };
  return { ...who, newcomer };
}

describe("a rule", () => {
  const rule = (trigger: rules.Trigger, match: rules.Match | null, active = true): rules.ScoringRule => ({
    ...{ id: 1, siteId: 1, name: "Rule", points: 5, createdAt: at, updatedAt: at },
    ...{ trigger, match, active },
  });
  test.each<[rules.Trigger, rules.Match | null, Facts, boolean]>([
    ["page_view", null, {}, true],
    ["page_view", { url: "/Pricing" }, { url: "https://shop.example/pricing?x=1" }, true],
    ["page_view", { url: "/pricing" }, { url: "https://shop.example/about" }, false],
    ["page_view", { url: "/pricing" }, {}, false],
    ["custom_event", { eventName: "order" }, { eventName: "order" }, true],
    ["custom_event", { eventName: "order" }, { eventName: "Order" }, false],
    ["tag_add", { tagName: " vip " }, { tagName: "VIP", tagId: 3 }, true],
    ["tag_add", { tagName: "vip", tagId: 4 }, { tagName: "VIP", tagId: 3 }, false],
    ["form_submit", { formId: 3 }, { formId: 3 }, true],
    ["form_submit", { formId: 3 }, { formId: 31 }, false],
    ["email_click", { url: "shop.example", campaignId: 2 }, { url: "https://shop.example/" }, false],
  ])("%s narrowed down to %o meets %o: %s", (trigger, match, facts, meets) => {
    expect(met([rule(trigger, match)], { trigger, facts })).toHaveLength(meets ? 1 : 0);
  });

  test("that is switched off, or waits for something else, meets nothing", () => {
    expect(met([rule("page_view", null, false), rule("bounce", null)], { trigger: "page_view", facts: {} })).toEqual([]);
  });
});

test("what happens twice under one name scores once for each rule, and the log names the rules", async () => {
  const who = await scene({ trigger: "form_submit", name: "Any form" });
  const { id: form } = await forms.create(who.caller, NewForm.parse({ siteId: who.siteId, name: "News" }));
  const one = { siteId: who.siteId, trigger: "form_submit", name: "This form", match: { formId: form }, points: -2 };
  await rules.create(who.caller, rules.NewScoringRule.parse(one));
  const { contact, score, log } = await who.newcomer();
  const submitted = (key: string, formId: number) => happened(who.orgId, contact, { trigger: "form_submit", key, at, facts: { formId } });
  await Promise.all([submitted("a", form), submitted("a", form), submitted("b", form + 1)]);
  await submitted("a", form);
  expect(await score()).toBe(8);
  expect((await log()).map(({ delta, rule }) => [rule?.name, delta]).sort()).toEqual([
    ["Any form", 5],
    ["Any form", 5],
    ["This form", -2],
  ]);
});

test("who takes another address meanwhile gets the points, once", async () => {
  const who = await scene();
  const { contact, score, log } = await who.newcomer();
  const slow = heldUp(TransactWriteCommand);
  const scored = scores.adjust(who.orgId, contact.id, 5, { key: "a", at });
  await slow.reached;
  await contacts.change(who.caller, contact.id, { email: `moved-${contact.email}` });
  slow.release();
  expect([await scored, await score(), (await log()).length]).toEqual([true, 5, 1]);
});

test("a score that is set by a request made again is set once", async () => {
  const who = await scene();
  const { contact, log } = await who.newcomer();
  const address = keys.idempotency(who.orgId, "set");
  await write(put(address, {}));
  const memory = { address, taken: {} };
  const set = () => ids.remembering(memory, () => scores.change(who.caller, contact.id, { score: 7 }));
  expect([await set(), await set(), (await log()).map(({ delta }) => delta)]).toEqual([7, 7, [7]]);
});

test("rules of one site do not score contacts of another", async () => {
  const who = await scene({ trigger: "form_submit" });
  const blog = await sites.create(who.caller, sites.NewSite.parse({ name: "Blog" }));
  const reader = await contacts.create(who.caller, { siteId: blog.id, email: "r@example.com", tags: [], lists: [] });
  await happened(who.orgId, reader, { trigger: "form_submit", key: "a", at, facts: {} });
  expect((await contacts.find(who.caller, reader.id)).score).toBe(0);
});

test("nobody there scores nothing", async () => {
  const who = await scene({ trigger: "form_submit" });
  const happening = { trigger: "form_submit" as const, key: "a", at, facts: {} };
  await allHappened(who.orgId, who.siteId, [
    { contactId: 1, happening },
    { email: "nobody@example.com", happening },
  ]);
});

test("a tag scores when it is applied, dead at any step or not, and not when it is there already", async () => {
  const who = await scene({ trigger: "tag_add", match: { tagName: "VIP" } }, { trigger: "tag_add", match: { tagName: "other" } });
  await atEveryStep(async (kill) => {
    const { contact, score, log } = await who.newcomer();
    const apply = () => applyTag(who.caller, contact.id, { id: 77, name: "vip" });
    await kill(apply);
    await apply();
    await apply();
    expect([await score(), (await log()).length]).toEqual([5, 1]);
  });
});

test("opens, clicks, bounces and unsubscribes score once through death at any step; machines score nothing", async () => {
  const who = await scene(
    { trigger: "email_open", points: 1 },
    { trigger: "email_click", match: { url: "/pricing" }, points: 10 },
    { trigger: "bounce", points: -100 },
    { trigger: "unsubscribe", points: -1000 },
  );
  let messages = 0;
  const steps = await atEveryStep(async (kill) => {
    const [ann, bob] = [await who.newcomer(), await who.newcomer()];
    const first = (await ids.takeBlock()) * 1000;
    const send = (id: number, more: object): SendItem => ({
      ...{ id, siteId: who.siteId, fromEmail: "hi@shop.example", subject: "Hi", status: "delivered", provider: "postmark" },
      ...{ toEmail: ann.contact.email, sendingConfigId: 5, createdAt: at, deliveredAt: at, v: 0, ...more },
    });
    const sends = [send(first, { contactId: ann.contact.id }), send(first + 1, { toEmail: bob.contact.email.toUpperCase() })];
    await insertMany(sends.map((item) => ({ address: keys.send(who.orgId, item.id), item })));
    const eventIds = await ids.takeEvents(6);
    const event = (
      n: number,
      sendId: number,
      type: InboundEvent["type"],
      data: InboundEvent["data"] = {},
      more: object = {},
    ): InboundEvent => ({
      ...{ id: eventIds + n, sendId, type, data, email: "x@example.com", providerEventId: `e${n}` },
      ...{ timestamp: "2026-11-21T09:00:00.000Z", ...more },
    });
    const events = [
      event(0, first, "open"),
      event(1, first, "click", { url: "https://shop.example/Pricing" }, { timestamp: "2026-11-21T09:30:00.000Z" }),
      event(2, first, "click", { url: "https://shop.example/" }, { timestamp: "2026-11-21T09:30:00.000Z" }),
      event(3, first, "open", {}, { automated: true }),
      event(4, first + 1, "bounce"),
      event(5, first + 1, "unsubscribe"),
    ];
    const message = { messageId: `s${++messages}`, attempt: 1, body: { orgId: who.orgId, provider: "postmark", events } };
    const work = async () => {
      const [error] = await batch([message]);
      if (error) throw error;
    };
    await kill(work);
    await work();
    await work();
    expect([await ann.score(), await bob.score()]).toEqual([11, -1100]);
    expect((await ann.log()).map(({ delta }) => delta).sort()).toEqual([1, 10]);
  });
  expect(steps.length).toBeGreaterThan(10);
}, 60_000);

describe("rules of a site", () => {
  test("are 80 at the most", async () => {
    const who = await scene();
    const create = () => rules.create(who.caller, rules.NewScoringRule.parse({ name: "Rule", trigger: "bounce", points: 1 }));
    for (let n = 0; n < rules.maxRules; n += 8) await Promise.all(Array.from({ length: 8 }, create));
    await expect(create()).rejects.toMatchObject({ code: "too_many_rules" });
  });

  test.each<[rules.Trigger, object]>([
    ["page_view", { eventName: "x" }],
    ["email_open", { url: "x" }],
    ["custom_event", { formId: 1 }],
    ["bounce", { tagId: 1 }],
  ])("of %s are not narrowed down to %o", async (trigger, match) => {
    const who = await scene();
    const given = rules.NewScoringRule.parse({ name: "Rule", trigger, match, points: 1 });
    const path = `match.${Object.keys(match)[0]}`;
    await expect(rules.create(who.caller, given)).rejects.toMatchObject({ kind: "invalid", details: [{ path }] });
    const fine = await rules.create(who.caller, { ...given, match: null });
    await expect(rules.change(who.caller, fine.id, { match: given.match })).rejects.toMatchObject({ details: [{ path }] });
    const page = await rules.create(who.caller, { ...given, trigger: "page_view", match: { url: "/pricing" } });
    await expect(rules.change(who.caller, page.id, { trigger: "tag_add" })).rejects.toMatchObject({ details: [{ path: "match.url" }] });
  });
});
