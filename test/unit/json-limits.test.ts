import { expect, test } from "vitest";
import { replaceLoneSurrogates, safeJsonText } from "../../shared/kernel/json.ts";

const read = (text: string): unknown => JSON.parse(safeJsonText(Buffer.from(text)));

test.each([
  [String.raw`"\ud83d\ude00"`, "😀"],
  [String.raw`"\uD83D"`, "\ufffd"],
  [String.raw`"\ude00\ud83d"`, "\ufffd\ufffd"],
  [String.raw`"\ud83dx"`, "\ufffdx"],
  [String.raw`"\\ud83d"`, String.raw`\ud83d`],
  [String.raw`"\\\ud83d"`, "\\\ufffd"],
  [String.raw`"\u0041\ud83d\u0041"`, "A\ufffdA"],
])("replaces lone surrogates in %s", (json, text) => {
  expect(JSON.parse(replaceLoneSurrogates(json))).toBe(text);
});

test("repairs the JSON of truncated texts, in names and in values", () => {
  const cut = "😀".slice(0, 1);
  expect(JSON.parse(replaceLoneSurrogates(JSON.stringify({ [cut]: [cut, "é"] })))).toEqual({
    "\ufffd": ["\ufffd", "é"],
  });
});

test("ignores brackets, commas and quotes within strings", () => {
  const text = `${"[".repeat(1000)}${",".repeat(600_000)}\\"\\\\`;
  expect(read(JSON.stringify({ text, list: [1] }))).toEqual({ text, list: [1] });
});

test("depth counts nested levels, not all brackets", () => {
  expect(read(`[${"[[]],".repeat(1000)}1]`)).toHaveLength(1001);
  expect(() => read("[".repeat(201))).toThrow("200 levels");
});

test.each([
  ["a pair", String.raw`"\ud83d\ude00"`, "😀"],
  ["a backslash before a word", String.raw`"\\ud83d"`, String.raw`\ud83d`],
  [
    "many pairs",
    JSON.stringify("😀".repeat(1000)).replaceAll("😀", String.raw`\uD83D\uDE00`),
    "😀".repeat(1000),
  ],
  ["a byte order mark", '\ufeff"a"', "a"],
])("accepts %s", (_, json, text) => {
  expect(read(json)).toBe(text);
});

test.each([
  ["a lone high surrogate", Buffer.from(String.raw`"\uD83D"`)],
  ["a lone low surrogate", Buffer.from(String.raw`{"a":["\ude00"]}`)],
  ["a pair in the wrong order", Buffer.from(String.raw`"\ude00\ud83d"`)],
  ["half of a pair after a backslash", Buffer.from(String.raw`"\\\ud83d"`)],
  ["a name with half of a pair", Buffer.from(String.raw`{"\ud83dx":1}`)],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22])],
])("refuses %s", (_, body) => {
  expect(() => safeJsonText(body)).toThrow(
    expect.objectContaining({ kind: "invalid", code: "invalid_json" }),
  );
});

test("leaves text that is not JSON to the parser", () => {
  for (const text of ["", '"', '"\\', "]]]]", "{,", '\\"'])
    expect(safeJsonText(Buffer.from(text))).toBe(text);
});
