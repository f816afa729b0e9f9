// Questions to the person at the terminal. Answers can also come from a pipe, one per line.
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./exit-codes.ts";

export interface Prompt {
  /** `option` gives the same answer without a question. */
  ask(question: string, option: string, fallback?: string): Promise<string>;
  /** Does not show what is typed. */
  askSecret(question: string, option: string): Promise<string>;
  close(): void;
}

export function openPrompt(): Prompt {
  let muted = false;
  const output = new Writable({
    write: (chunk, _, done) => {
      if (!muted) process.stderr.write(chunk);
      done();
    },
  });
  const isTerminal = Boolean(process.stdin.isTTY);
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  const next = lineReader(lines);
  const ask: Prompt["ask"] = async (question, option, fallback) => {
    process.stderr.write(`${question}${fallback ? ` [${fallback}]` : ""}: `);
    const line = await next();
    if (line === undefined)
      throw new CommandError(`\nNo answer to "${question}": give it as ${option}`);
    const answer = line.trim() || fallback;
    return answer ?? ask(question, option);
  };
  return {
    ask,
    askSecret: async (question, option) => {
      const answer = ask(question, option);
      muted = true;
      return answer.finally(() => {
        muted = false;
        if (isTerminal) process.stderr.write("\n");
      });
    },
    close: () => lines.close(),
  };
}

/** Returns the lines in turn, and undefined after the last one. */
function lineReader(lines: Interface): () => Promise<string | undefined> {
  const iterator = lines[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    return done ? undefined : value;
  };
}
