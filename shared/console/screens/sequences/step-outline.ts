// The steps of a sequence as nested blocks: a step with several outlets holds its branches, which
// run to the step where they meet again. The list and the canvas show the same outline.
import { type DraftStep, type DraftSteps, type Outlet, outletsOf, stepOf } from "./step-draft.ts";
import { targetsOf } from "./step-ways.ts";

export interface Block {
  step: DraftStep;
  /** Its number for people, from 1. */
  number: number;
  /** The branches of a step with several outlets; other steps have none. */
  branches: { outlet: Outlet; branch: Branch }[];
}

export interface Branch {
  blocks: Block[];
  /** The sequence ends, the branches meet, or the way goes to a step that is shown elsewhere. */
  end: "ends" | "meets" | { goesTo: string };
}

/** One branch from the start, and one from each step that nothing leads to. */
export function outlineOf(draft: DraftSteps): Branch[] {
  const meetings = meetingsOf(draft);
  const numbers = new Map(draft.map(({ key }, i) => [key, i + 1]));
  const shown = new Set<string>();
  const branchFrom = (from: string | null, stop: string | null): Branch => {
    const blocks: Block[] = [];
    let key = from;
    while (key !== null && key !== stop) {
      if (shown.has(key)) return { blocks, end: { goesTo: key } };
      const step = stepOf(draft, key)!;
      shown.add(key);
      const meeting = meetings.get(key) ?? null;
      // The outer branches may meet before the inner ones do.
      const innerStop = meeting ?? stop;
      const outlets = outletsOf(step);
      const divides = outlets.length > 1;
      blocks.push({
        step,
        number: numbers.get(key)!,
        branches: divides
          ? outlets.map((outlet) => ({
              outlet,
              branch: branchFrom(step.to[outlet] ?? null, innerStop),
            }))
          : [],
      });
      if (divides && meeting === null) return { blocks, end: "meets" };
      key = divides ? meeting : (targetsOf(step)[0] ?? null);
    }
    return { blocks, end: key === null ? "ends" : "meets" };
  };
  const branches: Branch[] = [];
  for (const { key } of draft) if (!shown.has(key)) branches.push(branchFrom(key, null));
  return branches;
}

/** The first step that every way from a step comes to; none if a way ends before. */
function meetingsOf(draft: DraftSteps): Map<string, string | null> {
  const passed = new Map<string, Set<string>>();
  const meetings = new Map<string, string | null>();
  const none = new Set<string>();
  for (const step of draft.toReversed()) {
    const [first, ...others] = targetsOf(step).map((target) => passed.get(target ?? "") ?? none);
    const common = others.reduce((all, one) => all.intersection(one), first ?? none);
    meetings.set(step.key, draft.find(({ key }) => common.has(key))?.key ?? null);
    passed.set(step.key, new Set([step.key, ...common]));
  }
  return meetings;
}
