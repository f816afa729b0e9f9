// What a function can do, read off its bundle: the calls, queues and index partitions that are left once all unused code is gone.
import { queues } from "../../shared/queues.ts";

export interface Reach {
  /** AWS operations, as the SDK names them: GetItem is "Get" in its document client. */
  commands: string[];
  /** PartiQL verbs. */
  statements: string[];
  /** Keys of `queues` that are sent to, not only consumed. */
  queues: (keyof typeof queues)[];
  /** Keys of `shelves` that are read, not only written. */
  shelves: string[];
}

/** `code` is a bundle before minification, with packages left outside. Queues and shelves are only ever named as `queues.x`, `shelves.x`. */
export function reachOf(code: string): Reach {
  // A file's name stands above its code in a comment.
  const live = code.replace(/^\s*\/\/.*$/gm, "");
  const named = (pattern: RegExp) => [...new Set([...live.matchAll(pattern)].map(([, name]) => name!))].sort();
  return {
    commands: named(/\bnew (\w+?)Command\d*\(/g),
    statements: named(/`(INSERT|UPDATE|DELETE|SELECT) [^`]*"\$\{/g),
    queues: named(/(?<!\bconsume(?:Batch)?\d*\()\bqueues\d*\.(\w+)/g).filter((name): name is keyof typeof queues => name in queues),
    shelves: named(/(?<!\bon\d*\()\bshelves\d*\.(\w+)/g),
  };
}
