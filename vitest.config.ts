import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { missingRequirement } from "./infra/local/engines/dynamodb-local.ts";
import { EvenLoad } from "./test/support/even-load.ts";

const project = (name: string, more: TestProjectInlineConfiguration["test"] = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
});

const engine = {
  globalSetup: "./test/support/setup/engines.ts",
  setupFiles: "./test/support/setup/environment.ts",
};

/** Files run one after the other in one process, which loads the modules once. */
const sharedProcess = { isolate: false, setupFiles: "./test/support/setup/fresh-state.ts" };

// Services and workers start in half the time when their modules are compiled already.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compiled");

const everything = process.env.TEST_ALL === "1";
// All workers take their samples by it.
process.env.SEED ??= String(Math.floor(Math.random() * 1e6));
const sampleNote = ", a sample of the crash points and histories: npm run test:all takes all";
console.log(`SEED=${process.env.SEED}${everything ? "" : sampleNote}`);

/**
 * They start engines of their own, or count request units: Amazon's counts others in transactions.
 */
const never = ["local-engines", "local-runner", "sending-request-units"];
/**
 * Enough to compare the embedded engine with Amazon's: conditions, transactions, indexes, pages and
 * leases.
 */
const comparing = ["contention", "cursors", "due-work", "idempotency", "leases", "references"];

/**
 * Engine tests on Amazon's DynamoDB Local after all others: some, or all with TEST_ALL. Left out
 * where it is not installed.
 */
function dynamoDb() {
  const missing = missingRequirement();
  if (missing && !process.argv.includes("--project"))
    console.log(`dynamodb tests skipped: ${missing}`);
  if (missing) return [];
  const include = [
    "test/dynamodb/*.test.ts",
    `test/engine/${everything ? "*" : `{${comparing}}`}.test.ts`,
  ];
  const exclude = never.map((name) => `test/engine/${name}.test.ts`);
  return [
    project("dynamodb", {
      ...engine,
      globalSetup: "./test/support/dynamodb.ts",
      include,
      exclude,
      sequence: { groupOrder: 1 },
    }),
  ];
}

/**
 * `npm run test:deploy` and `npm run test:fuzz` alone run them: they take minutes, and need Python.
 */
const onRequest = [
  project("deploy", { testTimeout: 120_000 }),
  project("fuzz", { testTimeout: 800_000 }),
].filter(({ test: { name } }) => process.argv.includes(String(name)));

/** `npm run test:generators` alone runs them: they download tools. */
const generators = process.argv.includes("generators")
  ? [
      project("generators", {
        globalSetup: "./test/support/setup/service.ts",
        testTimeout: 240_000,
      }),
    ]
  : [];

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/reporter.ts"],
    // A test that takes all crash points plays hundreds of stories.
    testTimeout: everything ? 1_800_000 : 60_000,
    hookTimeout: 60_000,
    // As long as a browser waits for an element.
    expect: { poll: { timeout: 30_000 } },
    // Tests wait for services, engines and browsers, which are processes of their own. Two cores are
    // busy with two files, and a third would only make tests reach their time limits.
    maxWorkers: availableParallelism() < 4 ? 2 : availableParallelism() + 1,
    sequence: { sequencer: EvenLoad },
    projects: [
      project("unit", sharedProcess),
      project("engine", engine),
      project("http", { globalSetup: "./test/support/setup/service.ts", ...sharedProcess }),
      project("infra", { globalSetup: "./test/support/setup/bundles.ts", hookTimeout: 120_000 }),
      project("simulation", { testTimeout: 600_000 }),
      project("browser", { globalSetup: "./test/support/setup/browser.ts", ...sharedProcess }),
      ...dynamoDb(),
      ...onRequest,
      ...generators,
    ],
  },
});
