import * as z from "zod";

/**
 * An address as mail servers take it: one mailbox, at most 254 characters of ASCII, nothing that could break out of a header. `several`:
 * what to do with a list of them.
 */
export const emailAddress = (several?: string) =>
  z
    .string({ error: ({ input }) => (several && Array.isArray(input) ? `must be one address: ${several}` : undefined) })
    // First, and alone: a pattern looked for in a text of megabytes runs out of stack.
    .max(254, { abort: true })
    .check(z.email({ error: ({ input }) => `must be one valid email address${isAscii(String(input)) ? "" : abroad}` }));
export const EmailAddress = emailAddress();

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);
const abroad = ", of ASCII letters; a domain of others is written xn--…";

/** A display name, subject or header value: one line. */
export const oneLine = (max: number) =>
  z
    .string()
    .max(max, { abort: true })
    .refine((text) => !hasControl(text), "must be one line, without control characters");

// biome's rule against control characters in patterns has a point: name them by code.
const hasControl = (text: string): boolean => [...text].some((char) => char.charCodeAt(0) < 32 || char.charCodeAt(0) === 127);

/** Text made one line: control characters and line separators become spaces. */
export const asOneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");

/** The form under which an address is compared and stored. */
export const canonical = (email: string): string => email.trim().toLowerCase();
export const domainOf = (email: string): string => canonical(email).slice(email.trim().lastIndexOf("@") + 1);
