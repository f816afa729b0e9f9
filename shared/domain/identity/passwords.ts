// Hashes passwords and passphrases with scrypt (RFC 7914). A hash is a PHC string that names its
// parameters, so they can be raised for new hashes while old ones still verify.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { invalid } from "../../errors.ts";
import { findWeakness } from "./password-strength.ts";

export const minPasswordLength = 10;
/** The length of a new password. `requireStrongPassword` judges its content. */
export const NewPassword = z
  .string()
  .min(minPasswordLength, `must have at least ${minPasswordLength} characters`)
  .max(200, "must have at most 200 characters");
export const newPasswordRule = "10 to 200 characters, and hard to guess, such as a few words.";

/**
 * Throws 400, which names the field and the reason, for a password that is easy to guess. `known`:
 * see `findWeakness`.
 */
export function requireStrongPassword(
  password: string,
  { path = "password", known }: { path?: string; known: (string | null | undefined)[] },
): void {
  const weakness = findWeakness(
    password,
    known.filter((text) => typeof text === "string"),
  );
  if (weakness === undefined) return;
  throw invalid(`${path} ${weakness}`, { details: [{ path, message: weakness }] });
}

/** A password to compare with a hash. The limit bounds the time that the comparison takes. */
export const PasswordInput = z.string().min(1).max(200, "must have at most 200 characters");

// 16 MB and about 0.1 s. OWASP's password storage cheat sheet lists it among equally strong
// settings; this one needs the least memory.
const cost = { ln: 14, r: 8, p: 5 };
const hashBytes = 32;

const toHashString = (salt: string, hash: string): string =>
  `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt}$${hash}`;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await deriveKey(password, salt, cost);
  return toHashString(salt.toString("base64url"), derived.toString("base64url"));
}

/** Returns false when there is no stored hash, after the same time as a comparison. */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
): Promise<boolean> {
  const [, , parameters = "", salt = "", expected = ""] = (stored ?? dummyHash).split("$");
  const derived = await deriveKey(
    password,
    Buffer.from(salt, "base64url"),
    parseParameters(parameters),
  );
  return timingSafeEqual(derived, Buffer.from(expected, "base64url")) && stored !== undefined;
}

const dummyHash = toHashString("A".repeat(22), "A".repeat(43));

type ScryptCost = typeof cost;

function parseParameters(parameters: string): ScryptCost {
  const pairs = parameters.split(",").map((pair) => pair.split("="));
  const { ln, r, p } = Object.fromEntries(pairs) as Record<keyof ScryptCost, string>;
  return { ln: Number(ln), r: Number(r), p: Number(p) };
}

/** NFKC, because keyboards encode the same letter in different bytes (NIST SP 800-63B). */
const deriveKey = (password: string, salt: Buffer, { ln, r, p }: ScryptCost) =>
  new Promise<Buffer>((resolve, reject) => {
    const options: ScryptOptions = { N: 2 ** ln, r, p, maxmem: 256 * r * 2 ** ln };
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, derived) =>
      error ? reject(error) : resolve(derived),
    );
  });
