// Recurring campaigns with an RSS feed: each new item is sent once, whatever feed and workers do.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import { runSeries } from "../../shared/domain/campaigns/series/run-series.ts";
import * as series from "../../shared/domain/campaigns/series/series.ts";
import { preview, previewNew } from "../../shared/domain/campaigns/series/series-preview.ts";
import { NewSeries, SeriesChanges } from "../../shared/domain/campaigns/series/series-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { sha256 } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";

interface Post {
  id: string;
  title?: string;
  at?: string | undefined;
}

let posts: Post[] = [];
let status = 200;
let requests: IncomingMessage["headers"][] = [];
const server = createServer(({ headers }, response) => {
  requests.push(headers);
  const xml = toXml(posts);
  const etag = `"${sha256(xml)}"`;
  const isKnown = headers["if-none-match"] === etag;
  if (status !== 200) response.writeHead(status, { location: "/elsewhere" }).end();
  else response.writeHead(isKnown ? 304 : 200, { etag }).end(isKnown ? "" : xml);
});
const toXml = (items: Post[]): string =>
  `<rss version="2.0"><channel><title>Blog</title>${items
    .map(
      ({ id, title = `Post ${id}`, at }) =>
        `<item><guid isPermaLink="false">${id}</guid><title>${title}</title>` +
        `${at ? `<pubDate>${at}</pubDate>` : ""}<link>https://blog.example/${id}</link></item>`,
    )
    .join("")}</channel></rss>`;
/** Newest first, as blogs do. */
const publish = (id: string, at: string | undefined = clock.now().toISOString()): void => {
  posts = [{ id, at }, ...posts];
};
const feedUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`;

beforeAll(async () => {
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  await useVirtualQueues();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  posts = [];
  status = 200;
  requests = [];
});
afterAll(() => server.close());

const aDay = 24 * 3600;
const everyDay = {
  frequency: "weekly",
  weekdays: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
  time: "09:00",
};
const nextDays = (days: number) => runWorkers({ forSeconds: days * aDay });
const runs = (from: CampaignSender, id: number) => series.listRuns(from.caller, id);
const titles = (from: CampaignSender): string[] =>
  from.provider.mails.map(({ html }) => /<ul>(.*)<\/ul>/.exec(html ?? "")![1]!);

async function createSender(contacts = 1): Promise<CampaignSender> {
  const from = await createCampaignSender();
  const html = "<ul>{% for item in feed.items %}{{ item.title }};{% endfor %}</ul>";
  await templates.change(from.caller, from.templateId, { html });
  await insertListMembers(from, contacts);
  return from;
}
const input = (from: CampaignSender, rss: object, fields: object = {}) =>
  NewSeries.parse({
    siteId: from.siteId,
    name: "Blog news",
    schedule: everyDay,
    templateId: from.templateId,
    listId: from.listId,
    sendingConfigId: from.configId,
    rss: { url: feedUrl(), ...rss },
    ...fields,
  });
const create = (from: CampaignSender, rss: object = {}, fields: object = {}) =>
  series.create(from.caller, input(from, rss, fields));

/** Other tests move the same clock. */
async function end(from: CampaignSender): Promise<void> {
  const { series: all } = await series.list(from.caller, { page: 1, limit: 10 }, undefined);
  for (const { id } of all) await series.pause(from.caller, id);
  await from.provider.stop();
}

test("a digest has the items since the last run, and nothing new sends nothing", async () => {
  const from = await createSender();
  publish("old");
  publish("undated", "");
  const { id, rss, rssState } = await create(from, {}, { subject: "{{ feed.items[0].title }}" });
  expect(rss).toMatchObject({ mode: "digest", maxItems: 10 });
  expect(rssState).toMatchObject({ status: "ok", title: "Blog" });
  await nextDays(1);
  expect(from.provider.mails).toEqual([]);
  publish("1");
  publish("2");
  await nextDays(1);
  publish("3", "");
  await nextDays(2);
  expect(titles(from)).toEqual(["Post 2;Post 1;", "Post 3;"]);
  expect(from.provider.mails[0]!.subject).toBe("Post 2");
  expect((await runs(from, id)).map((run) => [run.outcome, run.newItems, run.sentItems])).toEqual([
    ["unchanged", 0, 0],
    ["campaign", 1, 1],
    ["campaign", 2, 2],
    ["unchanged", 0, 0],
  ]);
  await end(from);
});

