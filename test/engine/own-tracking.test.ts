// Tracking by our own links and pixel: campaigns, batches and single sends, and the events of
// visits, which are counted once.
import { beforeAll, describe, expect, test } from "vitest";
import { worker as eventWorker } from "../../functions/queue/provider-events.ts";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import * as clock from "../../shared/clock.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { listEvents } from "../../shared/domain/delivery-events/send-history.ts";
import {
  recordClick,
  recordOpen,
  type Visit,
} from "../../shared/domain/delivery-events/tracked-visits.ts";
import { listUnmatchedEvents } from "../../shared/domain/delivery-events/unmatched-events.ts";
import { createMailTracking } from "../../shared/domain/sending/rendering/own-tracking.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import { queues } from "../../shared/queues.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import type { FakeProviderMail } from "../support/fake-provider.ts";
import * as mailTest from "../support/sending.ts";
import { deadLetters, pendingMessages, toSqsRecord } from "../support/virtual-queues.ts";

beforeAll(useVirtualQueues);

const person: Visit = {
  method: "GET",
  headers: { "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605" },
  ipAddress: "203.0.113.7",
};
const html =
  '<p>Hello {{ firstName }}</p><a href="https://shop.example/sale?a=1&amp;b=%20ü#top">Sale</a>' +
  '<a href="https://shop.example/p/{{ firstName }}?id={{ contactToken }}">Yours</a>' +
  '<a href="https://shop.example/3">3</a><a href="{{ browserUrl }}">View</a>' +
  '<a href="mailto:shop@example.com">Mail</a>';

const hrefsOf = (source: string): string[] =>
  [...source.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
const tokensOf = (url: string) => {
  const [, token = "", link = ""] = /\/t\/([\w-]+)\/([\w.-]+)$/.exec(url) ?? [];
  return { token, link };
};
const pixelOf = ({ html: source }: FakeProviderMail): string =>
  /<img src="([^"]*)"/.exec(source)?.[1] ?? "";

const runEventWorker = () => runWorkers({}, [eventWorker]);
const eventMessages = () =>
  pendingMessages.filter(({ queue }) => queue === queues.providerEvents.name);

async function sendCampaign(sender: CampaignSender, recipients: number) {
  await insertListMembers(sender, recipients);
  const { id } = await createDraft(sender, { templateId: null });
  await createVariant(sender, id, { subject: "News", html });
  await state.sendNow(sender.caller, id);
  await runWorkers({ forSeconds: 600 });
  expect(sender.provider.mails).toHaveLength(recipients);
  return id;
}

const readEvents = async ({ caller, siteId }: mailTest.TestSender) =>
  (await listEvents(caller, { limit: 100 }, { siteId })).events;

