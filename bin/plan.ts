// `npm run plan -- <organization> <plan> [credits]`: gives an organization a plan, and perhaps credits, that nobody pays for. For operators
// without Stripe. Speaks to the table that TABLE_NAME names, with the AWS credentials in the environment.
import { randomUUID } from "node:crypto";
import * as subscriptions from "../shared/domain/billing/subscriptions.ts";
import * as credits from "../shared/domain/credits.ts";
import { type PlanKey, planKeys } from "../shared/plans.ts";

const [organization, plan, given = "0"] = process.argv.slice(2);
const orgId = Number(organization);
const amount = Number(given) * credits.amountPerCredit;

if (!(orgId > 0) || !planKeys.includes(plan as PlanKey) || !Number.isSafeInteger(amount) || amount < 0) {
  console.error(`Usage: npm run plan -- <organization id> <${planKeys.join("|")}> [credits]`);
  process.exit(1);
}

try {
  await subscriptions.give(orgId, plan as PlanKey);
  if (amount) await credits.grant(orgId, { what: "grant", reference: `grant:${randomUUID()}`, amount });
  console.log(`Organization ${orgId} has the plan ${plan} and ${(await credits.balance(orgId)) / credits.amountPerCredit} credits`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
