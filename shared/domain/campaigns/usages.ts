// Deletes a list, tag, topic, segment, template or sending config together with what refers to it:
// an active sequence pauses, a scheduled campaign becomes a draft again. Or deletes it only if
// nothing uses it.

import type { CallerScope } from "../../caller.ts";
import { conflict, type ProblemDetail } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import type { StoredMedia } from "../content/media.ts";
import type { UsageTarget, UsedKind } from "./campaign-uses.ts";
import { pictureUsersOf } from "./media-usages.ts";
import { type Use, usersOf } from "./usage-search.ts";

const mostShown = 20;

export type DeletedKind = UsedKind | "MEDIA";

interface Deletion {
  kind: DeletedKind;
  id: number;
  /** Refuse the deletion if something uses the record. */
  ifUnused: boolean;
  remove(): Promise<void>;
}

/**
 * Deletes the record and returns up to 20 sentences about what used it. Its users are released
 * first: after a crash, a repeated request finds the record and goes on. With `ifUnused`, throws
 * 409 `in_use` with up to 20 users in `details`. Throws 404 and 403 as `find` does.
 */
export async function removeWithUses(
  who: CallerScope,
  { kind, id, ifUnused, remove }: Deletion,
): Promise<string[]> {
  const record = await records.find<records.StoredRecord & { name?: string }>(kind, who, id);
  const target = {
    orgId: who.orgId,
    kind,
    id,
    siteId: record.siteId ?? undefined,
    name: record.name ?? "",
  };
  const listUsers = () =>
    kind === "MEDIA"
      ? pictureUsersOf({ ...(record as StoredMedia), orgId: who.orgId })
      : usersOf({ ...target, kind });
  if (ifUnused) await refuseUsed(target, listUsers());
  const reason = `The ${nameOf(target)} was deleted`;
  const notes: string[] = [];
  for await (const { message, release } of listUsers()) {
    await release?.(reason);
    notes.push(`The deleted ${records.nameOfKind(kind)} was in use: ${message}`);
  }
  await remove();
  return notes.slice(0, mostShown);
}

type Target = Omit<UsageTarget, "kind"> & { kind: DeletedKind };

const nameOf = ({ kind, id, name }: Target): string =>
  `${records.nameOfKind(kind)} ${id}${name && ` "${name.slice(0, 100)}"`}`;

async function refuseUsed(target: Target, users: AsyncGenerator<Use>): Promise<void> {
  const found: ProblemDetail[] = [];
  for await (const { path, message } of users) {
    found.push({ path, message });
    if (found.length > mostShown) break;
  }
  if (!found.length) return;
  const details = found.slice(0, mostShown);
  const many = found.length > mostShown ? `more than ${mostShown}` : String(found.length);
  const fact = `The ${records.nameOfKind(target.kind)} is in use (${many})`;
  const remedy = "change what uses it, or delete it without ifUnused=true";
  throw conflict(`${fact}: ${remedy}`, { code: "in_use", details });
}
