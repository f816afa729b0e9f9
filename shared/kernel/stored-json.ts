// Schemas for JSON values that callers choose freely. They accept only what DynamoDB and its client
// can store.
import * as z from "zod";

/**
 * DynamoDB's client refuses numbers beyond 2^53 - 1, and DynamoDB refuses numbers closer to 0 than
 * 1e-130.
 */
export const isStorableNumber = (value: unknown): value is number =>
  typeof value === "number" &&
  Math.abs(value) <= Number.MAX_SAFE_INTEGER &&
  (value === 0 || Math.abs(value) >= 1e-130);

const numberRange =
  "must be 0, or a number from 1e-130 to 9007199254740991 (or the same below zero)";
const wholeCharacters = "must not contain half of a character (a lone surrogate)";
const maxDepth = 32;
const maxNameLength = 255;

export const StoredNumber = z
  .number({ error: ({ input }) => (typeof input === "number" ? numberRange : "must be a number") })
  .refine(isStorableNumber, numberRange)
  .meta({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

interface Fault {
  path: PropertyKey[];
  message: string;
}

/** The first part of the value that cannot be stored, or undefined. */
function faultIn(value: unknown, path: PropertyKey[] = []): Fault | undefined {
  if (typeof value === "number")
    return isStorableNumber(value) ? undefined : { path, message: numberRange };
  if (typeof value === "string")
    return value.isWellFormed() ? undefined : { path, message: wholeCharacters };
  if (typeof value !== "object" || value === null) return undefined;
  if (path.length >= maxDepth)
    return { path: [], message: `must be nested at most ${maxDepth} levels deep` };
  const isList = Array.isArray(value);
  for (const [name, field] of Object.entries(value)) {
    const fieldPath = [...path, isList ? Number(name) : name];
    if (!isList && name.length > maxNameLength)
      return {
        path: fieldPath,
        message: `must have a name of at most ${maxNameLength} characters`,
      };
    const fault =
      isList || name.isWellFormed()
        ? faultIn(field, fieldPath)
        : { path: fieldPath, message: wholeCharacters };
    if (fault) return fault;
  }
  return undefined;
}

/** A zod check: the value can be stored and has at most `maxBytes` as JSON. */
export const storable = (maxBytes: number) =>
  z.superRefine<unknown>((value, context) => {
    const fault = faultIn(value) ?? sizeFault(value, maxBytes);
    if (fault) context.addIssue({ code: "custom", input: value, ...fault });
  });

const sizeFault = (value: unknown, maxBytes: number): Fault | undefined =>
  Buffer.byteLength(JSON.stringify(value) ?? "") <= maxBytes
    ? undefined
    : { path: [], message: `must be at most ${maxBytes.toLocaleString("en")} bytes of JSON` };

export const storedObject = (maxBytes: number) =>
  z.record(z.string(), z.unknown()).check(storable(maxBytes));
export const storedJson = (maxBytes: number) => z.unknown().check(storable(maxBytes));
