import { domainToASCII, domainToUnicode } from "node:url";
import * as z from "zod";

export const maxAddressLength = 254;
const maxInputLength = 1000;

// `# ! % { } |` and the backtick are left out: they have a meaning for mail servers, for templates
// of providers or in keys of the table.
const atom = "[A-Za-z0-9&'*+/=?^_~$-]+";
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const addressPattern = `^${atom}(?:\\.${atom})*@(?:${label}\\.)+(?:[A-Za-z]{2,63}|xn--${label})$`;
const validAddress = new RegExp(addressPattern);

/**
 * An address of at most 254 characters, without anything that could end a mail header. Parses to
 * the form that is shown: without spaces and invisible characters at its ends, and with the Unicode
 * form of its domain.
 */
export const EmailAddress = z
  .string()
  // The length is checked first, because the pattern is slow on a text of megabytes.
  .max(maxInputLength, { error: "must have at most 254 characters", abort: true })
  .overwrite(toShownAddress)
  .check((context) => {
    const message = findAddressFault(context.value);
    if (message) context.issues.push({ code: "custom", message, input: context.value });
  })
  .meta({ format: "email", maxLength: maxAddressLength, pattern: addressPattern });

function findAddressFault(shown: string): string | undefined {
  const address = toAsciiAddress(shown);
  if (address.length > maxAddressLength) return "must have at most 254 characters";
  if (address.lastIndexOf("@") > 64) return "must have at most 64 characters before the @";
  return validAddress.test(address)
    ? undefined
    : `must be one valid email address${hintFor(address)}`;
}

const edges = /^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu;

function toShownAddress(input: string): string {
  const address = toAsciiAddress(input.replace(edges, ""));
  const at = address.lastIndexOf("@") + 1;
  if (!/(^|\.)xn--/i.test(address.slice(at))) return address;
  return address.slice(0, at) + (domainToUnicode(address.slice(at)) || address.slice(at));
}

/** The form for mail servers. The domain is unchanged if it cannot be written in ASCII. */
export function toAsciiAddress(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  const domain = address.slice(at);
  // `domainToASCII` parses URLs and would drop or change these characters.
  if (at === 0 || isAscii(domain) || /[\s\p{Cc}\p{Cf}/?#@:%\\]/u.test(domain)) return address;
  return address.slice(0, at) + (domainToASCII(domain) || domain);
}

/** A display name, subject or header value. */
export const singleLineText = (max: number) =>
  z
    .string()
    .max(max, { abort: true })
    .refine((text) => !hasControlCharacter(text), "must be one line, without control characters");

/** An address, or an address with a display name. Parses to `{ email, name? }`. */
const MailboxInput = z
  .union([
    EmailAddress,
    z
      .object({
        email: EmailAddress.describe("Email address."),
        name: singleLineText(100).optional().describe("Name shown beside the address."),
      })
      .meta({ id: "Mailbox" }),
  ])
  .transform((given) => (typeof given === "string" ? { email: given } : given));

/** One mailbox, or a list of 1 to `max`. Parses to a list. */
export const mailboxListSchema = (max: number) =>
  z
    .union([z.array(MailboxInput).min(1).max(max), MailboxInput])
    .transform((given) => [given].flat());

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);
/** Text of the OpenAPI document. */
export const refusedAddresses =
  "Email addresses are one mailbox, in ASCII before the @. A domain with other letters can be " +
  "written with them, such as `info@bücher.example`, or in its `xn--` form: both are one " +
  "address, which is shown with the letters. Spaces and invisible characters at the ends are " +
  "removed. " +
  "Refused, although RFC 5321 allows them, are addresses whose part before the @ is quoted or " +
  "contains one of `! # % { | }` or a backtick, and addresses whose domain is an IP address.";

/** What is wrong with most addresses that are not valid. */
function hintFor(input: string): string {
  if (input.includes("<")) return ", without a name";
  const [invisible] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.exec(input) ?? [];
  if (invisible) {
    const code = invisible.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `: it contains an invisible character (U+${code})`;
  }
  return isAscii(input.slice(0, input.lastIndexOf("@") + 1)) ? "" : asciiHint;
}

const asciiHint = " in ASCII characters before the @";

const hasControlCharacter = (text: string): boolean =>
  [...text].some((char) => char.charCodeAt(0) < 32 || char.charCodeAt(0) === 127);

/** Replaces control characters and line separators by spaces. */
export const toSingleLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");

/** Replaces the address of an erased person. No `.invalid` domain receives mail (RFC 6761). */
export const erasedEmail = "erased@erased.invalid";

/** The form in which addresses are compared and keys are made. */
export const normalizeEmail = (email: string): string => toAsciiAddress(email.trim().toLowerCase());
export const domainOf = (email: string): string =>
  normalizeEmail(email).slice(email.trim().lastIndexOf("@") + 1);
