// The steps of a sequence as the console edits them.
import { describe, expect, it } from "vitest";
import { layOut } from "../../shared/console/screens/sequences/drawing-layout.ts";
import {
  changeStep,
  type DraftStep,
  type DraftSteps,
  emailsBefore,
  fromStored,
  insertStep,
  moveStep,
  newStep,
  type Place,
  possibleTargets,
  problemsOf,
  removeStep,
  type StepKind,
  type StoredStep,
  stepOf,
  toStored,
} from "../../shared/console/screens/sequences/step-draft.ts";
import { outlineOf } from "../../shared/console/screens/sequences/step-outline.ts";
import { currentStep, nextStep } from "../../shared/domain/automation/step-graph.ts";
import type { SequenceStep } from "../../shared/domain/automation/step-schema.ts";

const stored = (
  id: number,
  stepOrder: number,
  type: StepKind,
  more: Partial<StoredStep> = {},
): StoredStep => ({
  id,
  stepOrder,
  type,
  templateId: type === "email" ? 7 : null,
  delayMinutes: type === "delay" ? 60 : null,
  conditionConfig: null,
  ...more,
});

const opened = (order: number | string) => ({
  match: "all",
  conditions: [{ field: `step.${order}.opened`, operator: "exists" }],
});

/** 1 asks; 2 and 3 are the branches, which meet at 4. */
const diamond = [
  stored(10, 1, "email"),
  stored(11, 3, "condition", {
    conditionConfig: opened(1),
    trueBranchStepOrder: 5,
    falseBranchStepOrder: 7,
  }),
  stored(12, 5, "email", { nextStepOrder: 9 }),
  stored(13, 7, "delay"),
  stored(14, 9, "email"),
];

/** Every way through the steps, as the worker takes them. */
function waysIn(steps: StoredStep[]): string[] {
  const graph = {
    steps: steps.map((step, i) => ({ ...step, id: step.id ?? -i - 1 })) as SequenceStep[],
    gone: [],
  };
  const waysFrom = (step: SequenceStep | undefined): string[] => {
    if (!step) return ["end"];
    const outcomes = step.type === "condition" ? [true, false] : [undefined];
    return outcomes.flatMap((held) =>
      waysFrom(nextStep(graph, step, held)).map((rest) => `${step.type} ${step.id}, ${rest}`),
    );
  };
  return waysFrom(currentStep(graph, { order: 0 }));
}

const keysOf = (draft: DraftSteps): string[] => draft.map(({ key }) => key);

const add = (draft: DraftSteps, place: Place, type: StepKind): [DraftSteps, DraftStep] => {
  const step = newStep(draft, type);
  return [insertStep(draft, place, step), step];
};

