// The designs of visual templates: how they are read, changed, and made into the HTML of an email.
import { beforeAll, describe, expect, test, vi } from "vitest";
import {
  changeRatio,
  createBlock,
  duplicateBlock,
  findNextPlace,
  findPlace,
  moveBlock,
  neighborOf,
  problemOf,
  removeBlock,
} from "../../shared/console/editors/visual/block-changes.ts";
import { compileDesign } from "../../shared/console/editors/visual/compile-design.ts";
import {
  allBlocks,
  type ColumnsBlock,
  type Design,
  type DesignBlock,
  defaultTheme,
  limits,
  type Span,
  type TextBlock,
  type Theme,
  toLink,
  toParagraphs,
} from "../../shared/console/editors/visual/design.ts";
import { parseDesign } from "../../shared/console/editors/visual/parse-design.ts";
import {
  fromDocument,
  schemas,
  toDocument,
} from "../../shared/console/editors/visual/rich-text-model.ts";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";
import { joinLiquid } from "../../shared/console/editors/visual/to-mjml.ts";
import { parseVariables } from "../../shared/domain/content/template-bodies.ts";
import {
  colorsOf,
  contrast,
  readableContrast,
  toDarkPalette,
} from "../../shared/email/brand/colors.ts";
import { detectHtmlLanguage } from "../../shared/email/html-footer.ts";
import { scanHtml } from "../../shared/email/html-scanner.ts";
import type { Language } from "../../shared/email/languages.ts";
import { checkMail } from "../../shared/email/mail-checks.ts";
import { htmlToText } from "../../shared/email/plain-text.ts";

// MJML for browsers looks for a window.
beforeAll(() => {
  vi.stubGlobal("window", globalThis);
});

const designOf = (blocks: DesignBlock[], theme: Partial<Theme> = {}): Design => ({
  editor: "pennymail",
  version: 1,
  previewText: "",
  theme: { ...defaultTheme, ...theme },
  blocks,
});

const textOf = (...spans: Span[]): TextBlock => ({
  ...(createBlock("text") as TextBlock),
  text: [{ spans }],
});

const compile = (...blocks: DesignBlock[]): Promise<string> =>
  compileDesign(designOf(blocks), "News");

