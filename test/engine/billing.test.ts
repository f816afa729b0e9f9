// Plans, credits and Stripe: by the routes, on a real table, against a Stripe that checks what it is asked.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { billing } from "../../functions/http/billing.ts";
import { organization } from "../../functions/http/organization.ts";
import * as clock from "../../shared/clock.ts";
import * as allowance from "../../shared/domain/allowance.ts";
import type { PlanChange } from "../../shared/domain/billing/changes.ts";
import type { CheckoutPage } from "../../shared/domain/billing/checkouts.ts";
import * as notices from "../../shared/domain/billing/notices.ts";
import * as subscriptions from "../../shared/domain/billing/subscriptions.ts";
import * as credits from "../../shared/domain/credits.ts";
import * as days from "../../shared/domain/days.ts";
import * as organizations from "../../shared/domain/organizations.ts";
import * as sites from "../../shared/domain/sites.ts";
import { queryAll, write } from "../../shared/doors/table.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { ranges } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { type Account, account } from "../support/callers.ts";
import { ask } from "../support/events.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { armed, atSomeSteps } from "../support/killer.ts";
import { type Event, type FakeStripe, fakeStripe, secretKey, webhookSecret } from "../support/stripe/fake.ts";

armed();
let stripe: FakeStripe;
beforeAll(async () => {
  stripe = await fakeStripe();
  Object.assign(process.env, { STRIPE_URL: stripe.url, STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret });
});
afterAll(() => stripe.stop());
beforeEach(() => {
  stripe.trouble = () => undefined;
  stripe.cardIsBad = false;
});

const post = <T>({ token }: Account, path: `/${string}`, body: object = {}) =>
  ask<T>(billing, `POST ${path}`, { body, cookies: [`${sessionCookie}=${token}`] });
const read = <T>({ token }: Account, path: `/${string}`) => ask<T>(billing, `GET ${path}`, { cookies: [`${sessionCookie}=${token}`] });
const hear = (event: Event, options?: Parameters<FakeStripe["call"]>[1]) =>
  ask<{ received: true }>(billing, "POST /billing/webhooks", stripe.call(event, options));
const planOf = async ({ caller }: Account) => (await organizations.find(caller.orgId)).plan;

/** Every order of them. */
const orders = <T>(all: T[]): T[][] =>
  all.length < 2 ? [all] : all.flatMap((one, i) => orders(all.toSpliced(i, 1)).map((rest) => [one, ...rest]));

/** A customer that pays for a plan; the events that tell of it have not been told. */
async function payingFor(plan: string) {
  const shop = await account();
  const { body } = await post<CheckoutPage>(shop, "/billing/checkout", { plan });
  const events = stripe.pay(body.data.sessionId);
  const subscription = stripe.subscriptions.get(stripe.sessions.get(body.data.sessionId)!.subscription!)!;
  return { shop, events, subscription };
}
async function subscribed(plan: string) {
  const paying = await payingFor(plan);
  for (const event of paying.events) await hear(event);
  return paying;
}

