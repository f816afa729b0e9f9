// Plan changes. Stripe computes the amount due. The preview and the change use the same proration
// date, so the amounts are equal.
import * as z from "zod";
import { callStripe, requireConfigured, type Stripe } from "../../adapters/stripe/stripe.ts";
import type { Caller } from "../../caller.ts";
import { epochSeconds, now } from "../../clock.ts";
import { conflict, invalid } from "../../errors.ts";
import { Count, Timestamp } from "../../kernel/record-fields.ts";
import { type PlanKey, planKeys, plans } from "../../plans.ts";
import * as organizations from "../identity/organizations.ts";
import * as stripePrices from "./stripe-prices.ts";
import * as subscriptions from "./subscriptions.ts";

export const PlanChange = z
  .object({
    from: z.enum(planKeys).describe("Plan before the change."),
    to: z.enum(planKeys).describe("Plan after the change."),
    confirmed: z.boolean().describe("false: this is a preview, and nothing has changed."),
    effectiveAt: Timestamp.describe("When the plan changes: now, or at the end of the period."),
    amountDueCents: z
      .int()
      .describe(
        "US cents to pay at once, after the credit for the rest of the old plan. 0 if the " +
          "credit is larger; it then reduces the next invoices.",
      ),
    lines: z
      .array(
        z.object({
          description: z.string().describe("Text of the line, as Stripe writes it on the invoice."),
          amountCents: z.int().describe("US cents. Negative: a credit."),
        }),
      )
      .describe("Lines of the invoice for the change. Empty if nothing is invoiced."),
    prorationDate: Count.nullable().describe(
      "Unix seconds. Send it back with `confirm: true` within 15 minutes to pay exactly " +
        "the amount shown.",
    ),
    checkoutRequired: z
      .boolean()
      .describe("Whether there is no subscription yet: pay with POST /billing/checkout."),
  })
  .meta({ id: "PlanChange" });
export type PlanChange = z.output<typeof PlanChange>;

export interface PlanChangeRequest {
  plan: PlanKey;
  confirm: boolean;
  prorationDate?: number | undefined;
}

/**
 * Previews a change, or makes it with `confirm`. Throws 402 `payment_failed` if the card is
 * declined; the plan then stays.
 */
export async function changePlan(
  { orgId }: Caller,
  request: PlanChangeRequest,
): Promise<PlanChange> {
  const [{ plan: from }, live] = await Promise.all([
    organizations.find(orgId),
    subscriptions.getLiveSubscription(orgId),
    requireConfigured(),
  ]);
  if (!live) return quoteFirstPlan(from, request);
  if (request.plan === live.plan) return resumeSubscription(orgId, live, request);
  if (plans[request.plan].priceCents === 0) return endWithPeriod(orgId, live, request);
  return changeWithProration(orgId, live, request);
}

/** Cancels at the end of the period. Until then the subscription can be resumed. */
export async function cancelSubscription({ orgId }: Caller): Promise<subscriptions.Subscription> {
  const live = await subscriptions.getLiveSubscription(orgId);
  if (!live) throw noSubscription();
  await updateSubscription(orgId, live, { cancel_at_period_end: true });
  return (await subscriptions.getSubscription(orgId)).subscription!;
}

const noSubscription = () =>
  conflict("There is no subscription to cancel", { code: "no_subscription" });
const nothingDue = { amountDueCents: 0, lines: [], prorationDate: null, checkoutRequired: false };

function quoteFirstPlan(from: PlanKey, { plan: to, confirm }: PlanChangeRequest): PlanChange {
  const { name, priceCents } = plans[to];
  if (priceCents === 0) throw noSubscription();
  if (confirm)
    throw conflict("There is no subscription yet: start one with POST /billing/checkout", {
      code: "checkout_required",
    });
  const lines = [{ description: `${name}, a month`, amountCents: priceCents }];
  return {
    ...nothingDue,
    from,
    to,
    confirmed: false,
    effectiveAt: now().toISOString(),
    amountDueCents: priceCents,
    lines,
    checkoutRequired: true,
  };
}

