// The fields that credentials are made of. Bounded, and safe to stand in an HTTP header or a host name.
import * as z from "zod";

/** A key or a token: visible ASCII, no spaces within. */
export const token = (description: string) =>
  z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,2048}$/, "Must be 1 to 2048 visible ASCII characters without spaces")
    .describe(description);

/** Where the account lives; absent: the first one named. */
export const region = <const R extends readonly [string, ...string[]]>(regions: R, description: string) =>
  z.enum(regions).optional().describe(description);
