// An organization's customer and subscription at Stripe. Stripe is the source of truth. A webhook
// only triggers a fresh read of the subscription, and the newest read wins, so the order of
// webhooks does not matter.
import * as z from "zod";
import { absent, all, any, atMost, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import {
  callStripe,
  type Stripe,
  idempotencyKey as stripeIdempotencyKey,
} from "../../adapters/stripe/stripe.ts";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, missing, type Problem } from "../../errors.ts";
import * as log from "../../kernel/log.ts";
import { Timestamp } from "../../kernel/record-fields.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import { defaultPlan, type PlanKey, planKeys } from "../../plans.ts";
import * as stripePrices from "./stripe-prices.ts";

export const Subscription = z
  .object({
    status: z
      .string()
      .describe(
        "Status as given by Stripe: `trialing`, `active`, `past_due`, `unpaid`, " +
          "`incomplete`, `incomplete_expired`, `paused` or `canceled`.",
      ),
    plan: z.enum(planKeys).describe("Plan that is paid."),
    currentPeriodStart: Timestamp.describe("When the current period began."),
    currentPeriodEnd: Timestamp.describe("When the current period ends, and the next one is paid."),
    cancelAtPeriodEnd: z
      .boolean()
      .describe("Whether the subscription ends with the current period."),
  })
  .describe("Subscription at Stripe.")
  .meta({ id: "Subscription" });
export type Subscription = z.output<typeof Subscription>;

/** The stored item. */
interface BillingRecord extends Partial<Subscription> {
  customerId?: string;
  /** The previous customer, which was deleted at Stripe. */
  formerCustomerId?: string;
  subscriptionId?: string;
  /** Id of the subscription's item at Stripe. */
  itemId?: string;
  /** When the subscription was created (Unix seconds). */
  made?: number;
  /** When the subscription was last retrieved from Stripe (ISO 8601). */
  seenAt?: string;
}

/** A subscription that grants its plan and can be changed. */
export interface LiveSubscription extends Subscription {
  customerId: string;
  subscriptionId: string;
  itemId: string;
}

const liveStatuses = ["active", "trialing", "past_due"];
const isLive = ({ status = "" }: { status?: string | undefined }): boolean =>
  liveStatuses.includes(status);

const getBilling = async (orgId: number): Promise<BillingRecord> =>
  (await get<BillingRecord>(keys.stripeBilling(orgId))) ?? {};

export async function getSubscription(
  orgId: number,
): Promise<{ customerId: string | undefined; subscription: Subscription | undefined }> {
  const billing = await getBilling(orgId);
  return {
    customerId: billing.customerId,
    subscription: billing.subscriptionId ? Subscription.parse(billing) : undefined,
  };
}

export async function getLiveSubscription(orgId: number): Promise<LiveSubscription | undefined> {
  const billing = await getBilling(orgId);
  return isLive(billing) ? (billing as LiveSubscription) : undefined;
}

export async function findOrCreateCustomer({ orgId, userId }: Caller): Promise<string> {
  const known = await getBilling(orgId);
  if (known.customerId) return known.customerId;
  const user = await get<{ email: string }>(keys.member(orgId, userId));
  const fields = { ...(user && { email: user.email }), metadata: { orgId: String(orgId) } };
  // Without the former customer in the idempotency key, Stripe would return the deleted customer
  // again.
  const former = known.formerCustomerId ? `-after-${known.formerCustomerId}` : "";
  const idempotencyKey = stripeIdempotencyKey(`org-${orgId}-user-${userId}-customer${former}`);
  // If two requests run at once, only one stores its customer. The other customer is never used.
  const { id } = await callStripe((stripe) => stripe.customers.create(fields, { idempotencyKey }));
  const isStored = await transact(
    update(keys.stripeBilling(orgId), { set: { customerId: id } }, { if: absent("customerId") }),
  );
  return isStored ? id : (await getBilling(orgId)).customerId!;
}

/** Retrieves the subscription and applies its plan and period. */
export async function syncFromStripe(orgId: number, subscriptionId: string): Promise<void> {
  const fetchedAt = now().toISOString();
  const subscription = await callStripe((stripe) => stripe.subscriptions.retrieve(subscriptionId));
  await applyFromStripe(orgId, subscription, fetchedAt);
}

/** `fetchedAt` is the time just before the request to Stripe. */
export async function applyFromStripe(
  orgId: number,
  stripeSubscription: Stripe.Subscription,
  fetchedAt: string,
): Promise<void> {
  await retryOnConflict("The subscription", async () => {
    const current = await getBilling(orgId);
    if (!isRelevant(orgId, current, stripeSubscription) || (current.seenAt ?? "") > fetchedAt)
      return;
    await write(...applyWrites(orgId, current, { stripeSubscription, fetchedAt }));
  });
}

