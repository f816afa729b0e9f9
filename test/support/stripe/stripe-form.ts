/** A parsed body like `line_items[0][price]=p&metadata[orgId]=7`. All values are texts. */
export type StripeForm = { [name: string]: StripeForm | string };

export function parseStripeForm(text: string): StripeForm {
  const form: StripeForm = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/\[|\]\[|\]$/).filter((part, i) => i === 0 || part !== "");
    let at = form;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as StripeForm;
    }
    at[path.at(-1)!] = value;
  }
  return form;
}

/** The known parameters: `true` is a text, and `"map"` an object with any texts. */
export type StripeFormShape = { [name: string]: true | "map" | StripeFormShape };

export function findUnknownParameters(
  form: StripeForm,
  shape: StripeFormShape,
  parentPath = "",
): string[] {
  return Object.entries(form).flatMap(([name, value]) => {
    const known = shape[name] ?? (/^\d+$/.test(name) ? shape["[]"] : undefined);
    const path = parentPath ? `${parentPath}[${name}]` : name;
    if (known === undefined) return [path];
    if (known === true) return typeof value === "string" ? [] : [path];
    if (known === "map") return typeof value === "string" ? [path] : [];
    return typeof value === "string" ? [path] : findUnknownParameters(value, known, path);
  });
}
