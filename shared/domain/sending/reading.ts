// Sends by their ids, wherever they lie: items of their own, or still lines of chunks. Neighbours are read together.
import { getMany, query } from "../../doors/table.ts";
import { type Address, keys, ranges } from "../../keys.ts";
import type { SendItem } from "../sends.ts";
import * as chunks from "./chunks.ts";

// From so many on, reading all of a hundred is cheaper than naming each.
const dense = 9;
// A hundred sends and some events beside them. A send may have any number of those: then it is asked for by name.
const mostNeighbours = 300;

/** In the order of the ids; undefined where there is none. */
export async function byId(orgId: number, ids: number[]): Promise<(SendItem | undefined)[]> {
  const hundreds = [...Map.groupBy(ids, (id) => Math.floor(id / 100))];
  const together = hundreds.filter(([, some]) => some.length >= dense);
  const apart = hundreds.filter(([, some]) => some.length < dense).flatMap(([, some]) => some);
  const items = await Promise.all([named(orgId, apart), ...together.map(([hundred, some]) => neighbours(orgId, hundred, some))]);
  const found = new Map(items.flat().flatMap((item) => (item ? [[item.id, item]] : [])));
  const lines = await chunks.lines(
    orgId,
    ids.filter((id) => !found.has(id)),
  );
  for (const line of lines) found.set(line.id, line);
  return ids.map((id) => found.get(id));
}

const named = (orgId: number, ids: number[]) => getMany<SendItem>(ids.map((id) => keys.send(orgId, id)));

async function neighbours(orgId: number, hundred: number, ids: number[]): Promise<(SendItem | undefined)[]> {
  const { items, next } = await query<SendItem & Address>(ranges.sendsOf(orgId, hundred), { limit: mostNeighbours });
  if (next !== undefined) return named(orgId, ids);
  return items.filter(({ sk, id }) => sk === keys.send(orgId, id).sk);
}
