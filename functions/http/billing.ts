import * as z from "zod";
import { config } from "../../shared/config.ts";
import * as checkouts from "../../shared/domain/billing/checkout.ts";
import * as planChanges from "../../shared/domain/billing/plan-changes.ts";
import * as stripeWebhook from "../../shared/domain/billing/stripe-webhook.ts";
import * as subscriptions from "../../shared/domain/billing/subscriptions.ts";
import * as reports from "../../shared/domain/billing/usage.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import * as rateLimit from "../../shared/http/rate-limit.ts";
import { ReceivedWebhook, route } from "../../shared/http/route.ts";
import { offeredPlanKeys, planKeys, plans } from "../../shared/plans.ts";

const paidPlans = offeredPlanKeys.filter(
  (key) => plans[key].priceCents > 0,
) as typeof offeredPlanKeys;
const notConfigured =
  "Billing is not configured (`not_configured`): `error` names the missing setting.";
const stripeErrors = { 502: "Stripe failed or did not answer.", 503: notConfigured };

export const billing = routeGroup("billing", [
  route("GET /plans", "List plans", {
    level: "site",
    returns: z.object({
      plans: z.array(reports.Plan).describe("Plans to choose from, cheapest first."),
      purchasable: z
        .boolean()
        .describe(
          "Whether plans and credits can be bought. `false`: the operator of the service has not " +
            "configured billing.",
        ),
    }),
    handle: async () => ({
      plans: offeredPlanKeys.map(reports.toApiPlan),
      purchasable: config.sells,
    }),
  }),
  route("GET /plans/current", "Get the current plan", {
    operationId: "getCurrentPlan",
    description: "Returns the plan, its period, the emails used and the subscription.",
    level: "site",
    returns: z.object({
      plan: reports.Plan,
      period: reports.UsagePeriod,
      mails: reports.MailUsage,
      subscription: subscriptions.Subscription.nullable().describe(
        "Subscription at Stripe. `null` for a free plan, or a plan given by the operator.",
      ),
    }),
    handle: async ({ caller: { orgId } }) => {
      const [{ plan, period, mails }, { subscription = null }] = await Promise.all([
        reports.getUsage(orgId),
        subscriptions.getSubscription(orgId),
      ]);
      return { plan: reports.toApiPlan(plan), period, mails, subscription };
    },
  }),
  route("POST /plans/change", "Preview or confirm a plan change", {
    auditedValues: ["plan"],
    operationId: "changePlan",
    description:
      "Without `confirm`, returns what the change would cost. With `confirm: true`, changes " +
      "the plan.",
    preview: ({ confirm }) => !confirm,
    body: z
      .object({
        plan: z
          .enum(offeredPlanKeys)
          .describe(
            "New plan. `free` ends the subscription with its period. The current plan takes " +
              "back a cancellation.",
          ),
        confirm: z
          .boolean()
          .default(false)
          .describe("`true` makes the change. `false` returns a preview."),
        prorationDate: z
          .int()
          .positive()
          .optional()
          .describe("`prorationDate` of the preview, so that exactly its amount is charged."),
      })
      .meta({
        examples: [
          { plan: "growth" },
          { plan: "growth", confirm: true, prorationDate: 1795165200 },
        ],
      }),
    returns: planChanges.PlanChange,
    errors: {
      402: "The card was declined (`payment_failed`). Nothing has changed.",
      409:
        "This is already the plan (`plan_unchanged`), there is no subscription yet " +
        "(`checkout_required`), or there is none to end (`no_subscription`).",
      ...stripeErrors,
    },
    handle: ({ caller, body }) => planChanges.changePlan(caller, body),
  }),
  route("POST /plans/cancel", "Cancel the subscription", {
    operationId: "cancelPlan",
    description: "The plan stays until the period ends.",
    returns: subscriptions.Subscription,
    errors: { 409: "There is no subscription (`no_subscription`).", ...stripeErrors },
    handle: ({ caller }) => planChanges.cancelSubscription(caller),
  }),
  route("GET /plans/usage", "Get usage of the plan", {
    operationId: "getPlanUsage",
    level: "site",
    returns: z.object({
      plan: z.enum(planKeys).describe("Key of the current plan."),
      period: reports.UsagePeriod,
      mails: reports.MailUsage,
      requests: rateLimit.RateLimitWindows.describe("Requests in the current minute."),
    }),
    handle: async ({ caller }) => {
      const [usage, requests] = await Promise.all([
        reports.getUsage(caller.orgId),
        rateLimit.getWindows(caller),
      ]);
      return { ...usage, requests };
    },
  }),

  route("GET /billing/usage", "Get charges and credits of the current month", {
    returns: z.object({
      period: reports.UsagePeriod,
      mails: reports.MailUsage,
      chargedCents: z
        .number()
        .describe("US cents taken from the credits for emails of the period."),
      balance: reports.CreditBalance,
    }),
    handle: ({ caller }) => reports.getUsage(caller.orgId),
  }),
  route("GET /billing/subscription", "Get the subscription and its invoices", {
    operationId: "getSubscription",
    returns: z.object({
      plan: reports.Plan,
      subscription: subscriptions.Subscription.nullable().describe(
        "Subscription at Stripe. `null` for a free plan, or a plan given by the operator.",
      ),
      invoices: z.array(reports.Invoice).describe("The 24 latest invoices, newest first."),
    }),
    errors: stripeErrors,
    handle: ({ caller }) => reports.getSubscriptionPage(caller.orgId),
  }),
  route("POST /billing/checkout", "Create a checkout for a first subscription", {
    auditedValues: ["plan"],
    operationId: "createPlanCheckout",
    description: "Returns a Stripe page where the plan is paid.",
    body: z
      .object({
        plan: z.enum(paidPlans).describe("Plan to pay for."),
        returnUrl: checkouts.ReturnUrl,
      })
      .meta({ examples: [{ plan: "starter" }] }),
    status: 201,
    returns: checkouts.CheckoutPage,
    errors: {
      409:
        "There is already a subscription (`subscription_exists`): change it with POST " +
        "/plans/change.",
      ...stripeErrors,
    },
    handle: ({ caller, body }) => checkouts.checkOutPlan(caller, body.plan, body.returnUrl),
  }),
  route("GET /billing/credits", "List credit packages", {
    operationId: "listCreditPackages",
    description: "Returns the packages to buy and the current balance.",
    returns: z.object({
      packages: z.array(checkouts.CreditPackage).describe("Packages to buy, smallest first."),
      balance: reports.CreditBalance,
    }),
    handle: async ({ caller }) => ({
      packages: checkouts.creditPackages,
      balance: (await reports.getUsage(caller.orgId)).balance,
    }),
  }),
  route("POST /billing/credits", "Create a checkout for credits", {
    operationId: "createCreditCheckout",
    description:
      "Returns a Stripe page where the package is paid. The credits are added when Stripe " +
      "confirms the payment.",
    body: z
      .object({
        packageId: z
          .int()
          .refine((id) => checkouts.findCreditPackage(id) !== undefined, {
            error: "must be the id of a package",
          })
          .describe("Package to buy: `id` of GET /billing/credits."),
        returnUrl: checkouts.ReturnUrl,
      })
      .meta({ examples: [{ packageId: checkouts.creditPackages[0]!.id }] }),
    status: 201,
    returns: checkouts.CheckoutPage,
    errors: stripeErrors,
    handle: ({ caller, body }) => checkouts.checkOutCredits(caller, body.packageId, body.returnUrl),
  }),
  route("POST /billing/portal", "Create a customer portal session", {
    operationId: "createPortalSession",
    description: "Returns a Stripe page for cards, billing addresses and invoices.",
    body: z.object({ returnUrl: checkouts.ReturnUrl }).meta({ examples: [{}] }),
    status: 201,
    returns: z.object({ url: z.string().describe("Stripe page to redirect the browser to.") }),
    errors: stripeErrors,
    handle: ({ caller, body }) => checkouts.openPortal(caller, body.returnUrl),
  }),
  route("POST /billing/webhooks", "Receive Stripe events", {
    operationId: "receiveStripeEvent",
    description:
      "Called by Stripe, not by customers. Needs these event types: " +
      `${stripeWebhook.stripeEventTypes.map((type) => `\`${type}\``).join(", ")}.`,
    auth: "public",
    maxSignedBytes: 1024 * 1024,
    rawBodyTypes: {
      "application/json": z
        .looseObject({})
        .describe("Event from Stripe, signed in the header `Stripe-Signature`."),
    },
    returns: ReceivedWebhook,
    errors: { 400: "The signature is not valid (`signature_invalid`).", ...stripeErrors },
    handle: async ({ request }) => {
      await stripeWebhook.handleEvent(request.rawBody, request.headers["stripe-signature"]);
      return { received: true as const };
    },
  }),
]);
export const { handler } = billing;
