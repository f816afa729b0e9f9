// The parser of mails. It is loaded when the first mail is read: see lazyModules.
import PostalMime, {
  addressParser,
  decodeWords,
  type Email,
  type Mailbox,
  type PostalMimeOptions,
} from "postal-mime";

export const parseMail = (
  source: string | Uint8Array,
  options: PostalMimeOptions,
): Promise<Email> => PostalMime.parse(source, options);

/** The mailboxes in the value of a header, also those in groups. */
export const parseMailboxes = (value: string): Mailbox[] =>
  addressParser(value, { flatten: true }).flatMap((one) =>
    one.address === undefined ? [] : [one],
  );

/** Decodes encoded words (RFC 2047). */
export const decodeHeader = (value: string): string => decodeWords(value);
