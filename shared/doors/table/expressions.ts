// Names and values stand apart from the text of an expression, under placeholders.
import type { Binder } from "../../conditions.ts";
import type { Item } from "./client.ts";

export function binder() {
  const names: Record<string, string> = {};
  const values: Item = {};
  const known = new Map<string, string>();
  const bind: Binder = {
    name(attribute) {
      const placeholder = known.get(attribute) ?? `#n${known.size}`;
      known.set(attribute, placeholder);
      names[placeholder] = attribute;
      return placeholder;
    },
    value(value) {
      const placeholder = `:v${Object.keys(values).length}`;
      values[placeholder] = value;
      return placeholder;
    },
  };
  const placeholders = () => ({
    ...(Object.keys(names).length && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length && { ExpressionAttributeValues: values }),
  });
  return { bind, names, values, placeholders };
}
