// Loads the events that commits list, with their sends.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { keys } from "../../keys.ts";
import { addAcceptedFields } from "../sending/bulk/chunk-sends.ts";
import type { EventCommitRow } from "./event-commits.ts";
import { eventKey, type OverflowEvent, type SendWithEvents } from "./send-events.ts";
import type { SendEvent } from "./send-outcome.ts";

/** In the order of the rows. Leaves out events whose send is erased. */
export async function loadCommittedEvents(
  orgId: number,
  rows: EventCommitRow[],
  { consistent = false } = {},
): Promise<{ send: SendWithEvents; event: SendEvent }[]> {
  const [sends, overflowItems] = await Promise.all([
    getMany<SendWithEvents>(
      rows.map(([sendId]) => keys.send(orgId, sendId)),
      { consistent },
    ).then((items) => addAcceptedFields(orgId, items, { consistent })),
    getMany<OverflowEvent>(
      rows.flatMap(([sendId, , type, providerEventId]) =>
        providerEventId === undefined
          ? []
          : [keys.overflowEvent(orgId, sendId, eventKey({ type, providerEventId }))],
      ),
      { consistent },
    ),
  ]);
  const overflow = new Map(overflowItems.flatMap((event) => (event ? [[event.id, event]] : [])));
  return rows.flatMap(([, eventId], i) => {
    const send = sends[i];
    const event = overflow.get(eventId) ?? send?.events?.find(({ id }) => id === eventId);
    return send && event ? [{ send, event }] : [];
  });
}
