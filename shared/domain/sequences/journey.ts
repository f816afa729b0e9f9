// How far one contact comes in a sequence at one time: through everything that takes no time, up to a wait, a closed window, or the
// end. One mail at a time at most.
import { after, now } from "../../clock.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { obstacle as whyNotMailed } from "../sending/reachable.ts";
import { type EnrollmentItem, obstacle } from "./enrollment.ts";
import { type Flow, nextOf, stepAt } from "./flow.ts";
import { ending, type Move, type Standing } from "./move.ts";
import type { Step, StepType } from "./step.ts";

export interface Journey {
  move: Move;
  contact: ContactItem | undefined;
  /** The step whose mail it is to get. */
  mail?: Step | undefined;
  /** Steps whose mail it does not get, as it had one a moment ago. */
  capped: Step[];
}

/** The sequence, as a traveller asks about it. */
export interface Country {
  flow: Flow;
  /** Days within which a contact gets one marketing mail at most; 0 for any. */
  capDays: number;
  /** Whether a condition holds for it now. */
  holds(step: Step, item: EnrollmentItem, contact: ContactItem): Promise<boolean>;
  /** When a mail may go to it, at the earliest. */
  opening(contact: ContactItem, at: Date): Date;
}

interface Traveller extends Country {
  item: EnrollmentItem;
  contact: ContactItem;
  /** The wait at the first step is over. */
  waited: boolean;
  mail?: Step | undefined;
  capped: Step[];
}

/** On to a step, or here until a time. */
type Turn = { next: Step | undefined } | { stay: Date; waiting?: boolean };

export async function travelled(country: Country, item: EnrollmentItem, contact: ContactItem | undefined): Promise<Journey> {
  const { flow } = country;
  const reason = contact ? obstacle(contact) : "contact_deleted";
  if (!contact || reason) return { move: leaving(item, contact, reason!), contact, capped: [] };
  let step = stepAt(flow, item);
  const traveller: Traveller = { ...country, item, contact, capped: [], waited: item.waiting === true && step?.id === item.stepId };
  const came = step?.id === item.stepId ? [] : [step];
  const left = came.length && item.stepId !== undefined ? [item.stepId] : [];
  while (step) {
    const turn: Turn = await turns[step.type](step, traveller);
    if ("stay" in turn) return journey(traveller, came, left, standing(step, turn, item));
    left.push(step.id);
    came.push(turn.next);
    step = turn.next;
    traveller.waited = false;
  }
  return journey(traveller, came, left, { status: "completed", contact, at: now().toISOString() });
}

const turns: Record<StepType, (step: Step, traveller: Traveller) => Promise<Turn>> = {
  delay: async (step, { flow, waited }) => {
    const isOver = waited || !step.delayMinutes;
    return isOver ? { next: nextOf(flow, step) } : { stay: after(step.delayMinutes! * 60), waiting: true };
  },
  condition: async (step, { flow, item, contact, holds }) => ({ next: nextOf(flow, step, await holds(step, item, contact)) }),
  email: async (step, traveller) => {
    const { flow, item, contact, capDays, opening } = traveller;
    const next = { next: nextOf(flow, step) };
    if (item.sends?.[step.id] !== undefined) return next;
    const at = now();
    if (traveller.mail) return { stay: at };
    const open = opening(contact, at);
    if (open > at) return { stay: open };
    if (whyNotMailed(contact, new Set(), capDays) === "capped") traveller.capped.push(step);
    else traveller.mail = step;
    return next;
  },
};

const journey = ({ item, contact, mail, capped }: Traveller, came: (Step | undefined)[], left: number[], to: Move["to"]): Journey => ({
  move: { item, to, left, reached: came.flatMap((step) => (step ? [step.id] : [])) },
  contact,
  mail,
  capped,
});

const standing = (
  { id, stepOrder }: Step,
  { stay, waiting = false }: { stay: Date; waiting?: boolean },
  { sends }: EnrollmentItem,
): Standing => ({
  stepId: id,
  order: stepOrder,
  at: stay.toISOString(),
  waiting,
  sends,
});

// Who left, left by its own will; whom no mail reaches has failed.
const leaving = (item: EnrollmentItem, contact: ContactItem | undefined, reason: string): Move =>
  ending(item, { status: reason === "suppressed" ? "failed" : "cancelled", reason, contact, at: now().toISOString() });
