// Plans and billing over HTTP, with the fake Stripe of test/support/stripe. For Stripe's events see
// test/engine/billing.test.ts.
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  expectStatus,
  nextMinute,
  request,
  signedUp,
  type TestClient,
} from "../support/api-client.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";
import {
  type FakeStripe,
  secretKey,
  startFakeStripe,
  webhookSecret,
} from "../support/stripe/fake-stripe.ts";

const session = { as: "session" } as const;
const shared = { service: inject("baseUrl") };

describe("without Stripe", () => {
  test("the five plans are listed with limits and prices", async () => {
    const client = await signedUp();
    const { plans, purchasable } = expectStatus(
      200,
      await client.call<{
        purchasable: boolean;
        plans: { key: string; priceCents: number; limits: object; features: string[] }[];
      }>("GET", "/plans"),
    ).body.data;
    expect(purchasable).toBe(false);
    expect(plans.map(({ key, priceCents, limits }) => ({ key, priceCents, ...limits }))).toEqual([
      {
        key: "free",
        priceCents: 0,
        mailsPerMonth: 3_000,
        generalPerMinute: 100,
        sendPerMinute: 20,
      },
      {
        key: "starter",
        priceCents: 1_500,
        mailsPerMonth: 25_000,
        generalPerMinute: 500,
        sendPerMinute: 100,
      },
      {
        key: "growth",
        priceCents: 4_900,
        mailsPerMonth: 100_000,
        generalPerMinute: 2_000,
        sendPerMinute: 500,
      },
      {
        key: "business",
        priceCents: 14_900,
        mailsPerMonth: 500_000,
        generalPerMinute: 5_000,
        sendPerMinute: 1_000,
      },
      {
        key: "enterprise",
        priceCents: 49_900,
        mailsPerMonth: 2_500_000,
        generalPerMinute: 10_000,
        sendPerMinute: 2_000,
      },
    ]);
    for (const { features } of plans) expect(features.length).toBeGreaterThan(2);
  });

  test("a new organization has no usage and no credits", async () => {
    const client = await signedUp();
    const mails = { accepted: 0, included: 3000, remaining: 3000, beyond: 0 };
    const period = {
      start: expect.stringMatching(/-01T00:00:00.000Z$/),
      end: expect.stringMatching(/-01T00:00:00.000Z$/),
    };
    const answers = {
      "/plans/current": {
        plan: expect.objectContaining({ key: "free" }),
        period,
        mails,
        subscription: null,
      },
      "/plans/usage": {
        plan: "free",
        period,
        mails,
        requests: { general: expect.any(Object), send: expect.objectContaining({ used: 0 }) },
      },
      "/billing/usage": { period, mails, chargedCents: 0, balance: { credits: 0, cents: 0 } },
      "/billing/subscription": {
        plan: expect.objectContaining({ key: "free" }),
        subscription: null,
        invoices: [],
      },
      "/billing/credits": { packages: expect.any(Array), balance: { credits: 0, cents: 0 } },
    };
    for (const [path, data] of Object.entries(answers))
      expect([path, (await client.call("GET", path)).body.data]).toEqual([path, data]);
  });

  test("payments take a key with the full scope, and the error names the missing setting", async () => {
    const client = await signedUp();
    const narrow = await client.newKey({ scopes: ["plans:read", "contacts:write"] });
    for (const [path, body] of [
      ["/billing/checkout", { plan: "starter" }],
      ["/billing/credits", { packageId: 1 }],
      ["/billing/portal", {}],
    ] as const) {
      const refused = await client.call("POST", path, body, { as: { key: narrow } });
      expect([path, refused.status, refused.body.code]).toEqual([path, 403, "scope_missing"]);
      for (const credential of [undefined, session]) {
        const { status, body: error } = await client.call("POST", path, body, credential);
        expect([path, status, error.error]).toEqual([
          path,
          503,
          expect.stringContaining("STRIPE_SECRET_KEY"),
        ]);
      }
    }
    expect((await client.call("POST", "/plans/change", { plan: "starter" })).body.code).toBe(
      "not_configured",
    );
    expect((await client.call("POST", "/plans/cancel", {})).body.code).not.toBe("session_required");
  });

  test("a bound key can read plans, but no billing data", async () => {
    const client = await signedUp();
    const key = await client.newKey({ siteId: client.siteId });
    const status = async (path: string) =>
      (await client.call("GET", path, undefined, { as: { key } })).status;
    expect(await Promise.all(["/plans", "/plans/current", "/plans/usage"].map(status))).toEqual([
      200, 200, 200,
    ]);
    expect(
      await Promise.all(
        ["/billing/usage", "/billing/credits", "/org/health", "/org/branding"].map(status),
      ),
    ).toEqual([403, 403, 403, 403]);
  });

  test.each([
    ["/billing/checkout", { plan: "free" }, "plan"],
    ["/billing/checkout", {}, "plan"],
    ["/billing/checkout", { plan: "starter", returnUrl: "https://evil.example/" }, "returnUrl"],
    ["/billing/credits", { packageId: 5 }, "packageId"],
    ["/billing/portal", { returnUrl: "javascript:alert(1)" }, "returnUrl"],
    ["/plans/change", { plan: "gold" }, "plan"],
    ["/plans/change", { plan: "growth", prorationDate: 1.5 }, "prorationDate"],
  ])("POST %s %j is refused for its %s", async (path, body, field) => {
    const client = await signedUp();
    const answer = await client.call("POST", path, body, session);
    expect([answer.status, answer.body.details?.[0]?.path]).toEqual([400, field]);
  });

  test("the branding footer and the trust level can be read; the footer can be changed", async () => {
    const client = await signedUp();
    expect((await client.call("PUT", "/org/branding", { enabled: "yes" })).status).toBe(400);
    const on = expectStatus(
      200,
      await client.call<{ footer: { html: string; text: string } }>("PUT", "/org/branding", {
        enabled: true,
      }),
    ).body.data;
    expect(on).toMatchObject({ enabled: true, discountPercent: 15, centsPerMail: 0.085 });
    expect(on.footer.text).toContain("Sent with Pennymail: http");
    expect((await client.call("GET", "/org/branding")).body.data).toEqual(on);
    const other = await signedUp();
    expect((await other.call("GET", "/org/branding")).body.data).toMatchObject({
      enabled: false,
      centsPerMail: 0.1,
    });
    expect((await client.call("GET", "/org/health")).body.data).toMatchObject({
      trust: { level: "new" },
      limits: {
        plan: "free",
        windowSeconds: 60,
        general: { limit: 100 },
        send: { limit: 20, used: 0 },
      },
    });
  });

  test("a webhook event without Stripe's signature is rejected", async () => {
    const { status, body } = await request(
      "POST",
      "/billing/webhooks",
      { type: "invoice.paid" },
      shared,
    );
    expect([status, body.error]).toEqual([503, expect.stringContaining("STRIPE_")]);
  });
});

