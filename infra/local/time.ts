// The service's clock, which may run ahead of the machine's. How far is kept in the data folder: records made in that future
// (leases, due times) would otherwise lie ahead for as long after the next start.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as clock from "../../shared/clock.ts";

export interface Time {
  offsetSeconds(): number;
  advance(seconds: number): void;
}

export function openTime(file: string | undefined): Time {
  let offset = 0;
  const advance = (seconds: number) => {
    // Whole milliseconds: many small moves add up to what was asked for.
    offset = Math.round((offset + seconds) * 1000) / 1000;
    clock.advance(seconds);
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
