import { describe, expect, test } from "vitest";
import { nextOpening, SendWindow } from "../../shared/domain/automation/send-window.ts";
import * as flow from "../../shared/domain/automation/step-graph.ts";
import * as stepGraphChanges from "../../shared/domain/automation/step-graph-changes.ts";
import * as stepGraphProblems from "../../shared/domain/automation/step-graph-problems.ts";
import { NewSequenceStep, type SequenceStep } from "../../shared/domain/automation/step-schema.ts";
import { endOfWait } from "../../shared/domain/automation/step-waits.ts";
import fc from "../support/fast-check.ts";

let ids = 0;
const stamps = (n: number) =>
  Array.from({ length: n }, () => ({ id: ++ids, createdAt: "t", updatedAt: "t" }));
const anyone = { match: "all", conditions: [] };
type Given = Partial<SequenceStep> & { type: SequenceStep["type"] };
const flowOf = (...given: Given[]) =>
  stepGraphChanges.addSteps(flow.emptyGraph, {
    input: given.map((step) => NewSequenceStep.parse(step)),
    stamps: stamps(given.length),
  });
const email = (more: Partial<SequenceStep> = {}): Given => ({
  type: "email",
  templateId: 1,
  ...more,
});
const fork = (more: Partial<SequenceStep>): Given => ({
  type: "condition",
  conditionConfig: anyone as SequenceStep["conditionConfig"],
  ...more,
});

/** The orders of the steps on the way if every condition has this result. */
function walk(of: flow.StepGraph, held: boolean, from: flow.StepPosition = { order: 0 }): number[] {
  const orders: number[] = [];
  const wayOf = ({ type }: SequenceStep) => (type === "condition" && !held ? 1 : 0);
  for (let step = flow.currentStep(of, from); step; step = flow.nextStep(of, step, wayOf(step)))
    orders.push(step.stepOrder);
  return orders;
}

