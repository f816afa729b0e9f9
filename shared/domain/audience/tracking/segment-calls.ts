// Calls of Segment's HTTP tracking API (https://segment.com/docs/connections/spec): their schemas,
// the event that each records, and whom it is about.
import * as z from "zod";
import { now } from "../../../clock.ts";
import type { Problem } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { EmailAddress, normalizeEmail } from "../../../kernel/email-fields.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { storedObject } from "../../../kernel/stored-json.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { ContactlessEvent } from "./custom-events.ts";
import { type NumberedEvent, numberEvents } from "./record-custom-events.ts";
import { emailOfTraits } from "./segment-traits.ts";

export const callTypes = ["identify", "track", "page", "screen", "group", "alias"] as const;
export type CallType = (typeof callTypes)[number];

export const maxCallBytes = 32 * 1024;
export const maxBatchBytes = 500 * 1024;
const maxCalls = 2500;

const UserId = z.union([z.string().max(200), z.int().min(0)]).nullish();
/** The limits of calls and batches as a whole are stricter. */
const Properties = storedObject(maxBatchBytes).nullish();

export const SegmentCall = z
  .object({
    userId: UserId.describe("Id of the person in your system: the `externalId` of the contact."),
    anonymousId: UserId.describe("Id of a browser or device. Names no contact."),
    previousId: UserId.describe("For alias: the earlier `userId`."),
    groupId: UserId.describe("For group: id of the company. Not stored."),
    messageId: z
      .string()
      .max(200)
      .nullish()
      .describe("Id of the call. Within 30 days, each id of a site counts once."),
    timestamp: z
      .string()
      .max(40)
      .nullish()
      .describe("When it happened: at most 30 days ago. A time in the future counts as now."),
    event: z.string().max(200).nullish().describe("For track: name of the event."),
    name: z.string().max(200).nullish().describe("For page and screen: its name."),
    properties: Properties.describe("For track, page and screen: your own data."),
    traits: Properties.describe("For identify and group: fields of the person or company."),
    context: Properties.describe(
      "`traits.email` names a contact without userId. With identify, `locale` becomes the " +
        "language of a contact without one.",
    ),
  })
  .meta({
    id: "SegmentCall",
    examples: [
      {
        userId: "user-1815",
        event: "Order Completed",
        properties: { total: 49.9 },
        messageId: "5f0d1bd2-7a53-4a0f-8a5b-0d5c4c3f2a11",
        timestamp: "2026-12-01T09:15:40Z",
      },
    ],
  });
export type SegmentCall = z.output<typeof SegmentCall>;

const BatchedCall = z
  .object({
    type: z.enum(callTypes).describe("Type of the call."),
    ...SegmentCall.shape,
  })
  .meta({ id: "SegmentBatchedCall" });

export const SegmentBatch = z
  .object({
    batch: z
      .array(z.unknown().meta({ documentedAs: BatchedCall }))
      .min(1)
      .max(maxCalls)
      .describe(
        `1 to ${maxCalls} calls, each with its type. Calls of one person are applied in their ` +
          "order.",
      ),
  })
  .meta({
    id: "SegmentBatch",
    examples: [
      {
        batch: [
          { type: "identify", userId: "user-1815", traits: { email: "ada@example.com" } },
          { type: "track", userId: "user-1815", event: "Order Completed" },
        ],
      },
    ],
  });

const CallResult = z
  .object({
    index: Count.describe("Position of the call in the batch, from 0."),
    outcome: z
      .enum(["applied", "ignored", "failed"])
      .describe("`ignored`: the call says nothing about a known contact."),
    reason: z
      .string()
      .nullable()
      .describe("Why it was ignored or failed, or which traits were left out. `null` if nothing."),
  })
  .meta({ id: "SegmentCallResult" });
type CallResult = z.output<typeof CallResult>;

export const SegmentAnswer = z
  .object({
    success: z.literal(true).describe("Always true."),
    applied: Count.describe("Number of calls that were applied."),
    ignored: Count.describe("Number of calls that say nothing about a known contact."),
    failed: Count.describe("Number of calls that are not valid. They must not be repeated."),
    results: z.array(CallResult).describe("One entry per call, in the order of the request."),
  })
  .meta({ id: "SegmentAnswer" });

/** A valid call with the ids that were reserved for it, so that a repeated request has the same. */
export interface NumberedCall {
  type: CallType;
  call: SegmentCall;
  /** For identify. */
  newContactId: number | undefined;
  event: NumberedEvent | undefined;
}
export type Outcome = Omit<CallResult, "index">;

