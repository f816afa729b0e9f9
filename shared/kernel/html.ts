/** HTML that is safe to put into a page. Only `html` creates it. */
export interface Html {
  readonly html: string;
}
type HtmlPart = Html | HtmlPart[] | string | number | false | undefined;

/** Escapes texts and numbers, keeps HTML, and omits false and undefined. */
export const html = (strings: TemplateStringsArray, ...parts: HtmlPart[]): Html => ({
  html: strings.map((string, i) => string + renderPart(parts[i])).join(""),
});

function renderPart(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map(renderPart).join("");
  return typeof part === "object" ? part.html : escapeHtml(String(part));
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Escapes text for element content and quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => entities[char]!);