describe("with Stripe", () => {
  let stripe: FakeStripe;
  let service: RunningTestService;
  let client: TestClient;
  beforeAll(async () => {
    stripe = await startFakeStripe();
    const settings = {
      STRIPE_URL: stripe.url,
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
    };
    service = await startServiceProcess({ ...settings, ADDRESS_LIMIT_PER_MINUTE: "1000000" });
    client = await signedUp({ service: service.url });
  });
  afterAll(async () => {
    await service.stop();
    stripe.stop();
  });
  const hear = async (events: Parameters<FakeStripe["toWebhookCall"]>[0][]) => {
    for (const event of events) {
      const { raw, headers } = stripe.toWebhookCall(event);
      expectStatus(
        200,
        await request("POST", "/billing/webhooks", undefined, {
          raw,
          headers,
          service: service.url,
        }),
      );
    }
  };
  const post = <T>(path: string, body: object = {}, headers: Record<string, string> = {}) =>
    client.call<T>("POST", path, body, { ...session, headers });

  test("a plan is bought, changed and cancelled; credits pay for mail beyond it", async () => {
    const page = expectStatus(
      201,
      await post<{ sessionId: string }>("/billing/checkout", { plan: "starter" }),
    ).body.data;
    await hear(stripe.pay(page.sessionId));
    expect((await client.call("GET", "/rate-limit")).body.data).toMatchObject({
      plan: "starter",
      general: { limit: 500 },
    });
    const change = { plan: "growth", confirm: true };
    const first = expectStatus(
      200,
      await post("/plans/change", change, { "idempotency-key": "change-1" }),
    );
    const again = await post("/plans/change", change, { "idempotency-key": "change-1" });
    expect(again.body.data).toEqual(first.body.data);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await client.call("GET", "/plans/current")).body.data).toMatchObject({
      plan: { key: "growth" },
      subscription: { plan: "growth" },
    });

    const credits = expectStatus(
      201,
      await post<{ sessionId: string }>("/billing/credits", { packageId: 2 }),
    ).body.data;
    await hear(stripe.pay(credits.sessionId));
    expect((await client.call("GET", "/billing/usage")).body.data).toMatchObject({
      balance: { credits: 50_000, cents: 5_000 },
    });

    expect(
      expectStatus(201, await post<{ url: string }>("/billing/portal")).body.data.url,
    ).toContain(stripe.url);
    const { invoices } = expectStatus(
      200,
      await client.call<{ invoices: object[] }>("GET", "/billing/subscription"),
    ).body.data;
    expect(invoices).toHaveLength(2);
    expect(expectStatus(200, await post("/plans/cancel")).body.data).toMatchObject({
      cancelAtPeriodEnd: true,
    });
  });

  test("an upgrade raises the rate limit at once, also for an organization that just got 429", async () => {
    const one = await signedUp({ service: service.url });
    const sites = async (n: number) => {
      const answers = await Promise.all(Array.from({ length: n }, () => one.call("GET", "/sites")));
      return answers.map(({ status, headers }) =>
        [status, headers.get("x-ratelimit-limit")].join(" "),
      );
    };
    const page = expectStatus(
      201,
      await one.call<{ sessionId: string }>(
        "POST",
        "/billing/checkout",
        { plan: "starter" },
        session,
      ),
    ).body.data;
    await nextMinute(service.url);
    const before = await sites(120);
    expect(before.filter((answer) => answer === "429 100")).toHaveLength(20);
    await hear(stripe.pay(page.sessionId));
    expect(new Set(await sites(20))).toEqual(new Set(["200 500"]));
  });

  test("mail beyond the plan and credits is a 402 and stores nothing", async () => {
    const poor = await signedUp({ service: service.url });
    const sendingConfig = {
      provider: "postmark",
      credentials: { apiKey: "x" },
      fromEmail: "us@shop.example",
    };
    const { id } = expectStatus(
      201,
      await poor.call<{ id: number }>("POST", "/sending-configs", sendingConfig),
    ).body.data;
    const batch = (n: number, word: string) => ({
      sendingConfigId: id,
      subject: "Hi",
      html: "<p>Hi</p>",
      scheduledAt: new Date(Date.now() + 24 * 3600 * 1000).toISOString(),
      recipients: Array.from({ length: n }, (_, i) => ({ to: `${word}${i}@example.com` })),
    });
    for (const word of ["a", "b", "c"])
      expectStatus(202, await poor.call("POST", "/send/batch", batch(1000, word)));
    const refused = await poor.call("POST", "/send/batch", batch(1, "d"));
    expect([refused.status, refused.body.code]).toEqual([402, "payment_required"]);
    expect(refused.body.error).toContain("POST /billing/credits");
    const { pagination } = expectStatus(
      200,
      await poor.call<{ pagination: { total: number } }>("GET", "/sends?limit=1"),
    ).body.data;
    expect(pagination.total).toBe(3000);
    expect((await poor.call("GET", "/plans/usage")).body.data).toMatchObject({
      mails: { accepted: 3000, remaining: 0, beyond: 0 },
    });
    const page = await poor.call<{ sessionId: string }>(
      "POST",
      "/billing/credits",
      { packageId: 1 },
      session,
    );
    await hear(stripe.pay(page.body.data.sessionId));
    const sent = expectStatus(
      202,
      await poor.call<{ results: { id: number }[] }>("POST", "/send/batch", batch(1, "e")),
    ).body.data;
    expect((await poor.call("GET", `/sends/${sent.results[0]!.id}`)).body.data).toMatchObject({
      cost: 0.1,
      status: "scheduled",
    });
    expect((await poor.call("GET", "/billing/usage")).body.data).toMatchObject({
      chargedCents: 0.1,
      balance: { credits: 9_999 },
      mails: { beyond: 1 },
    });
  });
});
