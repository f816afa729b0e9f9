// Conditions of steps, asked of contacts at the moment they come to them. What is needed for it is read once for all who come together.
import { getMany } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import type { Test } from "../segments/evaluate.ts";
import type { StepFacts } from "../segments/fields.ts";
import * as segments from "../segments.ts";
import type { SendItem } from "../sends.ts";
import type { EnrollmentItem } from "./enrollment.ts";
import { type Flow, stepsAskedAbout } from "./flow.ts";
import type { Step } from "./step.ts";

type Holds = (step: Step, item: EnrollmentItem, contact: ContactItem) => Promise<boolean>;

export function conditions(orgId: number, siteId: number, flow: Flow, items: EnrollmentItem[]): Holds {
  const tests = new Map<number, Promise<Test>>();
  const testOf = (step: Step) => {
    const test = tests.get(step.id) ?? segments.matcher(orgId, siteId, step.conditionConfig ?? { match: "all", conditions: [] });
    tests.set(step.id, test);
    return test;
  };
  let mails: Promise<Map<number, SendItem>> | undefined;
  return async (step, item, contact) => {
    const matches = await testOf(step);
    if (!stepsAskedAbout(step.conditionConfig).length) return matches(contact);
    mails ??= mailsOf(orgId, items);
    const asked: ContactItem & StepFacts = { ...contact, ...factsOf(flow, item, await mails) };
    return matches(asked);
  };
}

async function mailsOf(orgId: number, items: EnrollmentItem[]): Promise<Map<number, SendItem>> {
  const ids = items.flatMap(({ sends }) => Object.values(sends ?? {}));
  const found = await getMany<SendItem>(
    ids.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  return new Map(found.flatMap((send) => (send ? [[send.id, send]] : [])));
}

function factsOf({ steps, gone }: Flow, { sends = {} }: EnrollmentItem, mails: Map<number, SendItem>): StepFacts {
  const orders = (wanted: (send: SendItem) => unknown) =>
    new Set(
      [...gone, ...steps].flatMap(({ id, stepOrder }) => {
        const send = mails.get(sends[id] ?? 0);
        return send && wanted(send) ? [stepOrder] : [];
      }),
    );
  // Whoever clicks has opened, whatever became of the picture that tells it.
  return { openedSteps: orders(({ openedAt, clickedAt }) => openedAt ?? clickedAt), clickedSteps: orders(({ clickedAt }) => clickedAt) };
}
