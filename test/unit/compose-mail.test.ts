import { describe, expect, test } from "vitest";
import { createRenderer, variantKey } from "../../shared/domain/sending/bulk/prepared-chunk.ts";
import { compose, type MailRecipient } from "../../shared/domain/sending/rendering/compose.ts";
import type {
  LiquidMail,
  MailContent,
} from "../../shared/domain/sending/rendering/mail-content.ts";
import { createVariableFilter } from "../../shared/domain/sending/rendering/variable-filter.ts";
import { fillMergeText, type Mailing } from "../../shared/providers/provider-adapter.ts";
import { ses } from "../../shared/providers/ses.ts";
import fc from "../support/fast-check.ts";

const content = (fields: Partial<MailContent> = {}): MailContent => ({
  from: { email: "shop@example.com", name: "Shop" },
  headers: {},
  tags: [],
  variables: {},
  attachments: [],
  at: "2026-01-02T03:04:05.678Z",
  ...fields,
});
const ada: MailRecipient = { sendId: 1, to: "ada@example.com", name: "Ada" };

function mailing(
  wording: LiquidMail,
  addressees: MailRecipient[],
  fields: Partial<MailContent> = {},
): Mailing {
  const { common, renderRecipient } = compose(content(fields), wording, []);
  return { ...common, recipients: addressees.map((one) => renderRecipient(one)) };
}

/** Renders the mailing for the n-th recipient. */
function read(one: Mailing, n = 0) {
  const recipient = one.recipients[n]!;
  const of = (pieces: Mailing["subject"] | undefined) => pieces && fillMergeText(pieces, recipient);
  return { subject: of(one.subject), html: of(one.html), text: of(one.text) };
}

test("subject, html and text use their own values", () => {
  const wording = {
    subject: "{{ a }}/{{ b }}",
    html: "<i>{{ b }}</i>{{ a }}",
    text: "{{ c }} {{ a }}",
  };
  const one = mailing(wording, [{ ...ada, variables: { a: "1", b: "<2>", c: "3&" } }]);
  expect(read(one)).toEqual({ subject: "1/<2>", html: "<i>&lt;2&gt;</i>1", text: "3& 1" });
});

test("shared content is stored once; only values differ", () => {
  const recipients = [ada, { sendId: 2, to: "bob@example.com", variables: { name: "Bob" } }];
  const one = mailing(
    { subject: "Hi {{ name }}", html: "<p>Long words. {{ name }}</p>" },
    recipients,
  );
  expect(one.html!.filter((piece) => typeof piece === "string").join("")).toBe(
    "<p>Long words. </p>",
  );
  expect(one.recipients.map(({ values }) => values.join()).join()).not.toContain("Long words");
  expect([read(one, 0).html, read(one, 1).html]).toEqual([
    "<p>Long words. Ada</p>",
    "<p>Long words. Bob</p>",
  ]);
});

test.each([
  "{{ firstName }} {{ PLAN }} {{ customFields.Seats }} {{ company }}",
  "{% if seats > 3 %}{% assign plan = 'x' %}{% endif %}{{ plan }}",
  "{% if firstName == 'nobody' %}{% assign plan = 'x' %}{% endif %}{{ plan }}",
  "{% assign key = 'se' | append: 'ats' %}{{ customFields[key] }}",
  "{{ customFields['Home town'] }}",
  "{% for field in customFields %}{{ field[0] }}{% endfor %} {{ customFields.size }}",
  "{% liquid\n assign all = customFields\n echo all.seats\n%}",
])("%s reads the same from the variables that a chunk keeps", (html) => {
  const customFields = { plan: "pro", seats: 5, "Home town": "Ulm", unread: "long", other: 1 };
  const variables = { ...customFields, firstName: "Ada", company: "Acme", customFields };
  const sources = { subject: "{{ other }}", html };
  const kept = createVariableFilter([sources])(variables);
  expect(read(mailing(sources, [{ ...ada, variables: kept }]))).toEqual(
    read(mailing(sources, [{ ...ada, variables }])),
  );
});

test("a chunk keeps no variables that no part of the mail names", () => {
  const filter = createVariableFilter([{ subject: "{{ a }}" }, { subject: "", html: "{{ B }}" }]);
  expect(filter({ a: 1, b: 2, zz: 3, customFields: { b: 4, zz: 5 } })).toEqual({
    a: 1,
    b: 2,
    customFields: { b: 4 },
  });
});

test("a template can use the address and the name, unless the caller overrides them", () => {
  const wording = { subject: "{{ email }} {{ name }} {{ shop }}", html: "-" };
  expect(read(mailing(wording, [ada], { variables: { shop: "S" } })).subject).toBe(
    "ada@example.com Ada S",
  );
  const own = { ...ada, variables: { shop: "mine", name: "A." } };
  expect(read(mailing(wording, [own], { variables: { shop: "S", email: "x" } })).subject).toBe(
    "x A. mine",
  );
});

