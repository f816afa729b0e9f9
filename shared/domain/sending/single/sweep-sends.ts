// Finds the single sends of a window that nobody finished, such as after a crash or when a message
// of the queue was lost, and puts them on the due index. Each window is swept once.
import { absent, all, equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, getMany, remove, transact, update } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { type Key, keys } from "../../../keys.ts";
import * as sendFeed from "../send-feed.ts";
import {
  dueAttributes,
  isBulk,
  isSettled,
  type SingleSendItem,
  unchangedCondition,
} from "./single-send-item.ts";
import type { SweptWindow } from "./sweep-windows.ts";

/** Safe to repeat and to run twice at a time. */
export async function sweepWindow(window: SweptWindow & Key & { duesk: string }): Promise<void> {
  const { orgId, siteId, start: from, end: to } = window;
  for await (const ids of sendFeed.readSinglesBetween(orgId, { siteId, from, to })) {
    const sends = await getMany<SingleSendItem>(
      ids.map((id) => keys.send(orgId, id)),
      { consistent: true },
    );
    await inParallel(8, sends, async (send) => send && makeDue(orgId, send));
  }
  // A process that was slow may have marked the window again.
  await transact(
    remove(keys.sweptWindow(orgId, siteId, from), { if: equals("duesk", window.duesk) }),
  );
}

/** Puts an unfinished single send on the due index, unless it has an entry. */
async function makeDue(orgId: number, send: SingleSendItem): Promise<void> {
  const key = keys.send(orgId, send.id);
  let current: SingleSendItem | undefined = send;
  while (current && current.duesk === undefined && !isBulk(current) && !isSettled(current)) {
    const isDue = await transact(
      update(
        key,
        { set: dueAttributes(orgId, send.id, now()) },
        { if: all(unchangedCondition(current), absent("duesk")) },
      ),
    );
    if (isDue) return;
    current = await get<SingleSendItem>(key);
  }
}
