// Targets of audit entries: the path of the record that was changed, such as `sites/3`.
import { sha256 } from "../../keys.ts";

const isPlain = (part: string): boolean => /^(\d{1,16}|[a-z][a-z_-]{0,39})$/.test(part);

/**
 * A part of a target that is neither a number nor a word, such as an address, is stored as a hash.
 * So the log has no address that an erasure would have to remove, and no token.
 */
export const toTargetPart = (part: string): string =>
  isPlain(part) || /^sha256:[0-9a-f]{16}$/.test(part)
    ? part
    : `sha256:${sha256(part.toLowerCase()).slice(0, 16)}`;

/** A target as the log stores it, for a filter. */
export const toStoredTarget = (target: string): string =>
  target.split("/").map(toTargetPart).join("/");