describe("a campaign of a sending config that tracks itself", () => {
  test("has links of its own, which lead to the target and are counted", async () => {
    const sender = await createCampaignSender("postmark", { tracking: "own" });
    const id = await sendCampaign(sender, 60);
    const { mails } = sender.provider;
    expect(mails.length).toBeGreaterThan(sender.provider.calls.length);
    for (const mail of mails) {
      expect([mail.trackOpens, mail.trackClicks]).toEqual([false, false]);
      const [, name] = /Hello (\w+)/.exec(mail.html)!;
      const [sale, yours, third, view, address, unsubscribe] = hrefsOf(mail.html);
      expect([view, address]).toEqual([
        expect.stringMatching(/\/view\/[\w-]+$/),
        "mailto:shop@example.com",
      ]);
      expect(unsubscribe).toMatch(/\/api\/v1\/unsubscribe\/[\w-]+$/);
      expect(await recordClick(tokensOf(sale!), person)).toBe(
        "https://shop.example/sale?a=1&b=%20%C3%BC#top",
      );
      clock.advanceClock(70);
      expect(await recordClick(tokensOf(yours!), person)).toMatch(
        new RegExp(`^https://shop\\.example/p/${name}\\?id=[\\w-]{80,}$`),
      );
      expect(tokensOf(third!).token).toBe(tokensOf(sale!).token);
      expect(mail.text).toContain("https://shop.example/sale?a=1&b=%20ü#top");
      expect(mail.text).not.toContain("/t/");
    }
    expect(new Set(mails.map(({ html: source }) => tokensOf(hrefsOf(source)[0]!).token)).size).toBe(
      60,
    );
    for (const mail of mails.slice(0, 20))
      expect(await recordOpen(tokensOf(pixelOf(mail)).token, person)).toBe(true);
    await runEventWorker();
    const { stats } = await readCampaign(sender, id);
    expect(stats).toMatchObject({ sent: 60, opened: 20, openedTotal: 20, clicked: 60 });
    expect(stats.clickedTotal).toBe(120);
    await readConsistentNumbers(sender, id);
    await sender.provider.stop();
  });

  test("shows members of the organization the links as they were written", async () => {
    const sender = await createCampaignSender("sparkpost", { tracking: "own" });
    await sendCampaign(sender, 1);
    const { html: shown } = await findSentContent(sender.caller, sender.provider.mails[0]!.sendId);
    expect(hrefsOf(shown!)[0]).toBe("https://shop.example/sale?a=1&b=%20ü#top");
    expect(shown).not.toContain("/t/");
    await sender.provider.stop();
  });

  test("a click counts once after crashes and repeated deliveries of its message", async () => {
    const sender = await createCampaignSender("postmark", { tracking: "own" });
    const n = 10;
    const id = await sendCampaign(sender, n);
    const steps: number[] = [];
    for (const [i, mail] of sender.provider.mails.entries()) {
      await recordClick(tokensOf(hrefsOf(mail.html)[0]!), person);
      const [message] = eventMessages();
      pendingMessages.splice(pendingMessages.indexOf(message!), 1);
      const deliver = () => eventWorker.handler({ Records: [toSqsRecord(message!)] });
      const { crashed } = await runUntilCrash(i + 1, i % 3 ? "after" : "before", deliver);
      if (crashed) steps.push(i + 1);
      for (let deliveries = 0; deliveries < 2; deliveries++)
        expect(await deliver()).toEqual({ batchItemFailures: [] });
    }
    expect(steps.length).toBeGreaterThan(5);
    const { stats } = await readCampaign(sender, id);
    expect(stats).toMatchObject({ clicked: n, clickedTotal: n });
    const clicks = (await readEvents(sender)).filter(({ type }) => type === "click");
    expect(clicks).toHaveLength(n);
    await readConsistentNumbers(sender, id);
    await sender.provider.stop();
  });
});

