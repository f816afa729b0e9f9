// The most common passwords of at least 8 characters: those among the 49,000 of
// @zxcvbn-ts/language-common 4.1.3 (MIT licence), which ranks leaked passwords. A list, unlike a
// rule, does not refuse good passphrases.
import list from "./common-passwords.json" with { type: "json" };

let common: Set<string> | undefined;

/** Case-insensitive. */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(list.join(" ").split(" "));
  return common.has(password.toLowerCase());
}
