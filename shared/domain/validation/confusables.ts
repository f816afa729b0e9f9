// Letters that look like others. What two names look like to a reader is their skeleton: names with one skeleton are told apart by machines only.

/** By the Latin letter that they pass for. A table of our own, of what is met in domain names. */
const alike: Record<string, string> = {
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
const latin = new Map(Object.entries(alike).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)));

/** One letter that two pass for. */
const ligatures: [pattern: RegExp, letter: string][] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/cl/g, "d"],
];

/** Lower case, without accents, every letter as the plain one that it looks like; i and l are one. */
export function skeleton(text: string): string {
  const plain = [...text.toLowerCase()]
    .map((char) => latin.get(char) ?? char)
    .join("")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  return ligatures.reduce((left, [pattern, letter]) => left.replace(pattern, letter), plain).replace(/i/g, "l");
}

/** Letters of several alphabets in one word, which no language writes; Japanese and Korean write theirs together. */
export function mixesAlphabets(label: string): boolean {
  const used = alphabets.filter((alphabet) => alphabet.test(label));
  return used.length > 1;
}
const alphabets = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
];
