import * as z from "zod";

export const maxAddressLength = 254;

/** An address in ASCII of at most 254 characters, without anything that could end a mail header. */
export const EmailAddress = z
  .string()
  // The length is checked first, because the pattern overflows the stack on a text of megabytes.
  .max(maxAddressLength, { abort: true })
  .check(
    z.email({
      error: ({ input }) => `must be one valid email address${hintFor(String(input))}`,
    }),
  )
  .refine(
    (address) => address.lastIndexOf("@") <= 64,
    "must have at most 64 characters before the @",
  );

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
  "Email addresses are one mailbox in ASCII. Refused, although RFC 5321 allows them, are " +
  "addresses whose part before the @ is quoted, ends with an apostrophe or contains one of " +
  "`! # $ % & * / = ? ^ { | } ~` or a backtick, and addresses whose domain is an IP address. " +
  "Write a domain with other letters as `xn--…`.";

/** What is wrong with most addresses that are not valid. */
function hintFor(input: string): string {
  if (input.includes("<")) return ", without a name";
  return isAscii(input) ? "" : asciiHint;
}

const asciiHint = " in ASCII characters; write an international domain in its xn-- form";

const hasControlCharacter = (text: string): boolean =>
  [...text].some((char) => char.charCodeAt(0) < 32 || char.charCodeAt(0) === 127);

/** Replaces control characters and line separators by spaces. */
export const toSingleLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");

/** Replaces the address of an erased person. No `.invalid` domain receives mail (RFC 6761). */
export const erasedEmail = "erased@erased.invalid";

/** The form in which addresses are compared and stored. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();
export const domainOf = (email: string): string =>
  normalizeEmail(email).slice(email.trim().lastIndexOf("@") + 1);
