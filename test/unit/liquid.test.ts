import { describe, expect, it } from "vitest";
import * as liquid from "../../shared/email/liquid.ts";
import { fillMergeText } from "../../shared/providers/provider-adapter.ts";
import { measureCpuTime } from "../support/cpu-time.ts";
import fc from "../support/fast-check.ts";

const now = new Date("2026-03-04T05:06:07Z");
const compile = (source: string, { escape: escaping = true, field = "html" } = {}) =>
  liquid.compile(source, { escape: escaping, field });
const text = (source: string, given: liquid.LiquidVariables = {}, options = {}) =>
  liquid.render(compile(source, options), given, { now }).text;
const missing = (source: string, given: liquid.LiquidVariables = {}) =>
  liquid.render(compile(source), given, { now }).missing;
const viaPieces = (source: string, given: liquid.LiquidVariables = {}, options = {}) => {
  const { pieces, values } = liquid.toSubstitutions(compile(source, options));
  return fillMergeText(pieces, {
    sendId: 1,
    to: { email: "a@b.c" },
    values: values(given, { now }),
    headers: {},
  });
};
const parses = (source: string) => () => compile(source);

describe("escaping", () => {
  const nasty = { name: `<b>"A" & 'B'</b>` };
  const safe = "&lt;b&gt;&#34;A&#34; &amp; &#39;B&#39;&lt;/b&gt;";

  it("escapes all output in HTML, of any tag", () => {
    expect(text("{{ name }}", nasty)).toBe(safe);
    expect(text("{% echo name %}", nasty)).toBe(safe);
    expect(text('{% cycle name, "x" %}', nasty)).toBe(safe);
    expect(text("{% liquid\n echo name\n%}", nasty)).toBe(safe);
    expect(text('{{ name | append: "<i>" }}', nasty)).toBe(`${safe}&lt;i&gt;`);
    expect(text('{{ name | default: "<i>" }}', {})).toBe("&lt;i&gt;");
  });
  it("escapes the elements of an array", () => {
    expect(text("{{ names }}", { names: ["<a>", ["<b>"]] })).toBe("&lt;a&gt;&lt;b&gt;");
  });
  it("keeps the template's own markup", () => {
    expect(text("<b>{{ name }}</b>", { name: "A" })).toBe("<b>A</b>");
  });
  it("does not escape if raw is the last filter", () => {
    expect(text("{{ name | raw }}", nasty)).toBe(nasty.name);
    expect(text("{{ name | raw | strip }}", nasty)).toBe(safe);
  });
  it("does not escape twice after an escape filter", () => {
    expect(text("{{ name | escape }}", nasty)).toBe(safe);
    expect(text("{{ name | escape_once }}", { name: "a&amp;<" })).toBe("a&amp;&lt;");
    expect(text("{{ name | xml_escape }}", { name: "<&>" })).toBe("&lt;&amp;&gt;");
  });
  it("does not escape subjects and texts", () => {
    expect(text("{{ name }}", nasty, { escape: false })).toBe(nasty.name);
  });
});

