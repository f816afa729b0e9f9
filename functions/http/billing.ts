import * as z from "zod";
import * as changes from "../../shared/domain/billing/changes.ts";
import * as checkouts from "../../shared/domain/billing/checkouts.ts";
import * as notices from "../../shared/domain/billing/notices.ts";
import { CreditPackage, packageIds, packages } from "../../shared/domain/billing/packages.ts";
import * as reports from "../../shared/domain/billing/reports.ts";
import * as subscriptions from "../../shared/domain/billing/subscriptions.ts";
import * as limits from "../../shared/http/rate-limit.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { planKeys, plans } from "../../shared/plans.ts";

const paidPlans = planKeys.filter((key) => plans[key].priceCents > 0) as [(typeof planKeys)[number], ...(typeof planKeys)[number][]];
const notConfigured = "Stripe is not set up here: the answer names the setting";
const stripeErrors = { 502: "Stripe is down", 503: notConfigured };

export const billing = group("billing", [
  route("GET /plans", "The plans there are, with limits and prices", {
    level: "site",
    returns: z.object({ plans: z.array(reports.Plan) }),
    handle: async () => ({ plans: planKeys.map(reports.planOf) }),
  }),
  route("GET /plans/current", "The organization's plan, its period and what is used of it", {
    level: "site",
    returns: z.object({
      plan: reports.Plan,
      period: reports.Period,
      mails: reports.Mails,
      subscription: subscriptions.Subscription.nullable().describe("null where the plan costs nothing, or was given by the operator"),
    }),
    handle: async ({ caller: { orgId } }) => {
      const [{ plan, period, mails }, { subscription = null }] = await Promise.all([reports.usage(orgId), subscriptions.find(orgId)]);
      return { plan: reports.planOf(plan), period, mails, subscription };
    },
  }),
  route("POST /plans/change", "See what another plan would cost, or with `confirm` change to it", {
    auth: "session",
    body: z
      .object({
        plan: z.enum(planKeys).describe("free: the subscription ends with its period. The plan one has: takes back a cancellation"),
        confirm: z.boolean().default(false),
        prorationDate: z.int().positive().optional().describe("From the preview, so that exactly what it showed is charged"),
      })
      .meta({ examples: [{ plan: "growth" }, { plan: "growth", confirm: true, prorationDate: 1795165200 }] }),
    returns: changes.PlanChange,
    errors: {
      402: "The card was refused (`payment_failed`); nothing has changed",
      409: "It is the plan already, or there is no subscription yet (`checkout_required`) or none to end (`no_subscription`)",
      ...stripeErrors,
    },
    handle: ({ caller, body }) => changes.change(caller, body),
  }),
  route("POST /plans/cancel", "End the subscription with its period; until then everything stays", {
    auth: "session",
    returns: subscriptions.Subscription,
    errors: { 409: "There is no subscription", ...stripeErrors },
    handle: ({ caller }) => changes.cancel(caller),
  }),
  route("GET /plans/usage", "What is used of the plan's limits", {
    level: "site",
    returns: z.object({
      plan: z.enum(planKeys),
      period: reports.Period,
      mails: reports.Mails,
      requests: limits.Windows.describe("In this minute"),
    }),
    handle: async ({ caller }) => {
      const [usage, requests] = await Promise.all([reports.usage(caller.orgId), limits.windowsOf(caller)]);
      return { ...usage, requests };
    },
  }),

  route("GET /billing/usage", "What was used and charged this month, and the credits that are left", {
    returns: z.object({
      period: reports.Period,
      mails: reports.Mails,
      chargedCents: z.number().describe("US cents that mails of the period took from the credits"),
      balance: reports.Balance,
    }),
    handle: ({ caller }) => reports.usage(caller.orgId),
  }),
  route("GET /billing/subscription", "Plan, subscription and the latest invoices", {
    returns: z.object({
      plan: reports.Plan,
      subscription: subscriptions.Subscription.nullable(),
      invoices: z.array(reports.Invoice).describe("The latest 24, newest first"),
    }),
    errors: stripeErrors,
    handle: ({ caller }) => reports.subscription(caller.orgId),
  }),
  route("POST /billing/checkout", "A page of Stripe's where a first subscription is paid", {
    auth: "session",
    body: z.object({ plan: z.enum(paidPlans), returnUrl: checkouts.ReturnUrl }).meta({ examples: [{ plan: "starter" }] }),
    status: 201,
    returns: checkouts.CheckoutPage,
    errors: { 409: "There is a subscription already (`subscription_exists`)", ...stripeErrors },
    handle: ({ caller, body }) => checkouts.ofPlan(caller, body.plan, body.returnUrl),
  }),
  route("GET /billing/credits", "Packages of credits to buy, and what is left", {
    returns: z.object({ packages: z.array(CreditPackage), balance: reports.Balance }),
    handle: async ({ caller }) => ({ packages, balance: (await reports.usage(caller.orgId)).balance }),
  }),
  route("POST /billing/credits", "A page of Stripe's where credits are paid; they are there as soon as Stripe says so", {
    auth: "session",
    body: z.object({ packageId: z.enum(packageIds), returnUrl: checkouts.ReturnUrl }).meta({ examples: [{ packageId: packageIds[0] }] }),
    status: 201,
    returns: checkouts.CheckoutPage,
    errors: stripeErrors,
    handle: ({ caller, body }) => checkouts.ofCredits(caller, body.packageId, body.returnUrl),
  }),
  route("POST /billing/portal", "A page of Stripe's for cards, addresses and invoices", {
    auth: "session",
    body: z.object({ returnUrl: checkouts.ReturnUrl }).meta({ examples: [{}] }),
    status: 201,
    returns: z.object({ url: z.string() }),
    errors: stripeErrors,
    handle: ({ caller, body }) => checkouts.portal(caller, body.returnUrl),
  }),
  route("POST /billing/webhooks", `For Stripe, not for customers. Have it tell: ${notices.eventTypes.join(", ")}`, {
    auth: "public",
    raw: { "application/json": z.looseObject({}).describe("An event of Stripe's, signed in the header Stripe-Signature") },
    returns: z.object({ received: z.literal(true) }),
    errors: { 400: "The signature is not right", ...stripeErrors },
    handle: async ({ request }) => {
      await notices.take(request.rawBody, request.headers["stripe-signature"]);
      return { received: true as const };
    },
  }),
]);
export const { handler } = billing;
