// Schemas of credential fields. Their values are bounded and safe in an HTTP header or a host name.
import * as z from "zod";
import { singleLineText } from "../kernel/email-fields.ts";

/** A key or token: visible ASCII without spaces. */
export const secretField = (description: string) =>
  z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,2048}$/, "must be 1 to 2,048 visible ASCII characters without spaces")
    .meta({ writeOnly: true })
    .describe(description);

/** A user or password: one line. */
export const lineField = (description: string) => singleLineText(1024).min(1).describe(description);

/** The region of the account. Absent: the first option. */
export const regionField = <const R extends readonly [string, ...string[]]>(
  regions: R,
  description: string,
) => z.enum(regions).optional().describe(description);
