import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Beginnings of the paths of test files that take long, the longest first. Vitest takes them for
 * short, because it orders projects by name, and files without earlier results by size.
 */
const long = [
  "test/simulation/",
  "test/browser/",
  "test/unit/regular-expressions",
  "test/unit/hand-over-model",
];

/** Starts long test files first, so that none runs alone at the end while other cores are idle. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => this.rank(one) - this.rank(other));
  }

  private rank({ moduleId }: TestSpecification): number {
    const path = moduleId.slice(this.ctx.config.root.length + 1);
    const place = long.findIndex((start) => path.startsWith(start));
    return place === -1 ? long.length : place;
  }
}
