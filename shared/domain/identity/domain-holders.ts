// The organization that has verified a domain. At most one holds it at a time. The area `senders`
// verifies domains; single sign-on trusts addresses of a domain only while the organization holds
// it.
import { equals } from "../../adapters/dynamodb/conditions.ts";
import { checkCondition, get, type Write } from "../../adapters/dynamodb/table.ts";
import { conflict } from "../../errors.ts";
import { keys } from "../../keys.ts";

export async function getDomainHolder(name: string): Promise<number | undefined> {
  return (await get<{ orgId: number }>(keys.domainOwner(name)))?.orgId;
}

/** Throws 409 `domain_not_verified` unless the organization holds the domain. */
export const holdsDomainCheck = (orgId: number, name: string): Write =>
  checkCondition(
    keys.domainOwner(name),
    equals("orgId", orgId),
    conflict(`Verify ${name} first: add it with POST /domains and publish its ownership record`, {
      code: "domain_not_verified",
    }),
  );
