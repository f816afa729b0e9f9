/// <reference path="./mjml-browser.d.ts" />
// Makes the HTML of an email from its design. MJML is loaded when the first email is compiled.
import type { Design } from "./design.ts";
import { type Mjml, snippetMarks, snippetToMjml, toMjml } from "./to-mjml.ts";

/** `subject` is the title of the document. */
export async function compileDesign(design: Design, subject: string): Promise<string> {
  return compile(toMjml(design, subject));
}

/** The snippet in an email that has nothing else. */
export const compileSnippetPage = async (design: Design, name: string): Promise<string> =>
  compile(toMjml(design, name, { hasLogo: false }));

/** The HTML of the blocks of a snippet, without a document around it. */
export const compileSnippet = (design: Design): Promise<string> =>
  compile(snippetToMjml(design), (html) => {
    const [begin, end] = snippetMarks.map((mark) => html.indexOf(mark)) as [number, number];
    return html.slice(begin + 1, end).trim();
  });

async function compile(
  { source, restoreLiquid }: Mjml,
  select: (html: string) => string = (html) => html,
): Promise<string> {
  const { default: mjml2html } = await import("mjml-browser");
  // No fonts, because MJML would load known ones from another host.
  const { html } = mjml2html(source, { fonts: {}, validationLevel: "skip" });
  const withoutIndent = select(html).replace(/\n\s*/g, "\n").trim();
  return `${restoreLiquid(withoutIndent)}\n`;
}
