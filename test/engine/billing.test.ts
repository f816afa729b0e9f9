// Plans, credits and Stripe: through the routes, against a fake Stripe that checks the requests.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { billing } from "../../functions/http/billing.ts";
import { organization } from "../../functions/http/organization.ts";
import { queryAll, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { chargeMails } from "../../shared/domain/billing/charge.ts";
import type { CheckoutPage } from "../../shared/domain/billing/checkout.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import type { PlanChange } from "../../shared/domain/billing/plan-changes.ts";
import * as notices from "../../shared/domain/billing/stripe-webhook.ts";
import * as subscriptions from "../../shared/domain/billing/subscriptions.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as days from "../../shared/domain/sending/daily-counters.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { ranges } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import {
  type FakeStripe,
  type StripeEvent,
  secretKey,
  startFakeStripe,
  webhookSecret,
} from "../support/stripe/fake-stripe.ts";

useDynamoDbEngine();

interceptClients();
let stripe: FakeStripe;
beforeAll(async () => {
  stripe = await startFakeStripe();
  Object.assign(process.env, {
    STRIPE_URL: stripe.url,
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
  });
});
afterAll(() => stripe.stop());
beforeEach(() => {
  stripe.faultFor = () => undefined;
  stripe.declineCard = false;
});

const post = <T>({ token }: TestAccount, path: `/${string}`, body: object = {}) =>
  invokeRoute<T>(billing, `POST ${path}`, { body, cookies: [`${sessionCookieName}=${token}`] });
const read = <T>({ token }: TestAccount, path: `/${string}`) =>
  invokeRoute<T>(billing, `GET ${path}`, { cookies: [`${sessionCookieName}=${token}`] });
const hear = (event: StripeEvent, options?: Parameters<FakeStripe["toWebhookCall"]>[1]) =>
  invokeRoute<{ received: true }>(
    billing,
    "POST /billing/webhooks",
    stripe.toWebhookCall(event, options),
  );
const planOf = async ({ caller }: TestAccount) => (await organizations.find(caller.orgId)).plan;

/** All permutations. */
const orders = <T>(all: T[]): T[][] =>
  all.length < 2
    ? [all]
    : all.flatMap((one, i) => orders(all.toSpliced(i, 1)).map((rest) => [one, ...rest]));

/** A customer who paid for a plan, before any event is delivered. */
async function payingFor(plan: string) {
  const shop = await createAccount();
  const { body } = await post<CheckoutPage>(shop, "/billing/checkout", { plan });
  const events = stripe.pay(body.data.sessionId);
  const subscription = stripe.subscriptions.get(
    stripe.sessions.get(body.data.sessionId)!.subscription!,
  )!;
  return { shop, events, subscription };
}
async function subscribed(plan: string) {
  const paying = await payingFor(plan);
  for (const event of paying.events) await hear(event);
  return paying;
}

describe("a first subscription", () => {
  test("is paid on a Stripe page whose session names the organization", async () => {
    const shop = await createAccount();
    const { status, body } = await post<CheckoutPage>(shop, "/billing/checkout", {
      plan: "starter",
    });
    expect([status, body.data]).toEqual([
      201,
      {
        sessionId: expect.stringMatching(/^cs_test_/),
        url: expect.stringContaining(stripe.url),
        expiresAt: expect.stringMatching(/Z$/),
      },
    ]);
    const { requests, customer } = stripe.sessions.get(body.data.sessionId)!;
    const orgId = String(shop.caller.orgId);
    expect(requests).toMatchObject({
      mode: "subscription",
      client_reference_id: orgId,
      subscription_data: { metadata: { orgId, plan: "starter" } },
      success_url: "http://127.0.0.1:3000/?checkout=done",
      cancel_url: "http://127.0.0.1:3000/?checkout=cancelled",
    });
    expect(stripe.customers.get(customer)).toMatchObject({
      email: shop.email,
      metadata: { orgId },
    });
    expect(
      [...stripe.prices.values()].find(({ lookup_key }) => lookup_key === "pennymail_starter_1500"),
    ).toMatchObject({
      unit_amount: 1500,
      currency: "usd",
    });
    expect(await planOf(shop)).toBe("free");
  });

  test("grants the plan for events in any order and number", async () => {
    const { events } = await payingFor("growth");
    expect(events.map(({ type }) => type)).toEqual([
      "customer.subscription.created",
      "invoice.paid",
      "checkout.session.completed",
    ]);
    for (const i of orders([0, 1, 2]).keys()) {
      const { shop, events } = await payingFor("growth");
      for (const event of orders(events)[i]!)
        for (const _ of "12") expect((await hear(event)).status).toBe(200);
      expect(await planOf(shop)).toBe("growth");
      const { body } = await read<{ subscription: subscriptions.Subscription; invoices: object[] }>(
        shop,
        "/billing/subscription",
      );
      expect(body.data.subscription).toMatchObject({
        status: "active",
        plan: "growth",
        cancelAtPeriodEnd: false,
      });
      expect(body.data.invoices).toEqual([
        expect.objectContaining({
          status: "paid",
          amountPaidCents: 4900,
          number: expect.any(String),
        }),
      ]);
    }
  });

  test("counts mails in its own month, and its plan applies to the next request", async () => {
    const { shop, subscription } = await subscribed("starter");
    const { body, headers } = await read<{
      period: { start: string };
      mails: { included: number };
    }>(shop, "/plans/usage");
    expect(body.data.period.start).toBe(
      new Date(subscription.billing_cycle_anchor * 1000).toISOString(),
    );
    expect(body.data.mails.included).toBe(25_000);
    expect(headers["x-ratelimit-limit"]).toBe("500");
  });

  test("cannot be started twice", async () => {
    const { shop } = await subscribed("starter");
    const { status, body } = await post(shop, "/billing/checkout", { plan: "growth" });
    expect([status, body.code]).toEqual([409, "subscription_exists"]);
  });

  test("creates one customer for two concurrent requests", async () => {
    const shop = await createAccount();
    const pages = await Promise.all(
      [1, 2, 3].map(() => post<CheckoutPage>(shop, "/billing/checkout", { plan: "starter" })),
    );
    const customers = pages.map(({ body }) => stripe.sessions.get(body.data.sessionId)!.customer);
    expect(new Set(customers).size).toBe(1);
  });

  test("of another installation in the same Stripe account is ignored", async () => {
    const { events } = await payingFor("business");
    const other = await createAccount();
    const { subscription: ownSubscription } = await subscribed("starter");
    const foreignEvent = structuredClone(events[0]!) as StripeEvent & {
      data: { object: { metadata: { orgId: string } } };
    };
    foreignEvent.data.object.metadata.orgId = String(other.caller.orgId);
    expect((await hear(foreignEvent)).status).toBe(200);
    expect(await planOf(other)).toBe("free");
    expect(ownSubscription.status).toBe("active");
  });
});

describe("a plan change", () => {
  test("charges exactly the amount of the preview", async () => {
    const { shop, subscription } = await subscribed("starter");
    clock.advanceClock(6 * 24 * 3600);
    const preview = await post<PlanChange>(shop, "/plans/change", { plan: "business" });
    expect(preview.body.data).toMatchObject({
      from: "starter",
      to: "business",
      confirmed: false,
      checkoutRequired: false,
    });
    expect(await planOf(shop)).toBe("starter");
    clock.advanceClock(300);
    const { amountDueCents, prorationDate, lines } = preview.body.data;
    const done = await post<PlanChange>(shop, "/plans/change", {
      plan: "business",
      confirm: true,
      prorationDate,
    });
    expect([done.status, done.body.data]).toEqual([
      200,
      expect.objectContaining({ confirmed: true, amountDueCents, lines }),
    ]);
    expect(amountDueCents).toBe(lines.reduce((sum, { amountCents }) => sum + amountCents, 0));
    expect(stripe.invoices[0]).toMatchObject({
      customer: subscription.customer,
      amount_paid: amountDueCents,
    });
    // Without waiting for a webhook.
    expect(await planOf(shop)).toBe("business");
  });

  test("with a declined card changes nothing", async () => {
    const { shop } = await subscribed("starter");
    stripe.declineCard = true;
    const { status, body } = await post(shop, "/plans/change", { plan: "growth", confirm: true });
    expect([status, body.code, body.error]).toEqual([
      402,
      "payment_failed",
      "The payment failed: Your card was declined.",
    ]);
    expect(await planOf(shop)).toBe("starter");
  });

  test("to a smaller plan gives a credit and charges nothing", async () => {
    const { shop } = await subscribed("business");
    const { body } = await post<PlanChange>(shop, "/plans/change", {
      plan: "starter",
      confirm: true,
    });
    expect(body.data.amountDueCents).toBe(0);
    expect(body.data.lines.reduce((sum, { amountCents }) => sum + amountCents, 0)).toBeLessThan(0);
    expect(await planOf(shop)).toBe("starter");
  });

  test("up, down and up with one prorationDate ends with Stripe's plan", async () => {
    const { shop, subscription } = await subscribed("starter");
    const prorationDate = clock.epochSeconds();
    for (const plan of ["enterprise", "starter", "enterprise", "starter"]) {
      const { status, body } = await post<PlanChange>(shop, "/plans/change", {
        plan,
        confirm: true,
        prorationDate,
      });
      expect([status, body.data]).toEqual([
        200,
        expect.objectContaining({ to: plan, confirmed: true }),
      ]);
      expect(subscription.items.data[0]!.price.lookup_key).toContain(plan);
      expect(await planOf(shop)).toBe(plan);
    }
  });

  test("that Stripe answers with a replayed response changes no plan", async () => {
    const { shop, subscription } = await subscribed("starter");
    const price = subscription.items.data[0]!.price;
    stripe.afterUpdate = (one) => {
      one.items.data[0]!.price = price;
    };
    const { status, body } = await post(shop, "/plans/change", {
      plan: "enterprise",
      confirm: true,
    });
    stripe.afterUpdate = () => undefined;
    expect([status, body.code]).toEqual([409, "changed_meanwhile"]);
    expect(await planOf(shop)).toBe("starter");
  });

  test("rejects a prorationDate outside the last 15 minutes", async () => {
    const { shop, subscription } = await subscribed("starter");
    clock.advanceClock(3600);
    for (const prorationDate of [subscription.created, clock.epochSeconds() + 3600]) {
      const { status, body } = await post(shop, "/plans/change", {
        plan: "growth",
        confirm: true,
        prorationDate,
      });
      expect([status, body.details?.[0]?.path]).toEqual([400, "prorationDate"]);
    }
  });

  test("to no plan takes effect at the end of the period and can be undone until then", async () => {
    const { shop, subscription } = await subscribed("growth");
    const cancelled = await post<subscriptions.Subscription>(shop, "/plans/cancel");
    expect(cancelled.body.data).toMatchObject({
      status: "active",
      plan: "growth",
      cancelAtPeriodEnd: true,
    });
    expect(await planOf(shop)).toBe("growth");
    const back = await post<PlanChange>(shop, "/plans/change", { plan: "growth", confirm: true });
    expect(back.body.data).toMatchObject({ confirmed: true, amountDueCents: 0 });
    expect(subscription.cancel_at_period_end).toBe(false);
    const freed = await post<PlanChange>(shop, "/plans/change", { plan: "free", confirm: true });
    expect(freed.body.data).toMatchObject({
      from: "growth",
      to: "free",
      effectiveAt: cancelled.body.data.currentPeriodEnd,
    });
    expect(subscription.cancel_at_period_end).toBe(true);
    await hear(
      stripe.changeSubscription(
        subscription,
        { status: "canceled" },
        "customer.subscription.deleted",
      ),
    );
    expect(await planOf(shop)).toBe("free");
    expect((await post(shop, "/plans/cancel")).body.code).toBe("no_subscription");
  });

  test("without a subscription shows the price and requires a checkout", async () => {
    const shop = await createAccount();
    const { body } = await post<PlanChange>(shop, "/plans/change", { plan: "growth" });
    expect(body.data).toMatchObject({
      amountDueCents: plans.growth.priceCents,
      checkoutRequired: true,
      confirmed: false,
    });
    expect((await post(shop, "/plans/change", { plan: "growth", confirm: true })).body.code).toBe(
      "checkout_required",
    );
    expect((await post(shop, "/plans/change", { plan: "free" })).body.code).toBe("no_subscription");
  });

  test("to the current plan is a 409", async () => {
    const { shop } = await subscribed("starter");
    expect((await post(shop, "/plans/change", { plan: "starter" })).body.code).toBe(
      "plan_unchanged",
    );
  });

  test("after an unpaid invoice happens once Stripe gives up, and older events do not undo it", async () => {
    const { shop, subscription } = await subscribed("growth");
    await hear(stripe.changeSubscription(subscription, { status: "past_due" }));
    expect(await planOf(shop)).toBe("growth");
    const late = stripe.emitEvent("customer.subscription.updated", subscription);
    await hear(stripe.changeSubscription(subscription, { status: "unpaid" }));
    expect(await planOf(shop)).toBe("free");
    await hear(late);
    expect(await planOf(shop)).toBe("free");
  });

  test("is not undone by an older read or an older subscription", async () => {
    const { shop, subscription } = await subscribed("growth");
    const { orgId } = shop.caller;
    const as = (changes: object) => ({ ...subscription, ...changes }) as never;
    await subscriptions.applyFromStripe(
      orgId,
      as({ status: "unpaid" }),
      clock.addSeconds(-3600).toISOString(),
    );
    expect(await planOf(shop)).toBe("growth");
    await subscriptions.applyFromStripe(
      orgId,
      as({ id: "sub_older", created: subscription.created - 1 }),
      clock.addSeconds(1).toISOString(),
    );
    expect((await subscriptions.getLiveSubscription(orgId))?.subscriptionId).toBe(subscription.id);
  });

  test("keeps the newer of two reads that are stored concurrently", async () => {
    const { shop, subscription } = await subscribed("growth");
    const { orgId } = shop.caller;
    const apply = (cancelled: boolean, seconds: number) =>
      subscriptions.applyFromStripe(
        orgId,
        { ...subscription, cancel_at_period_end: cancelled } as never,
        clock.addSeconds(seconds).toISOString(),
      );
    const slow = pauseCall("TransactWriteItems");
    const late = apply(false, 1);
    await slow.reached;
    await apply(true, 2);
    slow.release();
    await late;
    removePauses();
    expect(await subscriptions.getLiveSubscription(orgId)).toMatchObject({
      cancelAtPeriodEnd: true,
    });
  });

  test("matches Stripe's plan after crashes during the request or the webhook", async () => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const { shop } = await subscribed("starter");
      const body = { plan: "growth", confirm: true, prorationDate: clock.epochSeconds() };
      await crash(() => post(shop, "/plans/change", body));
      await post(shop, "/plans/change", body);
      expect(await planOf(shop)).toBe("growth");
      expect(
        stripe.invoices.filter((one) => one.customer === stripe.invoices[0]!.customer),
      ).toHaveLength(2);
    });
    expect(steps.length).toBeGreaterThan(5);
    await crashAtSomeSteps(async (crash) => {
      const { shop, events } = await payingFor("growth");
      await crash(() => hear(events[0]!));
      await hear(events[0]!);
      expect(await planOf(shop)).toBe("growth");
    });
  });
});