describe("templates support", () => {
  it("conditions, loops, filters and whitespace control", () => {
    const source =
      "{% for i in items %}{% if i.n > 1 %}{{ i.name | upcase }}{% unless forloop.last %}, {% endunless %}{% endif %}{% endfor %}";
    const items = [
      { n: 1, name: "a" },
      { n: 2, name: "b" },
      { n: 3, name: "c" },
    ];
    expect(text(source, { items })).toBe("B, C");
    expect(text("a  {{- x -}}  b", { x: 1 })).toBe("a1b");
    expect(text("{% case p %}{% when 'x', 'y' %}1{% else %}2{% endcase %}", { p: "y" })).toBe("1");
  });
  it("missing variables, which render empty", () => {
    expect(text("a{{ b }}c{{ d.e.f }}")).toBe("ac");
  });
  it("now, which is the given time in UTC", () => {
    expect(text("{{ 'now' | date: '%Y-%m-%d %H:%M:%S' }}")).toBe("2026-03-04 05:06:07");
    expect(text("{{ now | date: '%H:%M', 'Europe/Berlin' }}")).toBe("06:06");
    expect(text("{{ 'today' | date_to_xmlschema }}")).toBe("2026-03-04T05:06:07+00:00");
    expect(text("{{ now }}")).toBe("2026-03-04T05:06:07.000Z");
    expect(text("{% assign t = 'now' | date: '%s' %}{{ t }}")).toBe(String(now.getTime() / 1000));
  });
  it("dates without a time zone, in UTC", () => {
    for (const zone of ["Pacific/Auckland", "America/New_York", "UTC"])
      for (const date of ["2026-03-29T10:00:00", "2026-03-29 10:00", "29 March 2026 10:00"])
        expect(
          text(`{{ "${date}" | date: "%d %H:%M" }} {{ now | date: "%H", "${zone}" }}`),
        ).toMatch(/^29 10:00 /);
  });
  it.each([
    '{{ now | date: "%H", "Europe/Berln" }}',
    "{% assign at = now | date: '%H', 'Mars' %}",
    '{% if a %}{% for b in c %}{{ b | date: "%H", "" }}{% endfor %}{% endif %}',
  ])("no time zone that does not exist: %s", (source) => {
    expect(parses(source)).toThrow(/^html is not valid Liquid \(line 1\): there is no time zone/);
  });
  it("increment without changing the caller's variables", () => {
    const given = { n: 5 };
    expect(text("{% increment n %}{% increment n %}", given)).toBe("56");
    expect(given).toEqual({ n: 5 });
  });
});