describe("a visit", () => {
  async function sendOne(fields: Parameters<typeof mailTest.send>[1], tracking = "own" as const) {
    const sender = await mailTest.createSender("postmark", { tracking });
    await mailTest.send(sender, { ...fields, to: fields.to });
    await runWorkers({ forSeconds: 60 });
    const [mail] = sender.provider.mails;
    await sender.provider.stop();
    return { sender, mail: mail!, links: hrefsOf(mail!.html) };
  }
  const links = (n: number) =>
    Array.from({ length: n }, (_, i) => `<a href="https://shop.example/${i}">${i}</a>`).join("");

  test("of a single send is an event with link, client and time", async () => {
    const { sender, links: hrefs } = await sendOne({ to: "ada@example.com", html: links(1) });
    await recordClick(tokensOf(hrefs[0]!), person);
    await runEventWorker();
    expect(await readEvents(sender)).toMatchObject([
      {
        type: "click",
        toEmail: "ada@example.com",
        data: { url: "https://shop.example/0", userAgent: person.headers["user-agent"] },
        ipAddress: "203.0.113.7",
        timestamp: expect.any(String),
        automated: false,
      },
    ]);
  });

  test("reads and writes nothing before the redirect", async () => {
    const { links: hrefs } = await sendOne({ to: "ada@example.com", html: links(2) });
    // The first visit of a process loads the secrets and reserves ids.
    await recordClick(tokensOf(hrefs[0]!), person);
    const { usage } = await measureUnits(() => recordClick(tokensOf(hrefs[1]!), person));
    expect(usage).toMatchObject({ readUnits: 0, writeUnits: 0 });
    await runEventWorker();
  });

  test("that the same client repeats within the minute is one event", async () => {
    const { sender, links: hrefs } = await sendOne({ to: "ada@example.com", html: links(1) });
    clock.advanceClock(60 - ((clock.now().getTime() / 1000) % 60));
    await recordClick(tokensOf(hrefs[0]!), person);
    // Another process, which does not know the first visit.
    const [message] = eventMessages();
    const copy = JSON.parse(message!.body);
    copy.events[0].id += 100_000;
    pendingMessages.push({ ...message!, id: "copy", body: JSON.stringify(copy) });
    await recordClick(tokensOf(hrefs[0]!), person);
    await recordClick(tokensOf(hrefs[0]!), { ...person, ipAddress: "203.0.113.8" });
    await runEventWorker();
    expect(await readEvents(sender)).toHaveLength(2);
    clock.advanceClock(60);
    await recordClick(tokensOf(hrefs[0]!), person);
    await runEventWorker();
    expect(await readEvents(sender)).toHaveLength(3);
  });

  test.each<[string, Partial<Visit>]>([
    ["HEAD", { method: "HEAD" }],
    ["a link preview", { headers: { "user-agent": "facebookexternalhit/1.1" } }],
    ["a scanner", { headers: { "user-agent": "Barracuda Sentinel (EE)" } }],
    ["a library", { headers: { "user-agent": "python-requests/2.32" } }],
    ["no user agent", { headers: {} }],
    ["a prefetch", { headers: { ...person.headers, "sec-purpose": "prefetch;prerender" } }],
  ])("by %s is automated", async (_, visit) => {
    const { sender, links: hrefs, mail } = await sendOne({ to: "a@example.com", html: links(1) });
    await recordClick(tokensOf(hrefs[0]!), { ...person, ...visit });
    await recordOpen(tokensOf(pixelOf(mail)).token, { ...person, ...visit });
    await runEventWorker();
    expect((await readEvents(sender)).map(({ automated }) => automated)).toEqual([true, true]);
  });

  test.each([
    ["several links within a minute", 3, 20, true],
    ["all links at once", 2, 0.5, true],
    ["two links, as a reader does", 2, 8, false],
    ["several links over minutes", 3, 61, false],
  ])("of %s", async (_, n, seconds, automated) => {
    const { sender, links: hrefs } = await sendOne({ to: "ada@example.com", html: links(n) });
    for (const href of hrefs) {
      await recordClick(tokensOf(href), person);
      clock.advanceClock(seconds);
    }
    await runEventWorker();
    const events = await readEvents(sender);
    expect(events.map((event) => event.automated)).toEqual(Array(n).fill(automated));
  });

  test("with tokens of two organizations, altered tokens or other tokens leads nowhere", async () => {
    const one = await sendOne({ to: "ada@example.com", html: links(1) });
    const two = await sendOne({ to: "ada@example.com", html: links(1) });
    const [a, b] = [tokensOf(one.links[0]!), tokensOf(two.links[0]!)];
    const altered = `${a.link.slice(0, 30)}${a.link[30] === "A" ? "B" : "A"}${a.link.slice(31)}`;
    for (const tokens of [
      { token: a.token, link: b.link },
      { token: a.link, link: a.link },
      { token: a.token, link: a.token },
      { token: a.token, link: altered },
      { token: a.token, link: "x" },
      { token: "A".repeat(2000), link: "A".repeat(2000) },
    ])
      expect(await recordClick(tokens, person)).toBeUndefined();
    expect(await recordOpen(a.link, person)).toBe(false);
    expect(eventMessages()).toEqual([]);
  });

  test("of a send that does not exist leads to the target and is given up", async () => {
    const { sender } = await sendOne({ to: "ada@example.com", html: links(1) });
    const { orgId } = sender.caller;
    const { base, tokenOf, sealTarget } = (await createMailTracking(orgId, { tracking: "own" }))!;
    const url = `${base}${tokenOf(123_456_789)}/${sealTarget("https://shop.example/")}`;
    expect(await recordClick(tokensOf(url), person)).toBe("https://shop.example/");
    await runWorkers({ forSeconds: 3 * 24 * 3600 }, [...sendingWorkers, eventWorker]);
    expect(deadLetters).toEqual([]);
    const { events } = await listUnmatchedEvents(sender.caller, { limit: 10 });
    expect(events).toMatchObject([{ status: "unmatched", sendId: 123_456_789, type: "click" }]);
  });

  test("gets to the target though the queue is out of order", async () => {
    const { links: hrefs } = await sendOne({ to: "ada@example.com", html: links(1) });
    const visit = () => recordClick(tokensOf(hrefs[0]!), person);
    let target: string | undefined;
    await runUntilCrash(1, "before", async () => {
      target = await visit();
    });
    expect(target).toBe("https://shop.example/0");
  });
});

