// Plans, usage and invoices as the API shows them.
import * as z from "zod";
import { callStripe } from "../../adapters/stripe/stripe.ts";
import { Count, CreatedAt, Timestamp } from "../../kernel/record-fields.ts";
import { type PlanKey, planKeys, plans, shownAllowance } from "../../plans.ts";
import * as credits from "./credits.ts";
import { getQuota } from "./quota.ts";
import * as subscriptions from "./subscriptions.ts";

export const Plan = z
  .object({
    key: z
      .enum(planKeys)
      .describe("Key of the plan, for POST /plans/change and POST /billing/checkout."),
    name: z.string().describe("Name of the plan, for people."),
    priceCents: Count.describe("US cents per month."),
    currency: z.literal("usd").describe("Currency of `priceCents`: always US dollars."),
    limits: z
      .object({
        mailsPerMonth: Count.nullable().describe(
          "Emails included per month. Further emails take credits. `null`: no limit.",
        ),
        generalPerMinute: Count.describe("Requests per minute."),
        sendPerMinute: Count.describe(
          "Requests per minute to POST /send, POST /campaigns/:id/send and other endpoints " +
            "that send or schedule.",
        ),
      })
      .describe("What the plan includes."),
    features: z.array(z.string()).describe("What the plan offers, in English, for a price list."),
  })
  .describe("A plan with its price and limits.")
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
  .object({
    start: Timestamp.describe("When the period began."),
    end: Timestamp.describe("When the period ends."),
  })
  .describe("Current period: the month of the subscription, else the calendar month in UTC.")
  .meta({ id: "UsagePeriod" });
export const MailUsage = z
  .object({
    accepted: Count.describe("Emails accepted in the period."),
    included: Count.nullable().describe(
      "Emails that the plan includes in the period. `null`: no limit.",
    ),
    remaining: Count.nullable().describe("Included emails that are left. `null`: no limit."),
    beyond: Count.describe("Accepted emails beyond those included. They take credits."),
  })
  .describe("Emails of the current period.")
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
  .describe("Credits that pay for emails beyond the plan.")
  .meta({ id: "CreditBalance" });

export async function getUsage(orgId: number) {
  const quota = await getQuota(orgId);
  const {
    plan,
    period,
    account,
    used: { mails, charged },
  } = quota;
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
    id: z.string().describe("Id of the invoice at Stripe."),
    number: z
      .string()
      .nullable()
      .describe("Number of the invoice, for people. `null` for a draft."),
    status: z
      .string()
      .nullable()
      .describe("Status as given by Stripe: `draft`, `open`, `paid`, `uncollectible` or `void`."),
    amountDueCents: Count.describe("Amount to pay, in hundredths of `currency`."),
    amountPaidCents: Count.describe("Amount that was paid, in hundredths of `currency`."),
    currency: z.string().describe("ISO 4217 code of the currency, in lower case."),
    createdAt: CreatedAt,
    url: z.string().nullable().describe("Page of the invoice at Stripe. `null` for a draft."),
    pdfUrl: z.string().nullable().describe("URL of the invoice as a PDF file. `null` for a draft."),
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
  const [{ plan }, invoices] = await Promise.all([getQuota(orgId), listInvoices(customerId)]);
  return { plan: toApiPlan(plan), subscription, invoices };
}