describe("steps that are edited", () => {
  it("stored steps are read and written without a change of what they do", () => {
    const draft = fromStored(diamond);
    expect(stepOf(draft, "12")!.to).toEqual({ next: "14" });
    expect(stepOf(draft, "13")!.to).toEqual({ next: "14" });
    const written = toStored(draft);
    expect(written.map(({ stepOrder }) => stepOrder)).toEqual([1, 2, 3, 4, 5]);
    expect(written[1]).toMatchObject({ conditionConfig: opened(1), trueBranchStepOrder: 3 });
    expect(waysIn(written)).toEqual(waysIn(diamond));
    expect(toStored(fromStored(written))).toEqual(written);
  });

  it("a step without a jump ends where the other branch begins", () => {
    const steps = [
      stored(1, 1, "condition", { trueBranchStepOrder: 2, falseBranchStepOrder: 3 }),
      stored(2, 2, "email"),
      stored(3, 3, "delay"),
    ];
    const draft = fromStored(steps);
    expect(stepOf(draft, "2")!.to.next).toBe(null);
    expect(toStored(draft)[1]).not.toHaveProperty("nextStepOrder");
    expect(waysIn(toStored(draft))).toEqual(waysIn(steps));
  });

  it("a condition is tested by number also after a step was added before it", () => {
    const [draft] = add(fromStored(diamond), { before: "10" }, "delay");
    expect(toStored(draft)[2]).toMatchObject({ type: "condition", conditionConfig: opened(2) });
  });

  it("a new step stands on the way it was added to, and on no other", () => {
    const [onBranch] = add(fromStored(diamond), { from: "11", outlet: "no" }, "email");
    expect(waysIn(toStored(onBranch))).toEqual([
      "email 10, condition 11, email 12, email 14, end",
      "email 10, condition 11, email -4, delay 13, email 14, end",
    ]);
    const [atMeeting] = add(fromStored(diamond), { before: "14" }, "delay");
    expect(waysIn(toStored(atMeeting))).toEqual([
      "email 10, condition 11, email 12, delay -5, email 14, end",
      "email 10, condition 11, delay 13, delay -5, email 14, end",
    ]);
  });

  it("steps are built from nothing", () => {
    const [first, email] = add([], { before: null }, "email");
    const [second, branch] = add(first, { from: email.key, outlet: "next" }, "condition");
    const [third] = add(second, { from: branch.key, outlet: "yes" }, "email");
    expect(waysIn(toStored(third))).toEqual([
      "email -1, condition -2, email -3, end",
      "email -1, condition -2, end",
    ]);
    expect(emailsBefore(third, branch.key).map(({ key }) => key)).toEqual([email.key]);
  });

  it("a deleted condition takes the shorter branch along, and what only it led to", () => {
    const [longer] = add(fromStored(diamond), { from: "11", outlet: "no" }, "email");
    const rest = removeStep(longer, "11");
    expect(waysIn(toStored(rest))).toEqual(["email 10, email -2, delay 13, email 14, end"]);
  });

  it("conditions about a deleted email go with it", () => {
    const rest = removeStep(fromStored(diamond), "10");
    expect(stepOf(rest, "11")!.rules!.conditions).toEqual([]);
    expect(problemsOf(stepOf(rest, "11")!)).toEqual(["Add a condition."]);
  });

  it("a step moves past its neighbour and back", () => {
    const draft = fromStored([stored(1, 1, "email"), stored(2, 2, "delay"), stored(3, 3, "email")]);
    expect(keysOf(moveStep(draft, "3", "up")!)).toEqual(["1", "3", "2"]);
    expect(keysOf(moveStep(draft, "1", "down")!)).toEqual(["2", "1", "3"]);
    expect(moveStep(draft, "1", "up")).toBeUndefined();
    expect(moveStep(draft, "3", "down")).toBeUndefined();
    expect(moveStep(fromStored(diamond), "14", "up")).toBeUndefined();
    const before = moveStep(fromStored(diamond), "12", "up")!;
    expect(waysIn(toStored(before))[0]).toBe("email 10, email 12, condition 11, email 14, end");
  });

  it("no step can lead back to one that leads to it", () => {
    const draft = fromStored(diamond);
    expect(possibleTargets(draft, "12").map(({ key }) => key)).toEqual(["13", "14"]);
    const joined = changeStep(draft, "12", { to: { next: "13" } });
    expect(waysIn(toStored(joined))[0]).toBe(
      "email 10, condition 11, email 12, delay 13, email 14, end",
    );
  });
});

describe("the outline and the drawing", () => {
  it("branches stand in their condition, up to where they meet", () => {
    const [main, ...others] = outlineOf(fromStored(diamond));
    expect(others).toEqual([]);
    expect(main!.blocks.map(({ step }) => step.key)).toEqual(["10", "11", "14"]);
    expect(main!.blocks[1]!.branches.map(({ branch }) => branch)).toEqual([
      { blocks: [expect.objectContaining({ number: 3 })], end: "meets" },
      { blocks: [expect.objectContaining({ number: 4 })], end: "meets" },
    ]);
  });

  it("a step that several ways share without meeting is shown once", () => {
    const draft = fromStored([
      stored(1, 1, "condition", { trueBranchStepOrder: 2, falseBranchStepOrder: 4 }),
      stored(2, 2, "condition", { trueBranchStepOrder: 3, falseBranchStepOrder: 4 }),
      stored(3, 3, "email", { nextStepOrder: null }),
      stored(4, 4, "email"),
    ]);
    const drawing = layOut(draft);
    expect(drawing.nodes.map(({ step }) => step.key).toSorted()).toEqual(["1", "2", "3", "4"]);
    expect(drawing.ends).toContainEqual(expect.objectContaining({ goesTo: "4" }));
  });

  it("steps that nothing leads to are shown as well", () => {
    const draft = fromStored([
      stored(1, 1, "email", { nextStepOrder: null }),
      stored(2, 2, "email"),
    ]);
    expect(outlineOf(draft)).toHaveLength(2);
    expect(layOut(draft).nodes).toHaveLength(2);
    expect(waysIn(toStored(draft))).toEqual(["email 1, end"]);
  });

  it("no two steps overlap, and each way has one button to add a step", () => {
    let [draft] = add(fromStored(diamond), { from: "11", outlet: "yes" }, "condition");
    [draft] = add(draft, { from: "new1", outlet: "yes" }, "email");
    const { nodes, adds, width, height } = layOut(draft);
    for (const [i, a] of nodes.entries()) {
      expect(a.x).toBeGreaterThan(0);
      expect(a.x).toBeLessThan(width);
      expect(a.y).toBeLessThan(height);
      for (const b of nodes.slice(i + 1))
        expect(Math.abs(a.x - b.x) >= 264 || Math.abs(a.y - b.y) >= 98).toBe(true);
    }
    const places = adds.map(({ place }) => JSON.stringify(place));
    expect(new Set(places).size).toBe(places.length);
    // The start, seven steps with two conditions among them, and two meetings.
    expect(places).toHaveLength(12);
  });
});
