// The check of `DELETE ...?ifUnused=true`, in tests that keep the record.
import type { CallerScope } from "../../shared/caller.ts";
import type { UsedKind } from "../../shared/domain/campaigns/campaign-uses.ts";
import { removeWithUses } from "../../shared/domain/campaigns/usages.ts";

/** Throws 409 `in_use` if something uses the record. */
export async function deleteIfUnused(
  caller: CallerScope,
  kind: UsedKind,
  id: number,
): Promise<void> {
  await removeWithUses(caller, { kind, id, ifUnused: true, remove: async () => {} });
}