/**
 * False for a customer of another installation that shares the Stripe account. Of two live
 * subscriptions, only the younger one is relevant.
 */
function isRelevant(
  orgId: number,
  current: BillingRecord,
  stripeSubscription: Stripe.Subscription,
): boolean {
  if (current.customerId !== stripeIdOf(stripeSubscription.customer)) return false;
  if (
    !current.subscriptionId ||
    current.subscriptionId === stripeSubscription.id ||
    !isLive(current)
  )
    return true;
  if (!isLive(stripeSubscription)) return false;
  const ids = `${current.subscriptionId} and ${stripeSubscription.id}`;
  const message = `The subscriptions ${ids} are both live`;
  log.error("organization has two subscriptions", new Error(message), { orgId });
  return stripeSubscription.created > (current.made ?? 0);
}

function applyWrites(
  orgId: number,
  current: BillingRecord,
  { stripeSubscription, fetchedAt }: { stripeSubscription: Stripe.Subscription; fetchedAt: string },
): Write[] {
  const item = stripeSubscription.items.data[0];
  const plan = stripePrices.planOfSubscription(stripeSubscription);
  if (!item || !plan)
    throw conflict(`The subscription ${stripeSubscription.id} is not for any of our plans`);
  const set = {
    subscriptionId: stripeSubscription.id,
    status: stripeSubscription.status,
    plan,
    currentPeriodStart: isoOf(item.current_period_start),
    currentPeriodEnd: isoOf(item.current_period_end),
    cancelAtPeriodEnd:
      stripeSubscription.cancel_at_period_end || stripeSubscription.cancel_at !== null,
    itemId: item.id,
    made: stripeSubscription.created,
    seenAt: fetchedAt,
  };
  const idUnchanged =
    current.subscriptionId === undefined
      ? absent("subscriptionId")
      : equals("subscriptionId", current.subscriptionId);
  const statusUnchanged =
    current.status === undefined ? absent("status") : equals("status", current.status);
  const isNewer = all(
    equals("customerId", current.customerId),
    idUnchanged,
    statusUnchanged,
    any(absent("seenAt"), atMost("seenAt", fetchedAt)),
  );
  const billingWrite = update(keys.stripeBilling(orgId), { set }, { if: isNewer });
  // Before the first payment, the plan stays as it is.
  if (stripeSubscription.status === "incomplete") return [billingWrite];
  const anchorWrite = update(keys.account(orgId), {
    set: { anchor: isoOf(stripeSubscription.billing_cycle_anchor) },
  });
  if (isLive(stripeSubscription)) return [billingWrite, setPlanWrite(orgId, plan), anchorWrite];
  // An organization without a live subscription may have a plan from the operator, which stays.
  return isLive(current) ? [billingWrite, setPlanWrite(orgId, fallbackPlan())] : [billingWrite];
}

const setPlanWrite = (orgId: number, plan: PlanKey, orThrow?: Problem): Write =>
  update(
    keys.organization(orgId),
    { set: { plan, updatedAt: now().toISOString() } },
    { if: exists, ...(orThrow && { orThrow }) },
  );

/** Sets a plan granted by the operator. Throws 409 if a subscription determines the plan. */
export async function setUnpaidPlan(orgId: number, plan: PlanKey): Promise<void> {
  if (await getLiveSubscription(orgId))
    throw conflict(
      "The organization's plan comes from its subscription: cancel the subscription before " +
        "you give it another plan",
    );
  await write(setPlanWrite(orgId, plan, missing("The organization does not exist")));
}

/** Forgets a customer that was deleted at Stripe, together with its subscription. */
export async function forgetCustomer(orgId: number, customerId: string): Promise<void> {
  const attributes = [
    "customerId",
    ...Object.keys(Subscription.shape),
    "subscriptionId",
    "itemId",
    "made",
    "seenAt",
  ];
  const hadSubscription = await getLiveSubscription(orgId);
  const set = { formerCustomerId: customerId };
  const billingWrite = update(
    keys.stripeBilling(orgId),
    { set, remove: attributes },
    { if: equals("customerId", customerId) },
  );
  await transact(billingWrite, ...(hadSubscription ? [setPlanWrite(orgId, fallbackPlan())] : []));
}

const fallbackPlan = (): PlanKey => defaultPlan() ?? "free";

export const isCustomer = async (orgId: number, customerId: string | undefined): Promise<boolean> =>
  customerId !== undefined && (await getBilling(orgId)).customerId === customerId;

export const stripeIdOf = (
  reference: string | { id: string } | null | undefined,
): string | undefined => (typeof reference === "string" ? reference : reference?.id);
const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();
