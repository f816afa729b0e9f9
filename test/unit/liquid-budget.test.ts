import { expect, onTestFinished, test, vi } from "vitest";
import { Budget, compile, newPool, render, toSubstitutions } from "../../shared/email/liquid.ts";
import { sampleOf } from "../support/seeded-random.ts";

const result = (source: string, given: Record<string, unknown> = {}) =>
  render(compile(source, { escape: false, field: "html" }), given, { now: new Date(0) }).text;

const searches = [
  "{% if text contains word %}yes{% endif %}",
  ...[
    "remove",
    "remove_first",
    "remove_last",
    "replace",
    "replace_first",
    "replace_last",
    "split",
  ].map((filter) => `{{ text | ${filter}: word }}`),
];

test.each(searches)("%s searches for at most 1,000 characters", (source) => {
  const text = "a".repeat(400_000);
  expect(() => result(source, { text, word: "a".repeat(500) })).not.toThrow();
  // The worst case of a text search. Without a limit it takes minutes.
  const word = `${"a".repeat(100_000)}b${"a".repeat(100_000)}`;
  expect(() => result(source, { text, word })).toThrow(
    "the search text is longer than 1000 characters",
  );
  expect(() => result(source, { text, word: ["a".repeat(600), "a".repeat(600)] })).toThrow(
    "the search text is longer than",
  );
});

test.each(searches)("%s uses units for each read, also when repeated", (source) => {
  const loop = `{% for i in (1..90000) %}${source.replace("{{", "{% assign x =").replace("}}", "%}")}{% endfor %}`;
  const given = { text: "a".repeat(900_000), word: "b" };
  expect(() => result(loop, given)).toThrow("it takes too much work");
});

test("searches for short texts are not limited", () => {
  expect(
    result(
      "{% if text contains 'b' %}1{% endif %}{% if list contains 2 %}2{% endif %}{% if none contains 'x' %}3{% endif %}",
      {
        text: "abc",
        list: [1, 2],
      },
    ),
  ).toBe("12");
  expect(
    result(
      "{{ 'a,b' | split: ',' | join: '+' }}{{ 5115 | replace: 1, 2 }}{{ 'aab' | remove_first: 'a' }}",
    ),
  ).toBe("a+b5225ab");
});

test("output contains no half of a surrogate pair", () => {
  expect(
    result("{{ text | base64_decode }}{{ half }}!", { text: "4piA", half: "😀".slice(0, 1) }),
  ).toBe("☀\ufffd!");
});

const array = Array.from({ length: 50_000 }, (_, i) => `item ${(i * 7919) % 50_000}`);
const objects = array.slice(0, 5000).map((name) => ({ name, list: [1, 2, 3] }));
const long = "<a b='c'>&amp; word ".repeat(25_000);
const nested = (name: string, depth: number) =>
  `{% assign ${name} = "a,b" | split: "," %}${`{% assign ${name} = ${name} | push: ${name} %}`.repeat(depth)}`;
const loop = (body: string, times = 90_000) => `{% for i in (1..${times}) %}${body}{% endfor %}`;

