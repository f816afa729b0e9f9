// The prices of our plans at Stripe. The lookup key contains plan and amount; the first use creates
// the price.
import type { Stripe } from "../../adapters/stripe/stripe.ts";
import { callStripe, idempotencyKey } from "../../adapters/stripe/stripe.ts";
import { offeredPlanKeys, type PlanKey, plans } from "../../plans.ts";

const lookupKeyOf = (plan: PlanKey): string => `pennymail_${plan}_${plans[plan].priceCents}`;

export async function findOrCreatePrice(plan: PlanKey): Promise<string> {
  const lookup_key = lookupKeyOf(plan);
  const find = async () => {
    const query = { lookup_keys: [lookup_key], active: true, limit: 1 };
    const { data } = await callStripe((stripe) => stripe.prices.list(query));
    return data[0]?.id;
  };
  const known = await find();
  if (known) return known;
  const { name, priceCents } = plans[plan];
  const price = {
    lookup_key,
    currency: "usd",
    unit_amount: priceCents,
    recurring: { interval: "month" as const },
    product_data: { name: `Pennymail ${name}` },
    metadata: { plan },
  };
  return callStripe((stripe) =>
    stripe.prices.create(price, { idempotencyKey: idempotencyKey(lookup_key) }),
  ).then(
    ({ id }) => id,
    async (error: unknown) => {
      // Another request may have created it in the meantime.
      const created = await find();
      if (!created) throw error;
      return created;
    },
  );
}

/** Also finds the plan of a subscription that was changed in Stripe's dashboard. */
export function planOfSubscription({ items, metadata }: Stripe.Subscription): PlanKey | undefined {
  const price = items.data[0]?.price;
  // Names only plans for sale, so a price at Stripe cannot grant `unlimited`.
  const names = [price?.lookup_key?.split("_")[1], price?.metadata?.plan, metadata.plan];
  return names.find((name): name is PlanKey => offeredPlanKeys.some((key) => key === name));
}
