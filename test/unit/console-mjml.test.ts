// MJML files become designs, and designs become MJML files.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { compileDesign } from "../../shared/console/editors/visual/compile-design.ts";
import type { Design } from "../../shared/console/editors/visual/design.ts";
import { allBlocks } from "../../shared/console/editors/visual/design.ts";
import { fromMjml } from "../../shared/console/editors/visual/from-mjml.ts";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";
import { exportMjml } from "../../shared/console/editors/visual/to-mjml.ts";
import { htmlToText } from "../../shared/email/plain-text.ts";

// MJML for browsers looks for a window.
beforeAll(() => {
  vi.stubGlobal("window", globalThis);
});

const inBody = (content: string, head = "") =>
  `<mjml><mj-head>${head}</mj-head><mj-body>${content}</mj-body></mjml>`;
const inColumn = (content: string, head = "") =>
  inBody(`<mj-section><mj-column>${content}</mj-column></mj-section>`, head);
const blocksOf = (source: string) => fromMjml(source).design.blocks;

describe("an MJML file", () => {
  test("gives the look, the language, the subject and the preview text", () => {
    const { design, subject } = fromMjml(`<mjml lang="de-AT"><mj-head>
      <mj-title>Neues aus der Backstube</mj-title><mj-preview>Drei Brote</mj-preview>
      <mj-attributes><mj-all font-family="Georgia, serif" /><mj-text color="#333" />
      <mj-class name="big" border-radius="24px" /></mj-attributes></mj-head>
      <mj-body background-color="#eee" width="620px"><mj-section background-color="#FFFFFF">
      <mj-column><mj-text>Hallo</mj-text><mj-button mj-class="big" background-color="#A03020"
      href="https://shop.example">Zum Laden</mj-button></mj-column></mj-section></mj-body></mjml>`);
    expect(subject).toBe("Neues aus der Backstube");
    expect(design).toMatchObject({
      language: "de",
      previewText: "Drei Brote",
      theme: {
        font: "georgia",
        width: 600,
        background: "#eeeeee",
        surface: "#ffffff",
        text: "#333333",
        accent: "#a03020",
        corners: "round",
      },
    });
  });

  test("gives headings, paragraphs, lists and marks of a text, with their Liquid", () => {
    const text = `<h1>News for {{ firstName | default: "you" }}</h1>
      <p>Some <b>bold</b>, <em>slanted</em> and <a href="https://a.example/?a=1&amp;b=2">linked</a>
      text<br>on two lines</p><ul><li>One</li><li>Two</li></ul>`;
    expect(blocksOf(inColumn(`<mj-text align="center">${text}</mj-text>`))).toMatchObject([
      {
        type: "heading",
        level: 1,
        align: "center",
        text: [{ spans: [{ text: 'News for {{ firstName | default: "you" }}' }] }],
      },
      {
        type: "text",
        align: "center",
        text: [
          {
            spans: [
              { text: "Some " },
              { text: "bold", bold: true },
              { text: ", " },
              { text: "slanted", italic: true },
              { text: " and " },
              { text: "linked", href: "https://a.example/?a=1&b=2" },
              { text: " text" },
              { text: "\n" },
              { text: "on two lines" },
            ],
          },
          { isItem: true, spans: [{ text: "One" }] },
          { isItem: true, spans: [{ text: "Two" }] },
        ],
      },
    ]);
  });

  test("gives the block of each element", () => {
    const blocks = blocksOf(
      inColumn(`<mj-image src="https://a.example/a.png" alt="A shoe" width="300px" />
        <mj-button href="https://a.example" width="100%">Buy</mj-button><mj-divider />
        <mj-spacer height="40px" /><mj-social><mj-social-element name="facebook"
        href="https://f.example">Us</mj-social-element></mj-social><mj-navbar>
        <mj-navbar-link href="https://a.example/new">New</mj-navbar-link></mj-navbar>
        <mj-table><tr><th>Day</th></tr><tr><td>Monday</td></tr></mj-table>
        <mj-raw><b>raw</b></mj-raw><mj-text><p>You can
        <a href="{{ unsubscribeUrl }}">unsubscribe</a>.</p></mj-text>`),
    );
    expect(blocks).toMatchObject([
      { type: "image", src: "https://a.example/a.png", alt: "A shoe", width: 50 },
      { type: "button", label: "Buy", href: "https://a.example", isWide: true },
      { type: "divider" },
      { type: "spacer", height: 40 },
      { type: "social", links: [{ name: "Us", href: "https://f.example" }] },
      { type: "menu", links: [{ name: "New", href: "https://a.example/new" }] },
      { type: "table", hasHeader: true, rows: [["Day"], ["Monday"]] },
      { type: "html", code: "<b>raw</b>" },
      { type: "footer" },
    ]);
  });

  test("keeps its columns, and says what it loses", () => {
    const column = (text: string, width = "") =>
      `<mj-column ${width && `width="${width}"`}><mj-text>${text}</mj-text></mj-column>`;
    const section = (...columns: string[]) => `<mj-section>${columns.join("")}</mj-section>`;
    const { design, notes } = fromMjml(
      inBody(
        section(column("a"), column("b")) +
          section(column("a", "30%"), column("b", "70%")) +
          section(column("a"), column("b"), column("c")) +
          section(...["a", "b", "c", "d"].map((text) => column(text))) +
          "<mj-section><mj-column><mj-carousel></mj-carousel></mj-column></mj-section>",
        "<mj-style>.a { color: red }</mj-style>",
      ),
    );
    expect(design.blocks.map((block) => "ratio" in block && block.ratio)).toEqual([
      "1:1",
      "1:2",
      "1:1:1",
      ...[false, false, false, false],
    ]);
    expect(notes).toEqual([
      "Styles of the head were left out.",
      "More than three columns now stand below each other.",
      "mj-carousel was left out.",
    ]);
  });

  test("keeps text with other elements in it as HTML", () => {
    expect(
      blocksOf(inColumn("<mj-text><table><tr><td>1</td></tr></table></mj-text>")),
    ).toMatchObject([{ type: "html", code: "<table><tr><td>1</td></tr></table>" }]);
  });

  test.each([
    ["no MJML", "<p>Hello</p>"],
    ["without content", inBody("")],
    ["too large", "x".repeat(500_001)],
    ["of too many blocks", inColumn("<mj-divider />".repeat(151))],
  ])("that is %s is refused with a reason", (_, source) => {
    expect(() => fromMjml(source)).toThrow(/^The (file|email) (is|has) /);
  });
});

describe("a design", () => {
  const outlineOf = ({ blocks }: Design) => allBlocks(blocks).map(({ type }) => type);

  test.each(startingDesigns)("$name is the same as MJML and back", async ({ create }) => {
    const design = create();
    const source = exportMjml(design, "News");
    const { default: mjml2html } = await import("mjml-browser");
    const { html, errors } = mjml2html(source, { fonts: {}, validationLevel: "soft" });
    expect(errors).toEqual([]);
    expect(htmlToText(html)).toBe(htmlToText(await compileDesign(design, "News")));
    const again = fromMjml(source);
    expect(again.subject).toBe("News");
    expect(outlineOf(again.design).filter((type) => type === "heading")).toEqual(
      outlineOf(design).filter((type) => type === "heading"),
    );
    expect(again.design.theme.width).toBe(design.theme.width);
  });
});