const hostile: [string, string, object?][] = [
  ["90 sorts in one output", `{{ array ${"| sort ".repeat(90)}}}`],
  ["90 sort_natural in one output", `{{ array ${"| sort_natural ".repeat(90)}}}`],
  ["sort by a long path", "{{ objects | sort: path }}", { path: "a.".repeat(50_000) }],
  ["map by a long path", "{{ objects | map: path }}", { path: "a.".repeat(50_000) }],
  ["where, many times", `{{ objects ${"| where: 'name' ".repeat(90)}| size }}`],
  ["an array nested in itself, written", `${nested("x", 40)}{{ x }}`],
  ["an array nested in itself, as json", `${nested("x", 40)}{{ x | json }}`],
  [
    "an array nested in itself, compared",
    `${nested("x", 18)}${nested("y", 18)}${loop("{% if x == y %}{% endif %}")}`,
  ],
  ["an array nested in itself, searched for", `${nested("x", 40)}{{ "a" | split: x }}`],
  [
    "an array nested in itself, in a case",
    `${nested("x", 15)}${nested("y", 15)}{% case x %}${"{% when y %}".repeat(2000)}{% endcase %}`,
  ],
  ["big arrays compared", loop("{% if array == other %}{% endif %}"), { other: [...array] }],
  [
    "long texts compared",
    loop("{% if long == other %}{% endif %}"),
    { other: `${long.slice(1)}x` },
  ],
  ["many operands in a loop", loop(`{% if a ${"or a ".repeat(2000)}%}{% endif %}`)],
  [
    "many whens in a loop",
    loop(`{% case a %}${"{% when 1,2,3,4,5,6,7,8,9 %}".repeat(2000)}{% endcase %}`),
  ],
  ["a long path in a loop", loop(`{{ ${"a.".repeat(5000)}b }}`)],
  ["a long cycle in a loop", loop(`{% cycle ${"'a',".repeat(5000)}'b' %}`)],
  ["a list copied in a loop", loop("{% for j in array limit:0 %}{% endfor %}")],
  [
    "the size of a big object in a loop",
    loop("{{ object.size }}"),
    { object: Object.fromEntries(array.map((one) => [one, 1])) },
  ],
  ["a date format of many parts", "{{ 'now' | date: format }}", { format: "%A%c".repeat(20_000) }],
  [
    "a long text concatenated",
    `{% assign x = array %}${loop("{% assign x = x | concat: array %}")}`,
  ],
  ...[
    ...[
      "strip_html",
      "upcase",
      "url_encode",
      "truncatewords: 3",
      "strip: long",
      "slice: -1",
      "slugify: 'latin'",
      "sha256",
      "escape_once",
    ],
    ...[
      "replace: 'a', 'bb'",
      "split: '' | join: ''",
      "base64_encode",
      "newline_to_br",
      "capitalize",
      "json",
      "remove: 'w'",
    ],
  ].map((filter): [string, string] => [
    `${filter} in a loop`,
    loop(`{% assign x = long | ${filter} %}`),
  ]),
  ...[
    "uniq",
    "sum",
    "reverse",
    "compact",
    "join",
    "group_by: 'name' | size",
    "map: 'name' | join",
    "shift",
    "array_to_sentence_string",
  ].map((filter): [string, string] => [
    `${filter} in a loop`,
    loop(`{% assign x = objects | ${filter} %}`),
  ]),
];

test.each(sampleOf(20, hostile, "hostile templates"))(
  "a template stops at the work limit: %s",
  (_, source, more = {}) => {
    const given = { array, objects, long, a: null, ...more };
    // The clock is stopped, so that a slow machine does not reach the time limit before the work
    // limit.
    vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    for (const escaping of [false, true]) {
      const one = compile(source, { escape: escaping, field: "html" });
      expect(() => render(one, given, { now: new Date(0) })).toThrow("it takes too much work");
      expect(() => toSubstitutions(one).values(given, { now: new Date(0) })).toThrow(
        "it takes too much work",
      );
    }
  },
);

test("600 filters in one output do not parse, and the error names the line", () => {
  const parse = (source: string) => () => compile(source, { escape: true, field: "html" });
  const message = "html is not valid Liquid (line 3): a value can pass through at most 100 filters";
  expect(parse(`\n\n{{ a ${"| sort ".repeat(600)}}}`)).toThrow(message);
  expect(parse(`{% if a %}\n\n{% assign b = a ${"| sort ".repeat(101)}%}{% endif %}`)).toThrow(
    message,
  );
  expect(parse(`{{ a ${"| sort ".repeat(100)}}}`)).not.toThrow();
});

test("the parts of a mail share its budget, and the same mail always uses the same units", () => {
  const one = compile(loop("{{ long | upcase }}", 6), { escape: false, field: "html" });
  const using = () => {
    const budget = new Budget();
    render(one, { long }, { now: new Date(0), budget });
    return budget;
  };
  const budget = using();
  expect(budget.used).toBeGreaterThan(10_000_000);
  expect(using().used).toBe(budget.used);
  expect(() => render(one, { long }, { now: new Date(0), budget })).toThrow(
    "it takes too much work",
  );
});

test("expensive mails use up the pool and fail, and cheap ones never fail", () => {
  const [expensive, cheap] = [loop(""), "{{ name | upcase }}"].map((source) =>
    compile(source, { escape: false, field: "html" }),
  );
  const pool = newPool();
  const text = (one: typeof cheap) =>
    render(one!, { name: "ada" }, { now: new Date(0), budget: new Budget({ pool }) }).text;
  const errors = Array.from({ length: 40 }, () => {
    try {
      return text(expensive);
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(errors[0]).toBe("");
  expect(errors.at(-1)).toContain(
    "it takes too much work, and so did other mails of the same batch",
  );
  expect(text(cheap)).toBe("ADA");
});

test("a rendering ends after a second of CPU time, and never because the machine is busy", () => {
  onTestFinished(() => void vi.restoreAllMocks());
  const budget = new Budget();
  vi.spyOn(performance, "now").mockReturnValue(1e12);
  expect(() => budget.checkTime()).not.toThrow();
  vi.spyOn(process, "threadCpuUsage").mockReturnValue({ user: 900_000, system: 200_000 });
  expect(() => budget.checkTime()).toThrow("it takes too long");
});
