// The names of languages as people know them.
import { language } from "../language/translate.ts";

const names = new Intl.DisplayNames(language, { type: "language", fallback: "none" });

/** "German" for `de`, "Portuguese (Brazil)" for `pt-BR`. A tag without a name stays as it is. */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
