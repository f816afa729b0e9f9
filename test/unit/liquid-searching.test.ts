import { expect, test } from "vitest";
import { compile, render } from "../../shared/liquid.ts";

const result = (source: string, given: Record<string, unknown> = {}) =>
  render(compile(source, { escape: false, field: "html" }), given, { now: new Date(0) }).text;

const searches = [
  "{% if text contains word %}yes{% endif %}",
  ...["remove", "remove_first", "remove_last", "replace", "replace_first", "replace_last", "split"].map(
    (filter) => `{{ text | ${filter}: word }}`,
  ),
];

test.each(searches)("%s looks for at most 1,000 characters", (source) => {
  const text = "a".repeat(400_000);
  expect(() => result(source, { text, word: "a".repeat(500) })).not.toThrow();
  // The worst case of looking for one text in another: without a bound this takes minutes.
  const word = `${"a".repeat(100_000)}b${"a".repeat(100_000)}`;
  expect(() => result(source, { text, word })).toThrow("a text of more than 1000 characters cannot be searched for");
  expect(() => result(source, { text, word: ["a".repeat(600), "a".repeat(600)] })).toThrow("cannot be searched for");
});

test.each(searches)("%s pays for what it reads, again and again", (source) => {
  const loop = `{% for i in (1..90000) %}${source.replace("{{", "{% assign x =").replace("}}", "%}")}{% endfor %}`;
  const given = { text: "a".repeat(900_000), word: "b" };
  expect(() => result(loop, given)).toThrow("limit");
});

test("looking for little things is as it was", () => {
  expect(
    result("{% if text contains 'b' %}1{% endif %}{% if list contains 2 %}2{% endif %}{% if none contains 'x' %}3{% endif %}", {
      text: "abc",
      list: [1, 2],
    }),
  ).toBe("12");
  expect(result("{{ 'a,b' | split: ',' | join: '+' }}{{ 5115 | replace: 1, 2 }}{{ 'aab' | remove_first: 'a' }}")).toBe("a+b5225ab");
});

test("half of a character never leaves a template", () => {
  expect(result("{{ text | base64_decode }}{{ half }}!", { text: "4piA", half: "😀".slice(0, 1) })).toBe("☀\ufffd!");
});
