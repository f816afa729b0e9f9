import { expect, test } from "vitest";
import { readable, wholeCharacters } from "../../shared/json.ts";

const read = (text: string): unknown => JSON.parse(readable(Buffer.from(text)));

test.each([
  [String.raw`"\ud83d\ude00"`, "😀"],
  [String.raw`"\uD83D"`, "\ufffd"],
  [String.raw`"\ude00\ud83d"`, "\ufffd\ufffd"],
  [String.raw`"\ud83dx"`, "\ufffdx"],
  [String.raw`"\\ud83d"`, String.raw`\ud83d`],
  [String.raw`"\\\ud83d"`, "\\\ufffd"],
  [String.raw`"\u0041\ud83d\u0041"`, "A\ufffdA"],
])("%s is read with whole characters only", (json, text) => {
  expect(JSON.parse(wholeCharacters(json))).toBe(text);
});

test("what JSON.stringify makes of a text that was cut is mended too, in names as in values", () => {
  const cut = "😀".slice(0, 1);
  expect(JSON.parse(wholeCharacters(JSON.stringify({ [cut]: [cut, "é"] })))).toEqual({ "\ufffd": ["\ufffd", "é"] });
});

test("brackets, commas and quotes within a text count for nothing", () => {
  const text = `${"[".repeat(1000)}${",".repeat(600_000)}\\"\\\\`;
  expect(read(JSON.stringify({ text, list: [1] }))).toEqual({ text, list: [1] });
});

test("depth is how many levels are open at once, not how many there are", () => {
  expect(read(`[${"[[]],".repeat(1000)}1]`)).toHaveLength(1001);
  expect(() => read("[".repeat(201))).toThrow("200 levels");
});

test("what is no JSON passes, for the parser to refuse", () => {
  for (const text of ["", '"', '"\\', "]]]]", "{,", '\\"']) expect(readable(Buffer.from(text))).toBe(text);
});
