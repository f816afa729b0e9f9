// Editing the steps of a sequence, also while people are inside.
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { getMany, type Write, write } from "../../doors/table.ts";
import { invalid, missing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import type { TemplateMeta } from "../templates.ts";
import * as chores from "./chores.ts";
import * as flow from "./flow.ts";
import * as flows from "./flows.ts";
import { find, revising, type SequenceItem, untilSettled } from "./record.ts";
import type { NewStep, NewSteps, Step, StepChanges } from "./step.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

/** All or none of them. */
export async function add(who: Who, sequenceId: number, { steps, insert = false, ...one }: NewSteps): Promise<Step[]> {
  const given = steps ?? [one as NewStep];
  const first = await ids.take("STEP", given.length);
  const at = new Date(await ids.time()).toISOString();
  const stamps = given.map((_, i) => ({ id: first + i, createdAt: at, updatedAt: at }));
  const next = await editing(who, sequenceId, async (sequence, current) => {
    // The same request, made again after it died, finds its own steps.
    if (current.steps.some(({ id }) => id === first)) return current;
    await checkTemplates(who.orgId, sequence, given);
    return complete(sequence, flow.added(current, given, stamps, { insert }));
  });
  return next.steps.filter(({ id }) => id >= first && id < first + given.length);
}

/** Who is at the step does it as it then is; a wait that has begun ends when it would have. */
export async function change(who: Who, sequenceId: number, stepId: number, changes: StepChanges): Promise<Step> {
  const next = await editing(who, sequenceId, async (sequence, current) => {
    stepIn(current, stepId);
    await checkTemplates(who.orgId, sequence, [changes]);
    return complete(sequence, flow.changed(current, stepId, changes, now().toISOString()));
  });
  return stepIn(next, stepId);
}

/** Who is at the step goes on to the next within about a minute. */
export async function remove(who: Who, sequenceId: number, stepId: number): Promise<void> {
  await editing(
    who,
    sequenceId,
    async (_, current) => flow.removed(current, stepIn(current, stepId)),
    ({ siteId }) => [chores.releasing(who.orgId, { sequenceId, siteId })],
  );
  await chores.workSoon(who.orgId, sequenceId);
}

function stepIn({ steps }: flow.Flow, stepId: number): Step {
  const step = steps.find(({ id }) => id === stepId);
  if (!step) throw missing("There is no such step in this sequence");
  return step;
}

/** Nobody who is inside may come to a step that cannot be done. */
function complete({ status }: SequenceItem, next: flow.Flow): flow.Flow {
  const [first] = status === "active" ? flow.incomplete(next) : [];
  if (first) throw invalid(`The sequence is active: ${first}`, { details: [{ path: "steps", message: first }] });
  return next;
}

async function checkTemplates(orgId: number, { siteId }: SequenceItem, given: { templateId?: number | null | undefined }[]): Promise<void> {
  const wanted = [...new Set(given.flatMap(({ templateId }) => templateId ?? []))];
  const found = await templatesOf(orgId, wanted);
  const wrong = wanted.find((id) => found.get(id)?.siteId !== siteId);
  if (wrong === undefined) return;
  const message = `templateId: there is no template ${wrong} in the sequence's site`;
  throw invalid(message, { details: [{ path: "templateId", message }] });
}

export async function templatesOf(orgId: number, templateIds: number[]): Promise<Map<number, TemplateMeta>> {
  const found = await getMany<TemplateMeta>(
    templateIds.map((id) => keys.record(orgId, "TEMPLATE", id)),
    { consistent: true },
  );
  return new Map(found.flatMap((template) => (template ? [[template.id, template]] : [])));
}

type Edit = (sequence: SequenceItem, current: flow.Flow) => Promise<flow.Flow>;

const editing = (who: Who, sequenceId: number, edit: Edit, further: (sequence: SequenceItem) => Write[] = () => []): Promise<flow.Flow> =>
  untilSettled(async () => {
    const sequence = await find(who, sequenceId);
    const current = await flows.of(who.orgId, sequence);
    const next = await edit(sequence, current);
    if (next === current) return current;
    const stepsVersion = sequence.stepsVersion + 1;
    await write(
      revising(who.orgId, sequence, { stepsVersion }),
      await flows.storing(who.orgId, sequenceId, stepsVersion, next),
      ...flows.expiring(who.orgId, sequence),
      ...further(sequence),
    );
    return next;
  });
