// An event in files and on the event bus: the body that webhook endpoints get, with its id and its
// organization.
import type { OutgoingEvent } from "../../queues.ts";

/** The id of an event is the same in files, on the bus and in `eventId` of webhooks. */
export const toStreamedEvent = (
  orgId: number,
  { id, details, ...fields }: OutgoingEvent,
): Record<string, unknown> => ({
  eventId: id,
  organizationId: orgId,
  ...fields,
  ...details,
});
