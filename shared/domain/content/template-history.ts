// The versions of a template that were replaced: one small item per template. Bodies are stored
// apart (template-bodies.ts).
import { get, remove, update, type Write } from "../../adapters/dynamodb/table.ts";
import { type Key, keys } from "../../keys.ts";
import * as templateBodies from "./template-bodies.ts";

/** The current version and those that it replaced. */
const maxVersions = 50;

export interface SavedVersion {
  version: number;
  subject: string;
  /** ISO 8601 */
  savedAt: string;
  /** Id of the user, or of the user who created the API key. */
  savedBy: number | null;
}

const historyKey = (orgId: number, id: number): Key =>
  keys.recordBody(orgId, "TEMPLATE", { id, version: "history" });
const maxSubjectLength = 200;

/** Newest first. */
export async function readHistory(orgId: number, id: number): Promise<SavedVersion[]> {
  const { pk: _, sk: __, ...versions } = (await get<Key>(historyKey(orgId, id))) ?? {};
  return Object.values<SavedVersion>(versions).toSorted((a, b) => b.version - a.version);
}

/** Adds the version that is being replaced. Those that leave the history expire. */
export async function replaceVersionWrites(
  orgId: number,
  id: number,
  { version, subject, ...saved }: SavedVersion,
): Promise<Write[]> {
  const entry = { version, subject: subject.slice(0, maxSubjectLength), ...saved };
  const dropped = (await readHistory(orgId, id)).slice(maxVersions - 2);
  return [
    update(historyKey(orgId, id), {
      set: { [`v${version}`]: entry },
      remove: dropped.map((one) => `v${one.version}`),
    }),
    ...dropped.map((one) => templateBodies.expireBodyWrite(orgId, id, one.version)),
  ];
}

/** For the transaction that deletes the template. */
export async function expireAllWrites(
  orgId: number,
  id: number,
  current: number,
): Promise<Write[]> {
  const replaced = (await readHistory(orgId, id)).map(({ version }) => version);
  // A change that is saved at the same time may have replaced the version that was read.
  return [
    ...[...new Set([current, ...replaced])].map((version) =>
      templateBodies.expireBodyWrite(orgId, id, version),
    ),
    ...(replaced.length ? [remove(historyKey(orgId, id))] : []),
  ];
}
