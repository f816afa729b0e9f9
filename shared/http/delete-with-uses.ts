// DELETE of a record that other records may use.
import type { Caller } from "../caller.ts";
import * as usages from "../domain/campaigns/usages.ts";
import type { ApiReply, IfUnused } from "./route.ts";

interface DeleteInput {
  caller: Caller;
  params: { id: number };
  query: IfUnused;
  reply: ApiReply;
}

export async function deleteWithUses(
  kind: usages.DeletedKind,
  { caller, params: { id }, query, reply }: DeleteInput,
  remove: (caller: Caller, id: number) => Promise<void>,
) {
  const ifUnused = query.ifUnused === "true";
  reply.warnings.push(
    ...(await usages.removeWithUses(caller, {
      kind,
      id,
      ifUnused,
      remove: () => remove(caller, id),
    })),
  );
  return { id, deleted: true as const };
}
