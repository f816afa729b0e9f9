// Names that every JavaScript object answers to. A field so called cannot be told from them, neither in the table nor in a template.

const reserved = new Set(Object.getOwnPropertyNames(Object.prototype));

export const isReserved = (name: string): boolean => reserved.has(name);

/** Whether text of JSON may hold such a name: quick, and wrong on one side only. Letters may be written as escapes. */
export const mayHold = (json: string): boolean => sign.test(json) || /\\u00[4-7]/i.test(json);

const sign = new RegExp(`"(?:${[...reserved].join("|")})"\\s*:`);

/** Where the first one stands, dotted, in a value that was JSON. */
export function reservedIn(value: unknown, path = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, one] of Object.entries(value)) {
    const found = isReserved(name) && !Array.isArray(value) ? path + name : reservedIn(one, `${path}${name}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}