describe("templates reject", () => {
  it.each(["include 'x'", "block x", "nonsense"])("the tag %s", (tag) => {
    expect(parses(`{% ${tag} %}`)).toThrow(/tag ".*" not found/);
  });
  it.each(["sample", "where_exp: 'x', 'x'", "number_of_words", "nonsense"])(
    "the filter %s",
    (filter) => {
      expect(parses(`{{ a | ${filter} }}`)).toThrow(/undefined filter/);
    },
  );
  it("access to prototypes", () => {
    for (const path of [
      "constructor",
      "__proto__",
      "toString",
      "a.constructor.name",
      "a.__proto__",
      "list.map",
      "s.constructor",
    ])
      expect(text(`{{ ${path} }}`, { a: {}, list: [], s: "x" })).toBe("");
    expect(text("{% assign __proto__ = 'x' %}{{ y }}{{ __proto__ }}")).toBe("x");
    expect(({} as Record<string, unknown>).y).toBeUndefined();
  });
  it.each([
    ["a long loop", "{% for i in (1..1000000000) %}x{% endfor %}"],
    [
      "a loop in a loop",
      "{% for i in (1..9999) %}{% for j in (1..9999) %}x{% endfor %}{% endfor %}",
    ],
    [
      "a loop without a body",
      "{% for i in (1..9999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}",
    ],
    [
      "a table",
      "{% tablerow i in (1..9999) %}{% tablerow j in (1..9999) %}x{% endtablerow %}{% endtablerow %}",
    ],
    [
      "doubling by assign",
      `{% assign x = "0123456789" %}${"{% assign x = x | append: x %}".repeat(40)}{{ x }}`,
    ],
    [
      "doubling by capture",
      `{% assign x = "0123456789" %}${"{% capture x %}{{ x }}{{ x }}{% endcapture %}".repeat(40)}{{ x }}`,
    ],
    ["a big literal in a loop", `{% for i in (1..50000) %}${"x".repeat(10_000)}{% endfor %}`],
    [
      "a big literal in a capture",
      `{% capture x %}{% for i in (1..50000) %}${"x".repeat(10_000)}{% endfor %}{% endcapture %}{{ x }}`,
    ],
    ["wide padding", "{{ 'now' | date: '%999999999d' }}"],
    [
      "replacing itself",
      `{% assign x = "aaaaaaaaaa" %}${'{% assign x = x | replace: "a", x %}'.repeat(10)}{{ x }}`,
    ],
  ])("expensive templates: %s", (_, source) => {
    expect(() => text(source)).toThrow(/^html cannot be rendered \(line 1\): /);
    expect(() => viaPieces(source)).toThrow(/^html cannot be rendered \(line 1\): /);
  });
  it.each([
    [
      "steps, also without output",
      "{% for i in (1..60000) %}{% endfor %}",
      "it takes more than 100000 steps",
    ],
    [
      "output",
      `{{ "now" | date: "%Y" }}{% for i in (1..16) %}{{ big }}{% endfor %}`,
      "it takes too much work",
    ],
  ])("templates with too much work: %s", (_, source, message) => {
    const given = { big: "x".repeat(200_000) };
    expect(() => text(source, given)).not.toThrow();
    expect(() => text(source + source, given)).toThrow(message);
  });
  it("more than 1,100,000 characters", () => {
    expect(text("x".repeat(1_100_000))).toHaveLength(1_100_000);
    expect(parses("x".repeat(1_100_001))).toThrow(/^html is not valid Liquid/);
  });
  it.each([
    ["nesting", "{% if a %}".repeat(9000)],
    ["closed nesting", "{% if a %}".repeat(5000) + "{% endif %}".repeat(5000)],
    ["open outputs", "{{".repeat(9000)],
    ["a path in a path", `{{ ${"a[".repeat(100_000)}b${"]".repeat(100_000)} }}`],
    ["many filters", `{{ a ${"| upcase ".repeat(50_000)} }}`],
    ["many filters in many places", `{{ a ${"| upcase ".repeat(100)} }}`.repeat(1300)],
    ["many operands", `{% if a ${"or a ".repeat(100_000)}%}x{% endif %}`],
  ])("or render unusual templates quickly: %s", (_, source) => {
    const render = () => {
      try {
        text(source, { a: "x" });
      } catch (error) {
        expect(error).toMatchObject({ kind: "invalid" });
      }
    };
    expect(measureCpuTime(render)).toBeLessThan(4000);
  });
  it("more than 10,000 tags or lines of a liquid tag", () => {
    expect(text("{{a}}".repeat(10_000), { a: 1 })).toHaveLength(10_000);
    expect(parses("{{a}}".repeat(10_001))).toThrow(
      "html can have at most 10000 Liquid tags and outputs",
    );
    expect(parses(`{% liquid\n${"echo a\n".repeat(10_001)}%}`)).toThrow(
      "html can have at most 10000 Liquid tags and outputs",
    );
  });
  it("filter input that is not valid, with an error of the caller", () => {
    expect(() => text("x\n{{ a | base64_decode }}", { a: "***" })).toThrow(
      "html cannot be rendered (line 2): invalid base64 provided to base64_decode",
    );
    expect(() => text("{{ a }}", { a: { toString: "x", valueOf: 1 } })).toThrow(
      /^html cannot be rendered \(line 1\)/,
    );
  });
});

describe("errors", () => {
  it.each([
    ["a\n\n{{ 'x }}", 3],
    ["{% if a %}\nx", 1],
    ["line\n{% for x of y %}{% endfor %}", 2],
    ["a\n{{ b", 2],
    ["a\n{{ b | nonsense }}", 2],
    ["a\n{% endif %}", 2],
  ])("names the field and the line: %j", (source, line) => {
    expect(() => compile(source, { field: "subject" })).toThrow(
      expect.objectContaining({
        kind: "invalid",
        message: expect.stringMatching(
          new RegExp(`^subject is not valid Liquid \\(line ${line}\\): .`),
        ) as string,
        details: [{ path: "subject", message: expect.any(String) as string }],
      }) as Error,
    );
  });
  it("name the field, also for a source already compiled for another field", () => {
    compile("{{ a | base64_decode }}", { field: "subject" });
    expect(() => text("{{ a | base64_decode }}", { a: "*" }, { field: "text" })).toThrow(
      /^text cannot/,
    );
  });
});

