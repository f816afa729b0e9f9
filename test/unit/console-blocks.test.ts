// The blocks of visual templates that have markup of their own, and conditions of blocks.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createBlock } from "../../shared/console/editors/visual/block-changes.ts";
import {
  compileDesign,
  compileSnippet,
} from "../../shared/console/editors/visual/compile-design.ts";
import {
  type BlockOf,
  type BlockType,
  type ConditionOperator,
  type Design,
  type DesignBlock,
  defaultTheme,
  type ShowIf,
} from "../../shared/console/editors/visual/design.ts";
import { parseDesign } from "../../shared/console/editors/visual/parse-design.ts";
import * as liquid from "../../shared/email/liquid.ts";
import { htmlToText } from "../../shared/email/plain-text.ts";

// MJML for browsers looks for a window.
beforeAll(() => {
  vi.stubGlobal("window", globalThis);
});

const designOf = (blocks: DesignBlock[]): Design => ({
  ...{ editor: "pennymail", version: 1, previewText: "" },
  ...{ theme: defaultTheme, blocks },
});
const block = <Type extends BlockType>(type: Type, fields: object = {}): BlockOf<Type> => ({
  ...createBlock(type),
  ...fields,
});
const compile = (...blocks: DesignBlock[]) => compileDesign(designOf(blocks), "News");

async function render(
  blocks: DesignBlock[],
  variables: liquid.LiquidVariables = {},
  snippets: liquid.Snippets = {},
): Promise<string> {
  const source = await compile(...blocks);
  const template = liquid.compile(source, { escape: true, field: "html", snippets });
  return liquid.render(template, variables, { now: new Date() }).text;
}
const textOf = (html: string) => htmlToText(html).trim();
const words = (text: string, showIf?: ShowIf) =>
  block("text", { text: [{ spans: [{ text }] }], ...(showIf && { showIf }) });

