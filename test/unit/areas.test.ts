// Areas of shared/domain depend on each other in one direction; `npx vitest run --project unit
// test/unit/areas.test.ts` prints the table.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const files = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "shared"],
  {
    cwd: root,
    encoding: "utf8",
  },
)
  .split("\n")
  .filter((file) => file.endsWith(".ts") && existsSync(join(root, file)));

/**
 * Returns `contacts` for shared/domain/contacts/…, `kernel` for shared/kernel/…, and undefined
 * for files without an area.
 */
const areaOf = (file: string): string | undefined =>
  /^shared\/domain\/([\w-]+)\//.exec(file)?.[1] ?? /^shared\/(email|providers)\//.exec(file)?.[1];

/** Maps each area to the areas that it imports from, with one example of each. */
function readDependencies(): Map<string, Map<string, string>> {
  const table = new Map<string, Map<string, string>>();
  for (const file of files) {
    const area = areaOf(file);
    if (area === undefined) continue;
    const source = readFileSync(join(root, file), "utf8");
    for (const [, from, lazily] of source.matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g)) {
      const imported = normalize(join(dirname(file), (from ?? lazily)!));
      const other = areaOf(imported);
      if (other === undefined || other === area) continue;
      const row = table.get(area) ?? new Map<string, string>();
      table.set(area, row.set(other, `${file} imports ${imported}`));
    }
  }
  return table;
}

/** Cycles of areas, with the imports that cause them. */
function findCycle(table: Map<string, Map<string, string>>): string[] {
  const done = new Set<string>();
  const visit = (area: string, path: string[]): string[] => {
    if (path.includes(area)) return path.slice(path.indexOf(area)).concat(area);
    if (done.has(area)) return [];
    for (const other of table.get(area)?.keys() ?? []) {
      const cycle = visit(other, [...path, area]);
      if (cycle.length) return cycle;
    }
    done.add(area);
    return [];
  };
  for (const area of table.keys()) {
    const cycle = visit(area, []);
    if (cycle.length) return cycle.slice(1).map((area, i) => table.get(cycle[i]!)!.get(area)!);
  }
  return [];
}

test("areas depend on each other in one direction", () => {
  const table = readDependencies();
  const rows = [...table].map(
    ([area, row]) => `${area.padEnd(18)}${[...row.keys()].toSorted().join(" ")}`,
  );
  console.log(rows.toSorted().join("\n"));
  expect(table.size).toBeGreaterThan(10);
  expect(findCycle(table)).toEqual([]);
});
