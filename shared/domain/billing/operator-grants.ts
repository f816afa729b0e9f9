// Plans and credits that the operator grants without payment. Without Stripe, this is the only way
// to send more mail.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { Problem } from "../../errors.ts";
import { planKeys } from "../../plans.ts";
import { beginEntry, completeEntry, withdrawEntry } from "../audit/entries.ts";
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
  const target = "plans";
  const entry = await beginEntry(orgId, {
    action: "grantPlan",
    actor: { type: "operator", id: null },
    target,
    address: null,
    userAgent: null,
    requestId: null,
  });
  await subscriptions.setUnpaidPlan(orgId, plan).catch(async (error: unknown) => {
    if (error instanceof Problem) await withdrawEntry(entry);
    throw error;
  });
  const amount = creditCount * credits.millicentsPerCredit;
  if (amount)
    await credits.grant(orgId, { what: "grant", reference: `grant:${randomUUID()}`, amount });
  const changes = [
    { field: "plan", from: null, to: plan },
    { field: "credits", from: null, to: creditCount },
  ];
  await completeEntry(entry, { target, changes: JSON.stringify(changes) });
  return {
    organizationId: orgId,
    plan,
    credits: (await credits.getBalance(orgId)) / credits.millicentsPerCredit,
  };
}
