// Walks one contact through a sequence: what each step would do, and when. The runs are those of
// step-runner.ts, at times that the walk sets. It stores and sends nothing.
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { invalid, missing, Problem } from "../../errors.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { makeUpContact } from "../audience/contacts/made-up-contacts.ts";
import { withEventProperties } from "../audience/segments/segment-fields.ts";
import * as segments from "../audience/segments/segments.ts";
import { loadRunSettings } from "./run-context.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import type { StepGraph } from "./step-graph.ts";
import { renderMails } from "./walk-mails.ts";
import { type StartEvent, walkSteps } from "./walk-runs.ts";
import type { Walk, WalkOutcome, WalkRequest } from "./walk-schema.ts";

/** Throws 404 for a contact of another site, and 400 for outcomes that no step can have. */
export async function walk(caller: CallerScope, id: number, request: WalkRequest): Promise<Walk> {
  const sequence = await findItem(caller, id);
  const [settings, contact] = await Promise.all([
    loadRunSettings(caller.orgId, sequence),
    findContact(caller, sequence, request),
  ]);
  const outcomes = checkOutcomes(settings.graph, request.outcomes);
  const startEvent = checkEvent(sequence, request);
  const startsAt = request.startsAt ? new Date(request.startsAt) : now();
  const plan = { sequence, settings, outcomes, startEvent, startsAt };
  const { steps, mails, end } = await walkSteps(contact, plan);
  await renderMails(caller.orgId, mails);
  return {
    startsAt: startsAt.toISOString(),
    matchesFilter: await matchesFilter(sequence, contact, plan),
    steps,
    end,
  };
}

async function matchesFilter(
  { triggerConfig }: SequenceItem,
  contact: ContactItem,
  { startEvent, startsAt }: { startEvent: StartEvent | undefined; startsAt: Date },
): Promise<boolean | null> {
  const { filter } = triggerConfig ?? {};
  if (!filter) return null;
  const matches = await segments.createMatcher(contact.orgId, contact.siteId, filter);
  const properties = startEvent && JSON.stringify(startEvent.properties);
  return matches(withEventProperties(contact, properties), startsAt);
}

async function findContact(
  caller: CallerScope,
  { siteId }: SequenceItem,
  { contactId, contact: madeUp }: WalkRequest,
): Promise<ContactItem> {
  if (madeUp) return makeUpContact(caller, siteId, madeUp).catch(nameContactField);
  const contact = await contacts.findItem(caller, contactId!);
  if (contact.siteId !== siteId) throw missing("The contact does not exist in the sequence's site");
  return contact;
}

/** Adds `contact` to the names of its fields. */
function nameContactField(error: unknown): never {
  if (!(error instanceof Problem && error.kind === "invalid")) throw error;
  const details = error.details?.map(({ path, message }) => ({ path: `contact.${path}`, message }));
  throw invalid(`contact: ${error.message}`, details && { details });
}

const typeOfField = {
  event: "wait_until",
  way: "split",
  opened: "email",
  clicked: "email",
} as const;

function checkOutcomes({ steps }: StepGraph, outcomes: WalkOutcome[]): Map<number, WalkOutcome> {
  const byStep = new Map<number, WalkOutcome>();
  for (const [i, outcome] of outcomes.entries()) {
    const step = steps.find(({ id }) => id === outcome.stepId);
    const refuse = (field: string, message: string) =>
      invalidField(`outcomes.${i}.${field}`, message);
    if (!step) throw refuse("stepId", "is not a step of the sequence");
    if (byStep.has(step.id)) throw refuse("stepId", "occurs twice");
    for (const [field, type] of Object.entries(typeOfField))
      if (outcome[field as keyof WalkOutcome] !== undefined && step.type !== type)
        throw refuse(field, `is only for a step of the type ${type}`);
    if (outcome.event && step.waitConfig?.eventName === undefined)
      throw refuse("event", "is only for a wait for an event");
    if (outcome.way !== undefined && !step.splitConfig?.branches[outcome.way])
      throw refuse("way", "is not a way of the split");
    byStep.set(step.id, outcome);
  }
  return byStep;
}

function checkEvent(
  { triggerType, triggerConfig }: SequenceItem,
  { event }: WalkRequest,
): StartEvent | undefined {
  if (!event) return undefined;
  if (triggerType !== "custom_event")
    throw invalidField("event", "is only for sequences that a custom event starts");
  const { eventName = event.name } = triggerConfig ?? {};
  if (eventName === undefined) throw invalidField("event.name", "is required");
  if (event.name !== undefined && event.name !== eventName)
    throw invalidField("event.name", `must be that of the trigger, ${eventName}`);
  return { name: eventName, properties: event.properties };
}

const invalidField = (path: string, message: string) =>
  invalid(`${path}: ${message}`, { details: [{ path, message }] });
