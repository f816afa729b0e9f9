// The prices of our plans at Stripe, found by a name that says plan and amount. Whoever asks for one first makes it.
import type { Stripe } from "../../doors/stripe.ts";
import { asked, ours } from "../../doors/stripe.ts";
import { type PlanKey, plans } from "../../plans.ts";

const lookupKeyOf = (plan: PlanKey): string => `pennymail_${plan}_${plans[plan].priceCents}`;

export async function idOf(plan: PlanKey): Promise<string> {
  const lookup_key = lookupKeyOf(plan);
  const find = async () => (await asked((stripe) => stripe.prices.list({ lookup_keys: [lookup_key], active: true, limit: 1 }))).data[0]?.id;
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
  return asked((stripe) => stripe.prices.create(price, { idempotencyKey: ours(lookup_key) })).then(
    ({ id }) => id,
    async (error: unknown) => {
      // Somebody else has made it in between.
      const made = await find();
      if (!made) throw error;
      return made;
    },
  );
}

/** The plan of a subscription, whoever changed it and where. */
export function planOf({ items, metadata }: Stripe.Subscription): PlanKey | undefined {
  const price = items.data[0]?.price;
  const names = [price?.lookup_key?.split("_")[1], price?.metadata?.plan, metadata.plan];
  return names.find((name): name is PlanKey => name !== undefined && Object.hasOwn(plans, name));
}