describe("the order of steps", () => {
  test("follows stepOrder, with gaps", () => {
    expect(walk(flowOf(email({ stepOrder: 10 }), email({ stepOrder: 20 }), email()), true)).toEqual(
      [10, 20, 21],
    );
  });

  test("jumps over steps, and ends at null", () => {
    expect(
      walk(
        flowOf(email({ nextStepOrder: 3 }), email(), email({ nextStepOrder: null }), email()),
        true,
      ),
    ).toEqual([1, 3]);
  });

  test("keeps branches separate until a jump joins them", () => {
    const forked = flowOf(
      fork({ trueBranchStepOrder: 2, falseBranchStepOrder: 4 }),
      email(),
      email(),
      email(),
      email(),
    );
    expect([walk(forked, true), walk(forked, false)]).toEqual([
      [1, 2, 3],
      [1, 4, 5],
    ]);
    const joined = flowOf(
      fork({ falseBranchStepOrder: 3 }),
      email({ nextStepOrder: 4 }),
      email(),
      email(),
    );
    expect([walk(joined, true), walk(joined, false)]).toEqual([
      [1, 2, 4],
      [1, 3, 4],
    ]);
    const ending = flowOf(fork({ trueBranchStepOrder: null }), email());
    expect([walk(ending, true), walk(ending, false)]).toEqual([[1], [1, 2]]);
  });

  test("keeps the ways of a split separate, and ends at an exit", () => {
    const branches = [3, 5, undefined].map((nextStepOrder) => ({ weight: 1, nextStepOrder }));
    const graph = flowOf(
      { type: "split", splitConfig: { branches } },
      { type: "exit" },
      email(),
      email(),
      email(),
      email(),
    );
    const waysFrom = (way: number) => {
      const first = flow.nextStep(graph, graph.steps[0]!, way)!;
      return walk(graph, true, { stepId: first.id, order: 0 });
    };
    expect([0, 1, 2].map(waysFrom)).toEqual([[3, 4], [5, 6], [2]]);
  });

  test("continues after a removed step, also after a jump", () => {
    const whole = flowOf(email(), email({ nextStepOrder: 4 }), email(), email());
    const [, second] = whole.steps;
    const less = stepGraphChanges.removeStep(whole, second!);
    expect(walk(less, true, { stepId: second!.id, order: 2 })).toEqual([4]);
    const jumping = flowOf(email({ nextStepOrder: 3 }), email(), email(), email());
    expect(walk(stepGraphChanges.removeStep(jumping, jumping.steps[2]!), true)).toEqual([1, 4]);
  });

  test("starts a branch at its next step when the first one is removed", () => {
    const forked = flowOf(
      fork({ trueBranchStepOrder: 2, falseBranchStepOrder: 4 }),
      email(),
      email(),
      email(),
      email(),
    );
    const both = (graph: flow.StepGraph) => [walk(graph, true), walk(graph, false)];
    const without = (...orders: number[]) =>
      orders.reduce(
        (graph, order) =>
          stepGraphChanges.removeStep(
            graph,
            graph.steps.find(({ stepOrder }) => stepOrder === order)!,
          ),
        forked,
      );
    expect(both(without(2))).toEqual([
      [1, 3],
      [1, 4, 5],
    ]);
    expect(both(without(2, 3))).toEqual([[1], [1, 4, 5]]);
    expect(both(without(4))).toEqual([
      [1, 2, 3],
      [1, 5],
    ]);
    expect(both(without(4, 5))).toEqual([[1, 2, 3], [1]]);
  });

  test("renumbers later steps, jumps and conditions after an insertion", () => {
    const condition = {
      match: "all" as const,
      conditions: [{ field: "step.1.opened", operator: "exists" as const }],
    };
    const before = flowOf(
      email({ nextStepOrder: 3 }),
      email(),
      fork({ conditionConfig: condition, trueBranchStepOrder: 4 }),
      email(),
    );
    const after = stepGraphChanges.addSteps(before, {
      input: [NewSequenceStep.parse(email({ stepOrder: 1 }))],
      stamps: stamps(1),
      insert: true,
    });
    expect(after.steps.map(({ stepOrder }) => stepOrder)).toEqual([1, 2, 3, 4, 5]);
    expect(after.steps[1]).toMatchObject({ nextStepOrder: 4 });
    expect(after.steps[3]).toMatchObject({
      trueBranchStepOrder: 5,
      conditionConfig: { conditions: [{ field: "step.2.opened" }] },
    });
  });

  test("never goes back or in circles after any additions and removals", () => {
    const jump = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });
    const anyStep = fc.record({
      type: fc.constantFrom<SequenceStep["type"]>("email", "delay", "condition"),
      stepOrder: fc.integer({ min: 1, max: 30 }),
      nextStepOrder: jump,
      trueBranchStepOrder: jump,
      falseBranchStepOrder: jump,
    });
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 11 })),
        fc.boolean(),
        (given, removals, held) => {
          let graph = flow.emptyGraph;
          for (const step of given)
            try {
              graph = stepGraphChanges.addSteps(graph, {
                input: [NewSequenceStep.parse(step)],
                stamps: stamps(1),
                insert: step.stepOrder % 2 === 0,
              });
            } catch {}
          const known = graph.steps;
          for (const n of removals)
            if (graph.steps[n]) graph = stepGraphChanges.removeStep(graph, graph.steps[n]);
          for (const from of [
            { order: 0 },
            ...known.map(({ id, stepOrder }) => ({ stepId: id, order: stepOrder })),
          ]) {
            const orders = walk(graph, held, from);
            expect(orders).toEqual([...new Set(orders)].toSorted((a, b) => a - b));
          }
        },
      ),
    );
  });
});

