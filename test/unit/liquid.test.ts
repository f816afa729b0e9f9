import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as liquid from "../../shared/liquid.ts";
import { filled } from "../../shared/providers/provider.ts";

const now = new Date("2026-03-04T05:06:07Z");
const compile = (source: string, { escape: escaping = true, field = "html" } = {}) => liquid.compile(source, { escape: escaping, field });
const text = (source: string, given: liquid.Variables = {}, options = {}) => liquid.render(compile(source, options), given, { now }).text;
const missing = (source: string, given: liquid.Variables = {}) => liquid.render(compile(source), given, { now }).missing;
const viaPieces = (source: string, given: liquid.Variables = {}, options = {}) => {
  const { pieces, values } = liquid.split(compile(source, options));
  return filled(pieces, { sendId: 1, to: { email: "a@b.c" }, values: values(given, { now }), headers: {} });
};
const parses = (source: string) => () => compile(source);

describe("escaping", () => {
  const nasty = { name: `<b>"A" & 'B'</b>` };
  const safe = "&lt;b&gt;&#34;A&#34; &amp; &#39;B&#39;&lt;/b&gt;";

  it("escapes what is put out in HTML, by whatever tag", () => {
    expect(text("{{ name }}", nasty)).toBe(safe);
    expect(text("{% echo name %}", nasty)).toBe(safe);
    expect(text('{% cycle name, "x" %}', nasty)).toBe(safe);
    expect(text("{% liquid\n echo name\n%}", nasty)).toBe(safe);
    expect(text('{{ name | append: "<i>" }}', nasty)).toBe(`${safe}&lt;i&gt;`);
    expect(text('{{ name | default: "<i>" }}', {})).toBe("&lt;i&gt;");
  });
  it("escapes what a list holds", () => {
    expect(text("{{ names }}", { names: ["<a>", ["<b>"]] })).toBe("&lt;a&gt;&lt;b&gt;");
  });
  it("leaves the template's own markup alone", () => {
    expect(text("<b>{{ name }}</b>", { name: "A" })).toBe("<b>A</b>");
  });
  it("does not escape after raw, and only when raw comes last", () => {
    expect(text("{{ name | raw }}", nasty)).toBe(nasty.name);
    expect(text("{{ name | raw | strip }}", nasty)).toBe(safe);
  });
  it("does not escape twice what was escaped by hand", () => {
    expect(text("{{ name | escape }}", nasty)).toBe(safe);
    expect(text("{{ name | escape_once }}", { name: "a&amp;<" })).toBe("a&amp;&lt;");
    expect(text("{{ name | xml_escape }}", { name: "<&>" })).toBe("&lt;&amp;&gt;");
  });
  it("does not escape in a subject or a text", () => {
    expect(text("{{ name }}", nasty, { escape: false })).toBe(nasty.name);
  });
});