describe("variables", () => {
  const names = (source: string) => liquid.variableNames(compile(source));

  it("are the distinct paths that the template reads, in order", () => {
    expect(
      names(
        "{{ b.c }}{{ a }}{{ b.c | append: d }}{% if e > f %}{% endif %}{% for x in g.list limit: h %}{% endfor %}",
      ),
    ).toEqual(["b.c", "a", "d", "e", "f", "g.list", "h"]);
    expect(
      names(
        "{{ a[b.c] }}{{ (1..n) | join }}{{ d['e f'] }}{% case k %}{% when m %}{% endcase %}{% cycle z: x, 'y' %}",
      ).sort(),
    ).toEqual(["a[b.c]", "b.c", "d['e f']", "k", "m", "n", "x", "z"]);
  });
  it("do not include those that the template sets", () => {
    expect(
      names(
        "{% assign a = b %}{{ a }}{% capture c %}{{ d }}{% endcapture %}{{ c }}{% for e in f %}{{ e.x }}{{ forloop.index }}{% endfor %}",
      ),
    ).toEqual(["b", "d", "f"]);
    expect(
      names(
        "{% for e in f offset: continue %}{% endfor %}{{ e }}{{ now }}{{ true }}{{ empty }}{% raw %}{{ no }}{% endraw %}",
      ),
    ).toEqual(["f", "e"]);
  });
});

describe("missing", () => {
  it("names variables that are read but not given", () => {
    expect(
      missing("{{ a }}{{ b.c }}{{ b.d }}{{ b.d.e }}{{ z }}", { b: { c: 1 }, z: null }),
    ).toEqual(["a", "b.d", "b.d.e"]);
    expect(
      missing(
        "{% assign x = a %}{{ x }}{% for i in list %}{% endfor %}{{ 'q' | append: s }}{% echo e %}",
      ),
    ).toEqual(["a", "list", "s", "e"]);
  });
  it("does not name variables with a default, only in conditions, or in branches not taken", () => {
    expect(
      missing(
        "{{ a | default: 'x' }}{% if b %}{{ b }}{% elsif c %}{% endif %}{% unless d %}{% endunless %}{% case e %}{% endcase %}",
      ),
    ).toEqual([]);
  });
  it("names a variable that is used with and without a default", () => {
    expect(missing("{{ a | default: 'x' }}{{ a }}")).toEqual(["a"]);
  });
});