describe("a first subscription", () => {
  test("is paid on a page of Stripe's, whose session says whose it is", async () => {
    const shop = await account();
    const { status, body } = await post<CheckoutPage>(shop, "/billing/checkout", { plan: "starter" });
    expect([status, body.data]).toEqual([
      201,
      { sessionId: expect.stringMatching(/^cs_test_/), url: expect.stringContaining(stripe.url), expiresAt: expect.stringMatching(/Z$/) },
    ]);
    const { asked, customer } = stripe.sessions.get(body.data.sessionId)!;
    const orgId = String(shop.caller.orgId);
    expect(asked).toMatchObject({
      mode: "subscription",
      client_reference_id: orgId,
      subscription_data: { metadata: { orgId, plan: "starter" } },
      success_url: "http://127.0.0.1:3000/?checkout=done",
      cancel_url: "http://127.0.0.1:3000/?checkout=cancelled",
    });
    expect(stripe.customers.get(customer)).toMatchObject({ email: shop.email, metadata: { orgId } });
    expect([...stripe.prices.values()].find(({ lookup_key }) => lookup_key === "pennymail_starter_1500")).toMatchObject({
      unit_amount: 1500,
      currency: "usd",
    });
    expect(await planOf(shop)).toBe("free");
  });

  test("gives the plan, in whatever order and how often Stripe tells of it", async () => {
    const { events } = await payingFor("growth");
    expect(events.map(({ type }) => type)).toEqual(["customer.subscription.created", "invoice.paid", "checkout.session.completed"]);
    for (const i of orders([0, 1, 2]).keys()) {
      const { shop, events } = await payingFor("growth");
      for (const event of orders(events)[i]!) for (const _ of "12") expect((await hear(event)).status).toBe(200);
      expect(await planOf(shop)).toBe("growth");
      const { body } = await read<{ subscription: subscriptions.Subscription; invoices: object[] }>(shop, "/billing/subscription");
      expect(body.data.subscription).toMatchObject({ status: "active", plan: "growth", cancelAtPeriodEnd: false });
      expect(body.data.invoices).toEqual([expect.objectContaining({ status: "paid", amountPaidCents: 4900, number: expect.any(String) })]);
    }
  });

  test("counts mails by its own month, and its plan holds for the next request", async () => {
    const { shop, subscription } = await subscribed("starter");
    const { body, headers } = await read<{ period: { start: string }; mails: { included: number } }>(shop, "/plans/usage");
    expect(body.data.period.start).toBe(new Date(subscription.billing_cycle_anchor * 1000).toISOString());
    expect(body.data.mails.included).toBe(25_000);
    expect(headers["x-ratelimit-limit"]).toBe("500");
  });

  test("is not asked for twice", async () => {
    const { shop } = await subscribed("starter");
    const { status, body } = await post(shop, "/billing/checkout", { plan: "growth" });
    expect([status, body.code]).toEqual([409, "subscription_exists"]);
  });

  test("two who ask at once are one customer", async () => {
    const shop = await account();
    const pages = await Promise.all([1, 2, 3].map(() => post<CheckoutPage>(shop, "/billing/checkout", { plan: "starter" })));
    const customers = pages.map(({ body }) => stripe.sessions.get(body.data.sessionId)!.customer);
    expect(new Set(customers).size).toBe(1);
  });

  test("of another installation at the same account of Stripe's is none of ours", async () => {
    const { events } = await payingFor("business");
    const other = await account();
    const { subscription: ours } = await subscribed("starter");
    const foreign = structuredClone(events[0]!) as Event & { data: { object: { metadata: { orgId: string } } } };
    foreign.data.object.metadata.orgId = String(other.caller.orgId);
    expect((await hear(foreign)).status).toBe(200);
    expect(await planOf(other)).toBe("free");
    expect(ours.status).toBe("active");
  });
});

