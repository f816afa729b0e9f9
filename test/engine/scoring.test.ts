import { afterEach, describe, expect, test } from "vitest";
import { insertMany, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import {
  matchRules,
  type ScoringFacts,
  scoreEvent,
  scoreEvents,
} from "../../shared/domain/audience/scoring/scoring.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import { applyBatch } from "../../shared/domain/delivery-events/apply-events.ts";
import { NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import type { SendItem } from "../../shared/domain/sending/send-schema.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import type { QueuedEvent } from "../../shared/queues.ts";
import { createContact, createTestSite } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

interceptClients();
afterEach(removePauses);

const at = "2026-11-21T08:00:00.000Z";
let contactCount = 0;

async function createScene(...given: object[]) {
  const scene = await createTestSite();
  for (const one of given)
    await rules.create(
      scene.caller,
      rules.NewScoringRule.parse({ siteId: scene.siteId, name: "Rule", points: 5, ...one }),
    );
  const newcomer = async () => {
    const contact = await createContact(scene, `q${++contactCount}@example.com`);
    const score = async () => (await contacts.findItem(scene.caller, contact.id)).score ?? 0;
    const log = async () => (await scores.listLog(scene.caller, contact.id, { limit: 100 })).log;
    return { contact, score, log };
  };
  return { ...scene, newcomer };
}

describe("a scoring rule", () => {
  const rule = (
    trigger: rules.ScoringTrigger,
    match: rules.ScoringMatch | null,
    active = true,
  ): rules.ScoringRule => ({
    ...{ id: 1, siteId: 1, name: "Rule", points: 5, createdAt: at, updatedAt: at },
    ...{ trigger, match, active },
  });
  test.each<[rules.ScoringTrigger, rules.ScoringMatch | null, ScoringFacts, boolean]>([
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
    [
      "email_click",
      { url: "shop.example", campaignId: 2 },
      { url: "https://shop.example/" },
      false,
    ],
  ])("for %s with match %o matches %o: %s", (trigger, match, facts, isMatch) => {
    expect(matchRules([rule(trigger, match)], { trigger, facts })).toHaveLength(isMatch ? 1 : 0);
  });

  test("gives no points if it is inactive or has another trigger", () => {
    expect(
      matchRules([rule("page_view", null, false), rule("bounce", null)], {
        trigger: "page_view",
        facts: {},
      }),
    ).toEqual([]);
  });
});

test("a repeated event scores once for each rule, and the log names the rules", async () => {
  const scene = await createScene({ trigger: "form_submit", name: "Any form" });
  const { id: form } = await forms.create(
    scene.caller,
    NewForm.parse({ siteId: scene.siteId, name: "News" }),
  );
  const one = {
    siteId: scene.siteId,
    trigger: "form_submit",
    name: "This form",
    match: { formId: form },
    points: -2,
  };
  await rules.create(scene.caller, rules.NewScoringRule.parse(one));
  const { contact, score, log } = await scene.newcomer();
  const submitted = (key: string, formId: number) =>
    scoreEvent(scene.orgId, contact, { trigger: "form_submit", key, at, facts: { formId } });
  await Promise.all([submitted("a", form), submitted("a", form), submitted("b", form + 1)]);
  await submitted("a", form);
  expect(await score()).toBe(8);
  expect((await log()).map(({ delta, rule }) => [rule?.name, delta]).sort()).toEqual([
    ["Any form", 5],
    ["Any form", 5],
    ["This form", -2],
  ]);
});

test("a contact that changes its address at the same time gets the points once", async () => {
  const scene = await createScene();
  const { contact, score, log } = await scene.newcomer();
  const slow = pauseCall("TransactWriteItems");
  const scored = scores.addPoints(scene.orgId, contact.id, { delta: 5, cause: { key: "a", at } });
  await slow.reached;
  await contacts.change(scene.caller, contact.id, { email: `moved-${contact.email}` });
  slow.release();
  expect([await scored, await score(), (await log()).length]).toEqual([true, 5, 1]);
});

test("a repeated request sets the score once", async () => {
  const scene = await createScene();
  const { contact, log } = await scene.newcomer();
  const address = keys.idempotency(scene.orgId, "set");
  await write(put(address, {}));
  const memory = { key: address, taken: {} };
  const set = () =>
    ids.withReservedIds(memory, () => scores.changeByHand(scene.caller, contact.id, { score: 7 }));
  expect([await set(), await set(), (await log()).map(({ delta }) => delta)]).toEqual([7, 7, [7]]);
});

test("rules of one site do not score contacts of another", async () => {
  const scene = await createScene({ trigger: "form_submit" });
  const blog = await sites.create(scene.caller, sites.NewSite.parse({ name: "Blog" }));
  const reader = await contacts.create(scene.caller, {
    siteId: blog.id,
    email: "r@example.com",
    tags: [],
    lists: [],
  });
  await scoreEvent(scene.orgId, reader, { trigger: "form_submit", key: "a", at, facts: {} });
  expect((await contacts.find(scene.caller, reader.id)).score).toBe(0);
});

test("an event without a contact scores nothing", async () => {
  const scene = await createScene({ trigger: "form_submit" });
  const event = { trigger: "form_submit" as const, key: "a", at, facts: {} };
  await scoreEvents(scene.orgId, scene.siteId, [
    { contactId: 1, event },
    { email: "nobody@example.com", event },
  ]);
});

test("a tag scores once when it is applied, also after a crash", async () => {
  const scene = await createScene(
    { trigger: "tag_add", match: { tagName: "VIP" } },
    { trigger: "tag_add", match: { tagName: "other" } },
  );
  await crashAtSomeSteps(async (crash) => {
    const { contact, score, log } = await scene.newcomer();
    const apply = () => applyTag(scene.caller, contact.id, { id: 77, name: "vip" });
    await crash(apply);
    await apply();
    await apply();
    expect([await score(), (await log()).length]).toEqual([5, 1]);
  });
});

test("events of a mail score once after a crash; machine opens score nothing", async () => {
  const scene = await createScene(
    { trigger: "email_open", points: 1 },
    { trigger: "email_click", match: { url: "/pricing" }, points: 10 },
    { trigger: "bounce", points: -100 },
    { trigger: "unsubscribe", points: -1000 },
  );
  let messages = 0;
  const steps = await crashAtSomeSteps(async (crash) => {
    const [ann, bob] = [await scene.newcomer(), await scene.newcomer()];
    const first = (await ids.nextSendBlock()) * 1000;
    const send = (id: number, more: object): SendItem => ({
      ...{
        id,
        siteId: scene.siteId,
        fromEmail: "hi@shop.example",
        subject: "Hi",
        status: "delivered",
        provider: "postmark",
      },
      ...{
        toEmail: ann.contact.email,
        sendingConfigId: 5,
        createdAt: at,
        deliveredAt: at,
        v: 0,
        ...more,
      },
    });
    const sends = [
      send(first, { contactId: ann.contact.id }),
      send(first + 1, { toEmail: bob.contact.email.toUpperCase() }),
    ];
    await insertMany(sends.map((item) => ({ key: keys.send(scene.orgId, item.id), item })));
    const eventIds = await ids.nextEventIds(6);
    const event = (
      n: number,
      sendId: number,
      type: QueuedEvent["type"],
      data: QueuedEvent["data"] = {},
      more: object = {},
    ): QueuedEvent => ({
      ...{ id: eventIds + n, sendId, type, data, email: "x@example.com", providerEventId: `e${n}` },
      ...{ timestamp: "2026-11-21T09:00:00.000Z", ...more },
    });
    const events = [
      event(0, first, "open"),
      event(
        1,
        first,
        "click",
        { url: "https://shop.example/Pricing" },
        { timestamp: "2026-11-21T09:30:00.000Z" },
      ),
      event(
        2,
        first,
        "click",
        { url: "https://shop.example/" },
        { timestamp: "2026-11-21T09:31:00.000Z" },
      ),
      event(3, first, "open", {}, { automated: true }),
      event(4, first + 1, "bounce"),
      event(5, first + 1, "unsubscribe"),
    ];
    const message = {
      messageId: `s${++messages}`,
      attempt: 1,
      body: { orgId: scene.orgId, provider: "postmark", events },
    };
    const work = async () => {
      const [error] = await applyBatch([message]);
      if (error) throw error;
    };
    await crash(work);
    await work();
    await work();
    expect([await ann.score(), await bob.score()]).toEqual([11, -1100]);
    expect((await ann.log()).map(({ delta }) => delta).sort()).toEqual([1, 10]);
  });
  expect(steps.length).toBeGreaterThan(10);
});

describe("the scoring rules of a site", () => {
  test("are limited to 80", async () => {
    const scene = await createScene();
    const create = () =>
      rules.create(
        scene.caller,
        rules.NewScoringRule.parse({ name: "Rule", trigger: "bounce", points: 1 }),
      );
    for (let n = 0; n < rules.maxRules; n += 8)
      await Promise.all(Array.from({ length: 8 }, create));
    await expect(create()).rejects.toMatchObject({ code: "too_many_rules" });
  });

  test.each<[rules.ScoringTrigger, object]>([
    ["page_view", { eventName: "x" }],
    ["email_open", { url: "x" }],
    ["custom_event", { formId: 1 }],
    ["bounce", { tagId: 1 }],
  ])("of the trigger %s reject the match %o", async (trigger, match) => {
    const scene = await createScene();
    const given = rules.NewScoringRule.parse({ name: "Rule", trigger, match, points: 1 });
    const path = `match.${Object.keys(match)[0]}`;
    await expect(rules.create(scene.caller, given)).rejects.toMatchObject({
      kind: "invalid",
      details: [{ path }],
    });
    const fine = await rules.create(scene.caller, { ...given, match: null });
    await expect(rules.change(scene.caller, fine.id, { match: given.match })).rejects.toMatchObject(
      {
        details: [{ path }],
      },
    );
    const page = await rules.create(scene.caller, {
      ...given,
      trigger: "page_view",
      match: { url: "/pricing" },
    });
    await expect(rules.change(scene.caller, page.id, { trigger: "tag_add" })).rejects.toMatchObject(
      {
        details: [{ path: "match.url" }],
      },
    );
  });
});