describe("the mode of the sending config", () => {
  const source = '<a href="https://shop.example/">Shop</a>';
  const shown = ({ html: body, trackOpens, trackClicks }: FakeProviderMail) => ({
    links: body.includes("/t/") && hrefsOf(body)[0] !== "https://shop.example/",
    pixel: body.includes("<img"),
    provider: [trackOpens, trackClicks],
  });

  test.each([
    ["own", {}, true, true, [false, false]],
    ["own", { trackClicks: false }, false, true, [false, false]],
    ["own", { trackOpens: false }, true, false, [false, false]],
    ["own", { trackOpens: false, trackClicks: false }, false, false, [false, false]],
    ["off", { trackOpens: true, trackClicks: true }, false, false, [false, false]],
    ["provider", {}, false, false, [undefined, undefined]],
    ["provider", { trackOpens: true, trackClicks: false }, false, false, [true, false]],
  ] as const)("%s with %o", async (tracking, choice, hasLinks, hasPixel, provider) => {
    const sender = await mailTest.createSender("postmark", { tracking });
    const fields = { html: source, ...choice };
    await mailTest.send(sender, { to: "ada@example.com", ...fields });
    await mailTest.sendBatch(sender, mailTest.uniqueRecipients(6), fields);
    await runWorkers({ forSeconds: 60 });
    expect(sender.provider.mails.map(shown)).toEqual(
      Array(7).fill({ links: hasLinks, pixel: hasPixel, provider }),
    );
    await sender.provider.stop();
  });

  test("own follows what each recipient of a batch says", async () => {
    const sender = await mailTest.createSender("postmark", { tracking: "own" });
    const to = mailTest.uniqueRecipients(4);
    const choices = [{}, { trackClicks: false }, { trackOpens: false }, { trackClicks: true }];
    await mailTest.sendBatch(
      sender,
      to.map((recipient, i) => ({ ...recipient, ...choices[i] })),
      { html: source, trackClicks: true },
    );
    await runWorkers({ forSeconds: 60 });
    const byAddress = new Map(sender.provider.mails.map((mail) => [mail.to, shown(mail)]));
    expect(to.map((one) => byAddress.get(one.to))).toEqual([
      { links: true, pixel: true, provider: [false, false] },
      { links: false, pixel: true, provider: [false, false] },
      { links: true, pixel: false, provider: [false, false] },
      { links: true, pixel: true, provider: [false, false] },
    ]);
    await sender.provider.stop();
  });
});
