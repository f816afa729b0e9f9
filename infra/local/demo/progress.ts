// What the demo shows while it works: one line that fills on a terminal, a line now and then elsewhere.
import { styleText } from "node:util";

export interface Progress {
  /** A step is done. */
  done(what: string): void;
  /** So many of all. */
  moved(what: string, done: number, all: number): void;
}

const width = 30;

export function progress({ isTTY, write }: { isTTY: boolean; write(text: string): void }): Progress {
  let open = false;
  let quarter = -1;
  const onTerminal = (what: string, done: number, all: number) => {
    const filled = Math.floor((width * done) / all);
    write(
      `\r\x1b[2K  ${styleText("cyan", "━".repeat(filled))}${styleText("dim", "━".repeat(width - filled))} ${figure(done)} of ${figure(all)} ${what}`,
    );
    open = true;
  };
  const inLines = (what: string, done: number, all: number) => {
    const reached = Math.floor((4 * done) / all);
    if (reached === quarter) return;
    quarter = reached;
    write(`  ${figure(done)} of ${figure(all)} ${what}\n`);
  };
  return {
    done(what) {
      write(`${open ? "\r\x1b[2K" : ""}${isTTY ? styleText("green", "✓") : "-"} ${what}\n`);
      open = false;
      quarter = -1;
    },
    moved: isTTY ? onTerminal : inLines,
  };
}

export const figure = (n: number): string => n.toLocaleString("en-US");