describe("replacing all steps", () => {
  const replace = (graph: flow.StepGraph, input: Given[], mustBeComplete = false) =>
    stepGraphChanges.replaceSteps(graph, {
      input,
      stamps: stamps(input.filter(({ id }) => id === undefined).length),
      updatedAt: "later",
      mustBeComplete,
    });
  const unordered = ({ stepOrder: _, ...step }: SequenceStep): Given => step;

  test("keeps steps with an id, and gives the others new ids", () => {
    const before = flowOf(email(), email());
    const [first, second] = before.steps;
    const next = replace(before, [first!, email(), { ...unordered(second!), templateId: 2 }]);
    expect(next.steps).toEqual([
      first,
      expect.objectContaining({ id: ids, stepOrder: 2, createdAt: "t", updatedAt: "t" }),
      { ...second, stepOrder: 3, templateId: 2, updatedAt: "later" },
    ]);
  });

  test("lets enrollments at removed steps continue at the next step that stays", () => {
    const before = flowOf(email(), email(), email({ nextStepOrder: 5 }), email(), email());
    const [first, second, third, fourth, fifth] = before.steps.map(unordered);
    const at = (graph: flow.StepGraph, step: Given | undefined) =>
      flow.currentStep(graph, { stepId: step!.id, order: 0 })?.id;
    const next = replace(before, [email(), first!, email(), fifth!]);
    expect([first, second, third, fourth].map((step) => at(next, step))).toEqual([
      first!.id,
      fifth!.id,
      fifth!.id,
      fifth!.id,
    ]);
    expect(walk(next, true, { stepId: second!.id!, order: 2 })).toEqual([4]);
    const renumbered = replace(next, next.steps.slice(1).map(unordered));
    expect(at(renumbered, second)).toBe(fifth!.id);
    expect(walk(renumbered, true, { order: 0 })).toEqual([1, 2, 3]);
    expect(at(replace(renumbered, [email()]), second)).toBeUndefined();
  });

  test("a removed step no longer counts as a target or as a tested email", () => {
    const before = flowOf(email(), email(), email());
    const [first, , third] = before.steps;
    const next = replace(before, [first!, third!]);
    expect(() => replace(next, [{ ...first!, nextStepOrder: 2 }, third!])).toThrow(
      expect.objectContaining({
        details: [expect.objectContaining({ path: "steps.0.nextStepOrder" })],
      }),
    );
    expect(next.gone).toEqual([{ id: before.steps[1]!.id, nextStepOrder: 3 }]);
  });

  test.each([
    ["steps.0.id", [email({ id: 1_000_000 })]],
    ["steps.1.stepOrder", [email({ stepOrder: 3 }), email({ stepOrder: 3 })]],
    ["steps.1.nextStepOrder", [email(), email({ nextStepOrder: 1 })]],
    ["steps.0.nextStepOrder", [email({ nextStepOrder: 7 })]],
    ["steps.0.templateId", [email({ templateId: null })]],
    ["steps.1.delayMinutes", [email(), { type: "delay" }]],
    ["steps.0.conditionConfig", [fork({ conditionConfig: null })]],
    ...[2, 9].map((order): [string, Given[]] => [
      "steps.1.conditionConfig",
      [
        email(),
        fork({
          conditionConfig: {
            match: "all",
            conditions: [{ field: `step.${order}.opened`, operator: "exists" }],
          },
        }),
      ],
    ]),
  ] as [string, Given[]][])("names %s", (path, input) => {
    expect(() => replace(flow.emptyGraph, input, true)).toThrow(
      expect.objectContaining({
        kind: "invalid",
        details: expect.arrayContaining([expect.objectContaining({ path })]),
      }),
    );
  });

  test("names a step that is given twice", () => {
    const before = flowOf(email());
    expect(() => replace(before, [before.steps[0]!, unordered(before.steps[0]!)])).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ path: "steps.1.id" })] }),
    );
  });
});

describe("validation", () => {
  test.each([
    ["nextStepOrder", [email({ stepOrder: 2, nextStepOrder: 2 })]],
    ["trueBranchStepOrder", [email(), fork({ trueBranchStepOrder: 1 })]],
    ["stepOrder", [email({ stepOrder: 1 }), email({ stepOrder: 1 })]],
    [
      "conditionConfig",
      [
        fork({
          conditionConfig: {
            match: "all",
            conditions: [{ field: "step.2.opened", operator: "exists" }],
          },
        }),
      ],
    ],
  ])("%s", (path, given) => {
    expect(() => flowOf(...(given as Given[]))).toThrow(
      expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] }),
    );
  });

  test("names the way of a split that leads back, or nowhere", () => {
    const split = (nextStepOrder: number): Given => ({
      type: "split",
      splitConfig: { branches: [{ weight: 1 }, { weight: 1, nextStepOrder }] },
    });
    expect(() => flowOf(email(), split(1))).toThrow(
      "splitConfig.branches.1.nextStepOrder must be greater",
    );
    expect(stepGraphProblems.missingParts(flowOf(split(9), { type: "split" }), "manual")).toEqual([
      "step 1: splitConfig.branches.1.nextStepOrder is 9, but that step does not exist",
      "step 2: splitConfig is needed",
    ]);
    const moved = stepGraphChanges.addSteps(flowOf(split(2), email()), {
      input: [NewSequenceStep.parse(email({ stepOrder: 1 }))],
      stamps: stamps(1),
      insert: true,
    });
    expect(moved.steps[1]?.splitConfig?.branches.map((way) => way.nextStepOrder)).toEqual([
      undefined,
      3,
    ]);
  });

  test("names the missing parts", () => {
    expect(stepGraphProblems.missingParts(flow.emptyGraph, "manual")).toEqual([
      "the sequence has no steps",
    ]);
    const half = flowOf(
      email({ templateId: null }),
      { type: "delay" },
      { type: "condition", falseBranchStepOrder: 9 },
    );
    expect(stepGraphProblems.missingParts(half, "manual")).toEqual([
      "step 1: templateId is needed",
      "step 2: delayMinutes is needed",
      "step 3: conditionConfig is needed",
      "step 3: falseBranchStepOrder is 9, but that step does not exist",
    ]);
  });
});

