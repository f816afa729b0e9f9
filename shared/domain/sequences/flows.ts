// Where the steps of a sequence are stored: as a whole, and each edit as a new version, so that whoever goes through it sees the steps
// before an edit or after it, and never half of them.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { boundedCache } from "../../cache.ts";
import { after, epochSeconds } from "../../clock.ts";
import { get, put, update, type Write } from "../../doors/table.ts";
import { missing } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { empty, type Flow } from "./flow.ts";
import type { SequenceItem } from "./record.ts";

const known = boundedCache<Flow>(16_000_000);

/** Kept in the process, as a version never changes. */
export async function of(orgId: number, { id, stepsVersion }: Pick<SequenceItem, "id" | "stepsVersion">): Promise<Flow> {
  if (!stepsVersion) return empty;
  const name = `${orgId}/${id}/${stepsVersion}`;
  const kept = known.get(name);
  if (kept) return kept;
  const item = await get<Packed>(keys.body(orgId, "SEQUENCE", id, stepsVersion));
  if (!item) throw missing("There is no such sequence");
  const found = await unpacked<Flow>(item);
  known.set(name, found, 2 * JSON.stringify(found).length + 500);
  return found;
}

/** A version of the steps; the record that names it goes with it in one transaction. */
export async function storing(orgId: number, sequenceId: number, version: number, next: Flow): Promise<Write> {
  const address = keys.body(orgId, "SEQUENCE", sequenceId, version);
  return put(address, await packed(address, next, "templates"));
}

const keepSeconds = 24 * 3600;

/** For a version that nobody reads any more but who is reading it now. */
export const expiring = (orgId: number, { id, stepsVersion }: SequenceItem): Write[] =>
  stepsVersion ? [update(keys.body(orgId, "SEQUENCE", id, stepsVersion), { set: { expires: epochSeconds(after(keepSeconds)) } })] : [];
