// Finds operations by words.
import type { McpOperation } from "./catalog.ts";

const maxFound = 15;

interface WeightedText {
  words: string[];
  weight: number;
}

/** The operations that match most words of the text, best first. */
export function findOperations(operations: McpOperation[], text: string): McpOperation[] {
  const wanted = [...new Set(wordsOf(text))].filter((word) => !fillWords.has(word));
  return operations
    .map((operation) => ({ operation, score: scoreOf(operation, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.operation.name.length - b.operation.name.length)
    .slice(0, maxFound)
    .map(({ operation }) => operation);
}

const fillWords = new Set(
  (
    "a all an and by can do for from get how i in is it me my new of on or show that the this " +
    "to with"
  ).split(" "),
);

/** Words in lower case and without the plural ending: `sendingConfigs` is `sending`, `config`. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter(Boolean)
    .map((word) => word.replace(/(?<=..)ies$/, "y").replace(/(?<=[^s]{2})s$/, ""));

/** A match of the name counts more than one of the description. */
const textsOf = ({ name, group, summary, description }: McpOperation): WeightedText[] => [
  { words: wordsOf(name), weight: 5 },
  { words: wordsOf(group), weight: 3 },
  { words: wordsOf(summary), weight: 3 },
  { words: wordsOf(description), weight: 1 },
];

/** Matching another word counts more than matching one word better. */
const wordWeight = 10;

function scoreOf(operation: McpOperation, wanted: string[]): number {
  const texts = textsOf(operation);
  const weights = wanted.map((word) => {
    const matching = texts.filter(({ words }) => words.some((one) => one.startsWith(word)));
    return matching.reduce((sum, { weight }) => sum + weight, 0);
  });
  const matched = weights.filter((weight) => weight > 0).length;
  return matched * wordWeight + weights.reduce((sum, weight) => sum + weight, 0);
}
