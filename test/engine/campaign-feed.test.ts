// The feed of a campaign: fetched once at the start, and the same in each mail and each retry.
// Notifuse 207 asks for it as a global feed.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { addSeconds, now } from "../../shared/clock.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { sendProofs } from "../../shared/domain/campaigns/proofs.ts";
import * as series from "../../shared/domain/campaigns/series/series.ts";
import { NewSeries } from "../../shared/domain/campaigns/series/series-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import * as campaignTest from "../support/campaigns.ts";

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

let answer: (request: number) => Answer;
let requests = 0;
const server = createServer((_, response) => {
  const { status = 200, headers = {}, body = "{}" } = answer(++requests);
  response.writeHead(status, headers).end(body);
});
let feeds = 0;
/** A URL that no other test has, because previews keep what they fetched for a minute. */
const newFeedUrl = (): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/${++feeds}`;

beforeAll(async () => {
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  await campaignTest.useVirtualQueues();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  requests = 0;
  answer = (n) => ({ body: JSON.stringify({ posts: [{ title: `Post ${n}` }, { title: "Old" }] }) });
});
afterAll(() => server.close());

const anHour = { forSeconds: 3600 };
const html = "{% for post in feed.posts %}<p>{{ post.title }}, {{ firstName }}</p>{% endfor %}";

async function createFeedSender() {
  const from = await campaignTest.createCampaignSender();
  await templates.change(from.caller, from.templateId, { html });
  await campaignTest.insertListMembers(from, 4);
  return from;
}

test("each mail, each retry and the winner of an A/B test show the feed of the start", async () => {
  const from = await createFeedSender();
  const { id } = await campaignTest.createDraft(from, {
    feedUrl: newFeedUrl(),
    abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 60 },
    strict: true,
  });
  await campaignTest.createVariant(from, id, { name: "A", subject: "News" });
  await campaignTest.createVariant(from, id, { name: "B", subject: "New" });
  await state.sendNow(from.caller, id);
  let calls = 0;
  from.provider.faultFor = () => (++calls === 1 ? { status: 429 } : undefined);
  await campaignTest.runWorkers({ forSeconds: 3 * 3600 });
  const mails = campaignTest.expectNoDuplicates(from);
  expect(mails).toHaveLength(4);
  for (const mail of mails) expect(mail.html).toMatch(/<p>Post 1, P\d<\/p><p>Old, P\d<\/p>/);
  const shown = await findSentContent(from.caller, mails[0]!.sendId);
  expect(shown.html).toContain("<p>Post 1, ");
  expect(requests).toBe(1);
  await from.provider.stop();
});

test("previews and proofs show the feed as it is, and say why it cannot be read", async () => {
  const from = await createFeedSender();
  const { id } = await campaignTest.createDraft(from, { feedUrl: newFeedUrl() });
  const { samples, warnings, fingerprint } = await preview(from.caller, id);
  expect(samples[0]!.html).toMatch(/Post 1, P\d/);
  expect(samples[0]!.missingVariables).toEqual([]);
  expect(warnings.join()).not.toContain("feed");
  await sendProofs(from.caller, id, { emails: ["boss@example.com"] });
  // Within a minute, it is not fetched again.
  expect(requests).toBe(1);
  await campaignTest.runWorkers();
  expect(from.provider.mails[0]!.html).toMatch(/Post 1, P\d/);
  await campaigns.updateCampaign(from.caller, id, { feedUrl: newFeedUrl() });
  expect((await preview(from.caller, id)).fingerprint).not.toBe(fingerprint);
  await campaigns.updateCampaign(from.caller, id, { feedUrl: newFeedUrl() });
  answer = () => ({ status: 404 });
  const message = "The feed could not be read: the server responded with status 404";
  await expect(preview(from.caller, id)).rejects.toMatchObject({
    code: "feed_unavailable",
    details: [{ path: "feedUrl", message }],
  });
  await from.provider.stop();
});

const unusable: [string, Answer, string][] = [
  ["an error", { status: 500 }, "the server responded with status 500"],
  ["a redirect", { status: 302, headers: { location: "/" } }, "the server responded with status"],
  ["no JSON", { body: "<html>" }, "the response is not JSON"],
  ["a number", { body: "42" }, "neither a JSON object nor a list"],
  [
    "more than 1 MB",
    { body: `"${"x".repeat(1_000_000)}"` },
    "the response is larger than 1000000 bytes",
  ],
];

test.each(unusable)("a feed with %s starts nothing", async (_, given, reason) => {
  const from = await createFeedSender();
  answer = () => given;
  const { id } = await campaignTest.createDraft(from, { feedUrl: newFeedUrl() });
  await expect(state.sendNow(from.caller, id)).rejects.toMatchObject({
    kind: "invalid",
    message: expect.stringContaining(reason),
    details: [{ path: "feedUrl" }],
  });
  expect(requests).toBe(2);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({ status: "draft" });
  await from.provider.stop();
});

const scheduleSoon = (from: campaignTest.CampaignSender, id: number) =>
  state.schedule(from.caller, id, {
    scheduledAt: addSeconds(300, now()).toISOString(),
    sendLate: false,
  });

test("a scheduled campaign waits for a feed that fails for a while", async () => {
  const from = await createFeedSender();
  answer = (n) => (n <= 4 ? { status: 503 } : { body: '{"posts":[{"title":"Late"}]}' });
  const { id } = await campaignTest.createDraft(from, { feedUrl: newFeedUrl() });
  await scheduleSoon(from, id);
  await campaignTest.runWorkers({ forSeconds: 310 });
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    status: "scheduled",
    statusReason: expect.stringMatching(/status 503. The start is tried again$/),
  });
  await campaignTest.runWorkers(anHour);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    status: "sent",
    statusReason: null,
  });
  expect(campaignTest.expectNoDuplicates(from)).toHaveLength(4);
  expect(from.provider.mails[0]!.html).toMatch(/Late, P\d/);
  await from.provider.stop();
});

test("a scheduled campaign whose feed keeps failing is held, and can be sent later", async () => {
  const from = await createFeedSender();
  answer = () => ({ status: 503 });
  const { id } = await campaignTest.createDraft(from, { feedUrl: newFeedUrl() });
  await scheduleSoon(from, id);
  await campaignTest.runWorkers(anHour);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    status: "held",
    statusReason: expect.stringMatching(/status 503. Send or schedule it again$/),
  });
  expect(from.provider.mails).toEqual([]);
  answer = () => ({ body: "[]" });
  await state.sendNow(from.caller, id);
  await campaignTest.runWorkers(anHour);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({ statusReason: null });
  await from.provider.stop();
});

test("a feed is on a public host", () => {
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "off");
  for (const feedUrl of ["http://127.0.0.1/", "https://10.0.0.1/", "https://db.internal/", "x"]) {
    const { error } = NewCampaign.safeParse({ name: "News", feedUrl });
    expect(error?.issues[0]?.path, feedUrl).toEqual(["feedUrl"]);
  }
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
});

test("a series sends nothing while its feed is the same, and nothing old when it fails", async () => {
  const from = await createFeedSender();
  answer = () => ({ body: JSON.stringify({ posts: [{ title: "First" }] }) });
  const schedule = {
    ...{ frequency: "weekly", time: "09:00" },
    weekdays: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
  };
  const { siteId, templateId, listId, configId: sendingConfigId } = from;
  const { id } = await series.create(
    from.caller,
    NewSeries.parse({
      ...{ siteId, templateId, listId, sendingConfigId, schedule, name: "Posts" },
      ...{ feedUrl: newFeedUrl(), skipUnchanged: true },
    }),
  );
  const aDay = { forSeconds: 24 * 3600 };
  await campaignTest.runWorkers(aDay);
  await campaignTest.runWorkers(aDay);
  answer = () => ({ status: 500 });
  await campaignTest.runWorkers(aDay);
  answer = () => ({ body: JSON.stringify({ posts: [{ title: "Second" }] }) });
  await campaignTest.runWorkers(aDay);
  const outcomes = (await series.listRuns(from.caller, id)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["campaign", "failed", "unchanged", "campaign"]);
  expect(from.provider.mails).toHaveLength(8);
  await series.pause(from.caller, id);
  await from.provider.stop();
});
