// Rendering with bounds: every node counts as a step, every character written is paid for, and time has an end.
import { Context, type Emitter, type Liquid, LiquidError, RenderError, type Template, toValueSync } from "liquidjs";
import { type Reads, undefinedReads } from "./reads.ts";

const maxSteps = 100_000;
const maxMilliseconds = 1000;
/** Characters written and worked on in one rendering, roughly. */
const maxCharacters = 10_000_000;

/** What a rendering has used up, and where it notes what is missing. */
interface Progress {
  steps: number;
  /** On the clock of `performance.now()`. */
  deadline: number;
  noting: { missing: Set<string>; reads: Reads } | undefined;
}
const progressKey = "progress";

/** A context for one rendering. `now` is what `now`, `"now"` and `"today"` mean in it. */
export function contextFor(engine: Liquid, given: Record<string, unknown>, now: Date, noting?: Progress["noting"]): Context {
  // A copy without a prototype: `increment` writes to it, and nothing inherited can be read from it.
  const scope: object = Object.assign(Object.create(null), given);
  const options = { sync: true, globals: { now: now.toISOString() }, memoryLimit: maxCharacters };
  const context = new Context(scope, engine.options, options, { liquid: engine });
  context.setRegister(progressKey, { steps: 0, deadline: performance.now() + maxMilliseconds, noting } satisfies Progress);
  return context;
}

/** Filters may cut a character in half: no mail can hold one. */
export const rendered = (nodes: Template[], context: Context): string => toValueSync(renderNodes(nodes, context)).toWellFormed();

/** Takes the place of the engine's own renderer, so that bodies of tags are bounded like the whole. */
export function* renderNodes(nodes: Template[], context: Context, emitter = emitterFor(context)): Generator<unknown, string, unknown> {
  const progress = context.getRegister<Progress>(progressKey);
  step(progress);
  for (const node of nodes) {
    step(progress);
    try {
      if (progress.noting) note(progress.noting, node, context);
      const output = yield node.render(context, emitter);
      if (output) emitter.write(output);
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, node);
    }
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

function step(progress: Progress) {
  progress.steps++;
  if (progress.steps > maxSteps) throw new Error(`it takes more than ${maxSteps} steps`);
  if (progress.steps % 64 === 0 && performance.now() > progress.deadline) throw new Error("it takes too long");
}

function note({ missing, reads }: NonNullable<Progress["noting"]>, node: Template, context: Context) {
  for (const name of undefinedReads(reads, node, context)) missing.add(name);
}

function emitterFor({ memoryLimit }: Context): Emitter {
  const emitter = {
    buffer: "",
    write(value: unknown) {
      const text = textOf(value);
      memoryLimit.use(text.length);
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
