import type { Worker } from "../../shared/consume.ts";

export const workers: Worker[] = [];
