// The service clock, which can be ahead of the machine's clock. The offset is stored in the data
// folder, because stored leases and due times would otherwise lie in the future after the next
// start.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as clock from "../../shared/clock.ts";

export interface MovableClock {
  offsetSeconds(): number;
  advance(seconds: number): void;
}

export function openMovableClock(file: string | undefined): MovableClock {
  let offset = 0;
  const advance = (seconds: number) => {
    // Rounded to milliseconds, so that many small steps add up exactly.
    offset = Math.round((offset + seconds) * 1000) / 1000;
    clock.advanceClock(seconds);
  };
  if (file && existsSync(file)) advance(Number(readFileSync(file, "utf8")) || 0);
  return {
    offsetSeconds: () => offset,
    advance: (seconds) => {
      advance(seconds);
      if (file) writeFileSync(file, String(offset));
    },
  };
}
