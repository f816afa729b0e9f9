// The parser of mails. It is loaded when the first mail is read: see lazyModules.
import PostalMime, {
  addressParser,
  decodeWords,
  type Email,
  type Mailbox,
  type PostalMimeOptions,
} from "postal-mime";

const bytesPerLine = 70;
const freeLines = 50_000;

/**
 * Where the line ends up to which a mail is parsed. A line costs the parser time and memory,
 * however short it is: 4 MB of empty lines would take half a minute and 3 GB. A line of base64 has
 * 78 bytes, so a mail with large files is parsed as a whole.
 */
export function endOfParsedLines(source: Uint8Array): number {
  let left = freeLines + Math.floor(source.length / bytesPerLine);
  let end = source.indexOf(lineFeed);
  while (end >= 0 && left > 0) {
    left--;
    end = source.indexOf(lineFeed, end + 1);
  }
  return end < 0 ? source.length : end;
}

const lineFeed = 0x0a;

/** Only the start of a mail with too many lines is parsed. */
export function parseMail(source: string | Uint8Array, options: PostalMimeOptions): Promise<Email> {
  const bytes = typeof source === "string" ? Buffer.from(source) : source;
  return PostalMime.parse(bytes.subarray(0, endOfParsedLines(bytes)), options);
}

/** The mailboxes in the value of a header, also those in groups. */
export const parseMailboxes = (value: string): Mailbox[] =>
  addressParser(value, { flatten: true }).flatMap((one) =>
    one.address === undefined ? [] : [one],
  );

/** Decodes encoded words (RFC 2047). */
export const decodeHeader = (value: string): string => decodeWords(value);
