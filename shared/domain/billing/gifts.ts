// What an operator gives an organization without anybody paying for it: where there is no Stripe, there is no other way to more mails.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { planKeys } from "../../plans.ts";
import * as credits from "../credits.ts";
import * as subscriptions from "./subscriptions.ts";

export const Gift = z.object({
  organizationId: z.int().positive(),
  plan: z.enum(planKeys),
  credits: z.int().min(0).max(1_000_000_000).default(0).describe("Added to those that are there"),
});
export type Gift = z.output<typeof Gift>;

/** Answers the credits that the organization has now. 404 for an unknown organization, 409 where a subscription says what the plan is. */
export async function give({ organizationId: orgId, plan, credits: given }: Gift): Promise<Gift> {
  await subscriptions.give(orgId, plan);
  const amount = given * credits.amountPerCredit;
  if (amount) await credits.grant(orgId, { what: "grant", reference: `grant:${randomUUID()}`, amount });
  return { organizationId: orgId, plan, credits: (await credits.balance(orgId)) / credits.amountPerCredit };
}
