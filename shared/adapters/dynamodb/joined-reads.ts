// Joins reads that one request starts at the same time into one BatchGetItem. The units are those
// of single reads, but one call takes less time and CPU than several.
import type { Key } from "../../keys.ts";
import { usageScope } from "./capacity.ts";
import { get, getMany } from "./reads.ts";

interface JoinedRead {
  keys: Key[];
  items: Promise<(unknown | undefined)[]>;
}

/** By request or message, so that each pays for its own reads. */
const open = new WeakMap<object, JoinedRead>();

/** An eventually consistent read, made together with the others that start in the same turn. */
export async function getTogether<T>(key: Key): Promise<T | undefined> {
  const scope = usageScope();
  if (!scope) return get(key, { consistent: false });
  let read = open.get(scope);
  if (!read) {
    const keys: Key[] = [];
    read = { keys, items: readAfterThisTurn(scope, keys) };
    open.set(scope, read);
  }
  const position = read.keys.push(key) - 1;
  return (await read.items)[position] as T | undefined;
}

async function readAfterThisTurn(scope: object, keys: Key[]) {
  await new Promise<void>((resolve) => process.nextTick(resolve));
  open.delete(scope);
  return keys.length === 1 ? [await get(keys[0]!, { consistent: false })] : getMany(keys);
}
