// What every provider checks before it takes a mail.
import type { Attachment } from "./contract.ts";

/** Why this header cannot go out, or undefined. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[!-9;-~]+$/.test(name)) return `The header name ${JSON.stringify(name)} is not valid`;
  return /[\r\n\0]/.test(value) ? `The value of header ${name} contains a line break` : undefined;
}

/** The first thing wrong with a list of headers. `forbidden` holds lower-case names. */
export function headersFault(headers: Record<string, string>, forbidden: ReadonlySet<string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value) ?? (forbidden.has(name.toLowerCase()) ? `Header '${name}' not allowed.` : undefined);
    if (fault) return fault;
  }
  return undefined;
}

/** Standard base64 with its padding and without line breaks. */
const isBase64 = (text: string): boolean => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** Bytes of a valid base64 text. */
export const decodedSize = (content: string): number =>
  (content.length / 4) * 3 - (content.endsWith("==") ? 2 : content.endsWith("=") ? 1 : 0);

/** The first attachment that is not base64 or whose name could break a header. */
export const badAttachment = (attachments: Attachment[]): Attachment | undefined =>
  attachments.find(({ filename, content }) => !filename || /[\r\n\0]/.test(filename) || !isBase64(content));

/** A subject that would start a new header line. */
export const broken = (text: string): boolean => /[\r\n\0]/.test(text);
