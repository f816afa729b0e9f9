// What went wrong at other email tools, done to this one. field-stories/README.md has the table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { useVirtualQueues } from "../support/campaigns.ts";
import { deadLetters } from "../support/virtual-queues.ts";
import { intake } from "./field-stories/intake.ts";
import { interruptions } from "./field-stories/interruptions.ts";
import { recipients } from "./field-stories/recipients.ts";
import { reports } from "./field-stories/reports.ts";

const stories = { ...interruptions, ...recipients, ...intake, ...reports };

const document = readFileSync(join(import.meta.dirname, "field-stories/README.md"), "utf8");
const [, , ...rows] = document.split("\n").filter((line) => line.startsWith("|"));
const table = rows.map((row) => {
  const [promise = "", happened = "", sources = ""] = row.slice(2, -2).split(" | ");
  return { promise, happened, sources };
});

describe("the table", () => {
  test("has each story once, and no other", () => {
    expect(table.map(({ promise }) => promise).toSorted()).toEqual(Object.keys(stories).toSorted());
  });

  test.each(table)("names what happened and where: $promise", ({ happened, sources }) => {
    expect(happened).toMatch(/^[A-Z0-9].*\.$/);
    for (const source of sources.split(", ")) {
      const [, repository, number, url] = /^\[(\S+)#(\d+)\]\((\S+)\)$/.exec(source)!;
      const threads = ["issues", "pull"].map(
        (kind) => `https://github.com/${repository}/${kind}/${number}`,
      );
      expect(threads).toContain(url);
    }
  });
});

describe("the promise that", () => {
  beforeAll(useVirtualQueues);
  afterEach(() => expect(deadLetters.splice(0)).toEqual([]));

  test.each(Object.entries(stories))("%s", (_, story) => story());
});
