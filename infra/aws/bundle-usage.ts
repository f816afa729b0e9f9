// Finds the AWS calls, queues and index ranges in a bundle, after tree shaking has removed unused
// code.
import { queues } from "../../shared/queues.ts";

export interface BundleUsage {
  /** AWS operations, as the SDK names them: GetItem is "Get" in its document client. */
  commands: string[];
  /** PartiQL verbs. */
  statements: string[];
  /** Keys of `queues` that are sent to or checked, not only handled. */
  queues: (keyof typeof queues)[];
  /** Keys of `indexes` that are read, not only written. */
  indexes: string[];
}

/**
 * `code` is a bundle before minification, with packages left outside. Queues and indexes are only
 * ever named as `queues.x` and `indexes.x`.
 */
export function scanBundle(code: string): BundleUsage {
  // esbuild writes the name of each file into a comment.
  const uncommented = code.replace(/^\s*\/\/.*$/gm, "");
  const matches = (pattern: RegExp) =>
    [...new Set([...uncommented.matchAll(pattern)].map(([, name]) => name!))].sort();
  return {
    commands: matches(/\bnew (\w+?)Command\d*\(/g),
    statements: matches(/`(INSERT|UPDATE|DELETE|SELECT) [^`]*"\$\{/g),
    queues: matches(/(?<!\bhandle(?:Each|Batch)\d*\(\s*)\bqueues\d*\.(\w+)/g).filter(
      (name): name is keyof typeof queues => name in queues,
    ),
    indexes: matches(/(?<!\bindexAttributes\d*\(\s*)\bindexes\d*\.(\w+)/g),
  };
}