test("the server is asked only for changes", async () => {
  const from = await createSender();
  publish("old");
  await create(from);
  await nextDays(3);
  expect(requests.map((headers) => headers["if-none-match"] !== undefined)).toEqual([
    ...[false, false, true, true],
  ]);
  await end(from);
});

test("each new item has a campaign of its own, the newest ones only", async () => {
  const from = await createSender();
  const { id } = await create(from, { mode: "each", maxItems: 2 });
  for (const post of ["1", "2", "3"]) {
    clock.advanceClock(60);
    publish(post);
  }
  await nextDays(2);
  const [, run] = await runs(from, id);
  expect(run).toMatchObject({ newItems: 3, sentItems: 2 });
  expect(run!.campaigns.map(({ name }) => name)).toEqual([
    `Blog news ${run!.date}: Post 2`,
    `Blog news ${run!.date}: Post 3`,
  ]);
  // The oldest is never sent.
  expect(titles(from).toSorted()).toEqual(["Post 2;", "Post 3;"]);
  await end(from);
});

test("old items are not sent again when a website moves, changes texts or dates", async () => {
  const from = await createSender();
  await create(from, { since: "2020-01-01T00:00:00Z" });
  const at = clock.now().toISOString();
  posts = [{ id: "a", at, title: "First" }];
  await nextDays(1);
  posts = [{ id: "https://new.example/a", at, title: "First" }];
  await nextDays(1);
  posts = [{ id: "a", at: clock.now().toISOString(), title: "First, changed" }];
  await nextDays(1);
  // It leaves the feed and comes back.
  posts = [];
  await nextDays(1);
  posts = [{ id: "a", at, title: "First" }];
  await nextDays(1);
  expect(titles(from)).toEqual(["First;"]);
  await end(from);
});

test("more items than it remembers are known by their date", async () => {
  const from = await createSender();
  const { id } = await create(from, { maxItems: 1 });
  const batch = (day: number) => {
    const at = clock.now().toISOString();
    return Array.from({ length: 450 }, (_, i) => ({
      id: `${day}-${i}`,
      title: `T${day}-${i}`,
      at,
    }));
  };
  const first = batch(0);
  for (let day = 0; day < 4; day++) {
    posts = day ? batch(day) : first;
    await nextDays(1);
  }
  posts = first;
  await nextDays(1);
  expect((await runs(from, id)).map(({ newItems }) => newItems)).toEqual([0, 450, 450, 450, 450]);
  expect(from.provider.mails).toHaveLength(4);
  await end(from);
});

test("since chooses what the first run sends, and moving it back sends what was not sent", async () => {
  const from = await createSender();
  publish("1", "2026-01-01T00:00:00Z");
  publish("2", "2026-03-01T00:00:00Z");
  const { id } = await create(from, { since: "2026-02-01T00:00:00+01:00" });
  await nextDays(1);
  expect(titles(from)).toEqual(["Post 2;"]);
  const change = (rss: object) =>
    series.change(from.caller, id, SeriesChanges.parse({ rss: { url: feedUrl(), ...rss } }));
  const changed = await change({ maxItems: 5 });
  expect(changed.rss).toMatchObject({ maxItems: 5, since: "2026-01-31T23:00:00.000Z" });
  await nextDays(1);
  await change({ since: "2025-01-01T00:00:00Z" });
  await nextDays(1);
  expect(titles(from)).toEqual(["Post 2;", "Post 1;"]);
  expect(await series.change(from.caller, id, SeriesChanges.parse({ rss: null }))).toMatchObject({
    rss: null,
    rssState: null,
  });
  await end(from);
});

