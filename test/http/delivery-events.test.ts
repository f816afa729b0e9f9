import { beforeAll, describe, expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { eventNamesByProvider, expectedEvents } from "../support/provider-event-names.ts";
import { sampleOf } from "../support/seeded-random.ts";
import type {} from "../support/setup/service.ts";
import { waitFor } from "../support/wait-for.ts";

interface Event {
  id: number;
  sendId: number;
  toEmail: string;
  subject: string;
  type: string;
  data: { url?: string; reason?: string; bounceType?: string; userAgent?: string };
  timestamp: string;
  provider: string;
  providerEventId: string;
  automated: boolean;
}
interface Page {
  events: Event[];
  pagination: {
    page: number;
    limit: number;
    total: number;
    totalPages: number;
    nextCursor: string | null;
  };
}
interface Detail {
  id: number;
  status: string;
  error: string | null;
  providerMessageId: string | null;
  sentAt: string | null;
  deliveredAt: string | null;
  openedAt: string | null;
  clickedAt: string | null;
  events: Event[];
}
type Accounts = Record<string, { credentials: Record<string, string>; webhookSecret: string }>;

const origin = inject("baseUrl").replace(/\/api\/v1$/, "");
const sandbox = await fetch(`${origin}/_local/sandbox`, {
  headers: { accept: "application/json" },
});
// Only the local service has the provider sandbox.
const atHome = sandbox.ok;
const accounts: Accounts = atHome
  ? ((await sandbox.json()) as { data: { providers: Accounts } }).data.providers
  : {};

const pageOf = async ({ call }: TestClient, query = "limit=100"): Promise<Page> =>
  expectStatus(200, await call<Page>("GET", `/events?${query}`)).body.data;

async function createConfig({ call }: TestClient, provider: string): Promise<number> {
  const fields = { provider, fromEmail: "shop@pennymail.test", ...accounts[provider] };
  return expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", fields)).body.data
    .id;
}

const html = '<p>Hello</p><a href="https://shop.example/?a=1">shop</a>';
async function sendMail({ call }: TestClient, to: string, more: object): Promise<number> {
  const fields = { to, subject: `To ${to}`, html, trackOpens: true, trackClicks: true, ...more };
  return expectStatus(202, await call<{ id: number }>("POST", "/send", fields)).body.data.id;
}

/** Reads events until there are `expected`. The test does not settle the service. */
const waitForEvents = (client: TestClient, expected: number): Promise<Event[]> =>
  waitFor(async () => {
    const { events, pagination } = await pageOf(client);
    expect(events.length).toBeGreaterThanOrEqual(expected);
    expect(pagination.total).toBeGreaterThanOrEqual(expected);
    return events;
  });

const typeByKind: Record<string, string> = {
  delivered: "delivered",
  deferred: "deferred",
  bounced: "bounce",
  softbounced: "bounce",
  dropped: "dropped",
  opened: "open",
  clicked: "click",
  complained: "spam_report",
  unsubscribed: "unsubscribe",
};
const statusOf = (types: string[]) =>
  types.includes("bounce") || types.includes("dropped") ? "failed" : "delivered";

const providers = Object.keys(eventNamesByProvider);

describe.runIf(atHome)("with the sandbox", () => {
  // The durations are only printed, because a test must pass on a machine under any load.
  test("the delivered event of a mail appears in its send at every provider", async () => {
    // Each provider has an organization of its own, because requests are limited by organization.
    const sent = async (provider: string) => {
      const client = await signedUp();
      const sendingConfigId = await createConfig(client, provider);
      const startedMs = performance.now();
      const sendId = await sendMail(client, "someone@example.net", { sendingConfigId });
      const detail = () => client.call<Detail>("GET", `/sends/${sendId}`);
      const events = await waitFor(async () => {
        const found = expectStatus(200, await detail()).body.data.events;
        expect(found.length).toBeGreaterThan(0);
        return found;
      });
      expect(events).toMatchObject([
        { sendId, type: "delivered", provider, toEmail: "someone@example.net" },
      ]);
      return `${provider} ${Math.round(performance.now() - startedMs)} ms`;
    };
    // The first mail waits for modules that are loaded lazily.
    await sent(providers[0]!);
    const durations = await Promise.all(providers.map(sent));
    console.log(
      `From POST /send until GET /sends/:id shows the first event: ${durations.join(", ")}`,
    );
  });

  test.concurrent.each(sampleOf(4, providers, "simulator"))(
    "a mail through %s to each simulator address gets the events of that address",
    async (provider) => {
      const typesOf = (outcome: string) =>
        expectedEvents[outcome]!.filter(
          (kind) => typeByKind[kind] && eventNamesByProvider[provider]![kind],
        ).map((kind) => typeByKind[kind]!);
      const client = await signedUp();
      const sendingConfigId = await createConfig(client, provider);
      const outcomes = Object.keys(expectedEvents).filter((outcome) => typesOf(outcome).length);
      const ids = await Promise.all(
        outcomes.map((outcome) =>
          sendMail(client, `${outcome}@simulator.pennymail.test`, { sendingConfigId }),
        ),
      );
      const all = await waitForEvents(client, outcomes.flatMap(typesOf).length);
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      for (const [i, outcome] of outcomes.entries()) {
        const detail = expectStatus(200, await client.call<Detail>("GET", `/sends/${ids[i]}`)).body
          .data;
        const types = typesOf(outcome);
        expect([outcome, detail.events.map(({ type }) => type).sort()]).toEqual([
          outcome,
          types.toSorted(),
        ]);
        expect([outcome, detail]).toMatchObject([
          outcome,
          {
            status: statusOf(types),
            error: statusOf(types) === "failed" ? expect.any(String) : null,
            providerMessageId: expect.any(String),
            sentAt: expect.any(String),
            deliveredAt: types.includes("delivered") ? expect.any(String) : null,
            openedAt: types.includes("open") ? expect.any(String) : null,
            clickedAt: types.includes("click") ? expect.any(String) : null,
          },
        ]);
        // GET /events and GET /sends/:id return the same events.
        expect(
          all
            .filter(({ sendId }) => sendId === ids[i])
            .map(({ id }) => id)
            .sort(),
        ).toEqual(detail.events.map(({ id }) => id).sort());
        expect(all).toEqual(expect.arrayContaining(detail.events));
        for (const event of detail.events)
          expect(event).toMatchObject({
            provider,
            automated: false,
            subject: expect.stringMatching(/^To /),
          });
      }
      const of = (outcome: string, type: string) =>
        all.find((event) => event.toEmail.startsWith(`${outcome}@`) && event.type === type)!;
      expect(of("bounced", "bounce").data).toMatchObject({
        bounceType: "hard",
        reason: expect.any(String),
      });
      expect(of("softbounced", "bounce").data).toMatchObject({ bounceType: "soft" });
      expect(of("clicked", "click").data.url).toBe("https://shop.example/?a=1");

      const { suppressions } = expectStatus(
        200,
        await client.call<{ suppressions: { email: string; reason: string; source: string }[] }>(
          "GET",
          "/suppressions",
        ),
      ).body.data;
      const reasons = Object.fromEntries(
        suppressions.map(({ email, reason }) => [email.split("@")[0], reason]),
      );
      expect(reasons).toEqual({
        bounced: "bounce",
        softbounced: "bounce",
        complained: "spam_report",
      });
      expect(suppressions.every(({ source }) => source === provider)).toBe(true);
      const again = await sendMail(client, "bounced@simulator.pennymail.test", { sendingConfigId });
      expect(
        expectStatus(200, await client.call<Detail>("GET", `/sends/${again}`)).body.data,
      ).toMatchObject({
        status: "failed",
        error: "suppressed",
      });
    },
    40_000,
  );
});

test.runIf(atHome)(
  "after a soft bounce a password reset goes out and a campaign does not",
  async () => {
    const client = await signedUp();
    const sendingConfigId = await createConfig(client, "postmark");
    const make = async (path: string, body: object): Promise<number> =>
      expectStatus(201, await client.call<{ id: number }>("POST", path, body)).body.data.id;
    const listId = await make("/lists", { name: "News" });
    const full = "softbounced+full@simulator.pennymail.test";
    const contactId = await make("/contacts", { email: full, lists: [listId] });
    await make("/contacts", { email: "delivered@simulator.pennymail.test", lists: [listId] });
    const templateId = await make("/templates", { name: "News", subject: "News", html });

    await sendMail(client, full, { sendingConfigId });
    await waitFor(async () => {
      const checked = await client.call("GET", `/suppressions/check/${full}`);
      expect(checked.body.data).toMatchObject({
        suppressed: true,
        marketingOnly: true,
        bounceType: "soft",
        liftsAt: expect.any(String),
      });
      const contact = await client.call("GET", `/contacts/${contactId}`);
      expect(contact.body.data).toMatchObject({ status: "suppressed" });
    });
    expect(
      (await client.call("GET", `/why?email=${encodeURIComponent(full)}`)).body.data,
    ).toMatchObject({
      reason: "bounced",
      alsoApplies: ["suppressed"],
    });

    const campaign = { name: "News", templateId, listId, sendingConfigId };
    const campaignId = await make("/campaigns", campaign);
    expectStatus(200, await client.call("POST", `/campaigns/${campaignId}/send`));
    await waitFor(async () =>
      expect((await client.call("GET", `/campaigns/${campaignId}`)).body.data).toMatchObject({
        status: "sent",
        accounting: { candidates: 2, accepted: 1, suppressed: 1 },
      }),
    );
    const reset = await sendMail(client, full, { sendingConfigId });
    await waitFor(async () => {
      const { events, error } = (await client.call<Detail>("GET", `/sends/${reset}`)).body.data;
      expect(error).not.toBe("suppressed");
      // It went to the provider, where it bounced as well.
      expect(events.map(({ type }) => type)).toEqual(["bounce"]);
    });
  },
);

describe.runIf(atHome)("GET /events", () => {
  let client: TestClient;
  let secondSite: number;
  const outcomes = ["delivered", "bounced", "opened", "complained", "deferred"];
  beforeAll(async () => {
    client = await signedUp();
    const sendingConfigId = await createConfig(client, "postmark");
    secondSite = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/sites", { name: "Second" }),
    ).body.data.id;
    const to = (siteId: number) => (outcome: string) =>
      sendMail(client, `${outcome}+${siteId}@simulator.pennymail.test`, {
        sendingConfigId,
        siteId,
      });
    await Promise.all([
      ...outcomes.map(to(client.siteId)),
      ...outcomes.slice(0, 2).map(to(secondSite)),
    ]);
    await waitForEvents(client, 10);
  });

  test("filters by type and site, with exact totals", async () => {
    const opens = await pageOf(client, "type=open");
    expect(opens.events.map(({ type }) => type)).toEqual(["open"]);
    expect(opens.pagination.total).toBe(1);
    const second = await pageOf(client, `siteId=${secondSite}`);
    expect(second.events.map(({ type }) => type).sort()).toEqual(["bounce", "delivered"]);
    expect(second.pagination.total).toBe(2);
    expect((await pageOf(client, `siteId=${secondSite}&type=bounce`)).pagination.total).toBe(1);
    expect(await pageOf(client, `siteId=${secondSite}&type=click`)).toMatchObject({
      events: [],
      pagination: { total: 0, nextCursor: null },
    });
  });

  test("returns every event once, by cursor and by page number, with the total", async () => {
    const all = (await pageOf(client)).events.map(({ id }) => id);
    expect(all).toHaveLength(10);
    const seenIds: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await pageOf(
        client,
        `limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(page.pagination.total).toBe(10);
      seenIds.push(...page.events.map(({ id }) => id));
      cursor = page.pagination.nextCursor;
    }
    expect(seenIds).toEqual(all);
    const third = await pageOf(client, "limit=4&page=3");
    expect(third.events.map(({ id }) => id)).toEqual(all.slice(8));
    expect(third.pagination).toMatchObject({
      page: 3,
      limit: 4,
      total: 10,
      totalPages: 3,
      nextCursor: null,
    });
  });

  test.each([
    "limit=0",
    "limit=101",
    "page=0",
    "type=opened",
    "siteId=x",
    "limit=100&page=101",
    "cursor=%25%25",
  ])("refuses %s", async (query) => {
    expect((await client.call("GET", `/events?${query}`)).status).toBe(400);
  });

  test("returns only events of its own site to a site-bound key", async () => {
    const key = await client.newKey({ siteId: secondSite });
    const ownEvents = expectStatus(
      200,
      await client.call<Page>("GET", "/events", undefined, { as: { key } }),
    ).body.data;
    expect(ownEvents.pagination.total).toBe(2);
    expect(
      await client.call("GET", `/events?siteId=${client.siteId}`, undefined, { as: { key } }),
    ).toMatchObject({
      status: 403,
      body: { code: "site_forbidden" },
    });
    const [foreign] = (await pageOf(client, `siteId=${client.siteId}`)).events;
    expect(
      (await client.call("GET", `/sends/${foreign!.sendId}`, undefined, { as: { key } })).status,
    ).toBe(403);
  });

  test("returns nothing to another organization", async () => {
    const other = await signedUp();
    expect((await pageOf(other)).pagination.total).toBe(0);
    expect((await other.call("GET", `/events?siteId=${client.siteId}`)).status).toBe(404);
    const [event] = (await pageOf(client)).events;
    expect((await other.call("GET", `/sends/${event!.sendId}`)).status).toBe(404);
    expect((await other.call("GET", "/events", undefined, { as: "anonymous" })).status).toBe(401);
  });
});
