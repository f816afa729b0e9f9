import { appendFileSync } from "node:fs";
import { createPlan, simulate } from "./simulation.ts";
import { loadCode, prepareWorld } from "./world.ts";

const t0 = performance.now();
const code = await loadCode();
const prepared = await prepareWorld(code);
console.log("prepared", performance.now() - t0);
const from = Number(process.argv[2] ?? 1),
  n = Number(process.argv[3] ?? 5);
for (let s = from; s < from + n; s++) {
  const t1 = performance.now();
  const lines: string[] = [];
  const r = await simulate(
    { code, prepared },
    createPlan(s, 1),
    process.argv[4] ? (l) => appendFileSync(process.argv[4]!, l + "\n") : undefined,
  );
  console.log(
    s,
    (performance.now() - t1).toFixed(0),
    "ms",
    r.events,
    r.traceHash,
    r.plan.actions.map((a) => a.kind).join(","),
    r.plan.faults.length,
  );
  for (const v of r.violations) console.log("   !", v);
}
