// What mail programs support, by the data of caniemail.com: emails use nothing that hides their
// content or breaks their layout in a widespread program.
import { caniemail } from "caniemail";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { blockNames, createBlock } from "../../shared/console/editors/visual/block-changes.ts";
import { compileDesign } from "../../shared/console/editors/visual/compile-design.ts";
import {
  type BlockType,
  type Design,
  type DesignBlock,
  defaultTheme,
} from "../../shared/console/editors/visual/design.ts";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";

// MJML for browsers looks for a window.
beforeAll(() => {
  vi.stubGlobal("window", globalThis);
});

// The package has no data of Thunderbird for Windows.
const clients = ["gmail.*", "outlook.*", "apple-mail.*", "yahoo.*", "samsung-email.*"] as const;

const onlyPhonesAndDark = "styles of the head only adapt the email to phones and to dark mode";
const nothingIsHidden = "the preview text is hidden in several ways; one is enough";
const onlyLooks = "without it the email looks plainer, and reads the same";

/** What a program does not support, and why the email can use it all the same. */
const expectedGaps: Record<string, string> = {
  "<style> element": onlyPhonesAndDark,
  "@media": onlyPhonesAndDark,
  "Chaining selectors": onlyPhonesAndDark,
  "Class selector": onlyPhonesAndDark,
  "Descendant combinator": onlyPhonesAndDark,
  "ID selector": onlyPhonesAndDark,
  "Type selector": onlyPhonesAndDark,
  "color-scheme meta tag": onlyPhonesAndDark,
  "display:none": nothingIsHidden,
  opacity: nothingIsHidden,
  "max-height property": nothingIsHidden,
  overflow: nothingIsHidden,
  "border-radius": onlyLooks,
  "border-spacing": onlyLooks,
  cursor: onlyLooks,
  outline: onlyLooks,
  "white-space": onlyLooks,
  "word-break": onlyLooks,
  "word-spacing": onlyLooks,
  "height property": "spacers also have a line height",
  "<body> element": "programs replace it by an element that keeps its styles",
  "aria-label attribute": "the text that it repeats can be read",
  "target attribute": "mail programs open links in a browser anyway",
  "role attribute": "screen readers then announce a table of layout",
};

function unsupportedIn(html: string): string[] {
  const { issues } = caniemail({ clients: [...clients], html });
  return [...new Set([...issues.errors.values()].flat().map(({ title }) => title))];
}

const designOf = (blocks: DesignBlock[]): Design => ({
  ...{ editor: "pennymail", version: 1, previewText: "Three new breads" },
  ...{ theme: defaultTheme, blocks },
});

const link = { name: "Shop", href: "https://shop.example" };
const filled: Partial<Record<BlockType, object>> = {
  button: { href: link.href },
  image: { src: "https://shop.example/bread.png", alt: "A bread" },
  video: { src: "https://shop.example/film.png", alt: "An oven", href: link.href },
  social: { links: [link], style: "badges" },
  menu: { links: [link] },
};

describe("widespread mail programs support", () => {
  test.each(startingDesigns)("the starting design $name", async ({ create }) => {
    const used = unsupportedIn(await compileDesign(create(), "News"));
    expect(used.filter((title) => !(title in expectedGaps))).toEqual([]);
  });

  const types = (Object.keys(blockNames) as BlockType[]).filter((type) => type !== "snippet");
  test.each(types)("the block %s", async (type) => {
    const block = { ...createBlock(type), ...filled[type] } as DesignBlock;
    const used = unsupportedIn(await compileDesign(designOf([block]), "News"));
    expect(used.filter((title) => !(title in expectedGaps))).toEqual([]);
  });

  test("less than a grid, which the check finds", () => {
    expect(unsupportedIn('<div style="display:grid;position:fixed">A</div>')).toEqual(
      expect.arrayContaining(["display:grid"]),
    );
  });
});
