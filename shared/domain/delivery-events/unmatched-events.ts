// Events whose send was not found, for 7 days: those that are tried again and those that were given
// up.
import * as z from "zod";
import { query } from "../../adapters/dynamodb/table.ts";
import { type CallerScope, requireOrganizationAccess } from "../../caller.ts";
import { epochSeconds } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import {
  countSkipped,
  type PageRequest,
  positionOf,
  positionParts,
  toPagination,
} from "../../kernel/paging.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { ranges } from "../../keys.ts";
import { EmailEvent } from "./email-event.ts";
import { listAbout, type StoredUnmatchedEvent } from "./parked-events.ts";

const unmatchedReasons = ["no_ids", "unknown_message", "unknown_send"] as const;
type UnmatchedReason = (typeof unmatchedReasons)[number];

export const UnmatchedEvent = z
  .object({
    id: RecordId.describe("Id of the event. Higher ids are newer."),
    status: z
      .enum(["waiting", "unmatched"])
      .describe(
        "`waiting`: the send is looked up again, because the provider can be faster than the " +
          "service. `unmatched`: given up.",
      ),
    reason: z
      .enum(unmatchedReasons)
      .describe(
        "`no_ids`: the event names neither the send nor the message. `unknown_message`: no send " +
          "to the address has the message id. `unknown_send`: the send does not exist.",
      ),
    explanation: z.string().describe("The reason in a sentence, and what to do."),
    type: EmailEvent.shape.type,
    email: z.string().describe("Email address that the event is about."),
    sendId: RecordId.nullable().describe("Id of the send in the event, or `null`."),
    providerMessageId: z
      .string()
      .nullable()
      .describe("Id of the email at the provider, or `null`."),
    data: EmailEvent.shape.data,
    timestamp: Timestamp.describe("When the event happened, as reported by the provider."),
    provider: z.string().describe("Email provider that reported the event."),
  })
  .meta({ id: "UnmatchedEvent" });
export type UnmatchedEvent = z.output<typeof UnmatchedEvent>;

const positionPattern = new RegExp(`^${positionParts.id}$`);

/** Newest first. */
export async function listUnmatchedEvents(caller: CallerScope, request: PageRequest) {
  requireOrganizationAccess(caller);
  const skip = countSkipped(request);
  const { items, next } = await query<StoredUnmatchedEvent>(ranges.unmatchedEvents(caller.orgId), {
    newestFirst: true,
    limit: skip + request.limit,
    after: positionOf(request, positionPattern),
  });
  const events = items.slice(skip).filter(isKept).map(toApi);
  return { events, pagination: toPagination(request, null, items.length ? next : undefined) };
}

/** DynamoDB deletes expired items some time later. */
const isKept = ({ expires }: StoredUnmatchedEvent): boolean =>
  expires === undefined || expires > epochSeconds();

/** All events about an address, newest first. */
export const listUnmatchedAbout = async (orgId: number, email: string): Promise<UnmatchedEvent[]> =>
  (await listAbout(orgId, normalizeEmail(email))).filter(isKept).map(toApi);

function toApi({ provider, event, expires }: StoredUnmatchedEvent): UnmatchedEvent {
  const { id, type, email, sendId, providerMessageId, data, timestamp } = event;
  const reason = reasonOf(event);
  return {
    id,
    status: expires === undefined ? "waiting" : "unmatched",
    reason,
    explanation: explanations[reason],
    type,
    email,
    sendId: sendId ?? null,
    providerMessageId: providerMessageId ?? null,
    data,
    timestamp,
    provider,
  };
}

function reasonOf({ sendId, providerMessageId }: StoredUnmatchedEvent["event"]): UnmatchedReason {
  if (sendId !== undefined) return "unknown_send";
  return providerMessageId === undefined ? "no_ids" : "unknown_message";
}

const explanations: Record<UnmatchedReason, string> = {
  no_ids:
    "The provider named neither the send nor the message, as for a test of the webhook or a " +
    "manual change in its console. Nothing to do.",
  unknown_message:
    "No send of the last 90 days to this address has this message id. Another program sends " +
    "with the same account, or the response to the send was lost.",
  unknown_send:
    "The send does not exist: its site was deleted, or another installation sends with the same " +
    "account.",
};
