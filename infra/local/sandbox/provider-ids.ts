// Parts of ids in the forms that the providers use.
import { randomBytes } from "node:crypto";
import * as clock from "../../../shared/clock.ts";

/** Random hexadecimal digits. */
export const randomHex = (length: number): string =>
  randomBytes(Math.ceil(length / 2))
    .toString("hex")
    .slice(0, length);

/** The current time as digits: 12 end with the minute (`202611231405`), 14 with the second. */
export const timeDigits = (length: 12 | 14): string =>
  clock.now().toISOString().replace(/\D/g, "").slice(0, length);
