// The language of the console: chosen in the menu of the user, else that of the browser.

export const languageNames = { en: "English", de: "Deutsch" } as const;
export type ConsoleLanguage = keyof typeof languageNames;

/** The place of the choice in the storage of the browser. */
export const languageKey = "pennymail-language";

const isConsoleLanguage = (name: string): name is ConsoleLanguage => name in languageNames;

export function chosenLanguage(): ConsoleLanguage {
  const wanted = [storedLanguage(), ...(globalThis.navigator?.languages ?? [])];
  const known = wanted.map((tag) => tag?.slice(0, 2).toLowerCase() ?? "").find(isConsoleLanguage);
  return known ?? "en";
}

/** Null where the browser keeps nothing. */
function storedLanguage(): string | null {
  try {
    return localStorage.getItem(languageKey);
  } catch {
    return null;
  }
}