describe("split", () => {
  it("returns literals, and a placeholder for each run of other nodes", () => {
    const { pieces, values } = liquid.toSubstitutions(
      compile("<p>{{ a }}{{ b }} and {% if c %}yes{% endif %}</p>"),
    );
    expect(pieces).toEqual(["<p>", 0, " and ", 1, "</p>"]);
    expect(values({ a: "<", b: 2, c: true }, { now })).toEqual(["&lt;2", "yes"]);
  });
  it("has no placeholders in a template without variables", () => {
    const { pieces, values } = liquid.toSubstitutions(
      compile("a{% comment %}x{% endcomment %}b{% assign x = 1 %}"),
    );
    expect(pieces).toEqual(["ab"]);
    expect(values({}, { now })).toEqual([]);
    expect(liquid.toSubstitutions(compile("")).pieces).toEqual([]);
    expect(liquid.toSubstitutions(compile("<p>{% assign x = a %}</p>")).pieces).toEqual([
      "<p></p>",
    ]);
  });
  it("keeps variables that a tag sets for later tags, but not for the next recipient", () => {
    const { values } = liquid.toSubstitutions(
      compile(
        "{% assign x = a %}1{{ x }}2{% cycle 'p', 'q' %}3{% cycle 'p', 'q' %}4{% increment n %}",
      ),
    );
    expect(values({ a: "A" }, { now })).toEqual(["A", "p", "q", "0"]);
    expect(values({}, { now })).toEqual(["", "p", "q", "0"]);
  });
  it("a break outside of a loop ends the mail for that recipient only", () => {
    const source = "a{{ b }}c{% if stop %}{% break %}{% endif %}d{{ b }}e";
    expect([viaPieces(source, { b: 1, stop: true }), viaPieces(source, { b: 1 })]).toEqual([
      "a1c",
      "a1cd1e",
    ]);
    expect(
      liquid.toSubstitutions(compile("{% for i in l %}{% break %}{% endfor %}x{{ y }}")).pieces,
    ).toEqual([0, "x", 1]);
  });

  const word = fc.constantFrom("a", "b", "c", "d.e", "list", "now", "list.size", "i");
  const filter = fc.constantFrom(
    "",
    " | upcase",
    " | raw",
    ' | default: "none"',
    " | append: b",
    " | escape",
    ' | date: "%Y"',
    " | json",
    " | first",
  );
  const { template } = fc.letrec<{ template: string; node: string }>((tie) => ({
    template: fc.array(tie("node"), { maxLength: 6 }).map((nodes) => nodes.join("")),
    node: fc.oneof(
      { maxDepth: 3, depthIdentifier: "nodes" },
      fc.constantFrom("text ", "<b>&</b>", "\n", "}} ", "0"),
      fc.tuple(word, filter).map(([path, more]) => `{{ ${path}${more} }}`),
      fc.tuple(word, filter).map(([path, more]) => `{{- ${path}${more} -}}`),
      fc.tuple(word, filter).map(([path, more]) => `{% assign ${path.split(".")[0]} = b${more} %}`),
      fc.constantFrom(
        "{% increment n %}",
        "{% cycle 'x', b %}",
        "{% break %}",
        "{% continue %}",
        "{% comment %}x{% endcomment %}",
      ),
      fc.constantFrom(
        "{% raw %}{{ a }}{% endraw %}",
        "{% echo a %}",
        "{% liquid\n assign c = a\n echo c\n%}",
        "{% # note %}",
      ),
      tie("template").map((body) => `{% capture c %}${body}{% endcapture %}`),
      fc
        .tuple(word, tie("template"), tie("template"))
        .map(([path, yes, no]) => `{% if ${path} %}${yes}{% else %}${no}{% endif %}`),
      fc
        .tuple(word, tie("template"))
        .map(([path, body]) => `{% unless ${path} == "x" %}${body}{% endunless %}`),
      fc
        .tuple(tie("template"), tie("template"))
        .map(([body, none]) => `{% for i in list %}${body}{% else %}${none}{% endfor %}`),
      fc
        .tuple(word, tie("template"))
        .map(([path, body]) => `{%- tablerow i in ${path} cols:2 -%}${body}{% endtablerow %}`),
      fc
        .tuple(word, tie("template"))
        .map(
          ([path, body]) => `{% case ${path} %}{% when 1, "x" %}${body}{% else %}z{% endcase %}`,
        ),
    ),
  }));
  const value = fc.oneof(fc.constantFrom<unknown>("x", "<&>", 1, true, null, ""), fc.string());
  const given = fc.record(
    {
      a: value,
      b: value,
      c: value,
      d: fc.record({ e: value }),
      list: fc.array(value, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  );

  it("gives pieces that with the values equal the rendered template", () => {
    fc.assert(
      fc.property(template, given, fc.boolean(), (source, variables, escaping) => {
        const options = { escape: escaping };
        expect(viaPieces(source, variables, options)).toBe(text(source, variables, options));
      }),
      { numRuns: 1500 },
    );
  });

  it("gives the same result for templates of only text and outputs, which skip the engine", () => {
    const path = fc.constantFrom(
      "a",
      "b",
      "d",
      "d.e",
      "d.x",
      "a.b",
      "list",
      "list.size",
      "a.length",
    );
    const filters = fc.array(
      fc.constantFrom(
        " | capitalize",
        " | upcase",
        " | downcase",
        " | strip",
        ' | default: "<no one>"',
        " | raw",
        " | escape",
        " | size",
      ),
      { maxLength: 3 },
    );
    const output = fc.tuple(path, filters).map(([name, more]) => `{{ ${name}${more.join("")} }}`);
    const source = fc.array(fc.oneof(output, fc.constantFrom("<b>", " text ")), { maxLength: 6 });
    fc.assert(
      fc.property(source, given, fc.boolean(), (parts, generated, escaping) => {
        const options = { escape: escaping };
        // Variables from JSON have a prototype.
        const variables = structuredClone(generated);
        const template = parts.join("");
        expect(viaPieces(template, variables, options)).toBe(text(template, variables, options));
      }),
      { numRuns: 1500 },
    );
  });
});