async function resumeSubscription(
  orgId: number,
  subscription: subscriptions.LiveSubscription,
  { plan, confirm }: PlanChangeRequest,
): Promise<PlanChange> {
  if (!subscription.cancelAtPeriodEnd)
    throw conflict(`The plan is already ${plan}`, { code: "plan_unchanged" });
  if (confirm) await updateSubscription(orgId, subscription, { cancel_at_period_end: false });
  return {
    ...nothingDue,
    from: plan,
    to: plan,
    confirmed: confirm,
    effectiveAt: now().toISOString(),
  };
}

async function endWithPeriod(
  orgId: number,
  subscription: subscriptions.LiveSubscription,
  { plan, confirm }: PlanChangeRequest,
): Promise<PlanChange> {
  if (confirm) await updateSubscription(orgId, subscription, { cancel_at_period_end: true });
  return {
    ...nothingDue,
    from: subscription.plan,
    to: plan,
    confirmed: confirm,
    effectiveAt: subscription.currentPeriodEnd,
  };
}

async function changeWithProration(
  orgId: number,
  subscription: subscriptions.LiveSubscription,
  request: PlanChangeRequest,
): Promise<PlanChange> {
  const proration_date = checkedProrationDate(subscription, request);
  const items = [
    { id: subscription.itemId, price: await stripePrices.findOrCreatePrice(request.plan) },
  ];
  const details = { items, proration_behavior: "always_invoice" as const, proration_date };
  const preview = await callStripe((stripe) =>
    stripe.invoices.createPreview({
      customer: subscription.customerId,
      subscription: subscription.subscriptionId,
      subscription_details: details,
    }),
  );
  if (request.confirm) {
    const keepSubscription = subscription.cancelAtPeriodEnd ? { cancel_at_period_end: false } : {};
    await updateSubscription(orgId, subscription, {
      ...details,
      ...keepSubscription,
      payment_behavior: "error_if_incomplete",
    });
    const current = await subscriptions.getLiveSubscription(orgId);
    if (current?.plan !== request.plan)
      throw conflict("The subscription was changed at the same time: ask for a new preview", {
        code: "changed_meanwhile",
      });
  }
  return {
    from: subscription.plan,
    to: request.plan,
    confirmed: request.confirm,
    effectiveAt: now().toISOString(),
    amountDueCents: Math.max(0, preview.amount_due),
    lines: preview.lines.data.map(({ description, amount }) => ({
      description: description ?? "",
      amountCents: amount,
    })),
    prorationDate: proration_date,
    checkoutRequired: false,
  };
}

const previewTtlSeconds = 15 * 60;

/**
 * Accepts only the last 15 minutes of the current period; otherwise a caller could pick the date
 * with the lowest price.
 */
function checkedProrationDate(
  subscription: subscriptions.LiveSubscription,
  { prorationDate }: PlanChangeRequest,
): number {
  const time = epochSeconds();
  const earliest = Math.max(
    time - previewTtlSeconds,
    Date.parse(subscription.currentPeriodStart) / 1000,
  );
  if (prorationDate === undefined) return time;
  if (prorationDate >= earliest && prorationDate <= time) return prorationDate;
  throw invalid("prorationDate is no longer valid: request a new preview", {
    details: [
      {
        path: "prorationDate",
        message: "must be within the last 15 minutes and the current billing period",
      },
    ],
  });
}

/**
 * Updates the subscription, then retrieves it and stores the result. The SDK gives each call and
 * its retries one idempotency key. A key made of plans and times would repeat after changes there
 * and back, and Stripe would replay an old response without a change.
 */
async function updateSubscription(
  orgId: number,
  subscription: subscriptions.LiveSubscription,
  changes: Stripe.SubscriptionUpdateParams,
): Promise<void> {
  await callStripe((stripe) => stripe.subscriptions.update(subscription.subscriptionId, changes));
  await subscriptions.syncFromStripe(orgId, subscription.subscriptionId);
}
