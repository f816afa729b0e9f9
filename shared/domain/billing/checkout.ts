// Stripe's checkout and customer portal. Stripe reports the outcome by webhook.
import * as z from "zod";
import { callStripe, type Stripe } from "../../adapters/stripe/stripe.ts";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { conflict, upstream } from "../../errors.ts";
import { maxUrlLength } from "../../kernel/public-urls.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import type { PlanKey } from "../../plans.ts";
import * as stripePrices from "./stripe-prices.ts";
import * as subscriptions from "./subscriptions.ts";

const isAllowedReturnUrl = (url: string): boolean => {
  const origin = URL.parse(url)?.origin;
  return (
    origin === new URL(config.publicUrl).origin ||
    (origin !== undefined && config.allowedOrigins.includes(origin))
  );
};

export const ReturnUrl = z
  .string()
  .max(maxUrlLength)
  .refine(isAllowedReturnUrl, "must be at the origin of PUBLIC_URL or one of ALLOWED_ORIGINS")
  .optional()
  .describe(
    "URL to return to afterwards, with `checkout=done` or `checkout=cancelled` added. Must " +
      "be on PUBLIC_URL or one of ALLOWED_ORIGINS. Defaults to the home page.",
  );

/** One credit costs 0.1 US cent in every package. */
export const CreditPackage = z
  .object({
    id: RecordId.describe("Id of the package, for `packageId` of POST /billing/credits."),
    credits: Count.describe("Credits in the package. One credit is 0.1 US cent."),
    priceCents: Count.describe("Price in US cents."),
    mails: Count.describe("Emails beyond the plan that the package pays for."),
  })
  .meta({ id: "CreditPackage" });
export type CreditPackage = z.output<typeof CreditPackage>;

const creditsPerCent = 10;

/** The ids never change: a new package goes to the end. */
export const creditPackages: CreditPackage[] = [10_000, 50_000, 200_000, 1_000_000].map(
  (credits, i) => ({
    id: i + 1,
    credits,
    priceCents: credits / creditsPerCent,
    mails: credits,
  }),
);

export const findCreditPackage = (packageId: number): CreditPackage | undefined =>
  creditPackages.find(({ id }) => id === packageId);

export const CheckoutPage = z
  .object({
    sessionId: z.string().describe("Id of the checkout session at Stripe."),
    url: z.string().describe("Stripe page to redirect the browser to."),
    expiresAt: Timestamp.describe("When the page expires."),
  })
  .meta({ id: "CheckoutPage" });
export type CheckoutPage = z.output<typeof CheckoutPage>;

/** Starts a first subscription. Throws 409 `subscription_exists` if there is one. */
export async function checkOutPlan(
  caller: Caller,
  plan: PlanKey,
  returnUrl?: string,
): Promise<CheckoutPage> {
  if (await subscriptions.getLiveSubscription(caller.orgId))
    throw conflict("A subscription already exists: change it with POST /plans/change", {
      code: "subscription_exists",
    });
  const [customer, price] = await Promise.all([
    subscriptions.findOrCreateCustomer(caller),
    stripePrices.findOrCreatePrice(plan),
  ]);
  const metadata = { orgId: String(caller.orgId), plan };
  return createSession(caller, returnUrl, {
    customer,
    mode: "subscription",
    line_items: [{ price, quantity: 1 }],
    metadata,
    subscription_data: { metadata },
  });
}

export async function checkOutCredits(
  caller: Caller,
  packageId: number,
  returnUrl?: string,
): Promise<CheckoutPage> {
  const { credits, priceCents } = findCreditPackage(packageId)!;
  const customer = await subscriptions.findOrCreateCustomer(caller);
  const metadata = { orgId: String(caller.orgId), purpose: "credits", credits: String(credits) };
  const name = `${credits.toLocaleString("en")} Pennymail credits`;
  return createSession(caller, returnUrl, {
    customer,
    mode: "payment",
    line_items: [
      {
        quantity: 1,
        price_data: { currency: "usd", unit_amount: priceCents, product_data: { name } },
      },
    ],
    metadata,
    payment_intent_data: { metadata },
  });
}

async function createSession(
  caller: Caller,
  returnUrl: string | undefined,
  sessionParams: Stripe.Checkout.SessionCreateParams,
): Promise<CheckoutPage> {
  const returnUrlFor = (outcome: string) => {
    const url = new URL(returnUrl ?? `${config.publicUrl}/`);
    url.searchParams.set("checkout", outcome);
    return url.href;
  };
  const urls = { success_url: returnUrlFor("done"), cancel_url: returnUrlFor("cancelled") };
  const { id, url, expires_at } = await callStripe((stripe) =>
    stripe.checkout.sessions.create({
      ...sessionParams,
      client_reference_id: String(caller.orgId),
      ...urls,
    }),
  );
  if (!url) throw upstream("Stripe returned no URL for the checkout page: try again");
  return { sessionId: id, url, expiresAt: new Date(expires_at * 1000).toISOString() };
}

/** Stripe's page to manage cards, addresses and invoices. */
export async function openPortal(caller: Caller, returnUrl?: string): Promise<{ url: string }> {
  const customer = await subscriptions.findOrCreateCustomer(caller);
  const { url } = await callStripe((stripe) =>
    stripe.billingPortal.sessions.create({
      customer,
      return_url: returnUrl ?? `${config.publicUrl}/`,
    }),
  );
  return { url };
}