export const applied = (reason: string | null = null): Outcome => ({ outcome: "applied", reason });
export const ignored = (reason: string): Outcome => ({ outcome: "ignored", reason });
export const failed = ({ message }: Pick<Problem, "message">): Outcome => ({
  outcome: "failed",
  reason: message,
});

/** Validates all calls and reserves their ids before any work. */
export async function numberCalls(calls: unknown[]): Promise<(NumberedCall | Outcome)[]> {
  const parsed = calls.map(parseCall);
  const events = parsed.flatMap((one) => ("event" in one && one.event ? [one.event] : []));
  const numbered = (await numberEvents(events)).values();
  const isIdentify = (one: (typeof parsed)[number]) => "type" in one && one.type === "identify";
  const contactIds = (await ids.nextContactIds(parsed.filter(isIdentify).length)).values();
  return parsed.map((one) => {
    if ("outcome" in one) return one;
    const newContactId = isIdentify(one) ? contactIds.next().value : undefined;
    return { ...one, newContactId, event: one.event && numbered.next().value! };
  });
}

type ParsedCall = Pick<NumberedCall, "type" | "call"> & {
  event: z.output<typeof ContactlessEvent> | undefined;
};

function parseCall(given: unknown): ParsedCall | Outcome {
  const options = { error: validationMessages };
  const parsed = BatchedCall.safeParse(given, options);
  if (parsed.error) return failed(describeFault(parsed.error));
  if (Buffer.byteLength(JSON.stringify(given)) > maxCallBytes)
    return failed({ message: "The call is larger than 32 KB" });
  const { type, ...call } = parsed.data;
  const event = toEvent(type, call);
  if (!event) return { type, call, event: undefined };
  const { data, error } = ContactlessEvent.safeParse(event, options);
  return data ? { type, call, event: data } : failed(describeFault(error));
}

const describeFault = ({ issues: [issue] }: z.ZodError): { message: string } => {
  const path = issue!.path.join(".").replace("occurredAt", "timestamp");
  return { message: [path, issue!.message].filter(Boolean).join(": ") };
};

/** The event that a call records. */
function toEvent(type: CallType, call: SegmentCall): object | undefined {
  const { event, name, properties, messageId, timestamp } = call;
  if (type !== "track" && type !== "page" && type !== "screen") return undefined;
  return {
    eventName: type === "track" ? (event ?? "") : type,
    properties: { ...(name && type !== "track" && { name }), ...properties },
    ...(messageId && { id: messageId }),
    ...(timestamp && { occurredAt: timeOf(timestamp) }),
  };
}

/** A clock that is ahead must not stop events. A text that is no time is refused later. */
function timeOf(timestamp: string): string {
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return timestamp;
  return new Date(Math.min(time, now().getTime())).toISOString();
}

export const idOf = (id: SegmentCall["userId"]): string | undefined =>
  id === null || id === undefined || id === "" ? undefined : String(id);

export const addressOf = ({ traits, context, userId }: SegmentCall): string | undefined => {
  const found = [emailOfTraits(traits), emailOfTraits(context?.traits), idOf(userId)];
  return found.find(isAddress);
};
export const isAddress = (text: string | undefined): text is string =>
  text !== undefined && EmailAddress.safeParse(text).success;

/** Positions of the calls that share an id or address, directly or by another call, in order. */
export function groupByPerson(calls: (NumberedCall | Outcome)[]): number[][] {
  const names = calls.map((one, index) =>
    "outcome" in one ? [`call ${index}`] : namesOf(one, index),
  );
  // Each name leads to another name of the same person, and the last one to itself.
  const next = new Map<string, string>();
  const lastOf = (name: string): string => {
    let last = name;
    while (next.get(last) !== undefined) last = next.get(last)!;
    if (last !== name) next.set(name, last);
    return last;
  };
  for (const [first, ...others] of names)
    for (const name of others) {
      const [from, to] = [lastOf(name), lastOf(first!)];
      if (from !== to) next.set(from, to);
    }
  return [...Map.groupBy(calls.keys(), (index) => lastOf(names[index]![0]!)).values()];
}

function namesOf({ call }: NumberedCall, index: number): string[] {
  const [userId, previousId, email] = [idOf(call.userId), idOf(call.previousId), addressOf(call)];
  const names = [
    ...(userId === undefined ? [] : [`id ${userId}`]),
    ...(previousId === undefined ? [] : [`id ${previousId}`]),
    ...(email === undefined ? [] : [`email ${normalizeEmail(email)}`]),
  ];
  return names.length ? names : [`call ${index}`];
}
