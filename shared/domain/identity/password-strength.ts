// Judges how hard a new password is to guess, with zxcvbn and the common passwords of its package
// (MIT licence). It knows repetitions, sequences, rows of keys, dates and letters that look like
// others, and refuses no good passphrase. The server and the console both use it.
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/** More than 300 million guesses: out of reach for guesses at our login and for common lists. */
const minGuessesLog10 = 8.5;
/** The time of the estimate grows with the length. This much suffices for any verdict. */
const maxJudgedCharacters = 64;
const productWords = ["pennymail"];
const maxKnownWords = 50;

let judge: ZxcvbnFactory | undefined;

/**
 * What is wrong with the password, to follow its name. Undefined if it is hard to guess. `known`
 * are texts that an attacker knows, such as the address and the name of the user.
 */
export function findWeakness(password: string, known: string[]): string | undefined {
  judge ??= new ZxcvbnFactory({
    dictionary: { passwords: dictionary["passwords-common"] },
    graphs: adjacencyGraphs,
  });
  const judged = password.normalize("NFKC").slice(0, maxJudgedCharacters);
  const { guessesLog10, sequence } = judge.check(judged, [...productWords, ...wordsOf(known)]);
  if (guessesLog10 >= minGuessesLog10) return undefined;
  const patterns = sequence.map((part) =>
    "dictionaryName" in part ? String(part.dictionaryName) : part.pattern,
  );
  const reason = reasons.find(([pattern]) => patterns.includes(pattern))?.[1];
  return `is too easy to guess${reason === undefined ? "" : `: it ${reason}`}`;
}

/** By the pattern of a part, the most telling first. */
const reasons: [pattern: string, reason: string][] = [
  ["userInputs", "contains your name, your address or the name of this service"],
  ["repeat", "repeats itself"],
  ["sequence", "follows a sequence"],
  ["spatial", "follows a row of keys"],
  ["passwords", "is like a common password"],
];

/** Each text, the parts of an address, and the words. */
const wordsOf = (texts: string[]): string[] =>
  texts
    .flatMap((text) => [text, ...text.split("@"), ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter((word) => word.length > 2)
    .slice(0, maxKnownWords);