describe("credits", () => {
  const buy = async (shop: TestAccount, packageId = 1) =>
    (await post<CheckoutPage>(shop, "/billing/credits", { packageId })).body.data.sessionId;
  const amount = 10_000 * credits.millicentsPerCredit;

  async function balances({ caller }: TestAccount) {
    const entries = await queryAll<{ amount: number }>(ranges.ledger(caller.orgId), {
      consistent: true,
    });
    const balance = await credits.getBalance(caller.orgId);
    expect(entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(balance);
    return balance;
  }

  test("are added once after the payment, for repeated and concurrent events", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    expect(stripe.sessions.get(session)!.amount_total).toBe(1000);
    const [event] = stripe.pay(session) as [StripeEvent];
    const again = { ...event, id: "evt_again" };
    await Promise.all([event, event, again, again].map((one) => hear(one)));
    expect(await balances(shop)).toBe(amount);
    expect((await read<{ balance: object }>(shop, "/billing/usage")).body.data.balance).toEqual({
      credits: 10_000,
      cents: 1000,
    });
  });

  test("are added when a delayed payment succeeds, for events in any order", async () => {
    for (const first of ["completed", "succeeded"]) {
      const shop = await createAccount();
      const session = await buy(shop);
      const [completed] = stripe.pay(session, { unpaid: true }) as [StripeEvent];
      if (first === "completed") await hear(completed);
      expect(await balances(shop)).toBe(0);
      await hear(stripe.completeDelayedPayment(session));
      if (first === "succeeded") await hear(completed);
      expect(await balances(shop)).toBe(amount);
    }
  });

  test("are taken back completely by partial refunds in any order", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const [first, second] = [stripe.refund(session, 333), stripe.refund(session, 667)];
    await hear(second);
    await hear(first);
    expect(await balances(shop)).toBe(0);
  });

  test("stay after a failed refund, and are not returned after a lost dispute", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const refund = stripe.refund(session, 500);
    stripe.refunds.at(-1)!.status = "failed";
    await hear(refund);
    expect(await balances(shop)).toBe(amount);
    const { created, becomes } = stripe.dispute(session);
    await hear(created);
    await hear(becomes("lost", "closed"));
    expect(await balances(shop)).toBe(0);
  });

  test("bought in another installation in the same Stripe account are ignored", async () => {
    const [shop, other] = [await createAccount(), await createAccount()];
    const [event] = stripe.pay(await buy(shop)) as [StripeEvent];
    const metadata = {
      ...(event.data.object as { metadata: object }).metadata,
      orgId: String(other.caller.orgId),
    };
    await hear({ ...event, data: { object: { ...event.data.object, metadata } } });
    expect(await balances(other)).toBe(0);
  });

  test("are taken back during a dispute until it is won", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const { created, becomes } = stripe.dispute(session);
    await hear(created);
    expect(await balances(shop)).toBe(0);
    const settled = becomes("won", "closed");
    await hear(settled);
    await hear({ ...settled, id: "evt_more" });
    expect(await balances(shop)).toBe(amount);
  });

  test("stay after a won dispute, also if the first event arrives last", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const { created, becomes } = stripe.dispute(session);
    await hear(becomes("won", "closed"));
    await hear(created);
    expect(await balances(shop)).toBe(amount);
  });

  test.each(["warning_needs_response", "warning_under_review", "prevented"])(
    "stay while a dispute has the status %s",
    async (status) => {
      const shop = await createAccount();
      const session = await buy(shop);
      await hear(stripe.pay(session)[0]!);
      const { created, becomes } = stripe.dispute(session, status);
      await hear(created);
      expect(await balances(shop)).toBe(amount);
      await hear(becomes(status === "prevented" ? status : "warning_closed", "closed"));
      expect(await balances(shop)).toBe(amount);
    },
  );

  test("are taken back once an inquiry becomes a dispute", async () => {
    const shop = await createAccount();
    const session = await buy(shop);
    await hear(stripe.pay(session)[0]!);
    const { created, becomes } = stripe.dispute(session, "warning_needs_response");
    await hear(created);
    await hear(becomes("needs_response", "funds_withdrawn"));
    expect(await balances(shop)).toBe(0);
  });

  test("are added once after crashes during the webhook", async () => {
    await crashAtSomeSteps(async (crash) => {
      const shop = await createAccount();
      const [event] = stripe.pay(await buy(shop)) as [StripeEvent];
      await crash(() => hear(event));
      await hear(event);
      expect(await balances(shop)).toBe(amount);
    });
  });

  test("of partial refunds never exceed the purchase", () => {
    for (let part = 0; part <= 999; part++) {
      const [one, other] = [
        notices.proportionalAmount(amount, part, 999),
        notices.proportionalAmount(amount, 999 - part, 999),
      ];
      expect(one + other).toBeLessThanOrEqual(amount);
      expect(Number.isSafeInteger(one) && one >= 0).toBe(true);
    }
    expect(notices.proportionalAmount(amount, 999, 999)).toBe(amount);
  });
});

