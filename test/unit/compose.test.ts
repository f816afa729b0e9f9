import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Addressee, compose } from "../../shared/domain/sending/compose.ts";
import type { Content, Wording } from "../../shared/domain/sending/content.ts";
import { filled, type Mailing } from "../../shared/providers/provider.ts";

const content = (fields: Partial<Content> = {}): Content => ({
  from: { email: "shop@example.com", name: "Shop" },
  headers: {},
  tags: [],
  variables: {},
  attachments: [],
  at: "2026-01-02T03:04:05.678Z",
  ...fields,
});
const ada: Addressee = { sendId: 1, to: "ada@example.com", name: "Ada" };

function mailing(wording: Wording, addressees: Addressee[], fields: Partial<Content> = {}): Mailing {
  const { common, recipient } = compose(content(fields), wording, []);
  return { ...common, recipients: addressees.map(recipient) };
}

/** As the n-th recipient reads it. */
function read(one: Mailing, n = 0) {
  const recipient = one.recipients[n]!;
  const of = (pieces: Mailing["subject"] | undefined) => pieces && filled(pieces, recipient);
  return { subject: of(one.subject), html: of(one.html), text: of(one.text) };
}

test("subject, html and text each read the values meant for them", () => {
  const wording = { subject: "{{ a }}/{{ b }}", html: "<i>{{ b }}</i>{{ a }}", text: "{{ c }} {{ a }}" };
  const one = mailing(wording, [{ ...ada, variables: { a: "1", b: "<2>", c: "3&" } }]);
  expect(read(one)).toEqual({ subject: "1/<2>", html: "<i>&lt;2&gt;</i>1", text: "3& 1" });
});

test("what is the same for all is said once; only values differ", () => {
  const people = [ada, { sendId: 2, to: "bob@example.com", variables: { name: "Bob" } }];
  const one = mailing({ subject: "Hi {{ name }}", html: "<p>Long words. {{ name }}</p>" }, people);
  expect(one.html!.filter((piece) => typeof piece === "string").join("")).toBe("<p>Long words. </p>");
  expect(one.recipients.map(({ values }) => values.join()).join()).not.toContain("Long words");
  expect([read(one, 0).html, read(one, 1).html]).toEqual(["<p>Long words. Ada</p>", "<p>Long words. Bob</p>"]);
});

test("a template speaks of the address and the name, unless the caller gives others by these names", () => {
  const wording = { subject: "{{ email }} {{ name }} {{ shop }}", html: "-" };
  expect(read(mailing(wording, [ada], { variables: { shop: "S" } })).subject).toBe("ada@example.com Ada S");
  const own = { ...ada, variables: { shop: "mine", name: "A." } };
  expect(read(mailing(wording, [own], { variables: { shop: "S", email: "x" } })).subject).toBe("x A. mine");
});

describe("the text part", () => {
  const textOf = (html: string, variables = {}, text?: string) => read(mailing({ subject: "s", html, text }, [{ ...ada, variables }])).text;

  test("is made from the html where there is none", () => {
    const html =
      '<h1>Order</h1><p>Thanks, {{ name }}.<br>See <a href="https://x.test/{{ id }}">your order</a></p><img src="x"><script>1</script>';
    const text = textOf(html, { id: 7 })!;
    expect(text).toContain("Thanks, Ada.\nSee your order [https://x.test/7]");
    expect(text).not.toMatch(/<|img|script|1/);
  });

  test("reads values as they were given, not as html spells them", () => {
    expect(textOf("<p>{{ a }}</p>", { a: "Tom & <Jerry>" })).toBe("Tom & <Jerry>");
    expect(textOf("<p>{{ a | raw }}</p>", { a: "<b>bold</b> &amp; plain" })).toBe("bold & plain");
    // In capitals the letters around a hole would not fit what is put in.
    for (const level of [1, 2, 3, 4, 5, 6]) expect(textOf(`<h${level}>Hi {{ a }}</h${level}>`, { a: "Ada" })).toBe("Hi Ada");
  });

  test("is the given one where there is one, and the html stays as it is", () => {
    expect(textOf("<p>html</p>", { a: "<1>" }, "plain {{ a }}")).toBe("plain <1>");
  });

  test("stands alone where there is no html", () => {
    const one = mailing({ subject: "s", text: "plain {{ name }}" }, [ada]);
    expect(read(one)).toEqual({ subject: "s", html: undefined, text: "plain Ada" });
  });
});

test("a subject stays one line, whatever the template and the variables hold", () => {
  const one = mailing({ subject: "Hello\r\n{{ a }}", html: "-" }, [{ ...ada, variables: { a: "x\r\nBcc: all@example.com\ty" } }]);
  expect(read(one).subject).toBe("Hello x Bcc: all@example.com y");
});

test("Liquid's now is the time of acceptance", () => {
  expect(read(mailing({ subject: "{{ 'now' | date: '%Y-%m-%dT%H:%M' }}", html: "-" }, [ada])).subject).toBe("2026-01-02T03:04");
});

test("the same input makes the same bytes, at any time and in any company", () => {
  const wording = { subject: "{{ name }}", html: "{% for i in list %}<p>{{ i }} {{ 'now' | date: '%s' }}</p>{% endfor %}" };
  const variables = { list: ["<a>", "b&c", "d"] };
  const again = () => JSON.stringify(mailing(wording, [ada, { ...ada, sendId: 2, name: "B" }], { variables }));
  const first = again();
  for (let i = 0; i < 200; i++) mailing({ subject: String(i), html: `${i}` }, [ada]);
  expect(again()).toBe(first);
  const alone = mailing(wording, [{ ...ada, sendId: 2, name: "B" }], { variables });
  expect(alone.recipients[0]).toEqual(JSON.parse(first).recipients[1]);
});

test("a value never becomes markup in html nor a line in the subject", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const said = read(mailing({ subject: "[{{ v }}]", html: "[{{ v }}]" }, [{ ...ada, variables: { v: value } }]));
      expect(said.html).not.toMatch(/<|>/);
      expect(said.subject).not.toMatch(/[\r\n]/);
    }),
  );
});

test("a mail that cannot be rendered for one recipient says why, and does not touch the others", () => {
  const { recipient } = compose(content(), { subject: "s", html: "{% for i in (1..n) %}.{% endfor %}" }, []);
  expect(() => recipient({ ...ada, variables: { n: 1e7 } })).toThrow(/^html cannot be rendered \(line 1\)/);
  expect(recipient({ ...ada, variables: { n: 3 } }).values[0]).toBe("...");
});
