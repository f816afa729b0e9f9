// The model of the hand-over in test/model: all its states are explored. Without one of the rules,
// a promise breaks.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Explore, loadModel } from "../model/explore.ts";

const invariants = ["noneTwice", "truthful", "counted", "leaversRespected"];
const goal = "atRest";
let explore: Explore;
beforeAll(async () => {
  explore = await loadModel(join(import.meta.dirname, "../model/hand-over.qnt"));
});

describe("with all rules, every promise holds in every state, and each mail gets an outcome", () => {
  test.each([
    ["a provider without keys, which is asked about uncertain mails", "init"],
    ["a provider with keys", "withKeys"],
    ["two chunks", "withTwoChunks"],
  ])("%s", (_, init) => {
    const { states, ...result } = explore({ init, invariants, goal });
    expect(result).toEqual({ violated: undefined, story: [], deadEnds: 0 });
    expect(states).toBeGreaterThan(1000);
  });

  test("runners with wrong clocks, at a provider that cannot be asked", () => {
    const init = "withWrongClocks";
    const result = explore({ init, invariants, goal: "atRestWithUncertain" });
    expect(result).toMatchObject({ violated: undefined, deadEnds: 0 });
  });
});

// The shortest story that breaks the promise.
test.each([
  ["withoutClaim", "noneTwice", "take claim call leaseEnds take claim call accept accept"],
  [
    "withoutLeaseCheck",
    "noneTwice",
    "take claim lookAgain leaseEnds take store settle lookUp " +
      "take claim lookAgain call call accept accept",
  ],
  [
    "withoutClaimCondition",
    "noneTwice",
    "take leaseEnds take claim lookAgain claim lookAgain call call accept accept",
  ],
  ["withoutSecondLook", "leaversRespected", "take leave claim lookAgain call accept"],
  [
    "withoutTakeOver",
    "truthful",
    "take claim leaseEnds take call loseAnswer accept leave lookAgain " +
      "take call accept answer store settle",
  ],
  ["withoutRepeatLook", "leaversRespected", "take leaseEnds leave claim take call accept"],
  [
    "withoutSettleCondition",
    "counted",
    "take claim lookAgain call loseAnswer store leaseEnds take settle settle",
  ],
  [
    "withoutPatience",
    "noneTwice",
    "take claim lookAgain call loseAnswer store settle lookUp " +
      "take claim lookAgain call accept accept",
  ],
])("%s, the promise %s breaks", (init, promise, story) => {
  const result = explore({ init, invariants: [promise], goal });
  expect([result.violated, result.story.join(" ")]).toEqual([promise, story]);
});