describe("from plan to plan", () => {
  test("what the preview shows is what is charged, though time goes by", async () => {
    const { shop, subscription } = await subscribed("starter");
    clock.advance(6 * 24 * 3600);
    const shown = await post<PlanChange>(shop, "/plans/change", { plan: "business" });
    expect(shown.body.data).toMatchObject({ from: "starter", to: "business", confirmed: false, checkoutRequired: false });
    expect(await planOf(shop)).toBe("starter");
    clock.advance(300);
    const { amountDueCents, prorationDate, lines } = shown.body.data;
    const done = await post<PlanChange>(shop, "/plans/change", { plan: "business", confirm: true, prorationDate });
    expect([done.status, done.body.data]).toEqual([200, expect.objectContaining({ confirmed: true, amountDueCents, lines })]);
    expect(amountDueCents).toBe(lines.reduce((sum, { amountCents }) => sum + amountCents, 0));
    expect(stripe.invoices[0]).toMatchObject({ customer: subscription.customer, amount_paid: amountDueCents });
    // Without waiting for a webhook.
    expect(await planOf(shop)).toBe("business");
  });

  test("a refused card changes nothing", async () => {
    const { shop } = await subscribed("starter");
    stripe.cardIsBad = true;
    const { status, body } = await post(shop, "/plans/change", { plan: "growth", confirm: true });
    expect([status, body.code, body.error]).toEqual([402, "payment_failed", "The payment failed: Your card was declined."]);
    expect(await planOf(shop)).toBe("starter");
  });

  test("a smaller plan gives back, and charges nothing", async () => {
    const { shop } = await subscribed("business");
    const { body } = await post<PlanChange>(shop, "/plans/change", { plan: "starter", confirm: true });
    expect(body.data.amountDueCents).toBe(0);
    expect(body.data.lines.reduce((sum, { amountCents }) => sum + amountCents, 0)).toBeLessThan(0);
    expect(await planOf(shop)).toBe("starter");
  });

  test("nobody picks the moment that is cheapest", async () => {
    const { shop, subscription } = await subscribed("starter");
    clock.advance(3600);
    for (const prorationDate of [subscription.created, clock.epochSeconds() + 3600]) {
      const { status, body } = await post(shop, "/plans/change", { plan: "growth", confirm: true, prorationDate });
      expect([status, body.details?.[0]?.path]).toEqual([400, "prorationDate"]);
    }
  });

  test("a cancelled plan stays until its period ends, and can be taken back until then", async () => {
    const { shop, subscription } = await subscribed("growth");
    const cancelled = await post<subscriptions.Subscription>(shop, "/plans/cancel");
    expect(cancelled.body.data).toMatchObject({ status: "active", plan: "growth", cancelAtPeriodEnd: true });
    expect(await planOf(shop)).toBe("growth");
    const back = await post<PlanChange>(shop, "/plans/change", { plan: "growth", confirm: true });
    expect(back.body.data).toMatchObject({ confirmed: true, amountDueCents: 0 });
    expect(subscription.cancel_at_period_end).toBe(false);
    const freed = await post<PlanChange>(shop, "/plans/change", { plan: "free", confirm: true });
    expect(freed.body.data).toMatchObject({ from: "growth", to: "free", effectiveAt: cancelled.body.data.currentPeriodEnd });
    expect(subscription.cancel_at_period_end).toBe(true);
    await hear(stripe.change(subscription, { status: "canceled" }, "customer.subscription.deleted"));
    expect(await planOf(shop)).toBe("free");
    expect((await post(shop, "/plans/cancel")).body.code).toBe("no_subscription");
  });

  test("without a subscription there is a price to see, and a page to pay it on", async () => {
    const shop = await account();
    const { body } = await post<PlanChange>(shop, "/plans/change", { plan: "growth" });
    expect(body.data).toMatchObject({ amountDueCents: plans.growth.priceCents, checkoutRequired: true, confirmed: false });
    expect((await post(shop, "/plans/change", { plan: "growth", confirm: true })).body.code).toBe("checkout_required");
    expect((await post(shop, "/plans/change", { plan: "free" })).body.code).toBe("no_subscription");
  });

  test("the plan one has is no change", async () => {
    const { shop } = await subscribed("starter");
    expect((await post(shop, "/plans/change", { plan: "starter" })).body.code).toBe("plan_unchanged");
  });

  test("an unpaid month keeps the plan for a while, then ends it; old news never undoes what is known", async () => {
    const { shop, subscription } = await subscribed("growth");
    await hear(stripe.change(subscription, { status: "past_due" }));
    expect(await planOf(shop)).toBe("growth");
    const late = stripe.tell("customer.subscription.updated", subscription);
    await hear(stripe.change(subscription, { status: "unpaid" }));
    expect(await planOf(shop)).toBe("free");
    await hear(late);
    expect(await planOf(shop)).toBe("free");
  });

  test("what was asked for earlier and is answered later changes nothing, and no more does an older subscription", async () => {
    const { shop, subscription } = await subscribed("growth");
    const { orgId } = shop.caller;
    const as = (changes: object) => ({ ...subscription, ...changes }) as never;
    await subscriptions.apply(orgId, as({ status: "unpaid" }), clock.after(-3600).toISOString());
    expect(await planOf(shop)).toBe("growth");
    await subscriptions.apply(orgId, as({ id: "sub_older", created: subscription.created - 1 }), clock.after(1).toISOString());
    expect((await subscriptions.live(orgId))?.subscriptionId).toBe(subscription.id);
  });

  test("of two answers that are written down at the same moment the younger counts", async () => {
    const { shop, subscription } = await subscribed("growth");
    const { orgId } = shop.caller;
    const apply = (cancelled: boolean, seconds: number) =>
      subscriptions.apply(orgId, { ...subscription, cancel_at_period_end: cancelled } as never, clock.after(seconds).toISOString());
    const slow = heldUp(TransactWriteCommand);
    const late = apply(false, 1);
    await slow.reached;
    await apply(true, 2);
    slow.release();
    await late;
    letGo();
    expect(await subscriptions.live(orgId)).toMatchObject({ cancelAtPeriodEnd: true });
  });

  test("whoever dies while changing a plan, or while hearing of it, and does so again has it as Stripe has it", async () => {
    const told = await atSomeSteps(3, async (kill) => {
      const { shop } = await subscribed("starter");
      const body = { plan: "growth", confirm: true, prorationDate: clock.epochSeconds() };
      await kill(() => post(shop, "/plans/change", body));
      await post(shop, "/plans/change", body);
      expect(await planOf(shop)).toBe("growth");
      expect(stripe.invoices.filter((one) => one.customer === stripe.invoices[0]!.customer)).toHaveLength(2);
    });
    expect(told.length).toBeGreaterThan(5);
    await atSomeSteps(3, async (kill) => {
      const { shop, events } = await payingFor("growth");
      await kill(() => hear(events[0]!));
      await hear(events[0]!);
      expect(await planOf(shop)).toBe("growth");
    });
  });
});

