import { writeSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * The very last line of a run: `N passed, N failed`, and `, N skipped` when any were.
 * What breaks outside a test (a file that does not load, a setup, an unhandled error) counts as
 * failed.
 */
export default class TallyReporter implements Reporter {
  private passed = 0;
  private failed = 0;
  private skipped = 0;

  onInit(): void {
    process.on("exit", (code) => {
      // The run broke down without a failed test to show for it: a global setup, or a file pattern
      // that finds nothing.
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
    // A test that never ended (an interrupted run) has not passed.
    this.failed = count("failed") + count("pending") + broken;
    this.skipped = count("skipped");
  }
}

const brokenParts = (module: TestModule): number =>
  [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0).length +
  (module.state() === "queued" ? 1 : 0);
