// What an organization has used, and what it owes or has left.
import * as z from "zod";
import { asked } from "../../doors/stripe.ts";
import { type PlanKey, planKeys, plans } from "../../plans.ts";
import * as allowance from "../allowance.ts";
import * as credits from "../credits.ts";
import * as subscriptions from "./subscriptions.ts";

export const Plan = z
  .object({
    key: z.enum(planKeys),
    name: z.string(),
    priceCents: z.int().describe("US cents a month"),
    currency: z.literal("usd"),
    limits: z.object({
      mailsPerMonth: z.int().describe("Included; further mails take credits"),
      generalPerMinute: z.int().describe("API requests"),
      sendPerMinute: z.int().describe("API requests that send or schedule"),
    }),
    features: z.array(z.string()),
  })
  .meta({ id: "Plan" });
export type Plan = z.output<typeof Plan>;

// Plans differ in how much, not in what.
const inEveryPlan = [
  "All features of the API",
  "Any number of sites and contacts",
  "Mails beyond the plan for 0.1 cent each, from credits",
];

export function planOf(key: PlanKey): Plan {
  const { name, priceCents, ...limits } = plans[key];
  const count = (n: number) => n.toLocaleString("en");
  const own = [
    `${count(limits.mailsPerMonth)} mails a month`,
    `${count(limits.generalPerMinute)} API requests a minute, ${count(limits.sendPerMinute)} of them that send`,
  ];
  return { key, name, priceCents, currency: "usd", limits, features: [...own, ...inEveryPlan] };
}

export const Period = z.object({ start: z.string(), end: z.string() }).describe("The subscription's month, or the calendar's in UTC");
export const Mails = z.object({
  accepted: z.int().describe("In the period: mails count when they are accepted"),
  included: z.int(),
  remaining: z.int(),
  beyond: z.int().describe("Of those accepted, how many were not included"),
});

export const Balance = z.object({
  credits: z.number().describe("One credit is 0.1 US cent; below zero when a purchase was paid back after it was used"),
  cents: z.number().describe("The same in US cents"),
});

export async function usage(orgId: number) {
  const standing = await allowance.standing(orgId);
  const { plan, period, account } = standing;
  const { mails, charged } = allowance.used(standing);
  const included = plans[plan].mailsPerMonth;
  const remaining = Math.max(0, included - mails);
  return {
    plan,
    period,
    mails: { accepted: mails, included, remaining, beyond: Math.max(0, mails - included) },
    balance: balanceOf(account.balance),
    chargedCents: charged / credits.amountPerCent,
    branded: account.branded ?? false,
  };
}

const balanceOf = (amount = 0): z.output<typeof Balance> => ({
  credits: amount / credits.amountPerCredit,
  cents: amount / credits.amountPerCent,
});

export const Invoice = z
  .object({
    id: z.string(),
    number: z.string().nullable(),
    status: z.string().nullable().describe("Stripe's word: draft, open, paid, uncollectible, void"),
    amountDueCents: z.int(),
    amountPaidCents: z.int(),
    currency: z.string(),
    createdAt: z.string(),
    url: z.string().nullable(),
    pdfUrl: z.string().nullable(),
  })
  .meta({ id: "Invoice" });

/** The latest, newest first; none for who has never paid. */
async function invoices(customer: string | undefined): Promise<z.output<typeof Invoice>[]> {
  if (!customer) return [];
  const { data } = await asked((stripe) => stripe.invoices.list({ customer, limit: 24 }));
  return data.map((invoice) => ({
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    amountDueCents: invoice.amount_due,
    amountPaidCents: invoice.amount_paid,
    currency: invoice.currency,
    createdAt: new Date(invoice.created * 1000).toISOString(),
    url: invoice.hosted_invoice_url ?? null,
    pdfUrl: invoice.invoice_pdf ?? null,
  }));
}

export async function subscription(orgId: number) {
  const { customerId, subscription = null } = await subscriptions.find(orgId);
  const [{ plan }, listed] = await Promise.all([allowance.standing(orgId), invoices(customerId)]);
  return { plan: planOf(plan), subscription, invoices: listed };
}
