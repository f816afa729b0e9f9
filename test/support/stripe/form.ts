/** A body as Stripe reads it: `line_items[0][price]=p&metadata[orgId]=7`. Everything is text. */
export type Form = { [name: string]: Form | string };

export function formOf(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/\[|\]\[|\]$/).filter((part, i) => i === 0 || part !== "");
    let at = form;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Form;
    }
    at[path.at(-1)!] = value;
  }
  return form;
}

/** Names that nobody knows, with their place. `known`: `true` for a text, `"map"` for any texts. */
export type Shape = { [name: string]: true | "map" | Shape };

export function unknownIn(form: Form, shape: Shape, place = ""): string[] {
  return Object.entries(form).flatMap(([name, value]) => {
    const known = shape[name] ?? (/^\d+$/.test(name) ? shape["[]"] : undefined);
    const here = place ? `${place}[${name}]` : name;
    if (known === undefined) return [here];
    if (known === true) return typeof value === "string" ? [] : [here];
    if (known === "map") return typeof value === "string" ? [here] : [];
    return typeof value === "string" ? [here] : unknownIn(value, known, here);
  });
}
