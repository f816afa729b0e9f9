/// <reference path="./mjml-browser.d.ts" />
// Makes the HTML of an email from its design. MJML is loaded when the first email is compiled.
import type { Design } from "./design.ts";
import { toMjml } from "./to-mjml.ts";

/** `subject` is the title of the document. */
export async function compileDesign(design: Design, subject: string): Promise<string> {
  const { default: mjml2html } = await import("mjml-browser");
  const { source, restoreLiquid } = toMjml(design, subject);
  // No fonts, because MJML would load known ones from another host.
  const { html } = mjml2html(source, { fonts: {}, validationLevel: "skip" });
  const withoutIndent = html.replace(/\n\s*/g, "\n").trim();
  return `${restoreLiquid(withoutIndent)}\n`;
}
