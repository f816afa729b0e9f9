// Pages of Stripe's where people pay, and where they look after what they pay for. What became of it Stripe tells by webhook.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { asked, type Stripe } from "../../doors/stripe.ts";
import { conflict, upstream } from "../../errors.ts";
import type { PlanKey } from "../../plans.ts";
import { maxUrlLength } from "../../public-urls.ts";
import { packages } from "./packages.ts";
import * as prices from "./prices.ts";
import * as subscriptions from "./subscriptions.ts";

const isOurs = (url: string): boolean => {
  const origin = URL.parse(url)?.origin;
  return origin === new URL(config.publicUrl).origin || (origin !== undefined && config.allowedOrigins.includes(origin));
};

export const ReturnUrl = z
  .string()
  .max(maxUrlLength)
  .refine(isOurs, "must lie at PUBLIC_URL or at one of ALLOWED_ORIGINS")
  .optional()
  .describe(
    "Where people come back to; the page at / when absent. After a checkout `checkout=done` or `checkout=cancelled` is added to it",
  );

export const CheckoutPage = z
  .object({
    sessionId: z.string(),
    url: z.string().describe("Lead the browser there"),
    expiresAt: z.string(),
  })
  .meta({ id: "CheckoutPage" });
export type CheckoutPage = z.output<typeof CheckoutPage>;

/** For a first subscription. 409 `subscription_exists` where there is one. */
export async function ofPlan(caller: Caller, plan: PlanKey, returnUrl?: string): Promise<CheckoutPage> {
  if (await subscriptions.live(caller.orgId))
    throw conflict("There is a subscription already: change it with POST /plans/change", { code: "subscription_exists" });
  const [customer, price] = await Promise.all([subscriptions.customer(caller), prices.idOf(plan)]);
  const metadata = { orgId: String(caller.orgId), plan };
  return opened(caller, customer, returnUrl, {
    mode: "subscription",
    line_items: [{ price, quantity: 1 }],
    metadata,
    subscription_data: { metadata },
  });
}

export async function ofCredits(caller: Caller, packageId: string, returnUrl?: string): Promise<CheckoutPage> {
  const { credits, priceCents } = packages.find(({ id }) => id === packageId)!;
  const customer = await subscriptions.customer(caller);
  const metadata = { orgId: String(caller.orgId), purpose: "credits", credits: String(credits) };
  const name = `${credits.toLocaleString("en")} Pennymail credits`;
  return opened(caller, customer, returnUrl, {
    mode: "payment",
    line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount: priceCents, product_data: { name } } }],
    metadata,
    payment_intent_data: { metadata },
  });
}

async function opened(
  caller: Caller,
  customer: string,
  returnUrl: string | undefined,
  what: Stripe.Checkout.SessionCreateParams,
): Promise<CheckoutPage> {
  const back = (outcome: string) => {
    const url = new URL(returnUrl ?? `${config.publicUrl}/`);
    url.searchParams.set("checkout", outcome);
    return url.href;
  };
  const urls = { success_url: back("done"), cancel_url: back("cancelled") };
  const { id, url, expires_at } = await asked((stripe) =>
    stripe.checkout.sessions.create({ ...what, customer, client_reference_id: String(caller.orgId), ...urls }),
  );
  if (!url) throw upstream("Stripe gave no page for the checkout");
  return { sessionId: id, url, expiresAt: new Date(expires_at * 1000).toISOString() };
}

/** Where cards, addresses and invoices are looked after. */
export async function portal(caller: Caller, returnUrl?: string): Promise<{ url: string }> {
  const customer = await subscriptions.customer(caller);
  const { url } = await asked((stripe) =>
    stripe.billingPortal.sessions.create({ customer, return_url: returnUrl ?? `${config.publicUrl}/` }),
  );
  return { url };
}