describe("a Stripe event", () => {
  test("needs a valid signature", async () => {
    const { shop, events } = await payingFor("growth");
    const [event] = events as [StripeEvent];
    const signed = stripe.toWebhookCall(event);
    const tampered = Buffer.from(signed.raw.toString().replace("growth", "enterprise"));
    const requests = [
      stripe.toWebhookCall(event, { secret: "whsec_other" }),
      stripe.toWebhookCall(event, { at: clock.epochSeconds() - 400 }),
      { raw: tampered, headers: signed.headers },
      { raw: signed.raw, headers: { "content-type": "application/json" } },
    ];
    for (const one of requests) {
      const { status, body } = await invokeRoute(billing, "POST /billing/webhooks", one);
      expect([status, body.code]).toEqual([400, "signature_invalid"]);
    }
    expect(await planOf(shop)).toBe("free");
  });

  test("of an unknown type is accepted and ignored", async () => {
    expect(
      (await hear(stripe.emitEvent("product.created", { id: "prod_1", object: "product" }))).status,
    ).toBe(200);
  });

  test("is sent again if Stripe was unavailable", async () => {
    const { shop, events } = await payingFor("growth");
    stripe.faultFor = () => ({ status: 500 });
    expect((await hear(events[0]!)).status).toBe(502);
    stripe.faultFor = () => undefined;
    expect((await hear(events[0]!)).status).toBe(200);
    expect(await planOf(shop)).toBe("growth");
  });

  test("about a subscription that ended does not change a plan granted by the operator", async () => {
    const { shop, subscription } = await subscribed("growth");
    const ended = stripe.changeSubscription(subscription, { status: "canceled" });
    await hear(ended);
    await subscriptions.setUnpaidPlan(shop.caller.orgId, "business");
    await hear({ ...ended, id: "evt_late" });
    await hear(stripe.emitEvent("customer.deleted", stripe.customers.get(subscription.customer)!));
    expect(await planOf(shop)).toBe("business");
  });

  test("about a deleted customer ends its subscription", async () => {
    const { shop, subscription } = await subscribed("growth");
    await hear(stripe.emitEvent("customer.deleted", stripe.customers.get(subscription.customer)!));
    expect(await planOf(shop)).toBe("free");
    stripe.customers.delete(subscription.customer);
    expect((await post<CheckoutPage>(shop, "/billing/checkout", { plan: "starter" })).status).toBe(
      201,
    );
  });
});