describe("what templates can do", () => {
  it("conditions, loops, filters, whitespace control", () => {
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
  it("a variable that is not there renders empty", () => {
    expect(text("a{{ b }}c{{ d.e.f }}")).toBe("ac");
  });
  it("now is the given time, in UTC", () => {
    expect(text("{{ 'now' | date: '%Y-%m-%d %H:%M:%S' }}")).toBe("2026-03-04 05:06:07");
    expect(text("{{ now | date: '%H:%M', 'Europe/Berlin' }}")).toBe("06:06");
    expect(text("{{ 'today' | date_to_xmlschema }}")).toBe("2026-03-04T05:06:07+00:00");
    expect(text("{{ now }}")).toBe("2026-03-04T05:06:07.000Z");
    expect(text("{% assign t = 'now' | date: '%s' %}{{ t }}")).toBe(String(now.getTime() / 1000));
  });
  it("increment does not change the caller's variables", () => {
    const given = { n: 5 };
    expect(text("{% increment n %}{% increment n %}", given)).toBe("56");
    expect(given).toEqual({ n: 5 });
  });
});

describe("what templates cannot do", () => {
  it.each(["include 'x'", "render 'x'", "layout 'x'", "block x", "nonsense"])("there is no tag %s", (tag) => {
    expect(parses(`{% ${tag} %}`)).toThrow(/tag ".*" not found/);
  });
  it.each(["sample", "where_exp: 'x', 'x'", "number_of_words", "nonsense"])("there is no filter %s", (filter) => {
    expect(parses(`{{ a | ${filter} }}`)).toThrow(/undefined filter/);
  });
  it("prototypes are out of reach", () => {
    for (const path of ["constructor", "__proto__", "toString", "a.constructor.name", "a.__proto__", "list.map", "s.constructor"])
      expect(text(`{{ ${path} }}`, { a: {}, list: [], s: "x" })).toBe("");
    expect(text("{% assign __proto__ = 'x' %}{{ y }}{{ __proto__ }}")).toBe("x");
    expect(({} as Record<string, unknown>).y).toBeUndefined();
  });
  it.each([
    ["a long loop", "{% for i in (1..1000000000) %}x{% endfor %}"],
    ["a loop in a loop", "{% for i in (1..9999) %}{% for j in (1..9999) %}x{% endfor %}{% endfor %}"],
    ["a loop without a body", "{% for i in (1..9999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}"],
    ["a table", "{% tablerow i in (1..9999) %}{% tablerow j in (1..9999) %}x{% endtablerow %}{% endtablerow %}"],
    ["doubling by assign", `{% assign x = "0123456789" %}${"{% assign x = x | append: x %}".repeat(40)}{{ x }}`],
    ["doubling by capture", `{% assign x = "0123456789" %}${"{% capture x %}{{ x }}{{ x }}{% endcapture %}".repeat(40)}{{ x }}`],
    ["a big literal in a loop", `{% for i in (1..50000) %}${"x".repeat(10_000)}{% endfor %}`],
    ["a big literal in a capture", `{% capture x %}{% for i in (1..50000) %}${"x".repeat(10_000)}{% endfor %}{% endcapture %}{{ x }}`],
    ["wide padding", "{{ 'now' | date: '%999999999d' }}"],
    ["replacing itself", `{% assign x = "aaaaaaaaaa" %}${'{% assign x = x | replace: "a", x %}'.repeat(10)}{{ x }}`],
  ])("abuse ends: %s", (_, source) => {
    expect(() => text(source)).toThrow(/^html cannot be rendered \(line 1\): /);
    expect(() => viaPieces(source)).toThrow(/^html cannot be rendered \(line 1\): /);
  });
  it.each([
    ["of steps, also of those that write nothing", "{% for i in (1..60000) %}{% endfor %}", "it takes more than 100000 steps"],
    ["of what is written", `{{ "now" | date: "%Y" }}{% for i in (1..20) %}{{ big }}{% endfor %}`, "limit"],
  ])("there is an end %s", (_, source, message) => {
    const given = { big: "x".repeat(200_000) };
    expect(() => text(source, given)).not.toThrow();
    expect(() => text(source + source, given)).toThrow(message);
  });
  it("1,100,000 characters are read, one more is not", () => {
    expect(text("x".repeat(1_100_000))).toHaveLength(1_100_000);
    expect(parses("x".repeat(1_100_001))).toThrow(/^html does not parse/);
  });
  it("abuse ends: slow comparing", () => {
    const source = "{% for i in (1..90000) %}{% if big == other %}x{% endif %}{% endfor %}";
    const [big, other] = [1, 1].map((one) => new Array(100_000).fill(one));
    const given = { big, other };
    expect(() => text(source, given)).toThrow("html cannot be rendered (line 1): it takes too long");
  });
  it.each([
    ["nesting", "{% if a %}".repeat(9000)],
    ["closed nesting", "{% if a %}".repeat(5000) + "{% endif %}".repeat(5000)],
    ["open outputs", "{{".repeat(9000)],
    ["a path in a path", `{{ ${"a[".repeat(100_000)}b${"]".repeat(100_000)} }}`],
    ["many filters", `{{ a ${"| upcase ".repeat(50_000)} }}`],
    ["many operands", `{% if a ${"or a ".repeat(100_000)}%}x{% endif %}`],
  ])("a template may be strange, never slow: %s", (_, source) => {
    const started = performance.now();
    try {
      text(source, { a: "x" });
    } catch (error) {
      expect(error).toMatchObject({ kind: "invalid" });
    }
    expect(performance.now() - started).toBeLessThan(4000);
  });
  it("10,000 tags are taken, 10,001 are not, nor 10,001 lines of a liquid tag", () => {
    expect(text("{{a}}".repeat(10_000), { a: 1 })).toHaveLength(10_000);
    expect(parses("{{a}}".repeat(10_001))).toThrow("html may have at most 10000 Liquid tags and outputs");
    expect(parses(`{% liquid\n${"echo a\n".repeat(10_001)}%}`)).toThrow("html may have at most 10000 Liquid tags and outputs");
  });
  it("a filter that cannot take its input is the caller's problem, not ours", () => {
    expect(() => text("x\n{{ a | base64_decode }}", { a: "***" })).toThrow(
      "html cannot be rendered (line 2): invalid base64 provided to base64_decode",
    );
    expect(() => text("{{ a }}", { a: { toString: "x", valueOf: 1 } })).toThrow(/^html cannot be rendered \(line 1\)/);
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
        message: expect.stringMatching(new RegExp(`^subject does not parse \\(line ${line}\\): .`)) as string,
        details: [{ path: "subject", message: expect.any(String) as string }],
      }) as Error,
    );
  });
  it("names the field that asks, also for a source known from another field", () => {
    compile("{{ a | base64_decode }}", { field: "subject" });
    expect(() => text("{{ a | base64_decode }}", { a: "*" }, { field: "text" })).toThrow(/^text cannot/);
  });
});

