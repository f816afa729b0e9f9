// The steps of a sequence as nested blocks: a condition holds its two branches, which run to the
// step where they meet again. The list and the drawing show the same outline.
import { type DraftStep, type DraftSteps, type Outlet, outletsOf, stepOf } from "./step-draft.ts";

export interface Block {
  step: DraftStep;
  /** Its number for people, from 1. */
  number: number;
  /** The branches of a condition; other steps have none. */
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
      const innerStop = step.type === "condition" ? (meeting ?? stop) : null;
      blocks.push({
        step,
        number: numbers.get(key)!,
        branches:
          step.type === "condition"
            ? outletsOf(step).map((outlet) => ({
                outlet,
                branch: branchFrom(step.to[outlet] ?? null, innerStop),
              }))
            : [],
      });
      if (step.type === "condition" && meeting === null) return { blocks, end: "meets" };
      key = step.type === "condition" ? meeting : (step.to.next ?? null);
    }
    return { blocks, end: key === null ? "ends" : "meets" };
  };
  const branches: Branch[] = [];
  for (const { key } of draft) if (!shown.has(key)) branches.push(branchFrom(key, null));
  return branches;
}

/** The first step that every way from a condition comes to; none if a way ends before. */
function meetingsOf(draft: DraftSteps): Map<string, string | null> {
  const passed = new Map<string, Set<string>>();
  const meetings = new Map<string, string | null>();
  for (const step of draft.toReversed()) {
    const [first, ...others] = outletsOf(step).map(
      (outlet) => passed.get(step.to[outlet] ?? "") ?? new Set<string>(),
    );
    const common = others.reduce((all, one) => all.intersection(one), first!);
    meetings.set(step.key, draft.find(({ key }) => common.has(key))?.key ?? null);
    passed.set(step.key, new Set([step.key, ...common]));
  }
  return meetings;
}
