import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as flow from "../../shared/domain/sequences/flow.ts";
import { NewStep, type Step } from "../../shared/domain/sequences/step.ts";
import { opening, SendWindow } from "../../shared/domain/sequences/windows.ts";

let ids = 0;
const stamps = (n: number) => Array.from({ length: n }, () => ({ id: ++ids, createdAt: "t", updatedAt: "t" }));
const anyone = { match: "all", conditions: [] };
type Given = Partial<Step> & { type: Step["type"] };
const flowOf = (...given: Given[]) =>
  flow.added(
    flow.empty,
    given.map((step) => NewStep.parse(step)),
    stamps(given.length),
  );
const email = (more: Partial<Step> = {}): Given => ({ type: "email", templateId: 1, ...more });
const fork = (more: Partial<Step>): Given => ({ type: "condition", conditionConfig: anyone as Step["conditionConfig"], ...more });

/** Orders of the steps that are passed when every condition turns out so. */
function walk(of: flow.Flow, held: boolean, from: flow.Place = { order: 0 }): number[] {
  const orders: number[] = [];
  for (let step = flow.stepAt(of, from); step; step = flow.nextOf(of, step, held)) orders.push(step.stepOrder);
  return orders;
}

describe("the way", () => {
  test("goes from order to order, gaps and all", () => {
    expect(walk(flowOf(email({ stepOrder: 10 }), email({ stepOrder: 20 }), email()), true)).toEqual([10, 20, 21]);
  });

  test("a jump skips what lies between, null ends it", () => {
    expect(walk(flowOf(email({ nextStepOrder: 3 }), email(), email({ nextStepOrder: null }), email()), true)).toEqual([1, 3]);
  });

  test("out of one branch nobody walks into the other; a jump leads both on", () => {
    const forked = flowOf(fork({ trueBranchStepOrder: 2, falseBranchStepOrder: 4 }), email(), email(), email(), email());
    expect([walk(forked, true), walk(forked, false)]).toEqual([
      [1, 2, 3],
      [1, 4, 5],
    ]);
    const joined = flowOf(fork({ falseBranchStepOrder: 3 }), email({ nextStepOrder: 4 }), email(), email());
    expect([walk(joined, true), walk(joined, false)]).toEqual([
      [1, 2, 4],
      [1, 3, 4],
    ]);
    const ending = flowOf(fork({ trueBranchStepOrder: null }), email());
    expect([walk(ending, true), walk(ending, false)]).toEqual([[1], [1, 2]]);
  });

  test("who is at a removed step goes on behind it, also where it jumped", () => {
    const whole = flowOf(email(), email({ nextStepOrder: 4 }), email(), email());
    const [, second] = whole.steps;
    const less = flow.removed(whole, second!);
    expect(walk(less, true, { stepId: second!.id, order: 2 })).toEqual([4]);
    const jumping = flowOf(email({ nextStepOrder: 3 }), email(), email(), email());
    expect(walk(flow.removed(jumping, jumping.steps[2]!), true)).toEqual([1, 4]);
  });

  test("a branch whose first step is removed begins with what is left of it, and ends before the other", () => {
    const forked = flowOf(fork({ trueBranchStepOrder: 2, falseBranchStepOrder: 4 }), email(), email(), email(), email());
    const both = (way: flow.Flow) => [walk(way, true), walk(way, false)];
    const without = (...orders: number[]) =>
      orders.reduce((way, order) => flow.removed(way, way.steps.find(({ stepOrder }) => stepOrder === order)!), forked);
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

  test("steps that are inserted move up what follows, and every jump and question with it", () => {
    const asked = { match: "all" as const, conditions: [{ field: "step.1.opened", operator: "exists" as const }] };
    const before = flowOf(email({ nextStepOrder: 3 }), email(), fork({ conditionConfig: asked, trueBranchStepOrder: 4 }), email());
    const after = flow.added(before, [NewStep.parse(email({ stepOrder: 1 }))], stamps(1), { insert: true });
    expect(after.steps.map(({ stepOrder }) => stepOrder)).toEqual([1, 2, 3, 4, 5]);
    expect(after.steps[1]).toMatchObject({ nextStepOrder: 4 });
    expect(after.steps[3]).toMatchObject({ trueBranchStepOrder: 5, conditionConfig: { conditions: [{ field: "step.2.opened" }] } });
  });

  test("nobody ever goes back or in circles, however steps are added and removed", () => {
    const jump = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });
    const anyStep = fc.record({
      type: fc.constantFrom<Step["type"]>("email", "delay", "condition"),
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
          let way = flow.empty;
          for (const step of given)
            try {
              way = flow.added(way, [NewStep.parse(step)], stamps(1), { insert: step.stepOrder % 2 === 0 });
            } catch {}
          const known = way.steps;
          for (const n of removals) if (way.steps[n]) way = flow.removed(way, way.steps[n]);
          for (const from of [{ order: 0 }, ...known.map(({ id, stepOrder }) => ({ stepId: id, order: stepOrder }))]) {
            const orders = walk(way, held, from);
            expect(orders).toEqual([...new Set(orders)].toSorted((a, b) => a - b));
          }
        },
      ),
    );
  });
});

