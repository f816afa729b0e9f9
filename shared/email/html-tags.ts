// Reads the links and images of HTML. Takes one pass over any input.
export interface HtmlTag {
  /** In lower case. */
  name: string;
  /** By name in lower case, with `&amp;` as `&`. A name without a value has the value "". */
  attributes: Map<string, string>;
}

/** The `a`, `area` and `img` tags outside of comments. */
export function* readTags(html: string): Generator<HtmlTag> {
  const source = withoutComments(html);
  const tagStart = /<(a|area|img)(?=[\s/>])/gi;
  for (let match = tagStart.exec(source); match; match = tagStart.exec(source)) {
    const attributes = new Map<string, string>();
    const token = />|([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
    token.lastIndex = tagStart.lastIndex;
    for (let found = token.exec(source); found; found = token.exec(source)) {
      tagStart.lastIndex = token.lastIndex;
      const [, name, quoted, apostrophed, bare] = found;
      if (name === undefined) break;
      const key = name.toLowerCase();
      if (!attributes.has(key))
        attributes.set(key, (quoted ?? apostrophed ?? bare ?? "").replaceAll("&amp;", "&"));
    }
    yield { name: match[1]!.toLowerCase(), attributes };
  }
}

/** A comment that does not end hides the rest. */
function withoutComments(html: string): string {
  let kept = "";
  let at = 0;
  for (;;) {
    const start = html.indexOf("<!--", at);
    if (start < 0) return kept + html.slice(at);
    kept += html.slice(at, start);
    const end = html.indexOf("-->", start);
    if (end < 0) return kept;
    at = end + "-->".length;
  }
}
