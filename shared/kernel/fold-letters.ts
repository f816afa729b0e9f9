// Folds letters, so that people find names without typing accents.

/** "Müller" becomes "muller". */
export const foldLetters = (text: string): string =>
  text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const digraphs: Record<string, string> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  ß: "ss",
  æ: "ae",
  ø: "oe",
  å: "aa",
};

/** As names with umlauts are written without them: "Müller" becomes "mueller". */
export const spellOutLetters = (text: string): string =>
  foldLetters(text.toLowerCase().replace(/[äöüßæøå]/g, (letter) => digraphs[letter]!));
