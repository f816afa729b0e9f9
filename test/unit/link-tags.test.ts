// UTM parameters and preview text in the HTML of mails.
import { describe, expect, test } from "vitest";
import { addLinkTags, addPreviewText } from "../../shared/email/link-tags.ts";
import * as liquid from "../../shared/email/liquid.ts";
import { htmlToText } from "../../shared/email/plain-text.ts";
import { measureCpuTime } from "../support/cpu-time.ts";

const utm = { source: "news", campaign: "Spring & sale", excludeHosts: ["own.example"] };
const query = "utm_source=news&amp;utm_campaign=Spring%20%26%20sale";
const link = (url: string) => `<a class="x" href="${url}">Shop</a>`;
const tagged = (html: string) => addLinkTags(html, utm);
const render = (html: string, variables: Record<string, unknown>) =>
  liquid.render(liquid.compile(tagged(html), { escape: true, field: "html" }), variables, {
    now: new Date(0),
  }).text;

describe("UTM parameters", () => {
  test.each([
    ["https://shop.example", `https://shop.example?${query}`],
    [
      "https://shop.example/sale?id=1&amp;b=2",
      `https://shop.example/sale?id=1&amp;b=2&amp;${query}`,
    ],
    ["https://shop.example/sale#prices", `https://shop.example/sale?${query}#prices`],
    ["https://shop.example/?a=&#39;", `https://shop.example/?a=&#39;&amp;${query}`],
    ["https://shop.example/sale?", `https://shop.example/sale?${query}`],
    [
      "https://shop.example/?utm_source=mine",
      "https://shop.example/?utm_source=mine&amp;utm_campaign=Spring%20%26%20sale",
    ],
    ["HTTP://Shop.example/p/{{ slug }}", `HTTP://Shop.example/p/{{ slug }}?${query}`],
    ["https://shop.example/?id={{ a | append: '#?' }}", null],
    ["https://shop.example/?a=1&#top", `https://shop.example/?a=1&${query}#top`],
    ["https://shop.example/?a=1&amp;#top", `https://shop.example/?a=1&amp;${query}#top`],
    ["https://shop.example/?a=1#top?b=2", `https://shop.example/?a=1&amp;${query}#top?b=2`],
    ["https://shop.example/#/shop?b=2", `https://shop.example/?${query}#/shop?b=2`],
    ["https://shop.example/&#35;top", `https://shop.example/?${query}&#35;top`],
    ["https://shop.example/?my_utm_source=1", null],
    ["https://shop.example/?a=utm_source=1", null],
    [
      "https://shop.example/?%75tm_source=mine",
      "https://shop.example/?%75tm_source=mine&amp;utm_campaign=Spring%20%26%20sale",
    ],
    ["https://shop.example/a b?x=[0] ", `https://shop.example/a b?x=[0]&amp;${query} `],
  ])("are added to %s", (url, expected) =>
    expect(tagged(link(url))).toBe(link(expected ?? `${url}&amp;${query}`)),
  );

  test.each([
    "mailto:ada@example.com",
    "tel:+441234",
    "#top",
    "/relative",
    "{{ unsubscribeUrl }}",
    "{{ preferencesUrl }}",
    "https://shop.example/?t={{ contactToken }}",
    "https://own.example/",
    "https://www.Own.example:8080/",
  ])("are not added to %s", (url) => expect(tagged(link(url))).toBe(link(url)));

  test.each([
    ["https://shop.example/a", `"https://shop.example/a?${query}"`],
    ["https://shop.example/?a=1", `"https://shop.example/?a=1&amp;${query}"`],
    ["{{ url }}", `"https://shop.example/?${query}"`],
    ["#top", "#top"],
  ])("are added to the link %s without quotes", (url, expected) => {
    expect(render(`<a href=${url}>Shop</a>`, { url: "https://shop.example/" })).toBe(
      `<a href=${expected}>Shop</a>`,
    );
  });

  test("leave comments and texts that look like links unchanged", () => {
    const anchor = link("https://shop.example/");
    for (const html of [
      `<!--[if mso]>${anchor}<![endif]-->`,
      `<style>${anchor}</style>`,
      `<textarea>${anchor}</textarea>`,
      `{% comment %}${anchor}{% endcomment %}`,
    ])
      expect(tagged(html)).toBe(html);
  });

  test("are added to links in loops and after Liquid with quotes and brackets", () => {
    const id = `{% if p.new > 1 %}id="{{ p.id | default: ">" }}"{% endif %}`;
    const link = `<a ${id} href='https://shop.example/{{ p.id }}'>x</a>`;
    const html = `{% for p in items %}${link}{% endfor %}`;
    const out = render(html, { items: [{ id: 1, new: 2 }, { id: 2 }] });
    expect(out).toBe(
      `<a id="1" href='https://shop.example/1?${query}'>x</a>` +
        `<a  href='https://shop.example/2?${query}'>x</a>`,
    );
  });

  test("are added to links that are merge fields, by what the value is", () => {
    const html = link("{{ url }}");
    for (const [url, expected] of [
      ["https://shop.example/?a=1&b=2", `https://shop.example/?a=1&amp;b=2&amp;${query}`],
      ["https://shop.example/#x", `https://shop.example/?${query}#x`],
      ["https://own.example/", "https://own.example/"],
      ["mailto:ada@example.com", "mailto:ada@example.com"],
      ['https://shop.example/"><script>', `https://shop.example/&#34;&gt;&lt;script&gt;?${query}`],
    ])
      expect(render(html, { url })).toBe(link(expected!));
    expect(
      liquid.variableNames(liquid.compile(tagged(html), { escape: true, field: "h" })),
    ).toEqual(["url"]);
  });

  test("leave other elements and merge fields in raw blocks unchanged", () => {
    for (const html of [
      '<link href="https://shop.example/a.css"><abbr href="https://shop.example">',
      '<p>href="https://shop.example"</p>',
      '<a data-href="https://shop.example">x</a>',
      `{% raw %}${link("{{ url }}")}{% endraw %}`,
      '<a href="https://shop.example',
    ])
      expect(tagged(html)).toBe(html);
  });

  test.each(["<a ", '<a href="', "<a {{", '<a href="{{', "<a href='{%", '<a href="#"'])(
    "are added to a megabyte of %j in linear time",
    (piece) => {
      const html = piece.repeat(Math.ceil(1_000_000 / piece.length));
      const milliseconds = measureCpuTime(() => expect(tagged(html).length).toBeGreaterThan(0));
      expect(milliseconds).toBeLessThan(5000);
    },
  );

  test("do not keep templates of plain merge fields from being compiled to functions", () => {
    const html = `<p>{{ firstName }}</p>${link("https://shop.example/?id={{ id }}")}`;
    const { pieces } = liquid.toSubstitutions(
      liquid.compile(tagged(html), { escape: true, field: "html" }),
    );
    expect(pieces.filter((piece) => typeof piece === "number")).toHaveLength(2);
    expect(tagged(html)).not.toContain("capture");
  });
});