describe("the next opening of a send window", () => {
  const at = (text: string) => new Date(text);
  const weekdays = SendWindow.parse({ days: [1, 2, 3, 4, 5], from: "09:10", until: "17:00" });

  test.each([
    ["inside the window is now", "2026-11-20T12:00:00Z", "UTC", "2026-11-20T12:00:00.000Z"],
    [
      "before the window is its start, to the minute",
      "2026-11-20T03:00:00Z",
      "UTC",
      "2026-11-20T09:10:00.000Z",
    ],
    [
      "at the end of the window is the next day",
      "2026-11-19T17:00:00Z",
      "UTC",
      "2026-11-20T09:10:00.000Z",
    ],
    ["on Friday evening is Monday", "2026-11-20T17:00:01Z", "UTC", "2026-11-23T09:10:00.000Z"],
    ["is in local time", "2026-11-20T00:00:00Z", "America/New_York", "2026-11-20T14:10:00.000Z"],
    [
      "is correct in a time zone with an offset of 45 minutes",
      "2026-11-20T00:00:00Z",
      "Asia/Kathmandu",
      "2026-11-20T03:25:00.000Z",
    ],
    [
      "is correct when the clocks change",
      "2026-10-24T15:00:00Z",
      "Europe/Berlin",
      "2026-10-26T08:10:00.000Z",
    ],
  ])("%s", (_, now, timezone, wanted) => {
    expect(nextOpening(weekdays, timezone, at(now)).toISOString()).toBe(wanted);
  });

  test.each([
    [{ from: "09:01", until: "09:15" }, false],
    [{ from: "09:00", until: "09:15" }, true],
    [{ from: "17:00", until: "09:00" }, false],
    [{ from: "23:46" }, false],
    [{ from: "23:45" }, true],
    [{ until: "00:14" }, false],
    [{ until: "00:15" }, true],
  ])("needs a window of at least 15 minutes: %j", (given, isTaken) => {
    const { success, error } = SendWindow.safeParse(given);
    expect(success).toBe(isTaken);
    if (!isTaken)
      expect(error!.issues).toMatchObject([
        { path: ["from"], message: "must be at least 15 minutes before until" },
      ]);
  });

  test("is now without a window", () => {
    expect(nextOpening(null, "UTC", at("2026-11-20T03:00:00Z"))).toEqual(
      at("2026-11-20T03:00:00Z"),
    );
  });
});

describe("the end of a wait", () => {
  const daily = SendWindow.parse({ from: "09:00", until: "10:00" });

  // The clocks change on the night before 29 March, 25 October, 8 March and 1 November.
  test.each([
    ["Europe/Berlin", 1440, "2026-03-28T08:30:00Z", "2026-03-29T07:30:00.000Z"],
    ["Europe/Berlin", 1440, "2026-10-24T07:30:00Z", "2026-10-25T08:30:00.000Z"],
    ["America/New_York", 1440, "2026-03-07T14:30:00Z", "2026-03-08T13:30:00.000Z"],
    ["America/New_York", 1440, "2026-10-31T13:30:00Z", "2026-11-01T14:30:00.000Z"],
    ["America/New_York", 7 * 1440, "2026-03-03T14:30:00Z", "2026-03-10T13:30:00.000Z"],
    ["UTC", 1440, "2026-03-28T09:30:00Z", "2026-03-29T09:30:00.000Z"],
  ])("in %s after %i minutes is at the same time of day", (timezone, delayMinutes, at, wanted) => {
    const end = endOfWait(new Date(at), { delayMinutes }, timezone);
    expect(end.toISOString()).toBe(wanted);
    expect(nextOpening(daily, timezone, end)).toEqual(end);
  });

  test.each([
    ["of hours is exact", 25 * 60, "2026-03-28T08:30:00Z", "2026-03-29T09:30:00.000Z"],
    ["of 0 is now", 0, "2026-10-25T01:30:00Z", "2026-10-25T01:30:00.000Z"],
    [
      "at a skipped time is an hour later",
      1440,
      "2026-03-28T01:30:00Z",
      "2026-03-29T01:30:00.000Z",
    ],
  ])("%s", (_, delayMinutes, at, wanted) => {
    const end = endOfWait(new Date(at), { delayMinutes }, "Europe/Berlin");
    expect(end.toISOString()).toBe(wanted);
  });
});