describe("what is refused", () => {
  test.each([
    ["nextStepOrder", [email({ stepOrder: 2, nextStepOrder: 2 })]],
    ["trueBranchStepOrder", [email(), fork({ trueBranchStepOrder: 1 })]],
    ["stepOrder", [email({ stepOrder: 1 }), email({ stepOrder: 1 })]],
    ["conditionConfig", [fork({ conditionConfig: { match: "all", conditions: [{ field: "step.2.opened", operator: "exists" }] } })]],
  ])("%s", (path, given) => {
    expect(() => flowOf(...(given as Given[]))).toThrow(
      expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] }),
    );
  });

  test("what is not complete is named", () => {
    expect(flow.incomplete(flow.empty)).toEqual(["there are no steps"]);
    const half = flowOf(email({ templateId: null }), { type: "delay" }, { type: "condition", falseBranchStepOrder: 9 });
    expect(flow.incomplete(half)).toEqual([
      "step 1: templateId is needed",
      "step 2: delayMinutes is needed",
      "step 3: conditionConfig is needed",
      "step 3: falseBranchStepOrder names order 9, where no step is",
    ]);
  });
});

describe("windows", () => {
  const at = (text: string) => new Date(text);
  const weekdays = SendWindow.parse({ days: [1, 2, 3, 4, 5], from: "09:10", until: "17:00" });

  test.each([
    ["inside it is now", "2026-11-20T12:00:00Z", "UTC", "2026-11-20T12:00:00.000Z"],
    ["before it is when it opens, to the minute", "2026-11-20T03:00:00Z", "UTC", "2026-11-20T09:10:00.000Z"],
    ["at its end it is over", "2026-11-19T17:00:00Z", "UTC", "2026-11-20T09:10:00.000Z"],
    ["on Friday evening it is Monday", "2026-11-20T17:00:01Z", "UTC", "2026-11-23T09:10:00.000Z"],
    ["it is the clock on the wall", "2026-11-20T00:00:00Z", "America/New_York", "2026-11-20T14:10:00.000Z"],
    ["with offsets of three quarters", "2026-11-20T00:00:00Z", "Asia/Kathmandu", "2026-11-20T03:25:00.000Z"],
    ["also over a change of the clocks", "2026-10-24T15:00:00Z", "Europe/Berlin", "2026-10-26T08:10:00.000Z"],
  ])("%s", (_, now, timezone, wanted) => {
    expect(opening(weekdays, timezone, at(now)).toISOString()).toBe(wanted);
  });

  test.each([
    [{ from: "09:01", until: "09:15" }, false],
    [{ from: "09:00", until: "09:15" }, true],
    [{ from: "17:00", until: "09:00" }, false],
    [{ from: "23:46" }, false],
    [{ from: "23:45" }, true],
    [{ until: "00:14" }, false],
    [{ until: "00:15" }, true],
  ])("that are shorter than a quarter of an hour might never be met: %j", (given, isTaken) => {
    const { success, error } = SendWindow.safeParse(given);
    expect(success).toBe(isTaken);
    if (!isTaken) expect(error!.issues).toMatchObject([{ path: ["from"], message: "must be at least 15 minutes before until" }]);
  });

  test("without one it is now", () => {
    expect(opening(null, "UTC", at("2026-11-20T03:00:00Z"))).toEqual(at("2026-11-20T03:00:00Z"));
  });
});
