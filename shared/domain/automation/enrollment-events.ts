// Webhook events of enrollments.
import {
  noEvents,
  type PreparedEvents,
  prepareEvents,
  type RecordEvent,
} from "../webhooks/record-events.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";

type EnrollmentEvent = "sequence.enrolled" | "sequence.completed";

/** For the transaction that starts or ends these enrollments of one organization. */
export function prepareEnrollmentEvents(
  event: EnrollmentEvent,
  items: EnrollmentItem[],
): Promise<PreparedEvents> | PreparedEvents {
  const [first] = items;
  if (!first) return noEvents;
  const toEvent = ({ id, siteId, sequenceId, contactId, email }: EnrollmentItem): RecordEvent => ({
    event,
    contactId,
    email,
    details: { siteId, sequenceId, data: { enrollmentId: id } },
  });
  return prepareEvents(first.orgId, () => items.map(toEvent));
}
