// An import in the words of the console.

import type { Import } from "pennymail";
import { t } from "../../language/translate.ts";

export function toneOf({ status }: Import) {
  if (status === "completed") return "good";
  return status === "failed" ? "bad" : "info";
}

export const counts: { label: string; of(one: Import): number }[] = [
  { label: t("New"), of: ({ created }) => created },
  { label: t("Changed"), of: ({ updated }) => updated },
  // Rows of contacts that the mode of the import leaves alone.
  { label: t("Left as they were"), of: ({ skipped }) => skipped },
  { label: t("Refused"), of: ({ failed }) => failed },
];
