// The syntax of addresses: RFC 5321, with the international addresses of RFC 6531.
import { domainToASCII } from "node:url";
import { EmailAddress } from "../../../kernel/email-fields.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export interface AddressSyntax {
  check: Check;
  /** Absent if the syntax is wrong. The domain is in lower case and ASCII. */
  address?: { local: string; domain: string };
}

/** Ignores spaces around the address. */
export function parseAddress(input: string): AddressSyntax {
  const email = input.trim();
  const at = email.lastIndexOf("@");
  if (at < 0) return { check: fail("The address has no @") };
  const local = email.slice(0, at);
  const error = localPartError(local);
  if (error) return { check: fail(error) };
  return parseDomainPart(local, email.slice(at + 1));
}

function parseDomainPart(local: string, input: string): AddressSyntax {
  if (/^\[.*\]$/.test(input))
    return { check: fail("An IP address instead of a domain is not accepted in public mail") };
  const domain = toAscii(input);
  const error = domainError(domain);
  if (error) return { check: fail(error) };
  const address = { local, domain };
  if (Buffer.byteLength(`${local}@${domain}`) > 254)
    return { check: fail("The address is longer than 254 characters") };
  return { check: checkLocalPart(local, domain), address };
}

/** Warns about well-formed addresses that most servers reject or that we do not support. */
function checkLocalPart(local: string, domain: string): Check {
  if (!isAscii(local))
    return warn(
      "The part before the @ has non-ASCII characters: few servers accept it, and mail is " +
        "not sent to it",
    );
  if (local.startsWith('"'))
    return warn(
      "The part before the @ is quoted: few servers accept it, and mail is not sent to it",
    );
  if (!EmailAddress.safeParse(`${local}@${domain}`).success)
    return warn("The part before the @ has characters that are not supported");
  return pass("The address is well-formed");
}

const atext = /^[\p{L}\p{M}\p{N}\p{S}!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+$/u;

function localPartError(local: string): string | undefined {
  if (!local) return "The part before the @ is empty";
  if (Buffer.byteLength(local) > 64) return "The part before the @ is longer than 64 characters";
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(local)) return "The address contains control characters";
  if (local.startsWith('"')) return quotedLocalError(local);
  if (/\s/u.test(local)) return "The part before the @ contains a space";
  if (local.startsWith(".") || local.endsWith("."))
    return "The part before the @ begins or ends with a dot";
  if (local.includes("..")) return "The part before the @ contains two dots in a row";
  const error = local.split(".").find((atom) => !isAtom(atom));
  return error === undefined
    ? undefined
    : "The part before the @ contains a character that is not allowed";
}

const specials = /[\s"(),:;<>@[\\\]]/u;
const isAtom = (atom: string): boolean => atext.test(atom) && !specials.test(atom);

// `localPartError` has already rejected control characters.
const quotedLocalError = (local: string): string | undefined =>
  /^"(?:[^"\\]|\\[ -~])*"$/u.test(local)
    ? undefined
    : "The quotes before the @ are not closed correctly";

/** Returns the domain unchanged if it cannot be written in ASCII. */
function toAscii(domain: string): string {
  // `domainToASCII` parses URLs and would drop or change these characters.
  if (isAscii(domain)) return domain.toLowerCase();
  return /[\s\p{Cc}/?#@:%\\]/u.test(domain) ? domain : domainToASCII(domain) || domain;
}

function domainError(domain: string): string | undefined {
  if (!domain) return "The part after the @ is empty";
  if (domain.length > 253) return "The domain is longer than 253 characters";
  const labels = domain.split(".");
  if (labels.some((label) => label === "")) return "The domain contains an empty part between dots";
  if (labels.some((label) => !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)))
    return "The domain contains a part that is too long or a character that is not allowed";
  if (labels.length < 2) return "The domain has no dot, so it cannot be a public mail domain";
  return /^\d+$/.test(labels.at(-1)!) ? "The domain ends in a number" : undefined;
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
