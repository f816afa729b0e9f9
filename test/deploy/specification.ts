// The files of test/http that run against a deployed stage, and why the others do not.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const ownService =
  "it starts its own service, with settings or a clock that the stage does not have";
const ownMachine = "it is about the service on one machine";

/** Reasons by file name without `.test.ts`. */
const leftOut: Record<string, string> = {
  billing: ownService,
  guides: ownService,
  "secret-leaks": ownService,
  "openapi-examples": ownService,
  "provider-webhooks": ownService,
  "rate-limit": ownService,
  "hostile-input": ownService,
  unsubscribe: ownService,
  demo: ownMachine,
  soak: ownService,
  "local-service": ownMachine,
  "readme-first-send": ownMachine,
  "typed-client": "it generates its client from the service on one machine",
};

/** Paths relative to the project. */
export function specificationFiles(): string[] {
  const names = readdirSync(join(import.meta.dirname, "../http"))
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => file.replace(".test.ts", ""));
  const unknown = Object.keys(leftOut).filter((name) => !names.includes(name));
  if (unknown.length) throw new Error(`There is no test/http/${unknown.join(", ")}`);
  return names.filter((name) => !(name in leftOut)).map((name) => `test/http/${name}.test.ts`);
}
