// Reads sends by id, from items of their own or from chunks. Sends with neighbouring ids are read
// in one query.
import { get, getMany, query } from "../../adapters/dynamodb/table.ts";
import { type Key, keys, ranges } from "../../keys.ts";
import { isStoredSend } from "../identity/open-charges.ts";
import * as chunks from "./bulk/chunks.ts";
import type { SendItem } from "./sends.ts";

// From this number of sends in a partition of 100 ids, one query is cheaper than reading each item.
const minSendsToQuery = 9;
// 100 sends and some of their events. When a partition has more items, the sends are read by key.
const maxItemsPerHundred = 300;

/** Undefined when there is no such send. */
export async function getSend(orgId: number, id: number): Promise<SendItem | undefined> {
  const item = await get<SendItem>(keys.send(orgId, id));
  if (!item || !isStoredSend(item)) return chunks.getChunkSend(orgId, id);
  return (await chunks.addAcceptedFields(orgId, [item], { consistent: true }))[0];
}

/**
 * In the order of the ids; undefined for ids without a send. Without `rendersSubject`, sends in
 * chunks have the Liquid source of the subject.
 */
export async function getSends(
  orgId: number,
  ids: number[],
  { consistent = false, rendersSubject = true } = {},
): Promise<(SendItem | undefined)[]> {
  const hundreds = [...Map.groupBy(ids, (id) => Math.floor(id / 100))];
  const denseHundreds = hundreds.filter(([, some]) => some.length >= minSendsToQuery);
  const sparseIds = hundreds
    .filter(([, some]) => some.length < minSendsToQuery)
    .flatMap(([, some]) => some);
  const items = await Promise.all([
    getByKeys(orgId, sparseIds, consistent),
    ...denseHundreds.map(([hundred, some]) =>
      queryHundred(orgId, hundred, { ids: some, consistent }),
    ),
  ]);
  const found = new Map(items.flat().flatMap((item) => (item ? [[item.id, item]] : [])));
  const lines = await chunks.getChunkSends(
    orgId,
    ids.filter((id) => !found.has(id)),
    { consistent, rendersSubject },
  );
  for (const line of lines) found.set(line.id, line);
  return chunks.addAcceptedFields(
    orgId,
    ids.map((id) => found.get(id)),
    { consistent },
  );
}

const getByKeys = (orgId: number, ids: number[], consistent: boolean) =>
  getMany<SendItem>(
    ids.map((id) => keys.send(orgId, id)),
    { consistent },
  );

async function queryHundred(
  orgId: number,
  hundred: number,
  { ids, consistent }: { ids: number[]; consistent: boolean },
): Promise<(SendItem | undefined)[]> {
  const { items, next } = await query<SendItem & Key>(ranges.sendPartition(orgId, hundred), {
    limit: maxItemsPerHundred,
    consistent,
  });
  if (next !== undefined) return getByKeys(orgId, ids, consistent);
  return items.filter(({ sk, id }) => sk === keys.send(orgId, id).sk);
}
