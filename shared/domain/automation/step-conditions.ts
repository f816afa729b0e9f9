// Tests contacts against the conditions of steps, at the moment they reach them. The data is read
// once for a whole batch of enrollments.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import type { StepEngagement } from "../audience/segments/segment-fields.ts";
import * as segments from "../audience/segments/segments.ts";
import type { SendItem } from "../sending/sends.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { type StepGraph, stepOrdersOf } from "./step-graph.ts";
import type { SequenceStep } from "./step-schema.ts";

type StepConditionTest = (
  step: SequenceStep,
  item: EnrollmentItem,
  contact: ContactItem,
) => Promise<boolean>;

export function createConditionTest(
  { orgId, siteId }: { orgId: number; siteId: number },
  graph: StepGraph,
  items: EnrollmentItem[],
): StepConditionTest {
  const tests = new Map<number, ReturnType<typeof segments.createMatcher>>();
  const testOf = (step: SequenceStep) => {
    const test =
      tests.get(step.id) ??
      segments.createMatcher(
        orgId,
        siteId,
        step.conditionConfig ?? { match: "all", conditions: [] },
      );
    tests.set(step.id, test);
    return test;
  };
  let sends: Promise<Map<number, SendItem>> | undefined;
  return async (step, item, contact) => {
    const matches = await testOf(step);
    if (!stepOrdersOf(step.conditionConfig).length) return matches(contact);
    sends ??= getSends(orgId, items);
    const contactWithSteps: ContactItem & StepEngagement = {
      ...contact,
      ...engagementOf(graph, item, await sends),
    };
    return matches(contactWithSteps);
  };
}

async function getSends(orgId: number, items: EnrollmentItem[]): Promise<Map<number, SendItem>> {
  const ids = items.flatMap(({ sends }) => Object.values(sends ?? {}));
  const found = await getMany<SendItem>(
    ids.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  return new Map(found.flatMap((send) => (send ? [[send.id, send]] : [])));
}

function engagementOf(
  { steps, gone }: StepGraph,
  { sends: sendIds = {} }: EnrollmentItem,
  sends: Map<number, SendItem>,
): StepEngagement {
  const ordersOfSends = (test: (send: SendItem) => unknown) =>
    new Set(
      [...gone, ...steps].flatMap(({ id, stepOrder }) => {
        const send = sends.get(sendIds[id] ?? 0);
        return send && stepOrder !== undefined && test(send) ? [stepOrder] : [];
      }),
    );
  // A click counts as an open: mail clients may block the tracking pixel.
  return {
    openedSteps: ordersOfSends(({ openedAt, clickedAt }) => openedAt ?? clickedAt),
    clickedSteps: ordersOfSends(({ clickedAt }) => clickedAt),
  };
}
