import { enqueueDivisible } from "../../adapters/sqs/enqueue.ts";
import * as ids from "../../ids.ts";
import { splitByBytes, splitIntoBatches } from "../../kernel/parallel.ts";
import type { ProviderEvent } from "../../providers/inbound/inbound-adapter.ts";
import { maxMessageBytes, queues } from "../../queues.ts";

const maxEventsPerMessage = 200;

/** Queues events that a provider reported. Throws if the queue refuses one. */
export async function enqueueProviderEvents(
  { orgId, provider }: { orgId: number; provider: string },
  events: ProviderEvent[],
): Promise<void> {
  const first = await ids.nextEventIds(events.length);
  const numbered = events.map((event, i) => ({ ...event, id: first + i }));
  const messages = splitIntoBatches(numbered, maxEventsPerMessage).flatMap((batch) =>
    splitByBytes(batch, maxMessageBytes),
  );
  const refused = await enqueueDivisible(
    queues.providerEvents,
    messages.map((group) => ({ orgId, provider, events: group })),
    { group: orgId, withEvents: (message, some) => ({ ...message, events: some }) },
  );
  if (refused.length) throw new Error(`The queue refuses ${refused.length} events`);
}