describe("variables", () => {
  const names = (source: string) => liquid.variables(compile(source));

  it("are the paths read from outside, each once, in order", () => {
    expect(names("{{ b.c }}{{ a }}{{ b.c | append: d }}{% if e > f %}{% endif %}{% for x in g.list limit: h %}{% endfor %}")).toEqual([
      "b.c",
      "a",
      "d",
      "e",
      "f",
      "g.list",
      "h",
    ]);
    expect(names("{{ a[b.c] }}{{ (1..n) | join }}{{ d['e f'] }}{% case k %}{% when m %}{% endcase %}{% cycle z: x, 'y' %}").sort()).toEqual(
      ["a[b.c]", "b.c", "d['e f']", "k", "m", "n", "x", "z"],
    );
  });
  it("are not what the template sets itself", () => {
    expect(
      names(
        "{% assign a = b %}{{ a }}{% capture c %}{{ d }}{% endcapture %}{{ c }}{% for e in f %}{{ e.x }}{{ forloop.index }}{% endfor %}",
      ),
    ).toEqual(["b", "d", "f"]);
    expect(
      names("{% for e in f offset: continue %}{% endfor %}{{ e }}{{ now }}{{ true }}{{ empty }}{% raw %}{{ no }}{% endraw %}"),
    ).toEqual(["f", "e"]);
  });
});

describe("missing", () => {
  it("is what was looked up to be shown and is not given", () => {
    expect(missing("{{ a }}{{ b.c }}{{ b.d }}{{ b.d.e }}{{ z }}", { b: { c: 1 }, z: null })).toEqual(["a", "b.d", "b.d.e"]);
    expect(missing("{% assign x = a %}{{ x }}{% for i in list %}{% endfor %}{{ 'q' | append: s }}{% echo e %}")).toEqual([
      "a",
      "list",
      "s",
      "e",
    ]);
  });
  it("is not what has a default, is only asked about, or stands in a branch not taken", () => {
    expect(
      missing("{{ a | default: 'x' }}{% if b %}{{ b }}{% elsif c %}{% endif %}{% unless d %}{% endunless %}{% case e %}{% endcase %}"),
    ).toEqual([]);
  });
  it("is counted where a value is needed beside one with a default", () => {
    expect(missing("{{ a | default: 'x' }}{{ a }}")).toEqual(["a"]);
  });
});