describe("credits", () => {
  const buy = async (shop: Account, packageId = "credits_10000") =>
    (await post<CheckoutPage>(shop, "/billing/credits", { packageId })).body.data.sessionId;
  const amount = 10_000 * credits.amountPerCredit;

  async function balances({ caller }: Account) {
    const entries = await queryAll<{ amount: number }>(ranges.ledger(caller.orgId), { consistent: true });
    const balance = await credits.balance(caller.orgId);
    expect(entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(balance);
    return balance;
  }

  test("are there once they are paid, however often and at once Stripe tells of it", async () => {
    const shop = await account();
    const session = await buy(shop);
    expect(stripe.sessions.get(session)!.amount_total).toBe(1000);
    const [event] = stripe.pay(session) as [Event];
    const again = { ...event, id: "evt_again" };
    await Promise.all([event, event, again, again].map((one) => hear(one)));
    expect(await balances(shop)).toBe(amount);
    expect((await read<{ balance: object }>(shop, "/billing/usage")).body.data.balance).toEqual({ credits: 10_000, cents: 1000 });
  });

  test("wait for a payment that is on its way, also when that is told first", async () => {
    for (const first of ["completed", "succeeded"]) {
      const shop = await account();
      const session = await buy(shop);
      const [completed] = stripe.pay(session, { unpaid: true }) as [Event];
      if (first === "completed") await hear(completed);
      expect(await balances(shop)).toBe(0);
      await hear(stripe.arrive(session));
      if (first === "succeeded") await hear(completed);
      expect(await balances(shop)).toBe(amount);
    }
  });

  test("that were paid back in parts are gone with the last of them, in any order", async () => {
    const shop = await account();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const [first, second] = [stripe.refund(session, 333), stripe.refund(session, 667)];
    await hear(second);
    await hear(first);
    expect(await balances(shop)).toBe(0);
  });

  test("stay where a refund came to nothing, and are not given back where a dispute was lost", async () => {
    const shop = await account();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const refund = stripe.refund(session, 500);
    stripe.refunds.at(-1)!.status = "failed";
    await hear(refund);
    expect(await balances(shop)).toBe(amount);
    const { created, won } = stripe.dispute(session);
    await hear(created);
    const closed = won();
    await hear({ ...closed, data: { object: { ...closed.data.object, status: "lost" } } });
    expect(await balances(shop)).toBe(0);
  });

  test("bought in another installation at the same account of Stripe's are none of ours", async () => {
    const [shop, other] = [await account(), await account()];
    const [event] = stripe.pay(await buy(shop)) as [Event];
    const metadata = { ...(event.data.object as { metadata: object }).metadata, orgId: String(other.caller.orgId) };
    await hear({ ...event, data: { object: { ...event.data.object, metadata } } });
    expect(await balances(other)).toBe(0);
  });

  test("in dispute are taken back until the dispute is won", async () => {
    const shop = await account();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const { created, won } = stripe.dispute(session);
    await hear(created);
    expect(await balances(shop)).toBe(0);
    const settled = won();
    await hear(settled);
    await hear({ ...settled, id: "evt_more" });
    expect(await balances(shop)).toBe(amount);
  });

  test("whoever dies while hearing of a purchase, and hears of it again, has it once", async () => {
    await atSomeSteps(3, async (kill) => {
      const shop = await account();
      const [event] = stripe.pay(await buy(shop)) as [Event];
      await kill(() => hear(event));
      await hear(event);
      expect(await balances(shop)).toBe(amount);
    });
  });

  test("parts of a purchase never come to more than the whole", () => {
    for (let part = 0; part <= 999; part++) {
      const [one, other] = [notices.shareOf(amount, part, 999), notices.shareOf(amount, 999 - part, 999)];
      expect(one + other).toBeLessThanOrEqual(amount);
      expect(Number.isSafeInteger(one) && one >= 0).toBe(true);
    }
    expect(notices.shareOf(amount, 999, 999)).toBe(amount);
  });
});

describe("what Stripe tells", () => {
  test("counts with its signature only", async () => {
    const { shop, events } = await payingFor("growth");
    const [event] = events as [Event];
    const signed = stripe.call(event);
    const tampered = Buffer.from(signed.raw.toString().replace("growth", "enterprise"));
    const asked = [
      stripe.call(event, { secret: "whsec_other" }),
      stripe.call(event, { at: clock.epochSeconds() - 400 }),
      { raw: tampered, headers: signed.headers },
      { raw: signed.raw, headers: { "content-type": "application/json" } },
    ];
    for (const one of asked) {
      const { status, body } = await ask(billing, "POST /billing/webhooks", one);
      expect([status, body.code]).toEqual([400, "signature_invalid"]);
    }
    expect(await planOf(shop)).toBe("free");
  });

  test("and does not concern us is heard and left", async () => {
    expect((await hear(stripe.tell("product.created", { id: "prod_1", object: "product" }))).status).toBe(200);
  });

  test("is told again when Stripe could not be asked", async () => {
    const { shop, events } = await payingFor("growth");
    stripe.trouble = () => ({ status: 500 });
    expect((await hear(events[0]!)).status).toBe(502);
    stripe.trouble = () => undefined;
    expect((await hear(events[0]!)).status).toBe(200);
    expect(await planOf(shop)).toBe("growth");
  });

  test("of what ended long ago leaves the plan that an operator gave since", async () => {
    const { shop, subscription } = await subscribed("growth");
    const ended = stripe.change(subscription, { status: "canceled" });
    await hear(ended);
    await subscriptions.give(shop.caller.orgId, "business");
    await hear({ ...ended, id: "evt_late" });
    await hear(stripe.tell("customer.deleted", stripe.customers.get(subscription.customer)!));
    expect(await planOf(shop)).toBe("business");
  });

  test("of a deleted customer ends what it had", async () => {
    const { shop, subscription } = await subscribed("growth");
    await hear(stripe.tell("customer.deleted", stripe.customers.get(subscription.customer)!));
    expect(await planOf(shop)).toBe("free");
    expect((await post<CheckoutPage>(shop, "/billing/checkout", { plan: "starter" })).status).toBe(201);
  });
});

describe("trouble", () => {
  test("Stripe that is down is 502, a connection that is cut is asked again under the same key", async () => {
    const shop = await account();
    stripe.trouble = () => ({ status: 503 });
    expect((await post(shop, "/billing/portal")).status).toBe(502);
    let cuts = 0;
    stripe.trouble = ({ path }) => (path === "/v1/checkout/sessions" && cuts++ === 0 ? { after: true } : undefined);
    const sessions = stripe.sessions.size;
    expect((await post(shop, "/billing/credits", { packageId: "credits_10000" })).status).toBe(201);
    expect(stripe.sessions.size).toBe(sessions + 1);
    const keys = stripe.asked
      .filter(({ path }) => path === "/v1/checkout/sessions")
      .slice(-2)
      .map(({ key }) => key);
    expect(new Set(keys).size).toBe(1);
  });

  test("a setting that is missing is named, and what needs no Stripe is answered", async () => {
    const shop = await account();
    const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } = process.env;
    try {
      process.env.STRIPE_SECRET_KEY = "";
      for (const [path, body] of [
        ["/billing/checkout", { plan: "starter" }],
        ["/billing/credits", { packageId: "credits_10000" }],
        ["/billing/portal", {}],
        ["/plans/change", { plan: "growth" }],
        ["/plans/change", { plan: "growth", confirm: true }],
      ] as const) {
        const answer = await post(shop, path, body);
        expect([path, answer.status, answer.body.code]).toEqual([path, 503, "not_configured"]);
        expect(answer.body.error).toContain("STRIPE_SECRET_KEY");
      }
      for (const path of [
        "/plans",
        "/plans/current",
        "/plans/usage",
        "/billing/usage",
        "/billing/credits",
        "/billing/subscription",
      ] as const)
        expect([path, (await read(shop, path)).status]).toEqual([path, 200]);
      process.env.STRIPE_WEBHOOK_SECRET = "";
      const { status, body } = await hear(stripe.tell("product.created", {}));
      expect([status, body.error]).toEqual([503, expect.stringContaining("STRIPE_WEBHOOK_SECRET")]);
    } finally {
      Object.assign(process.env, { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET });
    }
  });

  test("a key that Stripe does not know is our trouble, and never shown", async () => {
    const shop = await account();
    try {
      process.env.STRIPE_SECRET_KEY = "sk_test_wrong";
      const { status, body } = await post(shop, "/billing/portal");
      expect([status, body.code]).toEqual([503, "not_configured"]);
      expect(JSON.stringify(body)).not.toContain("sk_test");
    } finally {
      process.env.STRIPE_SECRET_KEY = secretKey;
    }
  });
});

