// The steps of a sequence as the console edits them.
import { describe, expect, it } from "vitest";
import { layOut } from "../../shared/console/screens/sequences/canvas-layout.ts";
import {
  addWay,
  changeStep,
  changeWait,
  insertStep,
  moveStep,
  newStep,
  type Place,
  removeStep,
  removeWay,
} from "../../shared/console/screens/sequences/step-changes.ts";
import {
  type DraftStep,
  type DraftSteps,
  outletsOf,
  type StepKind,
  stepOf,
} from "../../shared/console/screens/sequences/step-draft.ts";
import { outlineOf } from "../../shared/console/screens/sequences/step-outline.ts";
import {
  copySection,
  type Extent,
  moveSection,
  pasteClip,
  removeSection,
  type StepSection,
  sectionOf,
} from "../../shared/console/screens/sequences/step-sections.ts";
import { emailsBefore, possibleTargets } from "../../shared/console/screens/sequences/step-ways.ts";
import {
  fromStored,
  type StoredStep,
  toStored,
} from "../../shared/console/screens/sequences/stored-steps.ts";
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
    const count = step.type === "condition" ? 2 : (step.splitConfig?.branches.length ?? 1);
    const outcomes = Array.from({ length: count }, (_, way) => way);
    return outcomes.flatMap((way) =>
      waysFrom(nextStep(graph, step, way)).map((rest) => `${step.type} ${step.id}, ${rest}`),
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

describe("steps with other outlets", () => {
  /** 1 splits into 2, 3 and the end; 2 leads on to 4. */
  const split = [
    stored(1, 1, "split", {
      splitConfig: {
        branches: [
          { weight: 2, nextStepOrder: 2 },
          { weight: 1, nextStepOrder: 3 },
          { weight: 1, nextStepOrder: null },
        ],
      },
    }),
    stored(2, 2, "email", { nextStepOrder: 4 }),
    stored(3, 3, "exit"),
    stored(4, 4, "email"),
  ];

  it("a split and an exit are read and written without a change of what they do", () => {
    const draft = fromStored(split);
    expect(stepOf(draft, "1")!.to).toEqual({ way0: "2", way1: "3", way2: null });
    expect(waysIn(toStored(draft))).toEqual(waysIn(split));
    expect(toStored(fromStored(toStored(draft)))).toEqual(toStored(draft));
    expect(layOut(draft).nodes).toHaveLength(4);
  });

  it("a way of a split is added and removed with its steps", () => {
    const draft = fromStored(split);
    const more = addWay(draft, stepOf(draft, "1")!);
    expect(stepOf(more, "1")).toMatchObject({ weights: [2, 1, 1, 1], to: { way3: null } });
    const less = removeWay(draft, stepOf(draft, "1")!, 0);
    expect(waysIn(toStored(less))).toEqual(["split 1, exit 3, end", "split 1, end"]);
  });

  it("nothing follows a new exit, and what leads to a deleted one ends", () => {
    const [draft] = add(fromStored(diamond), { from: "11", outlet: "no" }, "exit");
    expect(waysIn(toStored(draft)).at(-1)).toMatch(/^email 10, condition 11, exit -\d, end$/);
    const rest = removeStep(fromStored(split), "3");
    expect(stepOf(rest, "1")!.to).toEqual({ way0: "2", way1: null, way2: null });
  });

  it("a wait for an event divides by whether it came in time; other waits go on", () => {
    const [draft, wait] = add(fromStored(diamond), { from: "14", outlet: "next" }, "wait_until");
    expect(outletsOf(wait)).toEqual(["next", "timeout"]);
    const [late] = add(draft, { from: wait.key, outlet: "timeout" }, "email");
    const written = toStored(late).find(({ type }) => type === "wait_until")!;
    expect(written).toMatchObject({ nextStepOrder: null, timeoutStepOrder: 7 });
    const named = toStored(late).map((step, i) => ({ ...step, id: i + 1 }));
    expect(toStored(fromStored(named))).toEqual(named);
    const hourly = changeWait(late, wait.key, { weekdays: [1], hour: 9 });
    expect(stepOf(hourly, wait.key)!.to).toEqual({ next: null });
    expect(hourly).toHaveLength(late.length - 1);
  });
});

describe("sections of the steps", () => {
  const section = (draft: DraftSteps, key: string, extent: Extent = "step"): StepSection =>
    sectionOf(draft, key, extent)!;

  it("a step moves to another way, and its old way closes", () => {
    const draft = fromStored(diamond);
    const moved = moveSection(draft, section(draft, "12"), { from: "11", outlet: "no" })!;
    expect(waysIn(toStored(moved))).toEqual([
      "email 10, condition 11, email 14, end",
      "email 10, condition 11, email 12, delay 13, email 14, end",
    ]);
    const toEnd = moveSection(draft, section(draft, "10"), { from: "14", outlet: "next" })!;
    expect(waysIn(toStored(toEnd))[0]).toBe("condition 11, email 12, email 14, email 10, end");
    const toStart = moveSection(draft, section(draft, "14"), { before: "10" })!;
    expect(waysIn(toStored(toStart))[0]).toBe("email 14, email 10, condition 11, email 12, end");
  });

  it("a condition moves with its branches", () => {
    const draft = fromStored(diamond);
    expect([...section(draft, "11").keys]).toEqual(["11", "12", "13"]);
    const moved = moveSection(draft, section(draft, "11"), { from: "14", outlet: "next" })!;
    expect(waysIn(toStored(moved))).toEqual([
      "email 10, email 14, condition 11, email 12, end",
      "email 10, email 14, condition 11, delay 13, end",
    ]);
  });

  it("a section does not move into itself or to where it is", () => {
    const draft = fromStored(diamond);
    const branches = section(draft, "11");
    expect(moveSection(draft, branches, { from: "12", outlet: "next" })).toBeUndefined();
    expect(moveSection(draft, branches, { from: "10", outlet: "next" })).toBeUndefined();
    expect(moveSection(draft, branches, { before: "14" })).toBeUndefined();
    expect(moveSection(draft, section(draft, "10"), { before: "10" })).toBeUndefined();
  });

  it("a copy has new steps, asks about its own emails, and leads on to what follows", () => {
    const draft = fromStored(diamond);
    const clip = copySection(draft, section(draft, "10", "rest"));
    const { draft: after, first } = pasteClip(draft, { from: "12", outlet: "next" }, clip);
    expect(first).toBe("new1");
    expect(waysIn(toStored(after))).toEqual([
      "email 10, condition 11, email 12, email -4, condition -5, email -6, email -8, email 14, end",
      "email 10, condition 11, email 12, email -4, condition -5, delay -7, email -8, email 14, end",
      "email 10, condition 11, delay 13, email 14, end",
    ]);
    expect(stepOf(after, "new2")!.rules).toEqual(opened("new1"));
  });

  it("a copied condition asks about an email outside of it, if that email is there", () => {
    const draft = fromStored(diamond);
    const clip = copySection(draft, section(draft, "11"));
    const here = pasteClip(draft, { from: "14", outlet: "next" }, clip);
    expect(stepOf(here.draft, here.first)!.rules).toEqual(opened("10"));
    const elsewhere = pasteClip([], { before: null }, clip);
    expect(waysIn(toStored(elsewhere.draft))).toEqual([
      "condition -1, email -2, end",
      "condition -1, delay -3, end",
    ]);
    expect(stepOf(elsewhere.draft, elsewhere.first)!.rules!.conditions).toEqual([]);
  });

  it("where a copied branch ended, its copy goes on", () => {
    const draft = fromStored([
      stored(1, 1, "condition", { trueBranchStepOrder: 2, falseBranchStepOrder: null }),
      stored(2, 2, "email"),
      stored(3, 3, "delay"),
    ]);
    const rest = section(draft, "1", "rest");
    expect([...rest.keys]).toEqual(["1", "2", "3"]);
    const clip = copySection(draft, rest);
    const { draft: after } = pasteClip(draft, { before: "1" }, clip);
    expect(waysIn(toStored(after))).toEqual([
      "condition -1, email -2, delay -3, condition 1, email 2, delay 3, end",
      "condition -1, email -2, delay -3, condition 1, end",
      "condition -1, condition 1, email 2, delay 3, end",
      "condition -1, condition 1, end",
    ]);
  });

  it("a deleted section takes all its steps, and ways to it lead to what follows", () => {
    const draft = fromStored(diamond);
    expect(waysIn(toStored(removeSection(draft, section(draft, "11"))))).toEqual([
      "email 10, email 14, end",
    ]);
    expect(removeSection(draft, section(draft, "10", "rest"))).toEqual([]);
    const onBranch = removeSection(draft, section(draft, "13"));
    expect(waysIn(toStored(onBranch))[1]).toBe("email 10, condition 11, email 14, end");
  });

  it("steps that are not touched stay the same objects", () => {
    const draft = fromStored(diamond);
    const moved = moveSection(draft, section(draft, "12"), { from: "11", outlet: "no" })!;
    for (const key of ["10", "13", "14"]) expect(stepOf(moved, key)).toBe(stepOf(draft, key));
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
        expect(Math.abs(a.x - b.x) >= 272 || Math.abs(a.y - b.y) >= 104).toBe(true);
    }
    const places = adds.map(({ place }) => JSON.stringify(place));
    expect(new Set(places).size).toBe(places.length);
    // The start, seven steps with two conditions among them, and two meetings.
    expect(places).toHaveLength(12);
  });
});
