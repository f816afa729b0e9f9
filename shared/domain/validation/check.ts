// What every check of an address answers.
import * as z from "zod";

/** `unknown`: we could not find out. It is never a verdict about the address. */
export const Outcome = z.enum(["pass", "warn", "fail", "unknown"]);
export type Outcome = z.output<typeof Outcome>;

export const Check = z
  .object({ result: Outcome, message: z.string().describe("One sentence for people") })
  .meta({ id: "Check", description: "unknown: it could not be found out, which says nothing about the address" });
export type Check = z.output<typeof Check>;

const outcome =
  (result: Outcome) =>
  (message: string): Check => ({ result, message });

export const pass = outcome("pass");
export const warn = outcome("warn");
export const fail = outcome("fail");
export const unknown = outcome("unknown");
