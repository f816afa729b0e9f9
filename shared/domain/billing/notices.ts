// What Stripe tells, in any order and more than once. Whatever follows is safe to repeat: credits are entered under the name of what
// paid for them, and subscriptions are looked at anew.
import { epochSeconds } from "../../clock.ts";
import { asked, type Stripe, told } from "../../doors/stripe.ts";
import { get, put, write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import * as credits from "../credits.ts";
import * as subscriptions from "./subscriptions.ts";

const rememberSeconds = 30 * 24 * 3600;

/** Throws 400 for a signature that is not Stripe's. Whatever else is thrown makes Stripe tell it again. */
export async function take(body: Buffer, signature: string | undefined): Promise<void> {
  const event = await told(body, signature);
  const address = keys.stripeEvent(event.id);
  if (await get(address)) return;
  await reactions[event.type]?.(event.data.object);
  await write(put(address, { expires: epochSeconds() + rememberSeconds }));
}

type Reaction = (object: object) => Promise<void>;
const on = <T extends object>(react: (object: T) => Promise<void>): Reaction => react as Reaction;

const paid = on(async (session: Stripe.Checkout.Session) => {
  const orgId = orgOf(session.metadata);
  if (!(await subscriptions.isCustomer(orgId, subscriptions.idOf(session.customer)))) return;
  const subscription = subscriptions.idOf(session.subscription);
  if (subscription) return subscriptions.sync(orgId, subscription);
  const amount = boughtWith(session.metadata);
  if (amount && session.payment_status === "paid")
    await credits.grant(orgId, { what: "purchase", reference: `purchase:${session.id}`, amount });
});

const subscribed = on(({ id, metadata }: Stripe.Subscription) => synced(metadata, id));

const billed = on(async ({ parent }: Stripe.Invoice) => {
  const details = parent?.subscription_details;
  const subscription = subscriptions.idOf(details?.subscription);
  if (subscription) await synced(details?.metadata, subscription);
});

async function synced(metadata: Stripe.Metadata | null | undefined, subscriptionId: string): Promise<void> {
  const orgId = orgOf(metadata);
  if (orgId) await subscriptions.sync(orgId, subscriptionId);
}

const refunded = on(async (charge: Stripe.Charge) => {
  const purchase = await purchaseOf(charge);
  if (!purchase) return;
  const refunds = await asked((stripe) => stripe.refunds.list({ charge: charge.id, limit: 100 }));
  for (const { id, amount } of refunds.data.filter(({ status }) => status === "succeeded"))
    await credits.takeBack(purchase.orgId, {
      what: "refund",
      reference: `refund:${id}`,
      amount: shareOf(purchase.amount, amount, charge.amount),
    });
});

const disputed = on(async (dispute: Stripe.Dispute) => {
  const held = await inDispute(dispute);
  if (held) await credits.takeBack(held.orgId, { what: "dispute", reference: `dispute:${dispute.id}`, amount: held.amount });
});

const settled = on(async (dispute: Stripe.Dispute) => {
  const held = dispute.status === "won" ? await inDispute(dispute) : undefined;
  if (held) await credits.grant(held.orgId, { what: "dispute", reference: `dispute-won:${dispute.id}`, amount: held.amount });
});

async function inDispute(dispute: Stripe.Dispute) {
  const charge = await asked((stripe) => stripe.charges.retrieve(subscriptions.idOf(dispute.charge)!));
  const purchase = await purchaseOf(charge);
  return purchase && { orgId: purchase.orgId, amount: shareOf(purchase.amount, dispute.amount, charge.amount) };
}

/** The credits that a charge was for. */
async function purchaseOf(charge: Stripe.Charge): Promise<{ orgId: number; amount: number } | undefined> {
  const intent = subscriptions.idOf(charge.payment_intent);
  if (!intent) return undefined;
  const { metadata } = await asked((stripe) => stripe.paymentIntents.retrieve(intent));
  const [orgId, amount] = [orgOf(metadata), boughtWith(metadata)];
  return amount && (await subscriptions.isCustomer(orgId, subscriptions.idOf(charge.customer))) ? { orgId, amount } : undefined;
}

/** Of the credits, for a part of the money. Rounded down: parts never come to more than the whole. */
export const shareOf = (whole: number, part: number, of: number): number =>
  Number((BigInt(whole) * BigInt(Math.min(part, of))) / BigInt(of));

const deleted = on(async ({ id, metadata }: Stripe.Customer) => {
  const orgId = orgOf(metadata);
  if (await subscriptions.isCustomer(orgId, id)) await subscriptions.forget(orgId, id);
});

const orgOf = (metadata: Stripe.Metadata | null | undefined): number => Number(metadata?.orgId ?? 0);
const boughtWith = (metadata: Stripe.Metadata | null): number =>
  metadata?.purpose === "credits" ? Number(metadata.credits) * credits.amountPerCredit : 0;

const reactions: Record<string, Reaction> = {
  "checkout.session.completed": paid,
  "checkout.session.async_payment_succeeded": paid,
  "customer.subscription.created": subscribed,
  "customer.subscription.updated": subscribed,
  "customer.subscription.deleted": subscribed,
  "invoice.paid": billed,
  "invoice.payment_failed": billed,
  "invoice.payment_action_required": billed,
  "charge.refunded": refunded,
  "charge.dispute.created": disputed,
  "charge.dispute.closed": settled,
  "customer.deleted": deleted,
};

/** What the operator has Stripe tell us. */
export const eventTypes: string[] = Object.keys(reactions);
