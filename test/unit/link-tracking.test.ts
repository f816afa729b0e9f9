// Tracked links and the pixel in the HTML of mails.
import { describe, expect, test } from "vitest";
import { toLocation } from "../../shared/domain/delivery-events/tracked-visits.ts";
import { type HtmlBody, trackHtml } from "../../shared/email/link-tracking.ts";
import * as liquid from "../../shared/email/liquid.ts";
import { Budget } from "../../shared/email/liquid.ts";
import { measureCpuTime } from "../support/cpu-time.ts";
import fc from "../support/fast-check.ts";

/** The target is readable, so that a test can compare it. */
const seal = (url: string) => `(${Buffer.from(url).toString("hex")})`;
const open = (link: string) =>
  Buffer.from(/^T\/TOKEN\/\((.*)\)$/.exec(link)?.[1] ?? "", "hex").toString();
const options = {
  opens: false,
  clicks: true,
  base: "T/",
  pixelName: "open.gif",
  sealTarget: (url: string) => (url.includes("own.example") ? undefined : seal(url)),
};

function fillTracked(html: HtmlBody, values: string[], changes: Partial<typeof options> = {}) {
  const tracked = trackHtml(html, { ...options, ...changes });
  const recipient = { token: "TOKEN", untrackedLinks: ["https://org.example/leave?token=1"] };
  const all = tracked.toValues(values, recipient, new Budget());
  expect(all).toHaveLength(tracked.mergeFieldCount);
  const text = tracked.pieces
    .map((piece) => (typeof piece === "string" ? piece : all[piece]))
    .join("");
  return { text, all, tracked };
}

/** The HTML of one recipient, from its Liquid source. */
function track(source: string, variables: Record<string, unknown> = {}, changes = {}) {
  const template = liquid.compile(source, { escape: true, field: "html" });
  const { pieces, values } = liquid.toSubstitutions(template);
  const mergeFieldCount = 1 + Math.max(-1, ...pieces.filter((piece) => typeof piece === "number"));
  const filled = values(variables, { now: new Date(0) });
  return fillTracked({ pieces, mergeFieldCount }, filled, changes);
}

const hrefOf = (html: string) => /href=["']([^"']*)["']/i.exec(html)?.[1] ?? "";
const targetOf = (html: string, variables = {}) => open(hrefOf(track(html, variables).text));

describe("the target of a link", () => {
  test.each([
    ["https://shop.example", "https://shop.example"],
    [
      "https://shop.example/a%20b?q=%C3%A4&amp;r=%zz+1#top%",
      "https://shop.example/a%20b?q=%C3%A4&r=%zz+1#top%",
    ],
    ["https://shop.example/ä/日本?ö=ü#ß", "https://shop.example/ä/日本?ö=ü#ß"],
    ["https://müller.example/", "https://müller.example/"],
    ["https://shop.example/?a=1&b=2", "https://shop.example/?a=1&b=2"],
    [
      "https://shop.example/?a=1&copy=2&#38;c=3&#x26;d=4",
      "https://shop.example/?a=1&copy=2&c=3&d=4",
    ],
    ["https://shop.example/?q=&quot;x&quot;", 'https://shop.example/?q="x"'],
    [" HTTPS://Shop.example/\n ", "HTTPS://Shop.example/"],
    ["http://shop.example:8080/../a//b", "http://shop.example:8080/../a//b"],
  ])("%s arrives unchanged", (source, target) =>
    expect(targetOf(`<p><a class="x" href="${source}">Shop</a>`)).toBe(target),
  );

  test("arrives with merge fields, as the recipient would have it without tracking", () => {
    const source =
      '<a href="https://shop.example/{{ path }}?id={{ id }}&amp;n={{ name }}#{{ id }}">';
    const variables = { path: "a/b", id: 7, name: 'Ann & "Bo" <ü>' };
    expect(targetOf(source, variables)).toBe('https://shop.example/a/b?id=7&n=Ann & "Bo" <ü>#7');
    expect(targetOf('<a href="{{ url }}">', { url: "https://shop.example/?a=1&b=%41" })).toBe(
      "https://shop.example/?a=1&b=%41",
    );
  });

  test("is that of each link in a loop or a condition", () => {
    const source =
      '{% for item in items %}<a href="{{ item.url }}">{{ item.url }}</a>{% endfor %}' +
      "{% if vip %}<a HREF=https://shop.example/vip>VIP</a>{% endif %}";
    const items = [{ url: "https://shop.example/1?a&b" }, { url: "https://shop.example/2" }];
    const { text } = track(source, { items, vip: true });
    const links = [...text.matchAll(/href="([^"]*)"/gi)].map(([, link]) => open(link!));
    expect(links).toEqual([
      "https://shop.example/1?a&b",
      "https://shop.example/2",
      "https://shop.example/vip",
    ]);
    expect(text).toContain(">https://shop.example/1?a&amp;b</a>");
  });

  test("survives any path, query and fragment", () =>
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        const escaped = url.replaceAll("&", "&amp;").replaceAll("'", "&#39;");
        expect(targetOf(`<a href="${escaped}">`)).toBe(url);
        expect(targetOf('<a href="{{ url }}">', { url })).toBe(url);
        expect(toLocation(url)).toBe(url);
      }),
    ));
});

