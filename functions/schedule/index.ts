import type { Tick } from "../../shared/every.ts";

export const ticks: Tick[] = [];
