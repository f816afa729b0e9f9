// The DNS records that a provider requires for a sender domain, as its API names them.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { update, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import type { ProviderRecord } from "../../../providers/connect/connector.ts";
import type { DomainRecord } from "./check-domain.ts";

const maxRecords = 12;
const maxValueLength = 2_000;

/** Replaces the records of the provider. Does nothing if the domain has them already. */
export const storeProviderRecords = (
  { orgId, ...caller }: CallerScope,
  domainId: number,
  { provider, records: given }: { provider: string; records: ProviderRecord[] },
): Promise<void> =>
  retryOnConflict("The domain", async () => {
    const domain = await records.find<DomainRecord>("DOMAIN", { orgId, ...caller }, domainId);
    const kept = given
      .filter(({ name, value }) => name.length <= 253 && value.length <= maxValueLength)
      .slice(0, maxRecords);
    const { [provider]: stored, ...others } = domain.providerRecords ?? {};
    if (JSON.stringify(stored) === JSON.stringify(kept)) return;
    const set = {
      providerRecords: { ...others, [provider]: kept },
      revision: domain.revision + 1,
    };
    await write(
      update(
        keys.record(orgId, "DOMAIN", domainId),
        { set },
        { if: equals("revision", domain.revision) },
      ),
    );
  });
