// The progress of the demo: a bar on a terminal, and a line per quarter elsewhere.
import { styleText } from "node:util";

export interface DemoProgress {
  /** Writes a line for a finished step. */
  finishStep(what: string): void;
  /** Shows that `done` of `all` are done. */
  update(what: string, done: number, all: number): void;
}

const width = 30;

export function createProgress({
  isTTY,
  write,
}: {
  isTTY: boolean;
  write(text: string): void;
}): DemoProgress {
  let lineOpen = false;
  let quarter = -1;
  const onTerminal = (what: string, done: number, all: number) => {
    const filled = Math.floor((width * done) / all);
    const bar =
      styleText("cyan", "━".repeat(filled)) + styleText("dim", "━".repeat(width - filled));
    write(`\r\x1b[2K  ${bar} ${formatCount(done)} of ${formatCount(all)} ${what}`);
    lineOpen = true;
  };
  const inLines = (what: string, done: number, all: number) => {
    const quarterReached = Math.floor((4 * done) / all);
    if (quarterReached === quarter) return;
    quarter = quarterReached;
    write(`  ${formatCount(done)} of ${formatCount(all)} ${what}\n`);
  };
  return {
    finishStep(what) {
      write(`${lineOpen ? "\r\x1b[2K" : ""}${isTTY ? styleText("green", "✓") : "-"} ${what}\n`);
      lineOpen = false;
      quarter = -1;
    },
    update: isTTY ? onTerminal : inLines,
  };
}

export const formatCount = (n: number): string => n.toLocaleString("en-US");
