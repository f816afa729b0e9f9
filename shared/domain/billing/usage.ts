// Plans, usage and invoices as the API shows them.
import * as z from "zod";
import { callStripe } from "../../adapters/stripe/stripe.ts";
import { type PlanKey, planKeys, plans, shownAllowance } from "../../plans.ts";
import * as credits from "./credits.ts";
import * as quotas from "./quota.ts";
import * as subscriptions from "./subscriptions.ts";

export const Plan = z
  .object({
    key: z.enum(planKeys),
    name: z.string(),
    priceCents: z.int().describe("US cents per month."),
    currency: z.literal("usd"),
    limits: z.object({
      mailsPerMonth: z
        .int()
        .nullable()
        .describe("Emails included per month. Further emails take credits. `null`: no limit."),
      generalPerMinute: z.int().describe("Requests per minute."),
      sendPerMinute: z
        .int()
        .describe(
          "Requests per minute to POST /send, POST /campaigns/:id/send and other endpoints " +
            "that send or schedule.",
        ),
    }),
    features: z.array(z.string()),
  })
  .meta({ id: "Plan" });
export type Plan = z.output<typeof Plan>;

// Plans differ only in their limits.
const commonFeatures = [
  "All features of the API",
  "Any number of sites and contacts",
  "Mails beyond the plan for 0.1 cent each, from credits",
];

export function toApiPlan(key: PlanKey): Plan {
  const { name, priceCents, ...limits } = plans[key];
  const count = (n: number) => n.toLocaleString("en");
  const mailsPerMonth = shownAllowance(limits.mailsPerMonth);
  const limitTexts = [
    mailsPerMonth === null ? "Any number of mails" : `${count(mailsPerMonth)} mails a month`,
    `${count(limits.generalPerMinute)} API requests a minute, ${count(limits.sendPerMinute)} ` +
      "of them that send",
  ];
  const features = [
    ...limitTexts,
    ...(mailsPerMonth === null ? commonFeatures.slice(0, 2) : commonFeatures),
  ];
  return { key, name, priceCents, currency: "usd", limits: { ...limits, mailsPerMonth }, features };
}

export const UsagePeriod = z
  .object({ start: z.string(), end: z.string() })
  .describe("Current period: the month of the subscription, else the calendar month in UTC.")
  .meta({ id: "UsagePeriod" });
export const MailUsage = z
  .object({
    accepted: z.int().describe("Emails accepted in the period."),
    included: z.int().nullable().describe("`null`: no limit."),
    remaining: z.int().nullable().describe("`null`: no limit."),
    beyond: z.int().describe("Accepted emails beyond those included. They take credits."),
  })
  .meta({ id: "MailUsage" });

export const CreditBalance = z
  .object({
    credits: z
      .number()
      .describe(
        "Credits left. One credit is 0.1 US cent. Negative if a purchase was refunded after it " +
          "was used.",
      ),
    cents: z.number().describe("The balance in US cents."),
  })
  .meta({ id: "CreditBalance" });

export async function getUsage(orgId: number) {
  const quota = await quotas.getQuota(orgId);
  const { plan, period, account } = quota;
  const { mails, charged } = quotas.usedInPeriod(quota);
  const included = shownAllowance(plans[plan].mailsPerMonth);
  const remaining = included === null ? null : Math.max(0, included - mails);
  return {
    plan,
    period,
    mails: {
      accepted: mails,
      included,
      remaining,
      beyond: Math.max(0, mails - (included ?? mails)),
    },
    balance: toApiBalance(account.balance),
    chargedCents: charged / credits.millicentsPerCent,
    branded: account.branded ?? false,
  };
}

const toApiBalance = (amount = 0): z.output<typeof CreditBalance> => ({
  credits: amount / credits.millicentsPerCredit,
  cents: amount / credits.millicentsPerCent,
});

export const Invoice = z
  .object({
    id: z.string(),
    number: z.string().nullable(),
    status: z
      .string()
      .nullable()
      .describe("Status as given by Stripe: `draft`, `open`, `paid`, `uncollectible` or `void`."),
    amountDueCents: z.int(),
    amountPaidCents: z.int(),
    currency: z.string(),
    createdAt: z.string(),
    url: z.string().nullable(),
    pdfUrl: z.string().nullable(),
  })
  .meta({ id: "Invoice" });

/** The latest invoices, newest first. */
async function listInvoices(customer: string | undefined): Promise<z.output<typeof Invoice>[]> {
  if (!customer) return [];
  const { data } = await callStripe((stripe) => stripe.invoices.list({ customer, limit: 24 }));
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

export async function getSubscriptionPage(orgId: number) {
  const { customerId, subscription = null } = await subscriptions.getSubscription(orgId);
  const [{ plan }, invoices] = await Promise.all([
    quotas.getQuota(orgId),
    listInvoices(customerId),
  ]);
  return { plan: toApiPlan(plan), subscription, invoices };
}
