// The form of an address, as mail servers take it: RFC 5321 with the international addresses of RFC 6531.
import { domainToASCII } from "node:url";
import { EmailAddress } from "../../email.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export interface Read {
  check: Check;
  /** Absent when the address has no form at all. */
  address?: { local: string /** In lower case, international names as `xn--`. */; domain: string };
}

/** Spaces around the address do not count. */
export function read(given: string): Read {
  const email = given.trim();
  const at = email.lastIndexOf("@");
  if (at < 0) return { check: fail("It has no @") };
  const local = email.slice(0, at);
  const wrong = wrongLocal(local);
  if (wrong) return { check: fail(wrong) };
  return ended(local, email.slice(at + 1));
}

function ended(local: string, given: string): Read {
  if (/^\[.*\]$/.test(given)) return { check: fail("A server's number in place of a domain is not taken in public mail") };
  const domain = asciiOf(given);
  const wrong = wrongDomain(domain);
  if (wrong) return { check: fail(wrong) };
  const address = { local, domain };
  if (Buffer.byteLength(`${local}@${domain}`) > 254) return { check: fail("It is longer than 254 characters") };
  return { check: manner(local, domain), address };
}

/** Well-formed is not yet welcome. */
function manner(local: string, domain: string): Check {
  if (!isAscii(local)) return warn("It has letters beyond ASCII before the @: few servers take it, and we do not send to it");
  if (local.startsWith('"')) return warn("It is quoted before the @: few servers take it, and we do not send to it");
  if (!EmailAddress.safeParse(`${local}@${domain}`).success) return warn("It has characters before the @ that we do not send to");
  return pass("It is well-formed");
}

const atext = /^[\p{L}\p{M}\p{N}\p{S}!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+$/u;

function wrongLocal(local: string): string | undefined {
  if (!local) return "Nothing stands before the @";
  if (Buffer.byteLength(local) > 64) return "More than 64 characters stand before the @";
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(local)) return "It has control characters";
  if (local.startsWith('"')) return wrongQuoted(local);
  if (/\s/u.test(local)) return "It has a space before the @";
  if (local.startsWith(".") || local.endsWith(".")) return "A dot stands at the beginning, or right before the @";
  if (local.includes("..")) return "Two dots stand side by side";
  const wrong = local.split(".").find((atom) => !isAtom(atom));
  return wrong === undefined ? undefined : "It has a character before the @ that must not stand there";
}

const specials = /[\s"(),:;<>@[\\\]]/u;
const isAtom = (atom: string): boolean => atext.test(atom) && !specials.test(atom);

// Control characters are refused before.
const wrongQuoted = (local: string): string | undefined =>
  /^"(?:[^"\\]|\\[ -~])*"$/u.test(local) ? undefined : "What is quoted before the @ does not end, or goes on";

/** Unchanged where it is no name that could be written in ASCII. */
function asciiOf(domain: string): string {
  // The parser of URLs would drop or turn what must not stand here.
  if (isAscii(domain)) return domain.toLowerCase();
  return /[\s\p{Cc}/?#@:%\\]/u.test(domain) ? domain : domainToASCII(domain) || domain;
}

function wrongDomain(domain: string): string | undefined {
  if (!domain) return "Nothing stands after the @";
  if (domain.length > 253) return "The domain is longer than 253 characters";
  const labels = domain.split(".");
  if (labels.some((label) => label === "")) return "The domain has a dot too many";
  if (labels.some((label) => !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)))
    return "The domain has a part that is too long, or a character that must not stand there";
  if (labels.length < 2) return "The domain has no dot: no public mail server has such a name";
  return /^\d+$/.test(labels.at(-1)!) ? "The domain ends in a number" : undefined;
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
