// Renders within a budget: each node, loop iteration and written character uses units of it.
import type { Context, Emitter, Liquid, Template } from "liquidjs";
import { LiquidError, RenderError, toValueSync } from "liquidjs";
import { type Budget, budgetKey, budgetOf } from "./budget.ts";
import { PaidContext } from "./costs.ts";
import { missingVariables, type VariableReads } from "./variable-reads.ts";

const maxSteps = 100_000;
const stepUnits = 100;
// Written characters stay in memory until the mail is handed over.
const unitsPerWritten = 2;

/** The budget of a rendering, and the variables that it found missing. */
interface RenderBudget {
  steps: number;
  reads: VariableReads;
  missing: Set<string> | undefined;
}

interface Rendering {
  engine: Liquid;
  reads: VariableReads;
  now: Date;
  budget: Budget;
  missing?: Set<string>;
}

/** Creates the context of one rendering. `now` is the time of `now`, `"now"` and `"today"`. */
export function createContext(
  given: Record<string, unknown>,
  { engine, reads, now, budget, missing }: Rendering,
): Context {
  // A copy without a prototype: `increment` writes to it, and nothing inherited can be read from
  // it.
  const scope: object = Object.assign(Object.create(null), inAnyCase(given, reads.all));
  const memoryLimit = budget as unknown as Context["memoryLimit"];
  const options = { sync: true, globals: { now: now.toISOString() } };
  const context = new PaidContext(scope, engine.options, options, { liquid: engine, memoryLimit });
  context.setRegister(budgetKey, { steps: 0, reads, missing } satisfies RenderBudget);
  return context;
}

type Fields = Record<string, unknown>;

/** Adds custom fields under the letter case in which the template reads them. */
export function inAnyCase(given: Fields, paths: Iterable<string>): Fields {
  const { customFields } = given;
  if (typeof customFields !== "object" || customFields === null) return given;
  const fields = customFields as Fields;
  const [more, moreFields]: [Fields, Fields] = [{}, {}];
  let byName: Map<string, unknown> | undefined;
  for (const path of paths) {
    const [root = "", name = ""] = path.split(/[.[]/);
    const [read, from, to] =
      root === "customFields" ? [name, fields, moreFields] : [root, given, more];
    if (!read || Object.hasOwn(from, read)) continue;
    byName ??= new Map(
      Object.entries(fields).map(([field, value]) => [field.toLowerCase(), value]),
    );
    const value = byName.get(read.toLowerCase());
    if (value !== undefined) to[read] = value;
  }
  return byName ? { ...given, ...more, customFields: { ...fields, ...moreFields } } : given;
}

/** Replaces halves of surrogate pairs, which filters can produce and mail cannot contain. */
export const renderToText = (nodes: Template[], context: Context): string =>
  toValueSync(renderNodes(nodes, context)).toWellFormed();

/** Replaces the engine's renderer, so that the bodies of tags use the same budget. */
export function* renderNodes(
  nodes: Template[],
  context: Context,
  emitter = emitterFor(context),
): Generator<unknown, string, unknown> {
  const progress = context.getRegister<RenderBudget>(budgetKey);
  const budget = budgetOf(context);
  countStep(progress, budget);
  for (const node of nodes) {
    try {
      countStep(progress, budget);
      budget.use(progress.reads.operands.get(node) ?? 0);
      if (progress.missing) noteMissing(progress, node, context);
      const output = yield node.render(context, emitter);
      if (output) emitter.write(output);
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, node);
    }
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

function countStep(progress: RenderBudget, budget: Budget) {
  progress.steps++;
  if (progress.steps > maxSteps) throw new Error(`it takes more than ${maxSteps} steps`);
  budget.use(stepUnits);
  budget.checkTime();
}

function noteMissing({ missing, reads }: RenderBudget, node: Template, context: Context) {
  for (const name of missingVariables(reads, node, context)) missing?.add(name);
}

function emitterFor(context: Context): Emitter {
  const budget = budgetOf(context);
  const emitter = {
    buffer: "",
    write(value: unknown) {
      if (typeof value === "object") budget.weigh(value);
      const text = textOf(value);
      budget.use(text.length * unitsPerWritten);
      emitter.buffer += text;
    },
  };
  return emitter;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.map(textOf).join("") : String(value);
}