describe("the HTML of a design", () => {
  test("has the texts, links, images and buttons of the blocks in their order", async () => {
    const html = await compile(
      { ...createBlock("heading"), text: toParagraphs("First") } as DesignBlock,
      textOf({ text: "plain " }, { text: "bold", bold: true }, { text: " slanted", italic: true }),
      { ...createBlock("image"), src: "https://a.example/a.png", alt: "A shoe" } as DesignBlock,
      { ...createBlock("button"), label: "Buy", href: "https://a.example/buy" } as DesignBlock,
      createBlock("divider"),
      createBlock("footer"),
    );
    expect(html).toMatch(/^<!doctype html>\n<html lang="en"/);
    expect(html).toContain("<title>News</title>");
    expect(htmlToText(html)).toMatch(
      /^First.*plain bold slanted.*Buy \[https:\/\/a.example\/buy\].*Unsubscribe/s,
    );
    expect(html).toMatch(/<h2 [^>]*>First<\/h2>/);
    expect(html).toContain("<strong>bold</strong><em> slanted</em>");
    expect(html).toMatch(/<img\s[^>]*alt="A shoe"[^>]*src="https:\/\/a.example\/a.png"/);
    expect(html).toContain('href="{{ unsubscribeUrl }}"');
  });

  test("has the language and direction of the design, and so has the footer", async () => {
    const inLanguage = async (language: Language) =>
      compileDesign({ ...designOf([createBlock("divider")]), language }, "News");
    const german = await inLanguage("de");
    expect(german).toMatch(/^<!doctype html>\n<html lang="de" dir="ltr"/);
    expect(detectHtmlLanguage(german)).toBe("de");
    expect(await inLanguage("ar")).toMatch(/^<!doctype html>\n<html lang="ar" dir="rtl"/);
    expect(parseDesign({ ...designOf([]), language: "ar" })?.language).toBe("ar");
    expect(parseDesign({ ...designOf([]), language: '"><script>' })).not.toHaveProperty("language");
  });

  test("loads nothing from other hosts and runs nothing", async () => {
    for (const { create, subject } of startingDesigns) {
      const html = await compileDesign(create(), subject);
      expect(html).not.toMatch(/<script|<link|@import|<iframe|\son\w+=/i);
      expect(html).not.toMatch(/src="(?!https:\/\/)/);
    }
  });

  test("shows HTML that people type as text", async () => {
    const attack = '<img src=x onerror="alert(1)"></mj-text><mj-raw><script>alert(1)</script>';
    const html = await compileDesign(
      {
        ...designOf(
          [
            textOf({ text: attack }),
            { ...createBlock("heading"), text: toParagraphs(attack) } as DesignBlock,
            {
              ...createBlock("button"),
              label: attack,
              href: `https://a.example/"${attack}`,
            } as DesignBlock,
            {
              ...createBlock("image"),
              src: `https://a.example/"${attack}`,
              alt: attack,
            } as DesignBlock,
            {
              ...createBlock("social"),
              links: [{ name: attack, href: "https://b.example" }],
            } as DesignBlock,
          ],
          { logo: { src: "https://a.example/l.png", alt: attack, href: "", width: 100 } },
        ),
        previewText: attack,
      },
      attack,
    );
    expect(html).not.toMatch(/<script|<mj-|<img src=x/);
    for (const { attributes } of scanHtml(html, ["a", "area", "img"]).tags)
      expect(attributes.map(({ name }) => name)).not.toContain("onerror");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html.match(/<img\s/g)).toHaveLength(2);
  });

  test("keeps Liquid as it was typed, also where a part of it is bold", async () => {
    const greeting = `{{ name | default: "there" }}`;
    const condition = "{% if total > 10 and a < b %}Much & more{% endif %}";
    const link = '{{ url | default: "https://a.example/?a=1&b=2" }}';
    const html = await compile(
      textOf({ text: `Hi ${greeting}, ${condition}` }),
      textOf({ text: "{{ first" }, { text: "Name }}", bold: true }, { text: "!", italic: true }),
      { ...createBlock("button"), label: greeting, href: link } as DesignBlock,
    );
    expect(html).toContain(
      `Hi ${greeting}, {% if total > 10 and a < b %}Much &amp; more{% endif %}`,
    );
    expect(html).toContain("{{ firstName }}<em>!</em>");
    expect(html).toContain(`href="${link}"`);
    const { variables } = parseVariables({ subject: "News", html, text: null, designJson: null });
    expect(variables.toSorted()).toEqual(["a", "b", "firstName", "name", "total", "url"]);
  });

  test("has columns that stand below each other on phones, and tables for Outlook", async () => {
    const columns = { ...createBlock("columns"), ratio: "1:2" } as ColumnsBlock;
    columns.columns = [[textOf({ text: "left" })], [textOf({ text: "right" })]];
    const html = await compile(columns);
    expect(html).toMatch(/\(min-width:480px\) \{[^@]*mj-column-per-33-33 \{ width:33.33%/);
    expect(html).toMatch(/<!--\[if mso \| IE\]>.*width:18\d/);
    expect(html.indexOf("left")).toBeLessThan(html.indexOf("right"));
  });

  test("has bullets that follow each other as one list", async () => {
    const list = createBlock("text") as TextBlock;
    list.text = [
      { spans: [{ text: "before" }] },
      { spans: [{ text: "one" }], isItem: true },
      { spans: [{ text: "two\nlines" }], isItem: true },
    ];
    const html = await compile(list);
    expect(html).toMatch(/<p [^>]*>before<\/p><ul [^>]*><li[^>]*>one<\/li><li[^>]*>two<br>lines</);
  });

  test("leaves out what is not complete", async () => {
    const html = await compile(createBlock("image"), createBlock("social"), createBlock("button"));
    expect(html).not.toMatch(/<img|Instagram|href=""/);
    expect(html).toContain("Read more");
  });

  test.each(startingDesigns.map((start) => [start.key, start] as const))(
    "of the starting design %s is small, readable in light and dark mode, and has no broken part",
    async (_, { create, subject }) => {
      const design = create();
      const html = await compileDesign(design, subject);
      expect(html.length).toBeLessThan(60_000);
      expect(html).toContain("prefers-color-scheme: dark");
      for (const theme of [design.theme, toDarkPalette(design.theme)!])
        for (const surface of ["none", "soft", "accent", "page"] as const) {
          const { background, text, quiet, link, button, buttonText } = colorsOf(theme, surface);
          for (const color of [text, quiet, link])
            expect(contrast(color, background)).toBeGreaterThanOrEqual(readableContrast);
          expect(contrast(button, buttonText)).toBeGreaterThanOrEqual(readableContrast);
        }
      const stored = parseDesign(JSON.parse(JSON.stringify(design)));
      expect(await compileDesign(stored!, subject)).toBe(html);
      const findings = checkMail({
        subject,
        html: html.replace(/\{\{ \w+Url \}\}/g, "https://a.example/"),
        text: htmlToText(html),
        isTextMade: true,
        missingVariables: [],
        hasUnsubscribeLink: true,
      });
      const codes = findings.filter(({ severity }) => severity === "error").map(({ code }) => code);
      expect(codes).toEqual([]);
      expect(allBlocks(design.blocks).filter(({ type }) => type === "footer").length).toBeLessThan(
        2,
      );
    },
  );
});

describe("a stored design", () => {
  const stored = () => JSON.parse(JSON.stringify(designOf([textOf({ text: "Hello" })])));

  test.each([
    ["nothing", null],
    ["another editor's design", { body: { rows: [] } }],
    ["a list", []],
    ["a text", "pennymail"],
    ["a later version", { ...stored(), version: 2 }],
    ["an unknown block", { ...stored(), blocks: [{ type: "html", fill: "none", html: "<b>" }] }],
    ["a colour with styles", { ...stored(), theme: { accent: "red;position:fixed" } }],
    ["an unknown font", { ...stored(), theme: { font: "url(https://evil.example)" } }],
    ["columns in columns", { ...stored(), blocks: [nestedColumns()] }],
    ["too many blocks", { ...stored(), blocks: manyBlocks(limits.blocks + 1) }],
    ["too much text", { ...stored(), blocks: [textOf({ text: "a".repeat(100_001) })] }],
    ["a height that is no number", { ...stored(), blocks: [{ type: "spacer", fill: "none" }] }],
    ["inherited names", { ...stored(), theme: { font: "constructor" } }],
  ])("is not opened if it is %s", (_, json) => {
    expect(parseDesign(json)).toBeUndefined();
  });

  test("is read with known fields only, and without links that run scripts", () => {
    const script = "javascript:alert(1)";
    const json = {
      ...stored(),
      onload: script,
      blocks: [
        {
          ...textOf({ text: "a", href: script }, { text: "b", href: "https://ok.example" }),
          dangerouslySetInnerHTML: { __html: "<script>" },
        },
        { ...createBlock("button"), href: ` ${script}` },
        { ...createBlock("image"), src: "data:text/html,<script>", href: script },
        { ...createBlock("social"), links: [{ name: "x", href: script }] },
      ],
    };
    const design = parseDesign(json)!;
    expect(JSON.stringify(design)).not.toMatch(/javascript|script|dangerously|onload/);
    expect(design.blocks[0]).toMatchObject({
      text: [{ spans: [{ text: "a" }, { text: "b", href: "https://ok.example" }] }],
    });
  });

  test("gets ids of its own", () => {
    const [block] = stored().blocks;
    const design = parseDesign({ ...stored(), blocks: [block, block] })!;
    expect(new Set(design.blocks.map(({ id }) => id)).size).toBe(2);
  });

  test("may be as large as the limits", () => {
    expect(parseDesign({ ...stored(), blocks: manyBlocks(limits.blocks) })).toBeDefined();
    const long = [textOf({ text: "a".repeat(limits.characters) })];
    expect(parseDesign({ ...stored(), blocks: long })).toBeDefined();
  });
});

function nestedColumns(): unknown {
  const columns = createBlock("columns") as ColumnsBlock;
  return { ...columns, columns: [[columns], []] };
}

const manyBlocks = (count: number): DesignBlock[] =>
  Array.from({ length: count }, () => createBlock("divider"));

describe("blocks", () => {
  const list = (): [TextBlock, TextBlock, ColumnsBlock] => [
    textOf({ text: "one" }),
    textOf({ text: "two" }),
    createBlock("columns") as ColumnsBlock,
  ];
  const idsOf = (blocks: readonly DesignBlock[]) => blocks.map(({ id }) => id);

  test("move up and down, not past the ends", () => {
    const [one, two, columns] = list();
    const blocks = [one, two, columns];
    expect(findNextPlace(blocks, one.id, "up")).toBeUndefined();
    expect(findNextPlace(blocks, columns.id, "down")).toBeUndefined();
    const down = moveBlock(blocks, one.id, findNextPlace(blocks, one.id, "down")!);
    expect(idsOf(down)).toEqual([two.id, one.id, columns.id]);
    const up = moveBlock(down, one.id, findNextPlace(down, one.id, "up")!);
    expect(idsOf(up)).toEqual([one.id, two.id, columns.id]);
  });

  test("move into columns and out of them, but columns do not", () => {
    const [one, two, columns] = list();
    const blocks = [one, two, columns];
    const inside = { list: { columnsId: columns.id, column: 1 }, index: 0 };
    const moved = moveBlock(blocks, one.id, inside);
    expect(idsOf(moved)).toEqual([two.id, columns.id]);
    expect(findPlace(moved, one.id)).toEqual(inside);
    const back = moveBlock(moved, one.id, { list: "email", index: 2 });
    expect(idsOf(back)).toEqual([two.id, columns.id, one.id]);
    expect(moveBlock(blocks, columns.id, inside)).toEqual(blocks);
  });

  test("are duplicated with new ids, and deleted with what is in them", () => {
    const [one, two, columns] = list();
    const { blocks, copyId } = duplicateBlock([one, two, columns], columns.id)!;
    expect(idsOf(blocks)).toEqual([one.id, two.id, columns.id, copyId]);
    expect(new Set(idsOf(allBlocks(blocks))).size).toBe(8);
    expect(neighborOf(blocks, columns.id)).toBe(copyId);
    expect(neighborOf(blocks, copyId)).toBe(columns.id);
    expect(idsOf(removeBlock(blocks, columns.id))).toEqual([one.id, two.id, copyId]);
  });

  test("of a column that is taken away move into the last one", () => {
    const three = changeRatio(createBlock("columns") as ColumnsBlock, "1:1:1");
    expect(three.columns).toHaveLength(3);
    const halves = changeRatio(three, "1:1");
    expect(idsOf(halves.columns.flat())).toEqual(idsOf(three.columns.flat()));
    expect(halves.columns[1]).toHaveLength(2);
  });

  test("say what readers would miss", () => {
    expect(problemOf(createBlock("button"))).toMatch(/no link/);
    expect(problemOf(createBlock("image"))).toMatch(/no address/);
    const image = { ...createBlock("image"), src: "https://a.example/a.png" } as DesignBlock;
    expect(problemOf(image)).toMatch(/Describe/);
    expect(problemOf({ ...image, isDecorative: true } as DesignBlock)).toBeUndefined();
    expect(problemOf(createBlock("text"))).toBeUndefined();
  });
});

test.each([
  ["shop.example/a", "https://shop.example/a"],
  ["ada@shop.example", "mailto:ada@shop.example"],
  ["{{ unsubscribeUrl }}", "{{ unsubscribeUrl }}"],
  ["tel:+123", "tel:+123"],
  ["javascript:alert(1)", ""],
  [" data:text/html,x", ""],
  ["not a link", ""],
])("the typed link %s leads to %s", (typed, href) => {
  expect(toLink(typed)).toBe(href);
});

test("texts are the same after they were edited", () => {
  const text = [
    { spans: [{ text: "Hello " }, { text: "you\nthere", bold: true as const }] },
    { spans: [{ text: "link", href: "https://a.example" }], isItem: true as const },
    { spans: [] },
  ];
  expect(fromDocument(toDocument(schemas.many, text))).toEqual(text);
  expect(fromDocument(toDocument(schemas.one, []))).toEqual([{ spans: [] }]);
});

test("Liquid in several spans belongs to the first", () => {
  const spans: Span[] = [
    { text: "a {{ b" },
    { text: " | c", bold: true },
    { text: " }} d {{ e }} f", italic: true },
  ];
  expect(joinLiquid(spans)).toEqual([
    { text: "a {{ b | c }}" },
    { text: " d {{ e }} f", italic: true },
  ]);
});
