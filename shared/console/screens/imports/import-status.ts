// An import in the words of the console.
import type { Import } from "pennymail";

export function toneOf({ status }: Import) {
  if (status === "completed") return "good";
  return status === "failed" ? "bad" : "info";
}

export const counts: { label: string; of(one: Import): number }[] = [
  { label: "New", of: ({ created }) => created },
  { label: "Changed", of: ({ updated }) => updated },
  // Rows of contacts that the mode of the import leaves alone.
  { label: "Left as they were", of: ({ skipped }) => skipped },
  { label: "Refused", of: ({ failed }) => failed },
];
