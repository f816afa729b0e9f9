// `npm run plan -- <organization id> <plan> [credits]`: gives an organization a plan, and perhaps credits, that nobody pays for. For
// operators without Stripe. On this machine it asks the service that `npm start` runs; where TABLE_NAME is set it speaks to that table
// alone, with the AWS credentials in the environment.
import { parseArgs } from "node:util";
import { named } from "../infra/local/address.ts";
import { ask } from "../infra/local/caller.ts";
import { Trouble } from "../infra/local/trouble.ts";
import { Gift, give } from "../shared/domain/billing/gifts.ts";
import { planKeys } from "../shared/plans.ts";

const usage = `Usage: npm run plan -- <organization id> <${planKeys.join("|")}> [credits] [--url http://127.0.0.1:3000]`;

try {
  const { gift, url } = asked();
  const { organizationId, plan, credits } = await (process.env.TABLE_NAME && !url ? give(gift) : giveHere(gift, url));
  console.log(`Organization ${organizationId} has the plan ${plan} and ${credits} credits`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

function asked(): { gift: Gift; url: string | undefined } {
  try {
    const { values, positionals } = parseArgs({ options: { url: { type: "string" } }, allowPositionals: true });
    const [organizationId, plan, credits = "0", ...more] = positionals;
    if (more.length) throw new Trouble();
    return { gift: Gift.parse({ organizationId: Number(organizationId), plan, credits: Number(credits) }), url: values.url };
  } catch {
    throw new Trouble(usage);
  }
}

async function giveHere(gift: Gift, url: string | undefined): Promise<Gift> {
  const { status, body } = await ask({ url: named(url, process.env), headers: {} }, "POST", "/_local/plan", gift);
  if (status !== 200) throw new Trouble(body.error);
  return body.data as Gift;
}
