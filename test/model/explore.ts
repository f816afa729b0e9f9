// Explores all states of a Quint model, breadth first. Quint's own simulator takes one random
// choice after the other. This explorer runs the same evaluator, and takes every choice.
import { readFileSync } from "node:fs";
import type { EvalFunction } from "@informalsystems/quint/dist/src/runtime/impl/builder.js";
import type { Register } from "@informalsystems/quint/dist/src/runtime/impl/Context.js";
import type { RuntimeValue } from "@informalsystems/quint/dist/src/runtime/impl/runtimeValue.js";

export interface Exploration {
  states: number;
  /** The invariant that does not hold in some state. */
  violated: string | undefined;
  /** The actions of the shortest way to that state. */
  story: string[];
  /** How many states cannot reach a state in which the goal holds. */
  deadEnds: number;
}

interface ExplorationOptions {
  /** The action that gives the first state. */
  init: string;
  invariants: string[];
  /** Every state has to reach a state in which it holds. */
  goal: string;
}

export type Explore = (options: ExplorationOptions) => Exploration;

/** The values of all variables, in the order of the evaluator. */
type State = Register["value"][];

interface Visit {
  state: State;
  /** Numbers of the states that lead here. The first is on a shortest way. */
  from: number[];
  action: string;
}

/** Loads the last module of a file. Its `step` has to be an `any` of named actions. */
export async function loadModel(file: string): Promise<Explore> {
  // Quint otherwise repeats a disabled action with other choices, which the explorer does itself.
  process.env.QUINT_RETRY_NONDET_SMALLER_THAN = "0";
  const { parse, newIdGenerator } = await import("@informalsystems/quint");
  const { Builder, buildDef, buildExpr } = await import(
    "@informalsystems/quint/dist/src/runtime/impl/builder.js"
  );
  const { Context } = await import("@informalsystems/quint/dist/src/runtime/impl/Context.js");
  const { newTraceRecorder } = await import("@informalsystems/quint/dist/src/runtime/trace.js");
  const { newRng } = await import("@informalsystems/quint/dist/src/rng.js");

  const path = { normalizedPath: file, toSourceName: () => file };
  const parsed = parse(newIdGenerator(), file, path, readFileSync(file, "utf8"), new Map());
  const [error] = parsed.errors;
  if (error) throw new Error(`${file}: ${error.message}`);
  const declarations = parsed.modules.at(-1)!.declarations;
  const builder = new Builder(parsed.table, false);
  const { varStorage } = builder;
  const choices = createChoices();
  const context = new Context(newTraceRecorder(0, newRng()), choices.take, varStorage);

  const findDefinition = (name: string) => {
    const found = declarations.find((one) => one.kind === "def" && one.name === name);
    if (found?.kind !== "def") throw new Error(`${file} does not define ${name}`);
    return found;
  };
  const build = (name: string): EvalFunction => buildDef(builder, findDefinition(name));
  const holds = (definition: EvalFunction): boolean => {
    const result = definition(context);
    if (result.isLeft()) throw new Error(result.value.message);
    return result.value.toBool();
  };
  const listActions = () => {
    const { expr } = findDefinition("step");
    if (expr.kind !== "app" || expr.opcode !== "actionAny") throw new Error("step is not an any");
    return expr.args.map((action) => ({
      name: action.kind === "name" ? action.name : "",
      run: buildExpr(builder, action),
    }));
  };
  const setState = (state: State) => {
    for (const [i, register] of [...varStorage.nextVars.values()].entries())
      register.value = state[i]!;
    varStorage.shiftVars();
  };
  const nextState = (): State => [...varStorage.nextVars.values()].map(({ value }) => value);
  const toKey = createStateKeys();

  return ({ init, invariants, goal }) => {
    const initAction = build(init);
    const actions = listActions();
    const conditions = invariants.map((name) => ({ name, holds: build(name) }));
    const goalCondition = build(goal);
    const numbers = new Map<string, number>();
    const visits: Visit[] = [];
    const goals: number[] = [];
    const visit = (state: State, from: number[], action: string) => {
      const key = toKey(state);
      const known = numbers.get(key);
      if (known !== undefined) visits[known]!.from.push(...from);
      else numbers.set(key, visits.push({ state, from, action }) - 1);
    };
    varStorage.reset();
    choices.takeAll(() => {
      if (holds(initAction)) visit(nextState(), [], init);
    });
    for (let n = 0; n < visits.length; n++) {
      const { state } = visits[n]!;
      setState(state);
      const violated = conditions.find((condition) => !holds(condition.holds))?.name;
      if (violated)
        return { states: visits.length, violated, story: tellStory(visits, n), deadEnds: 0 };
      if (holds(goalCondition)) goals.push(n);
      for (const { name, run } of actions)
        choices.takeAll(() => {
          setState(state);
          if (holds(run)) visit(nextState(), [n], name);
        });
    }
    const deadEnds = visits.length - countSources(visits, goals);
    return { states: visits.length, violated: undefined, story: [], deadEnds };
  };
}

/** Gives each combination of choices once, in place of random numbers. */
function createChoices() {
  let chosen: { value: number; count: number }[] = [];
  let position = 0;
  const advance = (): boolean => {
    for (let last = chosen.at(-1); last; last = chosen.at(-1)) {
      if (++last.value < last.count) return true;
      chosen.pop();
    }
    return false;
  };
  return {
    /** A number below `count`. */
    take(count: bigint): bigint {
      if (position === chosen.length) chosen.push({ value: 0, count: Number(count) });
      return BigInt(chosen[position++]!.value);
    },
    takeAll(work: () => void): void {
      chosen = [];
      do {
        position = 0;
        work();
      } while (advance());
    },
  };
}

/** States share most of their values, so each value is written out once. */
function createStateKeys(): (state: State) => string {
  const numberByValue = new WeakMap<RuntimeValue, number>();
  const numberByText = new Map<string, number>();
  const numberOf = (value: RuntimeValue): number => {
    const known = numberByValue.get(value);
    if (known !== undefined) return known;
    const text = toText(value);
    const number = numberByText.get(text) ?? numberByText.size;
    numberByText.set(text, number);
    numberByValue.set(value, number);
    return number;
  };
  return (state) => state.map((value) => numberOf(value.unwrap())).join();
}

/** Equal for equal values, whatever the order in which a set was made. */
function toText(value: RuntimeValue): string {
  if ("map" in value) {
    const entries = value.map as Map<string | RuntimeValue, RuntimeValue>;
    const texts = [...entries].map(
      ([key, one]) => `${typeof key === "string" ? key : toText(key)}:${toText(one)}`,
    );
    return `{${texts.toSorted().join()}}`;
  }
  if ("list" in value) return `(${[...(value.list as Iterable<RuntimeValue>)].map(toText).join()})`;
  if ("value" in value) return String(value.value);
  return `[${[...value].map(toText).toSorted().join()}]`;
}

function tellStory(visits: Visit[], last: number): string[] {
  const story: string[] = [];
  for (let n: number | undefined = last; n !== undefined; n = visits[n]!.from[0])
    story.unshift(visits[n]!.action);
  return story.slice(1);
}

/** The number of states that reach one of these. */
function countSources(visits: Visit[], goals: number[]): number {
  const reached = new Set(goals);
  for (const n of reached) for (const from of visits[n]!.from) reached.add(from);
  return reached.size;
}
