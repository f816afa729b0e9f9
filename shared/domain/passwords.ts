import * as z from "zod";
import { isCommon } from "./common-passwords.ts";

export { hash, matches } from "./scrypt.ts";

export const NewPassword = z
  .string()
  .min(8, "must have at least 8 characters")
  .max(200, "must have at most 200 characters")
  .refine((password) => !isCommon(password), "is one of the most common passwords, please choose another");

/** A password that is only compared: whatever it is, it must not take long to look at. */
export const GivenPassword = z.string().min(1).max(200, "must have at most 200 characters");
