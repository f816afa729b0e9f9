// Chunks of a campaign, sequence or holiday that are held back: it is paused, or they wait for the winner of its test. They lie beside the campaign and
// not in the lane, where others would have to wait behind them.
import { exists } from "../../conditions.ts";
import { claim, get, put, query, remove, update, type Write } from "../../doors/table.ts";
import { type Address, keys, ranges } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { Waiting } from "./lanes.ts";
import * as lanes from "./lanes.ts";
import { counting, type Source } from "./sources.ts";

export type Held = Waiting & { configId: number };

/** Out of the lane, as far as it has come. */
export async function hold(orgId: number, waiting: Waiting): Promise<void> {
  const { pk, sk, ...rest } = waiting;
  const { kind, id } = waiting.source!;
  await claim(remove({ pk, sk }, { if: lanes.asRead(waiting) }), put(keys.held(orgId, kind, id, sk), rest));
}

const atOnce = 100;

/** All of them into the lane, as they are or as `dealt` makes them; what it answers nothing for stays. Safe to repeat, also side by side. */
export async function release(orgId: number, source: Source, configId: number, dealt: Dealt = async () => ({})): Promise<void> {
  let after: string | undefined;
  do {
    const { items, next } = await query<Held>(ranges.held(orgId, source.kind, source.id), { limit: atOnce, after, consistent: true });
    await inParallel(8, items, async (one) => {
      const hand = await dealt(one);
      // Whoever else let it in may have seen it handed over already: it must not come back.
      if (hand) await claim(...releasing(orgId, one, hand.change), ...(hand.further ?? []));
    });
    after = next;
  } while (after !== undefined);
  await lanes.arrived(orgId, configId);
}

/** What a chunk is changed to as it is let in, and what has to be written with it. */
export type Dealt = (chunk: Held) => Promise<{ change?: Partial<Waiting>; further?: Write[] } | undefined>;

const releasing = (orgId: number, { pk, sk, ...rest }: Held, change: Partial<Waiting> = {}): Write[] => [
  remove({ pk, sk }, { if: exists }),
  put(lanes.placeOf(orgId, rest.configId, rest), { ...rest, ...change }),
];

/** None of them goes; those of which calls have begun go back into the lane, to be settled there. Safe to repeat. */
export async function discard(orgId: number, source: Source, configId: number): Promise<void> {
  let after: string | undefined;
  do {
    const { items, next } = await query<Held>(ranges.held(orgId, source.kind, source.id), { limit: 100, after, consistent: true });
    await inParallel(8, items, async (one) =>
      claim(...(hasBegun(one) ? releasing(orgId, one) : await cancelling(orgId, one.source!, one))),
    );
    after = next;
  } while (after !== undefined);
  await lanes.arrived(orgId, configId);
}

/** Something of it was handed over, or may have been. */
const hasBegun = (waiting: Waiting): boolean => Object.keys(waiting).some((name) => /^c\d+$/.test(name));

/** What was not handed over of a chunk, wherever it waits, never will be; what was asked for and is not settled, may have been. */
export async function cancelling(orgId: number, source: Source, { pk, sk }: Address): Promise<Write[]> {
  const waiting = await get<Waiting>({ pk, sk });
  if (!waiting) return [remove({ pk, sk }, { if: exists })];
  const { block, n, doneLines = 0 } = waiting;
  const chunk = keys.chunk(orgId, block, waiting.chunk);
  // After months there is nothing left to be marked.
  const isKept = await get(chunk, { consistent: false });
  const uncertain = unsettled(waiting);
  return [
    remove({ pk, sk }, { if: lanes.asRead(waiting) }),
    ...(isKept ? [update(chunk, { set: { cancelled: true } }, { if: exists })] : []),
    ...counting(orgId, block, [{ source, tallies: { cancelled: n - doneLines - uncertain, uncertain, sending: -uncertain } }]),
  ];
}

/** Mails of calls that were begun and are not done with. */
function unsettled({ n, callSize = n, ...marks }: Waiting): number {
  const open = Object.keys(marks).flatMap((name) =>
    /^c\d+$/.test(name) && !marks[`d${Number(name.slice(1))}`] ? Number(name.slice(1)) : [],
  );
  return open.reduce((sum, call) => sum + Math.min(callSize, n - call * callSize), 0);
}
