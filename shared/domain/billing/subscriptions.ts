// What an organization has with Stripe: a customer, and perhaps a subscription. Stripe has the last word, so that what it tells is only
// a reason to look there again: whoever looked last is right, in whatever order the news came.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { absent, all, any, atMost, equals, exists } from "../../conditions.ts";
import { config } from "../../config.ts";
import { asked, ours, type Stripe } from "../../doors/stripe.ts";
import { claim, get, update, type Write, write } from "../../doors/table.ts";
import { conflict, missing, type Problem, unavailable } from "../../errors.ts";
import { keys } from "../../keys.ts";
import * as log from "../../log.ts";
import { type PlanKey, planKeys, plans } from "../../plans.ts";
import * as prices from "./prices.ts";

export const Subscription = z
  .object({
    status: z.string().describe("Stripe's word: trialing, active, past_due, unpaid, incomplete, incomplete_expired, paused or canceled"),
    plan: z.enum(planKeys),
    currentPeriodStart: z.string(),
    currentPeriodEnd: z.string(),
    cancelAtPeriodEnd: z.boolean().describe("It was cancelled and ends with its period"),
  })
  .meta({ id: "Subscription" });
export type Subscription = z.output<typeof Subscription>;

/** As it is stored. */
interface Billing extends Partial<Subscription> {
  customerId?: string;
  subscriptionId?: string;
  /** What of the subscription is paid for, at Stripe. */
  itemId?: string;
  /** When it was made (seconds since 1970). */
  made?: number;
  /** When we last asked for it (ISO 8601). */
  seenAt?: string;
}

/** One that gives its plan, and can be changed. */
export interface Live extends Subscription {
  customerId: string;
  subscriptionId: string;
  itemId: string;
}

const liveStatuses = ["active", "trialing", "past_due"];
const isLive = ({ status = "" }: { status?: string | undefined }): boolean => liveStatuses.includes(status);

const stored = async (orgId: number): Promise<Billing> => (await get<Billing>(keys.billing(orgId))) ?? {};

export async function find(orgId: number): Promise<{ customerId: string | undefined; subscription: Subscription | undefined }> {
  const billing = await stored(orgId);
  return { customerId: billing.customerId, subscription: billing.subscriptionId ? Subscription.parse(billing) : undefined };
}

export async function live(orgId: number): Promise<Live | undefined> {
  const billing = await stored(orgId);
  return isLive(billing) ? (billing as Live) : undefined;
}

/** The customer at Stripe that the organization is; made when it is first needed. */
export async function customer({ orgId, userId }: Caller): Promise<string> {
  const known = await stored(orgId);
  if (known.customerId) return known.customerId;
  const user = await get<{ email: string }>(keys.member(orgId, userId));
  const fields = { ...(user && { email: user.email }), metadata: { orgId: String(orgId) } };
  // Of two that ask at once, one is remembered. The other pays for nothing.
  const { id } = await asked((stripe) => stripe.customers.create(fields, { idempotencyKey: ours(`org-${orgId}-user-${userId}-customer`) }));
  if (await claim(update(keys.billing(orgId), { set: { customerId: id } }, { if: absent("customerId") }))) return id;
  return (await stored(orgId)).customerId!;
}

/** Looks at a subscription, and brings plan and period in line with it. */
export async function sync(orgId: number, subscriptionId: string): Promise<void> {
  const seenAt = now().toISOString();
  await apply(orgId, await asked((stripe) => stripe.subscriptions.retrieve(subscriptionId)), seenAt);
}

/** The same with a subscription as Stripe has just given it; `seenAt`: when it was asked for. */
export async function apply(orgId: number, given: Stripe.Subscription, seenAt: string): Promise<void> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const current = await stored(orgId);
    if (!concerns(orgId, current, given) || (current.seenAt ?? "") > seenAt) return;
    if (await claim(...applying(orgId, current, given, seenAt))) return;
  }
  throw unavailable("The subscription is being changed by somebody else: try again");
}

/** Another customer is of another installation that shares the account; of two subscriptions the younger counts while it lives. */
function concerns(orgId: number, current: Billing, given: Stripe.Subscription): boolean {
  if (current.customerId !== idOf(given.customer)) return false;
  if (!current.subscriptionId || current.subscriptionId === given.id || !isLive(current)) return true;
  if (isLive(given))
    log.failure("who pays twice?", new Error(`The subscriptions ${current.subscriptionId} and ${given.id} both live`), { orgId });
  return isLive(given) && given.created > (current.made ?? 0);
}

function applying(orgId: number, current: Billing, given: Stripe.Subscription, seenAt: string): Write[] {
  const item = given.items.data[0];
  const plan = prices.planOf(given);
  if (!item || !plan) throw conflict(`The subscription ${given.id} is for none of our plans`);
  const set = {
    subscriptionId: given.id,
    status: given.status,
    plan,
    currentPeriodStart: isoOf(item.current_period_start),
    currentPeriodEnd: isoOf(item.current_period_end),
    cancelAtPeriodEnd: given.cancel_at_period_end || given.cancel_at !== null,
    itemId: item.id,
    made: given.created,
    seenAt,
  };
  const unchanged = current.subscriptionId === undefined ? absent("subscriptionId") : equals("subscriptionId", current.subscriptionId);
  const as = current.status === undefined ? absent("status") : equals("status", current.status);
  const fresher = all(equals("customerId", current.customerId), unchanged, as, any(absent("seenAt"), atMost("seenAt", seenAt)));
  const remembered = update(keys.billing(orgId), { set }, { if: fresher });
  // The first payment is not made yet: what was, stays.
  if (given.status === "incomplete") return [remembered];
  const anchored = update(keys.account(orgId), { set: { anchor: isoOf(given.billing_cycle_anchor) } });
  if (isLive(given)) return [remembered, moving(orgId, plan), anchored];
  // Whoever had nothing that lived may have a plan from the operator: it stays.
  return isLive(current) ? [remembered, moving(orgId, planWithout())] : [remembered];
}

const moving = (orgId: number, plan: PlanKey, otherwise?: Problem): Write =>
  update(keys.organization(orgId), { set: { plan, updatedAt: now().toISOString() } }, { if: exists, ...(otherwise && { otherwise }) });

/** A plan that nobody pays for, from the operator. 409 where a subscription says what the plan is. */
export async function give(orgId: number, plan: PlanKey): Promise<void> {
  if (await live(orgId)) throw conflict("The organization has a subscription, which says what its plan is");
  await write(moving(orgId, plan, missing("There is no such organization")));
}

/** The plan of those who have no subscription. */
const planWithout = (): PlanKey => (Object.hasOwn(plans, config.defaultPlan) ? (config.defaultPlan as PlanKey) : "free");

/** The customer was deleted at Stripe, and with it whatever it had. */
export async function forget(orgId: number, customerId: string): Promise<void> {
  const gone = ["customerId", ...Object.keys(Subscription.shape), "subscriptionId", "itemId", "made", "seenAt"];
  const lived = await live(orgId);
  const forgotten = update(keys.billing(orgId), { remove: gone }, { if: equals("customerId", customerId) });
  await claim(forgotten, ...(lived ? [moving(orgId, planWithout())] : []));
}

export const isCustomer = async (orgId: number, customerId: string | undefined): Promise<boolean> =>
  customerId !== undefined && (await stored(orgId)).customerId === customerId;

export const idOf = (reference: string | { id: string } | null | undefined): string | undefined =>
  typeof reference === "string" ? reference : reference?.id;
const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();
