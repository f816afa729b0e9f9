// Visual designs that use the brand of their site, and designs that are written from the right.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createBlock } from "../../shared/console/editors/visual/block-changes.ts";
import {
  compileDesign,
  compileSnippet,
} from "../../shared/console/editors/visual/compile-design.ts";
import {
  applyBrand,
  copyBrand,
  type Design,
  type DesignBlock,
  defaultTheme,
  toParagraphs,
} from "../../shared/console/editors/visual/design.ts";
import { parseDesign } from "../../shared/console/editors/visual/parse-design.ts";
import { type Brand, defaultBrand } from "../../shared/email/brand/brand.ts";
import {
  colorsOf,
  contrast,
  readableContrast,
  toDarkPalette,
} from "../../shared/email/brand/colors.ts";
import { insertBrandLook, toBrandLook } from "../../shared/email/brand/look.ts";

// MJML for browsers looks for a window.
beforeAll(() => {
  vi.stubGlobal("window", globalThis);
});

const brand: Brand = {
  logo: { url: "https://shop.example/logo.png", alt: "Shop", link: null, width: 120 },
  colors: { accent: "#aa1155", background: "#fdf2f6", surface: "#fffdfe", text: "#2a1520" },
  font: "georgia",
  corners: "round",
  socialLinks: [{ name: "Mastodon", url: "https://social.example/@shop" }],
  footerText: "Shop Ltd",
  language: "de",
};

const text = (content: string): DesignBlock => ({
  ...createBlock("text"),
  text: toParagraphs(content),
});
const every: DesignBlock[] = [
  { ...createBlock("heading"), fill: "accent" },
  text("Hello"),
  { ...createBlock("button"), href: "https://shop.example", fill: "soft" },
  { ...createBlock("image"), src: "https://shop.example/a.png", alt: "A" },
  createBlock("divider"),
  createBlock("social"),
  { ...createBlock("social"), style: "badges" },
  { ...createBlock("menu"), links: [{ name: "New", href: "https://shop.example" }] },
  { ...createBlock("video"), src: "https://shop.example/a.png", href: "https://shop.example" },
  createBlock("table"),
  createBlock("products"),
  createBlock("columns"),
  createBlock("footer"),
];
const designOf = (more: Partial<Design> = {}, blocks = every): Design => ({
  ...{ editor: "pennymail", version: 1, previewText: "" },
  theme: { ...defaultTheme, usesBrand: true },
  blocks,
  ...more,
});

