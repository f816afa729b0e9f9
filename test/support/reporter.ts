import { writeSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * The very last line of a run: `N passed, N failed`, and `, N skipped` when any were.
 * What breaks outside a test (a file that does not load, a setup, an unhandled error) counts as failed.
 */
export default class Tally implements Reporter {
  private line = "0 passed, 1 failed";

  onInit(): void {
    process.on("exit", () => {
      if (!this.line.includes(" 0 failed")) process.exitCode ||= 1;
      writeSync(1, `${this.line}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string) => states.filter((each) => each === state).length;
    const broken = modules.reduce((sum, module) => sum + brokenParts(module), 0) + unhandledErrors.length;
    // A test that never ended (an interrupted run) has not passed.
    const failed = count("failed") + count("pending") + broken;
    const skipped = count("skipped");
    this.line = `${count("passed")} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
  }
}

const brokenParts = (module: TestModule): number =>
  [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0).length + (module.state() === "queued" ? 1 : 0);