describe("preview text", () => {
  const body = '<html><body {% if a > 1 %}class="x"{% endif %}><p>Hello</p></body></html>';

  test("is the first hidden element of the body", () => {
    const html = addPreviewText(body, "Tom & {{ name }}");
    expect(html).toMatch(
      /endif %}><div class="pm-preview" style="display:none[^>]*>Tom &amp; {{ name }}/,
    );
    expect(html).toContain("</div><p>Hello</p>");
    expect(addPreviewText("<p>Hello</p>", "Hi")).toMatch(/^<div class="pm-preview".*Hi.*<p>Hello/);
  });

  test.each([
    ["<html><!-- <body> --><body><p>", "<html><!-- <body> --><body>"],
    ["<html>{% comment %}<body>{% endcomment %}<body><p>", "{% endcomment %}<body>"],
    ["<style>/* <body> */</style><body id=a><p>", "<body id=a>"],
    ["<!DOCTYPE html><html lang=en><p>", "<html lang=en>"],
    ["<!doctype html><p>", "<!doctype html>"],
    ["<html><head><title><body></title></head><p>", "</head>"],
    ["<p>", ""],
  ])("of %s follows the tag that begins the body", (html, before) => {
    const [head] = addPreviewText(html, "Hi").split('<div class="pm-preview"');
    expect(head).toBe(html.slice(0, html.indexOf(before) + before.length));
  });

  test("is not in the plain text", () => {
    expect(htmlToText(addPreviewText(body, "Sale"))).not.toContain("Sale");
  });
});