describe("a design that uses the brand", () => {
  test("looks as one with a copy of it, without a value of its own theme", async () => {
    const design = designOf();
    const html = insertBrandLook(await compileDesign(design, "News"), toBrandLook(brand));
    expect(html).not.toContain("brandLook");
    for (const color of Object.values(defaultTheme).filter((value) => /^#/.test(String(value))))
      if (color !== "#ffffff") expect(html).not.toContain(color);
    const copied = await compileDesign(copyBrand(design, brand), "News");
    // Logo, social links and footer text are markup of the brand.
    const layoutOf = (source: string) =>
      [
        ...source
          .replaceAll("&#39;", "'")
          .matchAll(/(?:background|color|font-family|border-radius)[^;"}]*/g),
      ].map(([one]) => one);
    const known = new Set(layoutOf(copied));
    expect([...new Set(layoutOf(html))].filter((one) => !known.has(one))).toEqual([]);
    expect(html).toContain("Shop Ltd");
    expect(html.match(/social\.example/g)).toHaveLength(2);
  });

  test("is stored as such, and shows the links of the brand in the editor", () => {
    const parsed = parseDesign(JSON.parse(JSON.stringify(designOf())))!;
    expect(parsed.theme.usesBrand).toBe(true);
    const shown = applyBrand(parsed, brand);
    expect(shown.theme).toMatchObject({ accent: "#aa1155", font: "georgia", corners: "round" });
    expect(shown.theme.logo).toMatchObject({ src: "https://shop.example/logo.png", width: 120 });
    expect(shown.blocks[5]).toMatchObject({
      links: [{ name: "Mastodon", href: "https://social.example/@shop" }],
    });
    const own = { ...parsed, theme: defaultTheme };
    expect(applyBrand(own, brand)).toBe(own);
  });

  test("in a snippet reads the brand too", async () => {
    const html = await compileSnippet(designOf({}, [text("Hi")]));
    expect(html).toContain("{{ brandLook.none.text }}");
  });

  test("can be read on every background, also if the brand is dark", () => {
    for (const colors of [
      brand.colors,
      { accent: "#ffee00", background: "#101010", surface: "#1c1c1c", text: "#fafafa" },
    ]) {
      const look = toBrandLook({ ...defaultBrand, colors });
      for (const surface of [
        look.none,
        look.soft,
        look.accent,
        look.page,
        ...Object.values(look.dark),
      ])
        for (const name of ["quiet", "link"] as const)
          expect(contrast(surface[name], surface.background)).toBeGreaterThanOrEqual(
            readableContrast - 0.1,
          );
      expect(look.none).toMatchObject(colorsOf(colors, "none"));
    }
  });
});

describe("an email from right to left", () => {
  const arabic = (blocks: DesignBlock[]) =>
    compileDesign(designOf({ language: "ar", theme: defaultTheme }, blocks), "News");

  test("has its text, tables, products and columns begin on the right", async () => {
    const html = await arabic(every);
    expect(html).toContain('dir="rtl"');
    expect(html).not.toMatch(/direction:\s*ltr/);
    // MJML writes the alignment of columns, which their content overrides.
    const content = html.replaceAll(/font-size:0px;text-align:left;direction/g, "");
    expect(content).not.toMatch(/text-align:left|align="left"/);
  });

  test("keeps what is aligned to the end of a line on the left", async () => {
    const html = await arabic([
      { ...createBlock("text"), align: "right", text: toParagraphs("Price") },
    ]);
    expect(html).toContain("text-align:left");
  });

  test("does not change emails from left to right", async () => {
    const html = await compileDesign(designOf({ theme: defaultTheme }), "News");
    expect(html).not.toMatch(/direction:\s*rtl/);
    expect(html).not.toContain("text-align:right");
  });
});

test("a button stays visible in dark mode, also if the accent is dark", async () => {
  const colors = { accent: "#22262e", background: "#f4f4f2", surface: "#ffffff", text: "#22262e" };
  expect(colorsOf(colors, "none").button).toBe(colors.accent);
  const dark = colorsOf(toDarkPalette(colors)!, "none");
  expect(contrast(dark.button, dark.background)).toBeGreaterThan(3);
  expect(contrast(dark.buttonText, dark.button)).toBeGreaterThan(readableContrast);
  const theme = { ...defaultTheme, ...colors };
  const button = { ...createBlock("button"), label: "Go", href: "https://shop.example" };
  const html = await compileDesign(designOf({ theme }, [button]), "Hi");
  expect(html).toContain(`.on-none .button a, .on-none .button p { background: ${dark.button}`);
});

test("a picture as wide as its column fills a phone", async () => {
  const image = { ...createBlock("image"), src: "https://shop.example/a.png", alt: "A" };
  const columns = createBlock("columns");
  const full = { ...columns, columns: [[{ ...image, width: 100 as const }], []] };
  const html = await compileDesign(designOf({ theme: defaultTheme }, [full]), "Hi");
  expect(html).toMatch(/<td[^>]*class="mj-full-width-mobile"/);
  const half = { ...columns, columns: [[{ ...image, width: 50 as const }], []] };
  const other = await compileDesign(designOf({ theme: defaultTheme }, [half]), "Hi");
  expect(other).not.toMatch(/<td[^>]*class="mj-full-width-mobile"/);
});

test("the footer text of the brand stands below the footer, and a copy of the brand keeps it", () => {
  const footer = createBlock("footer");
  const design = designOf({}, [footer]);
  expect(applyBrand(design, brand).theme.footerNote).toBe("Shop Ltd");
  const copy = copyBrand(design, brand);
  expect(copy.theme).not.toHaveProperty("footerNote");
  expect(copy.blocks[0]).toMatchObject({
    text: [...footer.text, { spans: [{ text: "Shop Ltd" }] }],
  });
});