describe("the text part", () => {
  const textOf = (html: string, variables = {}, text?: string) =>
    read(mailing({ subject: "s", html, text }, [{ ...ada, variables }])).text;

  test("is generated from the html if it is missing", () => {
    const html =
      '<h1>Order</h1><p>Thanks, {{ name }}.<br>See <a href="https://x.test/{{ id }}">your order</a></p><img src="x"><script>1</script>';
    const text = textOf(html, { id: 7 })!;
    expect(text).toContain("Thanks, Ada.\nSee your order [https://x.test/7]");
    expect(text).not.toMatch(/<|img|script|1/);
  });

  test("has values without html escaping", () => {
    expect(textOf("<p>{{ a }}</p>", { a: "Tom & <Jerry>" })).toBe("Tom & <Jerry>");
    expect(textOf("<p>{{ a | raw }}</p>", { a: "<b>bold</b> &amp; plain" })).toBe("bold & plain");
    // Headings are not converted to capitals, because the values would not be.
    for (const level of [1, 2, 3, 4, 5, 6])
      expect(textOf(`<h${level}>Hi {{ a }}</h${level}>`, { a: "Ada" })).toBe("Hi Ada");
  });

  test("is the given one, and the html is unchanged", () => {
    expect(textOf("<p>html</p>", { a: "<1>" }, "plain {{ a }}")).toBe("plain <1>");
  });

  test("is sent alone without html", () => {
    const one = mailing({ subject: "s", text: "plain {{ name }}" }, [ada]);
    expect(read(one)).toEqual({ subject: "s", html: undefined, text: "plain Ada" });
  });
});

test("a subject stays one line for any template and variables", () => {
  const one = mailing({ subject: "Hello\r\n{{ a }}", html: "-" }, [
    { ...ada, variables: { a: "x\r\nBcc: all@example.com\ty" } },
  ]);
  expect(read(one).subject).toBe("Hello x Bcc: all@example.com y");
});

test("Liquid's now is the time of acceptance", () => {
  expect(
    read(mailing({ subject: "{{ 'now' | date: '%Y-%m-%dT%H:%M' }}", html: "-" }, [ada])).subject,
  ).toBe("2026-01-02T03:04");
});

test("equal input gives equal bytes, at any time and with any other recipients", () => {
  const wording = {
    subject: "{{ name }}",
    html: "{% for i in list %}<p>{{ i }} {{ 'now' | date: '%s' }}</p>{% endfor %}",
  };
  const variables = { list: ["<a>", "b&c", "d"] };
  const again = () =>
    JSON.stringify(mailing(wording, [ada, { ...ada, sendId: 2, name: "B" }], { variables }));
  const first = again();
  for (let i = 0; i < 200; i++) mailing({ subject: String(i), html: `${i}` }, [ada]);
  expect(again()).toBe(first);
  const alone = mailing(wording, [{ ...ada, sendId: 2, name: "B" }], { variables });
  expect(alone.recipients[0]).toEqual(JSON.parse(first).recipients[1]);
});

test("a value becomes neither markup in html nor a line break in the subject", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const composed = read(
        mailing({ subject: "[{{ v }}]", html: "[{{ v }}]" }, [{ ...ada, variables: { v: value } }]),
      );
      expect(composed.html).not.toMatch(/<|>/);
      expect(composed.subject).not.toMatch(/[\r\n]/);
    }),
  );
});

test("a mail that cannot be rendered for one recipient has an error, and the others are rendered", () => {
  const { renderRecipient } = compose(
    content(),
    { subject: "s", html: "{% for i in (1..n) %}.{% endfor %}" },
    [],
  );
  expect(() => renderRecipient({ ...ada, variables: { n: 1e7 } })).toThrow(
    /^html cannot be rendered \(line 1\)/,
  );
  expect(renderRecipient({ ...ada, variables: { n: 3 } }).values[0]).toBe("...");
});

test("rendering a chunk yields to the event loop and has a common limit", async () => {
  const html = "{% for i in (1..n) %}{% endfor %}{{ name }}";
  const { listFlaws, toMailing } = createRenderer(
    1,
    new Map([[variantKey({}), compose(content(), { subject: "Hello", html }, [])]]),
    ses,
  );
  const lines = Array.from({ length: 500 }, (_, i) => ({
    i,
    to: `${i}@example.com`,
    name: "Ada",
    variables: { n: i < 100 ? 90_000 : 1 },
  }));
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const found = await listFlaws(lines);
  clearImmediate(next);
  const rendered = found.slice(0, 100).filter((flaw) => flaw === undefined).length;
  expect(rendered).toBeGreaterThan(10);
  expect(rendered).toBeLessThan(60);
  expect(turns).toBeGreaterThanOrEqual(rendered);
  expect(found[99]).toContain("it takes too much work, and so did other mails of the same batch");
  expect(found.slice(100).every((flaw) => flaw === undefined)).toBe(true);
  expect((await toMailing(lines)).recipients).toHaveLength(400 + rendered);
});
