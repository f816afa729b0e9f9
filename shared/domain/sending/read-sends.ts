// Reads sends by id, from items of their own or from chunks. Sends with neighbouring ids are read
// in one query.
import { get, getMany, query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { missing } from "../../errors.ts";
import { permitSite } from "../../kernel/site-access.ts";
import { type Key, keys, ranges } from "../../keys.ts";
import { addAcceptedFields, getChunkSend, getChunkSends } from "./bulk/chunk-sends.ts";
import type { SendItem } from "./send-schema.ts";

// From this number of sends in a partition of 100 ids, one query is cheaper than reading each item.
const minSendsToQuery = 9;
// 100 sends and some of their events. When a partition has more items, the sends are read by key.
const maxItemsPerHundred = 300;

/** Undefined when there is no such send. */
export async function getSend(orgId: number, id: number): Promise<SendItem | undefined> {
  const item = await get<SendItem>(keys.send(orgId, id));
  if (!item) return getChunkSend(orgId, id);
  return (await addAcceptedFields(orgId, [item], { consistent: true }))[0];
}

/** A send without an item is read from its chunk. Throws 404. */
export async function findSend(caller: CallerScope, id: number): Promise<SendItem> {
  const item = await getSend(caller.orgId, id);
  if (!item) throw missing("The send does not exist");
  await permitSite(caller, item.siteId, () => missing("The send does not exist"));
  return item;
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
  const lines = await getChunkSends(
    orgId,
    ids.filter((id) => !found.has(id)),
    { consistent, rendersSubject },
  );
  for (const line of lines) found.set(line.id, line);
  return addAcceptedFields(
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
