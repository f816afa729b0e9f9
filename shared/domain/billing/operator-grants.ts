// Plans and credits that the operator grants without payment. Without Stripe, this is the only way
// to send more mail.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { planKeys } from "../../plans.ts";
import * as credits from "./credits.ts";
import * as subscriptions from "./subscriptions.ts";

export const OperatorGrant = z.object({
  organizationId: z.int().positive(),
  plan: z.enum(planKeys),
  credits: z.int().min(0).max(1_000_000_000).default(0).describe("Credits to add"),
});
export type OperatorGrant = z.output<typeof OperatorGrant>;

/**
 * Returns the new balance as `credits`. Throws 404 for an unknown organization, 409 if a
 * subscription determines the plan.
 */
export async function grantPlan({
  organizationId: orgId,
  plan,
  credits: creditCount,
}: OperatorGrant): Promise<OperatorGrant> {
  await subscriptions.setUnpaidPlan(orgId, plan);
  const amount = creditCount * credits.millicentsPerCredit;
  if (amount)
    await credits.grant(orgId, { what: "grant", reference: `grant:${randomUUID()}`, amount });
  return {
    organizationId: orgId,
    plan,
    credits: (await credits.getBalance(orgId)) / credits.millicentsPerCredit,
  };
}
