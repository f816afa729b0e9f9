// Similar-looking letters. Two names with the same skeleton look the same to a reader.

/** Letters that occur in domain names, by the Latin letter they look like. */
const lookalikeLetters: Record<string, string> = {
  a: "аɑαạąȧ",
  b: "ьƅвƀ",
  c: "сϲᴄçćč",
  d: "ԁɗđď",
  e: "еҽєεėęẹ3",
  f: "ſƒғ",
  g: "ɡցġğģǥ",
  h: "һнħհ",
  i: "іıɩιíìïįịӏ",
  j: "јʝ",
  k: "кκķĸ",
  l: "ⅼłļľ1|ǀ",
  m: "мⅿṃ",
  n: "ոηńņṇпп",
  o: "оοօσọ0ơөø",
  p: "рρþ",
  q: "ԛգ",
  r: "гŗřɍ",
  s: "ѕśşṣșʂ5$",
  t: "тτţťṭț",
  u: "υսūųụմ",
  v: "ѵνṿ",
  w: "ԝաωẁẃẉ",
  x: "хχҳ",
  y: "уүγýỵ",
  z: "ʐżźẓ2",
};
const toLatin = new Map(
  Object.entries(lookalikeLetters).flatMap(([letter, others]) =>
    [...others].map((other) => [other, letter] as const),
  ),
);

/** Pairs of letters that look like one letter. */
const ligatures: [pattern: RegExp, letter: string][] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/cl/g, "d"],
];

/**
 * Returns the name in lower case, without accents, with each letter replaced by the plain one it
 * looks like. Treats i and l as the same.
 */
export function skeleton(text: string): string {
  const plain = [...text.toLowerCase()]
    .map((char) => toLatin.get(char) ?? char)
    .join("")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  return ligatures
    .reduce((left, [pattern, letter]) => left.replace(pattern, letter), plain)
    .replace(/i/g, "l");
}

/** Whether a word mixes alphabets that no language mixes. Japanese and Korean mix theirs. */
export function mixesScripts(label: string): boolean {
  const used = scripts.filter((alphabet) => alphabet.test(label));
  return used.length > 1;
}
const scripts = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
];