test("a broken feed is tried again, then shown, and its items come later", async () => {
  const from = await createSender();
  const { id, nextAt } = await create(from);
  publish("1");
  status = 503;
  clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + 1);
  await runWorkers({ forSeconds: 200 });
  const retrying = await series.find(from.caller, id);
  expect(retrying).toMatchObject({
    lastError: null,
    rssState: { status: "retrying", error: expect.stringContaining("status 503"), title: "Blog" },
  });
  await runWorkers({ forSeconds: 3 * 3600 });
  expect((await runs(from, id))[0]).toMatchObject({
    outcome: "failed",
    error: expect.stringContaining("status 503"),
    newItems: null,
  });
  expect(await series.find(from.caller, id)).toMatchObject({
    status: "active",
    lastError: expect.stringContaining("status 503"),
    rssState: { status: "failed" },
  });
  expect(requests).toHaveLength(6);
  // It recovers during the retries of the next day.
  await runWorkers({ forSeconds: aDay - 3 * 3600 });
  status = 200;
  await runWorkers({ forSeconds: 2 * 3600 });
  expect(titles(from)).toEqual(["Post 1;"]);
  expect(await series.find(from.caller, id)).toMatchObject({
    lastError: null,
    rssState: { status: "ok", error: null },
  });
  await end(from);
});

test("a feed that cannot be read, or two feeds, are refused and change nothing", async () => {
  const from = await createSender();
  status = 301;
  await expect(create(from)).rejects.toMatchObject({
    code: "feed_unavailable",
    message: expect.stringContaining("status 301, which leads to /elsewhere"),
    details: [{ path: "rss.url" }],
  });
  status = 200;
  await expect(create(from, {}, { feedUrl: feedUrl() })).rejects.toMatchObject({
    details: [{ path: "feedUrl" }],
  });
  const tooMany = {
    name: "A",
    schedule: everyDay,
    rss: { url: feedUrl(), mode: "each", maxItems: 11 },
  };
  expect(NewSeries.safeParse(tooMany).error!.issues[0]!.path).toEqual(["rss", "maxItems"]);
  const { series: all } = await series.list(from.caller, { page: 1, limit: 10 }, undefined);
  expect(all).toEqual([]);
  await end(from);
});

test("previews show the feed as it is, and send and remember nothing", async () => {
  const from = await createSender();
  publish("old");
  const asked = await previewNew(from.caller, input(from, {}));
  expect(asked).toMatchObject({ newItems: 0, feed: { title: "Blog", items: [{ id: "old" }] } });
  expect(asked.samples[0]!.html).toContain("Post old;");
  expect(asked.samples[0]!.missingVariables).toEqual([]);
  const { id } = await create(from);
  publish("1");
  for (let times = 0; times < 2; times++)
    expect(await preview(from.caller, id)).toMatchObject({
      newItems: 1,
      feed: { items: [{ id: "1" }] },
    });
  await nextDays(1);
  expect(titles(from)).toEqual(["Post 1;"]);
  await end(from);
});

test.each(interruptions)("each item is sent once when the worker %s", async (how) => {
  const from = await createSender(2);
  const { id } = await create(from, { mode: "each" });
  let days = 0;
  const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
    const { nextAt } = await series.find(from.caller, id);
    clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 - 10);
    days++;
    publish(`${days}a`);
    publish(`${days}b`);
    clock.advanceClock(11);
    await interrupt(
      () => runSeries(from.caller.orgId, id),
      () => runWorkers({ forSeconds: 3600 }),
    );
    expect(await runs(from, id)).toHaveLength(days);
    expect(from.provider.mails).toHaveLength(4 * days);
  });
  expect(steps.length).toBeGreaterThan(3);
  const sent = from.provider.mails.map(({ to, html }) => `${to} ${html}`);
  expect(new Set(sent).size).toBe(sent.length);
  await end(from);
});

test("several workers at once send each item once", async () => {
  const from = await createSender(2);
  const { id, nextAt } = await create(from, { mode: "each" });
  publish("1");
  publish("2");
  clock.advanceClock((Date.parse(nextAt!) - clock.now().getTime()) / 1000 + 1);
  await Promise.all(Array.from({ length: 4 }, () => runSeries(from.caller.orgId, id)));
  await runWorkers({ forSeconds: 3600 });
  expect(from.provider.mails).toHaveLength(4);
  await end(from);
});