describe("Stripe failures", () => {
  test("are a 502, and a cut connection is retried with the same idempotency key", async () => {
    const shop = await createAccount();
    stripe.faultFor = () => ({ status: 503 });
    expect((await post(shop, "/billing/portal")).status).toBe(502);
    let cuts = 0;
    stripe.faultFor = ({ path }) =>
      path === "/v1/checkout/sessions" && cuts++ === 0 ? { after: true } : undefined;
    const sessions = stripe.sessions.size;
    expect((await post(shop, "/billing/credits", { packageId: 1 })).status).toBe(201);
    expect(stripe.sessions.size).toBe(sessions + 1);
    const keys = stripe.asked
      .filter(({ path }) => path === "/v1/checkout/sessions")
      .slice(-2)
      .map(({ key }) => key);
    expect(new Set(keys).size).toBe(1);
  });

  test("by a missing setting name it, and endpoints without Stripe work", async () => {
    const shop = await createAccount();
    const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } = process.env;
    try {
      process.env.STRIPE_SECRET_KEY = "";
      for (const [path, body] of [
        ["/billing/checkout", { plan: "starter" }],
        ["/billing/credits", { packageId: 1 }],
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
      const { status, body } = await hear(stripe.emitEvent("product.created", {}));
      expect([status, body.error]).toEqual([503, expect.stringContaining("STRIPE_WEBHOOK_SECRET")]);
    } finally {
      Object.assign(process.env, { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET });
    }
  });

  test("by a rejected key are a 503 and do not show the key", async () => {
    const shop = await createAccount();
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

test("an operator grants plans and credits without Stripe, but not over a subscription", async () => {
  const shop = await createAccount();
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["bin/plan.ts", ...args], {
      env: process.env as Record<string, string>,
    }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  const org = String(shop.caller.orgId);
  expect(await run(org, "business", "500")).toBe(
    `Organization ${org} has the plan business and 500 credits\n`,
  );
  expect(await planOf(shop)).toBe("business");
  expect(await run(org, "gold")).toContain(
    "The organization id, plan or number of credits is not valid",
  );
  expect(await run("999999999", "growth")).toBe("The organization does not exist\n");
  const { shop: paying } = await subscribed("starter");
  expect(await run(String(paying.caller.orgId), "growth")).toContain("comes from its subscription");
});

test("the usage shows plan, mails and limits; the branding footer shows its discount", async () => {
  const shop = await createAccount();
  const cookies = [`${sessionCookieName}=${shop.token}`];
  const order = { orgId: shop.caller.orgId, n: 5, reference: "x" };
  await chargeMails(order, ({ writes }) => write(...writes));
  const health = await invokeRoute<{ limits: object; trust: object }>(
    organization,
    "GET /org/health",
    { cookies },
  );
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
  const date = await organizations.getToday(shop.caller.orgId);
  const counts = { sent: 98, uncertain: 3, recovered: 2, delivered: 95, bouncedHard: 5 };
  const { id: siteId } = await sites.create(shop.caller, sites.NewSite.parse({ name: "Shop" }));
  await write(
    ...days.dayCounterWrites(shop.caller.orgId, { siteId, date, shardSeed: 1 }, [
      { configId: 1, counts },
    ]),
  );
  const busy = await invokeRoute<object>(organization, "GET /org/health", { cookies });
  expect(busy.body.data).toMatchObject({
    sent: 100,
    delivered: 95,
    bouncedHard: 5,
    bounceRate: 0.05,
    trust: { level: "watch" },
  });
  const change = (enabled: boolean) =>
    invokeRoute<{ centsPerMail: number }>(organization, "PUT /org/branding", {
      body: { enabled },
      cookies,
    });
  expect((await change(true)).body.data).toMatchObject({
    enabled: true,
    discountPercent: 15,
    centsPerMail: 0.085,
  });
  expect(
    (await invokeRoute(organization, "GET /org/branding", { cookies })).body.data,
  ).toMatchObject({ enabled: true });
  expect((await change(false)).body.data).toMatchObject({ enabled: false, centsPerMail: 0.1 });
});
