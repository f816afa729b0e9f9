// Secrets that people choose are kept as scrypt hashes (RFC 7914), written as PHC strings: the parameters stand beside the hash, so they
// can be raised for new ones while the old ones still match.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

// 16 MB and about 0.1 s: one of the settings that OWASP's password storage cheat sheet holds equal, and the smallest in memory.
const cost = { ln: 14, r: 8, p: 5 };
const hashBytes = 32;

export async function hash(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, cost);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt.toString("base64url")}$${derived.toString("base64url")}`;
}

/** Takes equally long without a stored hash, when the answer is false whatever was given. */
export async function matches(password: string, stored: string | undefined): Promise<boolean> {
  const [, , parameters = "", salt = "", expected = ""] = (stored ?? nobodys).split("$");
  const derived = await derive(password, Buffer.from(salt, "base64url"), parse(parameters));
  return timingSafeEqual(derived, Buffer.from(expected, "base64url")) && stored !== undefined;
}

const nobodys = `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${"A".repeat(22)}$${"A".repeat(43)}`;

type Cost = typeof cost;
const parse = (parameters: string): Cost => {
  const { ln, r, p } = Object.fromEntries(parameters.split(",").map((one) => one.split("="))) as Record<keyof Cost, string>;
  return { ln: Number(ln), r: Number(r), p: Number(p) };
};

/** Keyboards write the same letter in different bytes: NFKC makes them one (NIST SP 800-63B). */
const derive = (password: string, salt: Buffer, { ln, r, p }: Cost) =>
  new Promise<Buffer>((resolve, reject) => {
    const options: ScryptOptions = { N: 2 ** ln, r, p, maxmem: 256 * r * 2 ** ln };
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
