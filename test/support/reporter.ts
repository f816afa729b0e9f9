import { writeSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Prints the last line of a run: `N passed, N failed`, and `, N skipped` if there are any. Errors
 * outside of tests (a file that does not load, a setup, an unhandled error) count as failed.
 */
export default class TallyReporter implements Reporter {
  private passed = 0;
  private failed = 0;
  private skipped = 0;

  onInit(): void {
    process.on("exit", (code) => {
      // The run failed without a failed test, in a global setup or because no file matched.
      if (this.failed === 0 && (code !== 0 || this.passed + this.skipped === 0)) this.failed = 1;
      if (this.failed > 0) process.exitCode ||= 1;
      writeSync(
        1,
        `${this.passed} passed, ${this.failed} failed${this.skipped ? `, ${this.skipped} skipped` : ""}\n`,
      );
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string) => states.filter((each) => each === state).length;
    const broken =
      modules.reduce((sum, module) => sum + brokenParts(module), 0) + unhandledErrors.length;
    this.passed = count("passed");
    // Tests that did not end, because the run was interrupted, count as failed.
    this.failed = count("failed") + count("pending") + broken;
    this.skipped = count("skipped");
  }
}

const brokenParts = (module: TestModule): number =>
  [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0).length +
  (module.state() === "queued" ? 1 : 0);