describe("split", () => {
  it("gives literals once and a hole for each run of the rest", () => {
    const { pieces, values } = liquid.split(compile("<p>{{ a }}{{ b }} and {% if c %}yes{% endif %}</p>"));
    expect(pieces).toEqual(["<p>", 0, " and ", 1, "</p>"]);
    expect(values({ a: "<", b: 2, c: true }, { now })).toEqual(["&lt;2", "yes"]);
  });
  it("has no holes where nothing differs", () => {
    const { pieces, values } = liquid.split(compile("a{% comment %}x{% endcomment %}b{% assign x = 1 %}"));
    expect(pieces).toEqual(["ab"]);
    expect(values({}, { now })).toEqual([]);
    expect(liquid.split(compile("")).pieces).toEqual([]);
    expect(liquid.split(compile("<p>{% assign x = a %}</p>")).pieces).toEqual(["<p></p>"]);
  });
  it("keeps what one tag sets for the next, and nothing from one recipient to another", () => {
    const { values } = liquid.split(compile("{% assign x = a %}1{{ x }}2{% cycle 'p', 'q' %}3{% cycle 'p', 'q' %}4{% increment n %}"));
    expect(values({ a: "A" }, { now })).toEqual(["A", "p", "q", "0"]);
    expect(values({}, { now })).toEqual(["", "p", "q", "0"]);
  });
  it("a break outside of a loop ends the mail there, and only there", () => {
    const source = "a{{ b }}c{% if stop %}{% break %}{% endif %}d{{ b }}e";
    expect([viaPieces(source, { b: 1, stop: true }), viaPieces(source, { b: 1 })]).toEqual(["a1c", "a1cd1e"]);
    expect(liquid.split(compile("{% for i in l %}{% break %}{% endfor %}x{{ y }}")).pieces).toEqual([0, "x", 1]);
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
      fc.constantFrom("{% increment n %}", "{% cycle 'x', b %}", "{% break %}", "{% continue %}", "{% comment %}x{% endcomment %}"),
      fc.constantFrom("{% raw %}{{ a }}{% endraw %}", "{% echo a %}", "{% liquid\n assign c = a\n echo c\n%}", "{% # note %}"),
      tie("template").map((body) => `{% capture c %}${body}{% endcapture %}`),
      fc.tuple(word, tie("template"), tie("template")).map(([path, yes, no]) => `{% if ${path} %}${yes}{% else %}${no}{% endif %}`),
      fc.tuple(word, tie("template")).map(([path, body]) => `{% unless ${path} == "x" %}${body}{% endunless %}`),
      fc.tuple(tie("template"), tie("template")).map(([body, none]) => `{% for i in list %}${body}{% else %}${none}{% endfor %}`),
      fc.tuple(word, tie("template")).map(([path, body]) => `{%- tablerow i in ${path} cols:2 -%}${body}{% endtablerow %}`),
      fc.tuple(word, tie("template")).map(([path, body]) => `{% case ${path} %}{% when 1, "x" %}${body}{% else %}z{% endcase %}`),
    ),
  }));
  const value = fc.oneof(fc.constantFrom<unknown>("x", "<&>", 1, true, null, ""), fc.string());
  const given = fc.record(
    { a: value, b: value, c: value, d: fc.record({ e: value }), list: fc.array(value, { maxLength: 3 }) },
    { requiredKeys: [] },
  );

  it("filling the pieces with the values gives what rendering gives", () => {
    fc.assert(
      fc.property(template, given, fc.boolean(), (source, variables, escaping) => {
        const options = { escape: escaping };
        expect(viaPieces(source, variables, options)).toBe(text(source, variables, options));
      }),
      { numRuns: 1500 },
    );
  });
});
