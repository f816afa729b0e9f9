// Chunks of a campaign that are held back: it is paused, or they wait for the winner of its test. They lie beside the campaign and
// not in the lane, where others would have to wait behind them.
import { exists } from "../../conditions.ts";
import { claim, get, put, query, remove, update, type Write, write } from "../../doors/table.ts";
import { type Address, keys, ranges } from "../../keys.ts";
import type { Waiting } from "./lanes.ts";
import * as lanes from "./lanes.ts";
import { counting, type Source } from "./sources.ts";

type Held = Waiting & { configId: number };

/** Out of the lane, as far as it has come. */
export async function hold(orgId: number, waiting: Waiting): Promise<void> {
  const { pk, sk, ...rest } = waiting;
  const { kind, id } = waiting.source!;
  await claim(remove({ pk, sk }, { if: exists }), put(keys.held(orgId, kind, id, sk), rest));
}

// A transaction takes 100 writes.
const atOnce = 40;

/** All of them into the lane. Safe to repeat. */
export async function release(orgId: number, source: Source, configId: number): Promise<void> {
  for (;;) {
    const { items } = await query<Held>(ranges.held(orgId, source.kind, source.id), { limit: atOnce, consistent: true });
    if (!items.length) break;
    await write(...items.flatMap((one) => releasing(orgId, one)));
  }
  await lanes.arrived(orgId, configId);
}

const releasing = (orgId: number, { pk, sk, ...rest }: Held): Write[] => [
  remove({ pk, sk }),
  put(lanes.placeOf(orgId, rest.configId, rest), rest),
];

/** None of them goes; those of which calls have begun go back into the lane, to be settled there. Safe to repeat. */
export async function discard(orgId: number, source: Source, configId: number): Promise<void> {
  let after: string | undefined;
  do {
    const { items, next } = await query<Held>(ranges.held(orgId, source.kind, source.id), { limit: 100, after, consistent: true });
    for (const one of items) {
      if (hasBegun(one)) await write(...releasing(orgId, one));
      else await cancelRest(orgId, one.source!, one);
    }
    after = next;
  } while (after !== undefined);
  await lanes.arrived(orgId, configId);
}

const hasBegun = (waiting: Waiting): boolean =>
  Object.keys(waiting).some((name) => /^c\d+$/.test(name) && !waiting[`d${Number(name.slice(1))}`]);

/** What was not handed over of a chunk, wherever it waits, never will be. */
export async function cancelRest(orgId: number, source: Source, { pk, sk }: Address): Promise<void> {
  const place = { pk, sk };
  const waiting = await get<Waiting>(place);
  if (!waiting) return;
  const left = waiting.n - (waiting.doneLines ?? 0);
  await claim(
    remove(place, { if: exists }),
    update(keys.chunk(orgId, waiting.block, waiting.chunk), { set: { cancelled: true } }),
    ...counting(orgId, waiting.block, [{ source, tallies: { cancelled: left } }]),
  );
}
