// Exports short enough for one answer.
import type { Caller } from "../../caller.ts";
import { shards } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { Wish } from "../exports.ts";
import { type Shape, whole } from "./formats.ts";
import { type Source, sources } from "./sources.ts";

const maxRows = 10_000;

/** The whole text; undefined when it has more rows than one answer takes. In the order of lists. */
export async function text({ orgId }: Pick<Caller, "orgId">, { type, format, filter }: Wish): Promise<string | undefined> {
  const source = await sources[type](orgId, filter);
  const items = await gathered(source);
  if (!items) return undefined;
  const shape: Shape = source.shape([...new Set(source.fieldsOf(items))]);
  return whole(format, shape, await source.rows(items));
}

async function gathered(source: Source): Promise<unknown[] | undefined> {
  const found: unknown[][] = shards.map(() => []);
  let rows = 0;
  await inParallel(8, shards, async (shard, i) => {
    for await (const { items } of source.pages(shard, undefined)) {
      rows += items.length;
      if (rows > maxRows) return;
      found[i]!.push(...items);
    }
  });
  return rows > maxRows ? undefined : found.flat().sort(source.order);
}