test("an operator without Stripe gives plans and credits by hand, but not over a subscription", async () => {
  const shop = await account();
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["bin/plan.ts", ...args], { env: process.env as Record<string, string> }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  const org = String(shop.caller.orgId);
  expect(await run(org, "business", "500")).toBe(`Organization ${org} has the plan business and 500 credits\n`);
  expect(await planOf(shop)).toBe("business");
  expect(await run(org, "gold")).toMatch(/^Usage: /);
  expect(await run("999999999", "growth")).toBe("There is no such organization\n");
  const { shop: paying } = await subscribed("starter");
  expect(await run(String(paying.caller.orgId), "growth")).toContain("has a subscription");
});

test("plan, mails and windows are told together, and the branding footer with what it saves", async () => {
  const shop = await account();
  const cookies = [`${sessionCookie}=${shop.token}`];
  await allowance.spend(shop.caller.orgId, 5, "x", ({ writes }) => write(...writes));
  const health = await ask<{ limits: object; trust: object }>(organization, "GET /org/health", { cookies });
  expect(health.body.data).toMatchObject({
    sent: 0,
    bounceRate: 0,
    trust: { level: "new", rule: expect.stringContaining("poor") },
    unmatchedEvents: 0,
    limits: {
      plan: "free",
      mails: { accepted: 5, included: 3000, remaining: 2995, beyond: 0 },
      general: { limit: 100 },
      windowSeconds: 60,
    },
  });
  const date = await organizations.today(shop.caller.orgId);
  const counts = { sent: 98, uncertain: 3, recovered: 2, delivered: 95, bouncedHard: 5 };
  const { id: siteId } = await sites.create(shop.caller, sites.NewSite.parse({ name: "Shop" }));
  await write(...days.counting(shop.caller.orgId, siteId, date, 1, [{ configId: 1, counts }]));
  const busy = await ask<object>(organization, "GET /org/health", { cookies });
  expect(busy.body.data).toMatchObject({ sent: 100, delivered: 95, bouncedHard: 5, bounceRate: 0.05, trust: { level: "watch" } });
  const change = (enabled: boolean) => ask<{ centsPerMail: number }>(organization, "PUT /org/branding", { body: { enabled }, cookies });
  expect((await change(true)).body.data).toMatchObject({ enabled: true, discountPercent: 15, centsPerMail: 0.085 });
  expect((await ask(organization, "GET /org/branding", { cookies })).body.data).toMatchObject({ enabled: true });
  expect((await change(false)).body.data).toMatchObject({ enabled: false, centsPerMail: 0.1 });
});
