// Messages with elements in them.
import { Children, type ReactNode } from "react";
import { formatOf } from "./translate.ts";

type NodeValues = Record<string, ReactNode | ((text: ReactNode) => ReactNode)>;

/** A text with elements in it: values, or functions for tags such as `<b>` in the message. */
export function tNodes(message: string, values: NodeValues): ReactNode {
  const wrapped = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "function" ? (parts: ReactNode[]) => value(Children.toArray(parts)) : value,
  ]);
  const parts = formatOf(message).format<ReactNode>(Object.fromEntries(wrapped));
  return Array.isArray(parts) ? Children.toArray(parts) : parts;
}