describe("attributes", () => {
  test.each([
    ['<A HREF="https://shop.example/">', '<A HREF="LINK">'],
    ["<a href='https://shop.example/' id=x>", "<a href='LINK' id=x>"],
    ["<a href=https://shop.example/ id=x>", '<a href="LINK" id=x>'],
    [
      "<a\n  title='a > b'\n  href = \"https://shop.example/\">",
      "<a\n  title='a > b'\n  href = \"LINK\">",
    ],
    ['<area shape="rect" href="https://shop.example/">', '<area shape="rect" href="LINK">'],
  ])("%s", (source, expected) =>
    expect(track(source).text).toBe(
      expected.replace("LINK", `T/TOKEN/${seal("https://shop.example/")}`),
    ),
  );
});

test("Outlook gets tracked links in conditional comments, and other comments stay", () => {
  const button =
    '<v:roundrect xmlns:v="urn" href="https://shop.example/" arcsize="8%"></v:roundrect>';
  const source =
    `<!--[if mso]>${button}<a href="https://shop.example/">x</a><![endif]-->` +
    '<!--[if !mso]><!--><a href="https://shop.example/">y</a><!--<![endif]-->' +
    '<!-- <a href="https://shop.example/old">z</a> --><style>a[href="https://shop.example/"]{}</style>';
  const link = `T/TOKEN/${seal("https://shop.example/")}`;
  expect(track(source).text).toBe(
    `<!--[if mso]>${button.replace("https://shop.example/", link)}<a href="${link}">x</a><![endif]-->` +
      `<!--[if !mso]><!--><a href="${link}">y</a><!--<![endif]-->` +
      '<!-- <a href="https://shop.example/old">z</a> --><style>a[href="https://shop.example/"]{}</style>',
  );
});

test.each([
  '<a href="mailto:ada@example.com">',
  '<a href="tel:+441234">',
  '<a href="#top">',
  '<a href="/relative">',
  '<a href="">',
  "<a href>",
  '<a href="javascript:alert(1)">',
  '<a href="https://">',
  '<a href="https://own.example/view/1">',
  '<a href="https://org.example/leave?token=1">'.replace("1", "{{ one }}"),
  '<a data-no-track href="https://shop.example/">',
  '<a href="https://shop.example/" DATA-NO-TRACK="">',
  '<a href="{{ mail }}">',
  '<link href="https://shop.example/style.css">',
  '<img src="https://shop.example/x.png">',
])("%s stays as it is", (source) => {
  const expected = source.replace("{{ one }}", "1").replace("{{ mail }}", "mailto:ada@example.com");
  expect(track(source, { one: 1, mail: "mailto:ada@example.com" }).text).toBe(expected);
});

test("recipients share the sealed targets, and one value stands in all their links", () => {
  const source = '<a href="https://shop.example/1">{{ name }}</a>'.repeat(40);
  const { all, tracked } = track(source, { name: "Ann" });
  expect(all).toEqual([...Array(40).fill("Ann"), "TOKEN"]);
  expect(tracked.pieces.filter((piece) => piece === 40)).toHaveLength(40);
});

test("a value that only a tracked link used is not sent along twice", () => {
  const { all } = track('<a href="https://shop.example/{{ id }}">{{ name }}</a>', {
    id: 7,
    name: "Ann",
  });
  expect(all).toEqual(["", "Ann", "TOKEN", `T/TOKEN/${seal("https://shop.example/7")}`]);
});

test("many links of one mail count as work, and a long mail takes time in proportion", () => {
  const source =
    '{% for i in (1..n) %}<a href="https://shop.example/{{ i }}">{{ i }}</a>{% endfor %}';
  expect(track(source, { n: 1000 }).text.split("T/TOKEN/")).toHaveLength(1001);
  expect(() => track(source, { n: 20_000 })).toThrow("it takes too much work");
  const literal = '<!--[if mso]><a href="https://shop.example/">x</a>'.repeat(15_000);
  expect(measureCpuTime(() => track(literal))).toBeLessThan(2000);
});

test("the pixel stands at the end of the body, with and without links", () => {
  const source = '<body><a href="https://shop.example/">x</a></body>';
  const pixel = '<img src="T/TOKEN/open.gif" alt="" width="1" height="1"';
  const onlyOpens = track(source, {}, { opens: true, clicks: false }).text;
  expect(onlyOpens).toContain(
    '<a href="https://shop.example/">x</a><img src="T/TOKEN/open.gif" alt=""',
  );
  expect(onlyOpens.endsWith('margin:0!important"></body>')).toBe(true);
  expect(track(source, {}, { opens: true }).text).toContain(pixel);
  expect(track(source).text).not.toContain("<img");
});

describe("the Location header", () => {
  test.each([
    ["https://shop.example/a%20b?q=%zz&r=1#top%", null],
    ['https://shop.example/?u=https://x.example/%2F&v={}|[]"<>', null],
    ["https://shop.example/ä b?ö=ü#ß", "https://shop.example/%C3%A4%20b?%C3%B6=%C3%BC#%C3%9F"],
    ["https://müller.example:8080/x", "https://xn--mller-kva.example:8080/x"],
    ["https://ü:p@shop.example/", "https://%C3%BC:p@shop.example/"],
    ["https://shop.example/\u0001\u007f\u2028", "https://shop.example/%01%7F%E2%80%A8"],
  ])("of %s is ASCII and otherwise the same", (url, expected) =>
    expect(toLocation(url)).toBe(expected ?? url),
  );
});
