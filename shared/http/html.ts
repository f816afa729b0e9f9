/** Html that is safe to put into a page: made by `html` and nothing else. */
export interface Html {
  readonly html: string;
}
type Part = Html | Html[] | string | number | false | undefined;

/** Text that is put in is escaped, html is not; false and undefined leave nothing. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: strings.map((string, i) => string + textOf(parts[i])).join(""),
});

function textOf(part: Part): string {
  if (part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map((one) => one.html).join("");
  return typeof part === "object" ? part.html : escaped(String(part));
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char]!);
