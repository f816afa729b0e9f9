import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long although they are small, which Vitest takes for short ones, and one that
 * measures memory, which takes longer the more other files have loaded before it.
 */
const longFiles = [
  "test/simulation/",
  "test/unit/import-files",
  "test/unit/regular-expressions",
  "test/unit/hand-over-model",
];

/**
 * Orders test files so that all cores are busy until the end. Long files start first. Files with a
 * browser use a whole core each, so they are spread among those that wait for services and engines.
 */
export class EvenLoad extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = sorted.filter((file) => this.isLong(file));
    const short = sorted.filter((file) => !long.includes(file));
    const inBrowser = short.filter(({ project }) => project.name === "browser");
    const others = short.filter((file) => !inBrowser.includes(file));
    return [...long, ...spread(inBrowser, others)];
  }

  private isLong({ moduleId }: TestSpecification): boolean {
    const path = moduleId.slice(this.ctx.config.root.length + 1);
    return longFiles.some((start) => path.startsWith(start));
  }
}

/** Puts `few` at equal distances among the first two thirds of `many`. */
function spread<T>(few: T[], many: T[]): T[] {
  const distance = (many.length * 2) / 3 / few.length;
  return [
    ...few.map((element, i) => ({ element, place: i * distance })),
    ...many.map((element, place) => ({ element, place })),
  ]
    .toSorted((one, other) => one.place - other.place)
    .map(({ element }) => element);
}
