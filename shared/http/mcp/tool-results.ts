// Results of tools, bounded so that they fit into the context of a model.
import { ToolFailure } from "./tool-failure.ts";

export interface ToolResult {
  content: { type: "text"; text: string }[];
  isError?: true;
  [field: string]: unknown;
}

/** About 13,000 tokens. */
const maxResultCharacters = 40_000;

const textPart = (text: string) => ({ type: "text" as const, text });

/** At most `maxResultCharacters` of the text, and how to get the rest. */
export function toResult(text: string, { from, hint }: { from: number; hint: string }): ToolResult {
  const end = from + maxResultCharacters;
  const part = text.slice(from, end);
  if (from === 0 && text.length <= end) return { content: [textPart(text)] };
  const range = `Characters ${from} to ${from + part.length} of ${text.length}.`;
  const next = text.length > end ? ` ${hint.replace("NEXT", String(end))}` : " This is the end.";
  return { content: [textPart(part), textPart(range + next)] };
}

export const jsonResult = (value: unknown): ToolResult => ({
  content: [textPart(JSON.stringify(value, null, 1))],
});

/** The result of a failure. Rethrows what is not a failure of a tool. */
export function failureResult(error: unknown): ToolResult {
  if (!(error instanceof ToolFailure)) throw error;
  const text = JSON.stringify(error.toJson(), null, 1).slice(0, maxResultCharacters);
  return { content: [textPart(text)], isError: true };
}
