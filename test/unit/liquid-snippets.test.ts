import { describe, expect, it } from "vitest";
import * as liquid from "../../shared/email/liquid.ts";
import { fillMergeText } from "../../shared/providers/provider-adapter.ts";

const now = new Date("2026-01-02T03:04:05Z");

type Bodies = Record<string, string>;
const toSnippets = (html: Bodies): liquid.Snippets =>
  Object.fromEntries(
    Object.entries(html).map(([name, body]) => [name, { html: body, text: body }]),
  );

const compile = (source: string, snippets: Bodies) =>
  liquid.compile(source, { escape: true, field: "html", snippets: toSnippets(snippets) });

/** Renders in both ways, which must give the same text. */
function render(source: string, snippets: Bodies, variables: liquid.LiquidVariables = {}) {
  const template = compile(source, snippets);
  const { text } = liquid.render(template, variables, { now });
  const { pieces, values } = liquid.toSubstitutions(template);
  const to = { sendId: 1, to: { email: "a@b.example" }, headers: {} };
  const filled = fillMergeText(pieces, { ...to, values: values(variables, { now }) });
  expect(filled).toBe(text);
  return text;
}

describe("snippets", () => {
  it("render in the place of their tag, with the variables of the mail", () => {
    const snippets = { header: "<h1>{{ shop }}</h1>" };
    expect(render("{% render 'header' %}<p>Hi</p>", snippets, { shop: "A & B" })).toBe(
      "<h1>A &amp; B</h1><p>Hi</p>",
    );
  });

  it("share their text between recipients", () => {
    const template = compile("{% render 'header' %}<p>{{ name }}</p>", { header: "<h1>Shop</h1>" });
    expect(liquid.toSubstitutions(template).pieces).toEqual(["<h1>Shop</h1><p>", 0, "</p>"]);
  });

  it("share their text also when the template sets variables", () => {
    const template = compile("{% assign a = 1 %}{% render 'h' %}{{ a }}", {
      h: "<h1>{{ b }}</h1>",
    });
    const { pieces } = liquid.toSubstitutions(template);
    expect(pieces).toEqual(["<h1>", 0, "</h1>", 1]);
  });

  it("take arguments, which nothing outside sees", () => {
    const snippets = { button: "<a>{{ label }}</a>" };
    expect(
      render("{% render 'button', label: name %}[{{ label }}]", snippets, { name: "Go" }),
    ).toBe("<a>Go</a>[]");
    expect(render("{% render 'button' with name as label %}", snippets, { name: "Go" })).toBe(
      "<a>Go</a>",
    );
    expect(render("{% render 'label' with name %}", { label: "{{ label }}" }, { name: "x" })).toBe(
      "x",
    );
  });

  it("do not see what the template sets, and set nothing outside", () => {
    const snippets = { s: "{{ a }}{% assign b = 2 %}{{ b }}{% increment n %}" };
    expect(render("{% assign a = 1 %}{% render 's' %}{{ b }}{% increment n %}", snippets)).toBe(
      "200",
    );
  });

  it("render once for each item of a list", () => {
    const snippets = { row: "{{ forloop.index }}/{{ forloop.length }} {{ item }}{{ shop }};" };
    const variables = { list: ["a", "b"], shop: "!" };
    expect(render("{% render 'row' for list as item %}", snippets, variables)).toBe(
      "1/2 a!;2/2 b!;",
    );
  });

  it("work in conditions and loops, and nested in each other", () => {
    const snippets = { a: "A{% render 'b', x: y %}", b: "[{{ x }}]" };
    const source = "{% for y in list %}{% if y > 1 %}{% render 'a', y: y %}{% endif %}{% endfor %}";
    expect(render(source, snippets, { list: [1, 2, 3] })).toBe("A[2]A[3]");
    expect(render("{% render 'a' %}", snippets, { y: 7 })).toBe("A[7]");
  });

  it("end alone when they break", () => {
    const snippets = { s: "a{% break %}b" };
    expect(render("{% render 's' %}c", snippets)).toBe("ac");
    expect(
      render("{% for i in list %}{% render 's' %}{{ i }}{% endfor %}", snippets, { list: [1, 2] }),
    ).toBe("a1a2");
  });

  it("count for the variables that a template reads", () => {
    const template = compile("{{ a }}{% render 's', c: a %}", {
      s: "{{ b }}{{ c }}{% assign d = 1 %}{{ d }}",
    });
    expect(liquid.variableNames(template)).toEqual(["a", "b"]);
    expect(liquid.requiredVariables(template)).toEqual(["a", "b"]);
    expect(liquid.snippetNames(template)).toEqual(["s"]);
  });

  it("show what they show: an unsubscribe link in a footer counts", () => {
    const shown = (source: string, footer: string) =>
      liquid.shownVariables(compile(source, { footer })).flat();
    expect(shown("{% render 'footer' %}", "{{ unsubscribeUrl }}")).toEqual(["unsubscribeUrl"]);
    expect(shown("{% render 'footer', a: 1 %}", "{{ unsubscribeUrl }}")).toEqual([
      "unsubscribeUrl",
    ]);
    expect(shown("{% render 'footer', unsubscribeUrl: 1 %}", "{{ unsubscribeUrl }}")).toEqual([]);
    expect(
      shown("{% render 'footer' %}", "{% assign unsubscribeUrl = 1 %}{{ unsubscribeUrl }}"),
    ).toEqual([]);
  });

  it("are frames of what follows a layout", () => {
    const snippets = { shop: "<b>{{ title }}</b><div>{{ content }}</div>" };
    const source =
      " {% layout 'shop', title: 'T' %}{% assign title = 'mine' %}<p>{{ title }}{{ x }}</p>";
    expect(render(source, snippets, { x: 1 })).toBe(" <b>T</b><div><p>mine1</p></div>");
    const nested = { base: "<{{ content }}>", shop: "{% layout 'base' %}({{ content }})" };
    expect(render("{% layout 'shop' %}a{% render 'x' %}", { ...nested, x: "b" })).toBe("<(ab)>");
    expect(liquid.variableNames(compile(source, snippets))).toEqual(["x"]);
  });

  it.each([
    ["{% render 'none' %}", {}, 'html is not valid Liquid (line 1): there is no snippet "none"'],
    ["{% render none %}", {}, "render needs the name of a snippet in quotes"],
    ["{% render 'a' %}", { a: "{% render 'b' %}", b: "{% render 'a' %}" }, "in a cycle: a > b > a"],
    [
      "{% render 'a' %}",
      { a: "\n{{ x | nope }}" },
      '(line 2 of the snippet "a"): undefined filter: nope',
    ],
    ["{% layout 'a' %}", { a: "no slot" }, "it needs {{ content }} once"],
    [
      "{% layout 'a' %}",
      { a: "{% if x %}{{ content }}{% endif %}" },
      "it needs {{ content }} once",
    ],
    ["text{% layout 'a' %}", { a: "{{ content }}" }, "layout can only be used at the beginning"],
  ])("refuses %s", (source, snippets, message) => {
    expect(() => compile(source, snippets as Bodies)).toThrow(message);
  });

  it("cannot be used where there are none, such as in a subject", () => {
    expect(() => liquid.compile("{% render 'a' %}", { escape: false, field: "subject" })).toThrow(
      "subject is not valid Liquid (line 1): snippets can only be used in html and text of a mail",
    );
  });

  it("stay within the limits of one template however they multiply", () => {
    const level = (next: string) => `${`{% render '${next}' %}`.repeat(10)}`;
    const bomb = { a: level("b"), b: level("c"), c: level("d"), d: level("e"), e: "x".repeat(100) };
    expect(() => compile("{% render 'a' %}", bomb)).toThrow("with its snippets it is too large");
    const deep = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`s${i}`, `{% render 's${i + 1}' %}`]),
    );
    expect(() => compile("{% render 's0' %}", { ...deep, s10: "" })).toThrow("nested 8 deep");
  });

  it("share the budget of the mail", () => {
    const loop = "{% for i in (1..1000) %}{% render 's' %}{% endfor %}";
    const template = compile(loop.repeat(20), { s: "{{ a }}{{ a }}{{ a }}" });
    expect(() => liquid.render(template, { a: "x" }, { now })).toThrow("html cannot be rendered");
  });

  it("compile again with a new version", () => {
    expect(render("{% render 'v' %}", { v: "1" })).toBe("1");
    expect(render("{% render 'v' %}", { v: "2" })).toBe("2");
  });
});