describe("blocks", () => {
  test("of products have a row for each item, and leave out what an item lacks", async () => {
    const items = [
      {
        title: "Shoes <new>",
        price: "9 €",
        url: "https://a.example/1",
        image: "https://a.example/1.png",
      },
      { title: "Hat" },
    ];
    const html = await render([block("products", { most: 10 })], { event: { items } });
    expect(html.match(/<img /g)).toHaveLength(1);
    expect(html).toContain('href="https://a.example/1"');
    expect(html).toContain("Shoes &lt;new&gt;");
    expect(textOf(html)).toMatch(/Shoes <new>.*9 €.*Hat/s);
    const few = await render([block("products", { most: 1 })], { event: { items } });
    expect(few).not.toContain("Hat");
  });

  test("of a video lead to it by its picture and by words", async () => {
    const fields = { src: "https://a.example/v.png", href: "https://a.example/v", alt: "A cat" };
    const html = await render([block("video", fields)]);
    expect(html.match(/href="https:\/\/a\.example\/v"/g)).toHaveLength(2);
    expect(html).toContain('alt="A cat"');
    expect(html).toContain("Play the video");
    expect(await compile(block("video"))).not.toContain("Play the video");
  });

  test("of a table, a menu, badges and HTML say what they were given, and escape text", async () => {
    const links = [
      { name: "New & hot", href: "https://a.example/new" },
      { name: "Empty", href: "" },
    ];
    const html = await render(
      [
        block("table", {
          rows: [
            ["Day", "<b>"],
            ["Monday", "{{ hours }}"],
          ],
          hasHeader: true,
        }),
        block("menu", { links }),
        block("social", { links, style: "badges" }),
        block("html", { code: "<p>My {{ name }} & </mj-text>own</p>" }),
      ],
      { hours: "9 to 18", name: "Ada" },
    );
    expect(html).toContain("&lt;b&gt;</th>");
    expect(html).toContain("9 to 18</td>");
    expect(html.match(/New &amp; hot<\/a>/g)).toHaveLength(2);
    expect(html).not.toContain("Empty");
    expect(html).toContain("<p>My Ada & </mj-text>own</p>");
    expect(html).not.toMatch(/<(svg|script)/);
  });

  test("of space have another height on phones", async () => {
    const html = await compile(block("spacer", { height: 48, phoneHeight: 16 }));
    expect(html).toMatch(/class="space-16"/);
    expect(html).toMatch(/\.space-16 > div ?\{ height: 16px !important/);
    expect(html).toContain("height:48px");
  });

  test("of a footer have the postal address and the link to unsubscribe", async () => {
    const html = await render([block("footer")], {
      postalAddress: "1 High Street",
      unsubscribeUrl: "https://a.example/leave",
    });
    expect(textOf(html)).toContain("1 High Street");
    expect(html).toContain('href="https://a.example/leave"');
    const source = await compile(block("footer"));
    const shown = liquid.shownVariables(liquid.compile(source, { escape: true, field: "html" }));
    expect(shown.flat()).toEqual(expect.arrayContaining(["postalAddress", "unsubscribeUrl"]));
  });

  test("are read from a stored design as they were saved, and old ones too", () => {
    const types: BlockType[] = ["menu", "video", "table", "products", "html", "snippet", "spacer"];
    const showIf: ShowIf = {
      match: "any",
      conditions: [{ field: "plan", operator: "is", value: "pro" }],
    };
    const blocks = types.map((type) => ({ ...createBlock(type), showIf }) as DesignBlock);
    const withoutIds = (design: Design | undefined) =>
      design?.blocks.map(({ id, ...fields }) => fields);
    const stored = JSON.parse(JSON.stringify(designOf(blocks)));
    expect(withoutIds(parseDesign(stored))).toEqual(withoutIds(designOf(blocks)));
    const { style, ...old } = block("social");
    expect(parseDesign(designOf([old as DesignBlock]))?.blocks[0]).toMatchObject({
      style: "words",
    });
    for (const bad of [
      { ...block("products"), list: "x %} {{ y" },
      { ...block("snippet"), name: "a' %}" },
      { ...block("table"), rows: [["a"], ["b", "c"]] },
      {
        ...words("a"),
        showIf: { match: "all", conditions: [{ field: "a b", operator: "is", value: "" }] },
      },
      { ...block("columns"), columns: [[block("snippet")], []] },
    ])
      expect(parseDesign({ ...designOf([]), blocks: [bad] })).toBeUndefined();
  });
});

describe("a condition", () => {
  const shows = async (
    [field, operator, value]: [string, ConditionOperator, string],
    variables: liquid.LiquidVariables,
  ) => {
    const showIf: ShowIf = { match: "all", conditions: [{ field, operator, value }] };
    return (await render([words("before"), words("secret", showIf)], variables)).includes("secret");
  };

  test.each<[ConditionOperator, string, unknown, boolean]>([
    ["is", "pro", "pro", true],
    ["is", "pro", "free", false],
    ["is", "5", 5, true],
    ["is", "5", "5", true],
    ["is-not", "pro", "free", true],
    ["is-not", "5", 5, false],
    ["is-not", "5", "5", false],
    ["contains", "ro", "pro", true],
    ["contains", "x", ["x", "y"], true],
    ["is-filled", "", "a", true],
    ["is-filled", "", "", false],
    ["is-filled", "", null, false],
    ["is-empty", "", undefined, true],
    ["is-empty", "", "a", false],
    ["is-more", "10", 11, true],
    ["is-more", "10", 10, false],
    ["is-less", "10", 9.5, true],
    ["is", `a "quoted" 'b`, `a "quoted" b`, true],
    ["is", "100 %} {{ x }}", "100  {{ x ", true],
  ])("%s %s of %j: %s", async (operator, value, given, expected) => {
    expect(
      await shows(["customFields.plan", operator, value], { customFields: { plan: given } }),
    ).toBe(expected);
  });

  test("of several needs all or one, and one that is not complete does not count", async () => {
    const conditions = [
      { field: "a", operator: "is" as const, value: "1" },
      { field: "b", operator: "is" as const, value: "2" },
      { field: "", operator: "is" as const, value: "3" },
    ];
    const has = async (match: ShowIf["match"], variables: object) =>
      (
        await render([words("x"), words("secret", { match, conditions })], { ...variables })
      ).includes("secret");
    expect(await has("all", { a: "1", b: "2" })).toBe(true);
    expect(await has("all", { a: "1" })).toBe(false);
    expect(await has("any", { b: "2" })).toBe(true);
    expect(await has("any", {})).toBe(false);
  });

  test("leaves whole rows of the table out, also columns and snippets", async () => {
    const showIf: ShowIf = {
      match: "all",
      conditions: [{ field: "a", operator: "is-filled", value: "" }],
    };
    const blocks = [
      words("start"),
      words("one", showIf),
      block("columns", { columns: [[words("two", showIf)], [words("stays")]] }),
      block("columns", { showIf, columns: [[words("three")], [words("four")]] }),
      block("snippet", { name: "s", showIf }),
      words("end"),
    ];
    const snippets = { s: { html: "<p>five</p>", text: null } };
    const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0;
    // Outlook reads comments that open a table and close it elsewhere.
    const balanced = (source: string) => isBalanced(source.replace(/<!--[\s\S]*?-->/g, ""));
    const isBalanced = (html: string) =>
      ["table", "tr", "td", "div"].every(
        (tag) =>
          count(html, new RegExp(`<${tag}\\b`, "g")) === count(html, new RegExp(`</${tag}>`, "g")),
      );
    const all = await render(blocks, { a: "1" }, snippets);
    const some = await render(blocks, {}, snippets);
    expect(textOf(all).split(/\s+/)).toEqual([
      "start",
      "one",
      "two",
      "stays",
      "three",
      "four",
      "five",
      "end",
    ]);
    expect(textOf(some).split(/\s+/)).toEqual(["start", "stays", "end"]);
    expect([balanced(all), balanced(some)]).toEqual([true, true]);
  });
});

test("a visual snippet looks in an email as the blocks that it was made of", async () => {
  const shared = block("columns", {
    columns: [
      [words("left {{ name }}")],
      [block("button", { label: "Go", href: "https://a.example" })],
    ],
  });
  const html = await compileSnippet(designOf([shared]));
  expect(html).not.toMatch(/<(html|body|head|style)|[\uE000-\uE003]/);
  const linked = await render(
    [words("before"), block("snippet", { name: "pair" })],
    { name: "Ada" },
    {
      pair: { html, text: null },
    },
  );
  const own = await render([words("before"), shared], { name: "Ada" });
  expect(textOf(linked)).toBe(textOf(own));
  // Its columns stand side by side, although MJML has not seen them.
  expect(linked).toMatch(/\.mj-column-per-50 \{ width: 50% !important/);
  expect(linked).toContain("mj-column-per-50");
});
