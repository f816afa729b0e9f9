// Looking for one text in another takes, at its worst, as long as the one times the other: minutes for two texts of a template's
// size, within a single step that nothing can interrupt. So what is looked for is short, and where it is looked for is paid for.
import { type Context, defaultOperators } from "liquidjs";
import type { Handler } from "./engine.ts";

const longestNeedle = 1000;

export const searchingFilters = ["remove", "remove_first", "remove_last", "replace", "replace_first", "replace_last", "split"];

/** A filter whose first argument is looked for in its value. */
export const searching = (handler: Handler): Handler =>
  function (value: unknown, needle: unknown, ...args: unknown[]) {
    bounded(needle);
    return handler.call(this, value, needle, ...args);
  };

/** The operator. Other than filters it does not pay for what it reads. */
export const contains: (typeof defaultOperators)["contains"] = function* (value: unknown, needle: unknown, context: Context) {
  if (typeof value === "string") {
    bounded(needle);
    context.memoryLimit.use(value.length);
  }
  return yield* defaultOperators.contains!(value, needle, context) as Generator<unknown, boolean, unknown>;
};

function bounded(needle: unknown) {
  const length = typeof needle === "object" && needle !== null ? String(needle).length : typeof needle === "string" ? needle.length : 0;
  if (length > longestNeedle) throw new Error(`a text of more than ${longestNeedle} characters cannot be searched for`);
}
