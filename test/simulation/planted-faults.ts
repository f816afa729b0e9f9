// Faults in the code of the service. A simulation must find each of them, with its own seed or
// within 100 seeds. Each one replaces a piece of the source when the code is bundled, so the
// product contains none of it.

/** A change of the source that breaks a promise. */
export interface PlantedFault {
  name: string;
  file: string;
  /** Stands in the file exactly once. */
  code: string;
  replacement: string;
  /** Finds the fault. After a change of the service or the simulation, another seed may find it. */
  seed: number;
}

export const plantedFaults: PlantedFault[] = [
  {
    name: "The claim of a provider call is not stored",
    file: "shared/domain/sending/bulk/claim-call.ts",
    code: "`]: claim, callSize },",
    replacement: "lost`]: claim, callSize },",
    seed: 2,
  },
  {
    name: "A single send is claimed without a condition",
    file: "shared/domain/sending/single/claim.ts",
    code: 'update(key, { set, remove: ["turnAt"] }, { if: unchangedCondition(send) })',
    replacement: 'update(key, { set, remove: ["turnAt"] })',
    seed: 23,
  },
  {
    name: "An Idempotency-Key is claimed without a condition",
    file: "shared/http/idempotency.ts",
    code: 'put(key, attempt, { if: any(isNew, atMost("expires", time)) })',
    replacement: "put(key, attempt)",
    seed: 14,
  },
  {
    name: "A send that is stored already is charged again",
    file: "shared/domain/sending/accept/store-single.ts",
    code: "put(key, send, { ifAbsent: true }), ...writes",
    replacement: "put(key, send), ...writes",
    seed: 14,
  },
  {
    name: "A lost answer counts as a connection that failed",
    file: "shared/adapters/http/client.ts",
    code: "return () => isEstablished;",
    replacement: "return () => false;",
    seed: 4,
  },
  {
    name: "Events lose the id that their provider gave them",
    file: "shared/domain/delivery-events/enqueue-provider-events.ts",
    code: "({ ...event, id: first + i })",
    replacement: "({ ...event, id: first + i, providerEventId: String(first + i) })",
    seed: 6,
  },
  {
    name: "Each attempt of a webhook has an id of its own",
    file: "shared/domain/webhooks/deliver-event.ts",
    code: "messageId: toMessageId(",
    replacement: "messageId: epochSeconds() + toMessageId(",
    seed: 7,
  },
  {
    name: "A fan-out advances its cursor before it stores the emails",
    file: "shared/domain/campaigns/engine/fan-out.ts",
    code: "fanOutCursors.advanceCursorWrite(key, cursor, batch.nextPosition),\n",
    replacement:
      "fanOutCursors.advanceCursorWrite(key, cursor, batch.nextPosition));\n  await write(\n",
    seed: 2,
  },
  {
    name: "Contacts who unsubscribed stay in the audience",
    file: "shared/domain/sending/eligibility.ts",
    code: 'if (contact.status !== "subscribed") return "unsubscribed";',
    replacement: "",
    seed: 2,
  },
  {
    name: "A failed webhook is not delivered again",
    file: "shared/domain/webhooks/delivery-row.ts",
    code: 'status === "pending" &&',
    replacement: 'status === "pending" && !row.attempts &&',
    seed: 6,
  },
  {
    name: "Events of one send are written without its version",
    file: "shared/domain/delivery-events/apply-events.ts",
    code: "ifEquals: { v: send.v },",
    replacement: "ifEquals: { id: send.id },",
    seed: 7,
  },
  {
    name: "Blocks of ids overlap",
    file: "shared/ids.ts",
    code: "update(keys.idCounter(kind), { add: { last: n } })",
    replacement: "update(keys.idCounter(kind), { add: { last: 1 } })",
    seed: 1,
  },
  {
    name: "A mail counts as missing after one search",
    file: "shared/domain/sending/look-up-sends.ts",
    code: "if (!missingSince) return lookUpAgain(orgId, send, answer.askedAt);",
    replacement: "if (!missingSince) return void (await uncertain.handOverAgain(orgId, send));",
    seed: 70,
  },
  {
    name: "The search of a provider finds every mail",
    file: "shared/providers/look-up.ts",
    code: "mail.sendId === String(sendId)",
    replacement: "sendId > 0",
    seed: 4,
  },
  {
    name: "Events leave uncertain mails uncertain",
    file: "shared/domain/delivery-events/send-outcome.ts",
    code: "  const at = arrivedAt && { deliveredAt: arrivedAt };",
    replacement:
      '  const at = arrivedAt && { deliveredAt: arrivedAt };\n  if (statusBefore === "uncertain") return {};',
    seed: 7,
  },
  {
    name: "An enrollment moves on without its version",
    file: "shared/domain/automation/enrollment-transition.ts",
    code: 'positionChanges(transition, to), { if: equals("v", enrollment.v) });',
    replacement: "positionChanges(transition, to));",
    seed: 67,
  },
  {
    name: "Uncertain mails with an early event are counted as uncertain",
    file: "shared/domain/sending/bulk/close-chunk.ts",
    code: "(sends[k]?.early ? [] : [outcome])",
    replacement: "[outcome]",
    seed: 9,
  },
  {
    name: "A rollup replaces the counters of the day without adding them up",
    file: "shared/domain/analytics/daily-rollups.ts",
    code: "{ ...addUp(counters), of:",
    replacement: "{ ...counters[0], of:",
    seed: 1,
  },
  {
    name: "An erasure leaves the lines of chunks",
    file: "shared/domain/privacy/erasure.ts",
    code: "ownIds.has(block * idsPerBlock + line.i) ? eraseLine(line) : line",
    replacement: "ownIds.has(-1) ? eraseLine(line) : line",
    seed: 1,
  },
  {
    name: "An erasure leaves the mail to an address that had no contact",
    file: "shared/domain/privacy/erasure.ts",
    code: "!isOthers && (await isFinished(caller, send))",
    replacement: "!isOthers && send.contactId",
    seed: 6,
  },
  {
    name: "Ids of events have the address in clear",
    file: "shared/providers/inbound/normalize.ts",
    code: "providerEventId: hashEventId(eventId),",
    replacement: 'providerEventId: eventId.join("|"),',
    seed: 6,
  },
  {
    name: "Events that a worker stored before it crashed are not counted",
    file: "shared/domain/delivery-events/send-events.ts",
    code: "(a.id === b.id ||",
    replacement: "(a.round === b.round ||",
    seed: 13,
  },
  {
    name: "Counts are shown as they are stored",
    file: "shared/kernel/sharded-counters.ts",
    code: "Math.max(0, n);",
    replacement: "n;",
    seed: 2,
  },
  {
    name: "A message uses up an attempt while the table is away",
    file: "shared/kernel/queue-worker.ts",
    code: "isOutage: isCausedByOutage(error) }",
    replacement: "isOutage: false }",
    seed: 29,
  },
  {
    name: "A single send that a crash made uncertain is not counted",
    file: "shared/domain/sending/single/settle.ts",
    code: "return { counts: { [status]: 1 }, sourceCounts };",
    replacement: 'return { counts: status === "uncertain" ? {} : { [status]: 1 }, sourceCounts };',
    seed: 40,
  },
];
