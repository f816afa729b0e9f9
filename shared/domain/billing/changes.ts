// From one plan to another. Stripe works out what is owed; asking and doing name the same moment, so that they come to the same amount.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { epochSeconds, now } from "../../clock.ts";
import { asked, configured, ours, type Stripe } from "../../doors/stripe.ts";
import { conflict, invalid } from "../../errors.ts";
import { type PlanKey, planKeys, plans } from "../../plans.ts";
import * as organizations from "../organizations.ts";
import * as prices from "./prices.ts";
import * as subscriptions from "./subscriptions.ts";

export const PlanChange = z
  .object({
    from: z.enum(planKeys),
    to: z.enum(planKeys),
    confirmed: z.boolean().describe("false: nothing has changed yet"),
    effectiveAt: z.string().describe("Now, or the end of the period for a plan that ends"),
    amountDueCents: z
      .int()
      .describe(
        "US cents that are charged at once; what is left of the old plan is taken off. 0 where that is more: it goes towards the next invoices",
      ),
    lines: z.array(z.object({ description: z.string(), amountCents: z.int().describe("Below zero: in your favour") })),
    prorationDate: z
      .int()
      .nullable()
      .describe("Unix seconds. Send it along with `confirm: true` to pay exactly what was shown; good for 15 minutes"),
    checkoutRequired: z.boolean().describe("There is nothing to change yet: pay by POST /billing/checkout"),
  })
  .meta({ id: "PlanChange" });
export type PlanChange = z.output<typeof PlanChange>;

export interface Wish {
  plan: PlanKey;
  confirm: boolean;
  prorationDate?: number | undefined;
}

/** What a change would cost, or with `confirm` the change itself. Throws 402 `payment_failed` when the card is refused: nothing has changed then. */
export async function change({ orgId }: Caller, wish: Wish): Promise<PlanChange> {
  // What cannot be paid for is not shown at a price.
  const [{ plan: from }, live] = await Promise.all([organizations.find(orgId), subscriptions.live(orgId), configured()]);
  if (!live) return begun(from, wish);
  if (wish.plan === live.plan) return resumed(orgId, live, wish);
  if (plans[wish.plan].priceCents === 0) return ended(orgId, live, wish);
  return prorated(orgId, live, wish);
}

/** It stays until the end of the period, and can be taken back until then. */
export async function cancel({ orgId }: Caller): Promise<subscriptions.Subscription> {
  const live = await subscriptions.live(orgId);
  if (!live) throw nothingToEnd();
  await updated(orgId, live, { cancel_at_period_end: true });
  return (await subscriptions.find(orgId)).subscription!;
}

const nothingToEnd = () => conflict("There is no subscription to end", { code: "no_subscription" });
const noLines = { amountDueCents: 0, lines: [], prorationDate: null, checkoutRequired: false };

function begun(from: PlanKey, { plan: to, confirm }: Wish): PlanChange {
  const { name, priceCents } = plans[to];
  if (priceCents === 0) throw nothingToEnd();
  if (confirm) throw conflict("There is no subscription yet: pay by POST /billing/checkout", { code: "checkout_required" });
  const lines = [{ description: `${name}, a month`, amountCents: priceCents }];
  return {
    ...noLines,
    from,
    to,
    confirmed: false,
    effectiveAt: now().toISOString(),
    amountDueCents: priceCents,
    lines,
    checkoutRequired: true,
  };
}

async function resumed(orgId: number, live: subscriptions.Live, { plan, confirm }: Wish): Promise<PlanChange> {
  if (!live.cancelAtPeriodEnd) throw conflict(`The plan is ${plan} already`, { code: "plan_unchanged" });
  if (confirm) await updated(orgId, live, { cancel_at_period_end: false });
  return { ...noLines, from: plan, to: plan, confirmed: confirm, effectiveAt: now().toISOString() };
}

async function ended(orgId: number, live: subscriptions.Live, { plan, confirm }: Wish): Promise<PlanChange> {
  if (confirm) await updated(orgId, live, { cancel_at_period_end: true });
  return { ...noLines, from: live.plan, to: plan, confirmed: confirm, effectiveAt: live.currentPeriodEnd };
}

async function prorated(orgId: number, live: subscriptions.Live, wish: Wish): Promise<PlanChange> {
  const proration_date = momentOf(live, wish);
  const items = [{ id: live.itemId, price: await prices.idOf(wish.plan) }];
  const details = { items, proration_behavior: "always_invoice" as const, proration_date };
  const preview = await asked((stripe) =>
    stripe.invoices.createPreview({ customer: live.customerId, subscription: live.subscriptionId, subscription_details: details }),
  );
  if (wish.confirm) {
    const resuming = live.cancelAtPeriodEnd ? { cancel_at_period_end: false } : {};
    const idempotencyKey = ours(`${live.subscriptionId}-${live.plan}-${wish.plan}-${proration_date}`);
    await updated(orgId, live, { ...details, ...resuming, payment_behavior: "error_if_incomplete" }, { idempotencyKey });
  }
  return {
    from: live.plan,
    to: wish.plan,
    confirmed: wish.confirm,
    effectiveAt: now().toISOString(),
    amountDueCents: Math.max(0, preview.amount_due),
    lines: preview.lines.data.map(({ description, amount }) => ({ description: description ?? "", amountCents: amount })),
    prorationDate: proration_date,
    checkoutRequired: false,
  };
}

const previewSeconds = 15 * 60;

/** Not any moment: who could choose would pay for the cheapest. */
function momentOf(live: subscriptions.Live, { prorationDate }: Wish): number {
  const time = epochSeconds();
  const earliest = Math.max(time - previewSeconds, Date.parse(live.currentPeriodStart) / 1000);
  if (prorationDate === undefined) return time;
  if (prorationDate >= earliest && prorationDate <= time) return prorationDate;
  throw invalid("prorationDate is over: ask for a new preview", {
    details: [{ path: "prorationDate", message: "must be of the last 15 minutes" }],
  });
}

async function updated(
  orgId: number,
  live: subscriptions.Live,
  changes: Stripe.SubscriptionUpdateParams,
  options?: Stripe.RequestOptions,
): Promise<void> {
  const seenAt = now().toISOString();
  await subscriptions.apply(orgId, await asked((stripe) => stripe.subscriptions.update(live.subscriptionId, changes, options)), seenAt);
}
