// Stripe's webhook. Events arrive in any order and more than once, so every reaction is idempotent:
// a ledger entry's reference names the payment, and subscriptions are retrieved again.

import { get, put, write } from "../../adapters/dynamodb/table.ts";
import { callStripe, parseWebhook, type Stripe } from "../../adapters/stripe/stripe.ts";
import { epochSeconds } from "../../clock.ts";
import { keys } from "../../keys.ts";
import * as credits from "./credits.ts";
import * as subscriptions from "./subscriptions.ts";

const seenEventTtlSeconds = 30 * 24 * 3600;

/** Throws 400 for a wrong signature. After any other error Stripe sends the event again. */
export async function handleEvent(body: Buffer, signature: string | undefined): Promise<void> {
  const event = await parseWebhook(body, signature);
  const key = keys.stripeEvent(event.id);
  if (await get(key)) return;
  await eventHandlers[event.type]?.(event.data.object);
  await write(put(key, { expires: epochSeconds() + seenEventTtlSeconds }));
}

type StripeEventHandler = (object: object) => Promise<void>;
const handler = <T extends object>(react: (object: T) => Promise<void>): StripeEventHandler =>
  react as StripeEventHandler;

const onCheckoutPaid = handler(async (session: Stripe.Checkout.Session) => {
  const orgId = orgIdOf(session.metadata);
  if (!(await subscriptions.isCustomer(orgId, subscriptions.stripeIdOf(session.customer)))) return;
  const subscription = subscriptions.stripeIdOf(session.subscription);
  if (subscription) return subscriptions.syncFromStripe(orgId, subscription);
  const amount = purchasedAmount(session.metadata);
  if (amount && session.payment_status === "paid")
    await credits.grant(orgId, { what: "purchase", reference: `purchase:${session.id}`, amount });
});

const onSubscriptionChanged = handler(({ id, metadata }: Stripe.Subscription) =>
  syncSubscription(metadata, id),
);

const onInvoice = handler(async ({ parent }: Stripe.Invoice) => {
  const details = parent?.subscription_details;
  const subscription = subscriptions.stripeIdOf(details?.subscription);
  if (subscription) await syncSubscription(details?.metadata, subscription);
});

async function syncSubscription(
  metadata: Stripe.Metadata | null | undefined,
  subscriptionId: string,
): Promise<void> {
  const orgId = orgIdOf(metadata);
  if (orgId) await subscriptions.syncFromStripe(orgId, subscriptionId);
}

const onRefund = handler(async (charge: Stripe.Charge) => {
  const purchase = await findPurchase(charge);
  if (!purchase) return;
  const refunds = await callStripe((stripe) =>
    stripe.refunds.list({ charge: charge.id, limit: 100 }),
  );
  for (const { id, amount } of refunds.data.filter(({ status }) => status === "succeeded"))
    await credits.reverse(purchase.orgId, {
      what: "refund",
      reference: `refund:${id}`,
      amount: proportionalAmount(purchase.amount, amount, charge.amount),
    });
});

/**
 * Statuses in which the money is withdrawn. An inquiry (`warning_...`) and a prevented dispute
 * withdraw nothing.
 */
const withdrawn = new Set<string>(["needs_response", "under_review", "lost"]);

/**
 * Events may arrive in any order, so the dispute is retrieved. An inquiry that becomes a dispute
 * takes the credits then.
 */
const onDisputeOpened = handler(async ({ id }: Stripe.Dispute) => {
  const dispute = await callStripe((stripe) => stripe.disputes.retrieve(id));
  const charge = await callStripe((stripe) =>
    stripe.charges.retrieve(subscriptions.stripeIdOf(dispute.charge)!),
  );
  const purchase = await findPurchase(charge);
  if (!purchase) return;
  const { orgId } = purchase;
  const amount = proportionalAmount(purchase.amount, dispute.amount, charge.amount);
  const taken = { what: "dispute", reference: `dispute:${id}`, amount };
  const isWon = dispute.status === "won";
  // A won dispute takes the credits before it gives them back: a worker that has read an older
  // status then finds the entry.
  if (isWon || withdrawn.has(dispute.status)) await credits.reverse(orgId, taken);
  if (!isWon) return;
  await credits.grant(orgId, { what: "dispute", reference: `dispute-won:${id}`, amount });
});

/** The organization and the millicents that a charge paid for. */
async function findPurchase(
  charge: Stripe.Charge,
): Promise<{ orgId: number; amount: number } | undefined> {
  const intent = subscriptions.stripeIdOf(charge.payment_intent);
  if (!intent) return undefined;
  const { metadata } = await callStripe((stripe) => stripe.paymentIntents.retrieve(intent));
  const [orgId, amount] = [orgIdOf(metadata), purchasedAmount(metadata)];
  return amount &&
    (await subscriptions.isCustomer(orgId, subscriptions.stripeIdOf(charge.customer)))
    ? { orgId, amount }
    : undefined;
}

/**
 * The share of `credits` for `money` out of `totalMoney`. Rounded down, so several shares never
 * exceed the whole.
 */
export const proportionalAmount = (credits: number, money: number, totalMoney: number): number =>
  Number((BigInt(credits) * BigInt(Math.min(money, totalMoney))) / BigInt(totalMoney));

const onCustomerDeleted = handler(async ({ id, metadata }: Stripe.Customer) => {
  const orgId = orgIdOf(metadata);
  if (await subscriptions.isCustomer(orgId, id)) await subscriptions.forgetCustomer(orgId, id);
});

const orgIdOf = (metadata: Stripe.Metadata | null | undefined): number =>
  Number(metadata?.orgId ?? 0);
const purchasedAmount = (metadata: Stripe.Metadata | null): number =>
  metadata?.purpose === "credits" ? Number(metadata.credits) * credits.millicentsPerCredit : 0;

const eventHandlers: Record<string, StripeEventHandler> = {
  "checkout.session.completed": onCheckoutPaid,
  "checkout.session.async_payment_succeeded": onCheckoutPaid,
  "customer.subscription.created": onSubscriptionChanged,
  "customer.subscription.updated": onSubscriptionChanged,
  "customer.subscription.deleted": onSubscriptionChanged,
  "invoice.paid": onInvoice,
  "invoice.payment_failed": onInvoice,
  "invoice.payment_action_required": onInvoice,
  "charge.refunded": onRefund,
  "charge.dispute.created": onDisputeOpened,
  "charge.dispute.updated": onDisputeOpened,
  "charge.dispute.funds_withdrawn": onDisputeOpened,
  "charge.dispute.closed": onDisputeOpened,
  "customer.deleted": onCustomerDeleted,
};

/** The events that the operator subscribes to at Stripe. */
export const stripeEventTypes: string[] = Object.keys(eventHandlers);
