// A mail that somebody sent to a site, in one shape for all providers. Strangers write it, so each
// part has a bound.
import type { InboundRequest } from "../inbound/inbound-adapter.ts";
import type { ReadAccounts } from "./account-access.ts";
import { decodeHeader, parseMail, parseMailboxes } from "./mime-parser.ts";

export interface MailHeader {
  /** Lower-case. */
  name: string;
  /** Unfolded. Encoded words are not decoded. */
  value: string;
}

export interface ReceivedFile {
  filename: string;
  type: string;
  /** Without angle brackets. */
  contentId?: string | undefined;
  content: Uint8Array;
}

export interface ReceivedMail {
  /** In the order of the mail, at most 300. */
  headers: MailHeader[];
  /** Addresses that the mail was delivered to, as far as the provider says. */
  envelopeTo: string[];
  text?: string | undefined;
  html?: string | undefined;
  files: ReceivedFile[];
  /** What the provider says about spam. */
  spam: { isSpam?: boolean | undefined; score?: number | undefined };
  /** Distinguishes the mail from others of the provider, if it has such an id. */
  providerId?: string | undefined;
}

/** The stored body of a request of a provider. */
export interface StoredRequest {
  contentType: string;
  body: Uint8Array;
}

/** Reads the mail of one provider. */
export interface InboundMailAdapter {
  /**
   * Whether the provider signed the request with the key. Absent: it does not sign, and the secret
   * in the URL alone authenticates it.
   */
  verify?(request: InboundRequest, signingKey: string, now: Date): boolean | Promise<boolean>;
  /** It always signs, with a key that everyone knows. */
  isSigned?: true;
  /** The URL to GET, on a checked host, if the request asks to confirm a subscription. */
  subscribeUrl?(request: InboundRequest): string | undefined;
  /**
   * Leaves out what it cannot read. Throws only what a retry can help against. `accounts` has the
   * credentials of the sending configs of the provider.
   */
  read(request: StoredRequest, accounts: ReadAccounts): Promise<ReceivedMail[]>;
  /** The HTTP status that makes the provider give up. */
  rejectedStatus: number;
}

const maxTextLength = 500_000;
const maxHeaders = 300;
const maxHeaderLength = 4000;
const maxFiles = 100;
const maxFilenameLength = 200;

export interface MailParts {
  headers: Iterable<readonly [name: string, value: unknown]>;
  envelopeTo?: unknown[];
  text?: unknown;
  html?: unknown;
  files?: ReceivedFile[];
  isSpam?: boolean | undefined;
  score?: unknown;
  providerId?: unknown;
}

/** A mail from the parts that a provider took apart. */
export function toReceivedMail({ headers, ...parts }: MailParts): ReceivedMail {
  const textOf = (value: unknown) =>
    typeof value === "string" && value ? value.slice(0, maxTextLength).toWellFormed() : undefined;
  const score = Number(typeof parts.score === "string" ? parts.score.trim() || "-" : parts.score);
  return {
    headers: [...headers].slice(0, maxHeaders).flatMap(([name, value]) => toHeader(name, value)),
    envelopeTo: (parts.envelopeTo ?? []).filter((to) => typeof to === "string").slice(0, 100),
    text: textOf(parts.text),
    html: textOf(parts.html),
    files: (parts.files ?? []).slice(0, maxFiles),
    spam: { isSpam: parts.isSpam, score: Number.isFinite(score) ? score : undefined },
    providerId: typeof parts.providerId === "string" ? parts.providerId.slice(0, 500) : undefined,
  };
}

const toHeader = (name: string, value: unknown): MailHeader[] =>
  typeof value === "string" && /^[!-9;-~]{1,100}$/.test(name)
    ? [
        {
          name: name.toLowerCase(),
          value: value
            .slice(0, maxHeaderLength)
            .replace(/[\r\n]+/g, " ")
            .trim()
            .toWellFormed(),
        },
      ]
    : [];

/** Parses a whole mail (MIME). Undefined if it is none. */
export async function parseMime(
  source: string | Uint8Array,
  more: Omit<MailParts, "headers" | "text" | "html" | "files"> = {},
): Promise<ReceivedMail | undefined> {
  const email = await parseMail(source, {
    // The returned mail of a bounce is a file, too: its text is not that of the bounce.
    forceRfc822Attachments: true,
    maxNestingDepth: 50,
    maxHeadersSize: 500_000,
  }).catch(() => undefined);
  if (!email?.headers.some(({ key }) => key === "from")) return undefined;
  return toReceivedMail({
    ...more,
    headers: email.headers.map(({ key, value }) => [key, value] as const),
    text: email.text,
    html: email.html,
    files: email.attachments.map(({ filename, mimeType, contentId, content }) =>
      toFile({
        filename,
        type: mimeType,
        contentId,
        content: new Uint8Array(content as ArrayBuffer),
      }),
    ),
  });
}

interface UntrustedFile {
  filename: unknown;
  type: unknown;
  contentId?: unknown;
  content: Uint8Array;
}

export const toFile = ({ filename, type, contentId, content }: UntrustedFile): ReceivedFile => ({
  filename: toFilename(filename),
  type:
    typeof type === "string" && /^[\w.+-]{1,100}\/[\w.+-]{1,100}/.test(type)
      ? type.split(";")[0]!.trim().toLowerCase()
      : "application/octet-stream",
  ...(typeof contentId === "string" && contentId && { contentId: withoutBrackets(contentId) }),
  content,
});

const toFilename = (name: unknown): string => {
  const bare = typeof name === "string" ? name.replace(/[\p{Cc}\p{Cf}/\\"]+/gu, "_").trim() : "";
  return bare.slice(-maxFilenameLength).toWellFormed() || "attachment";
};

const withoutBrackets = (id: string): string => id.trim().replace(/^<|>$/g, "");

export const fileOfBase64 = (file: Omit<UntrustedFile, "content"> & { base64: unknown }) =>
  toFile({ ...file, content: new Uint8Array(Buffer.from(String(file.base64 ?? ""), "base64")) });

/** At most 100 KB. */
export const textOfFile = ({ content }: ReceivedFile): string =>
  Buffer.from(content.subarray(0, 100_000)).toString("utf8");

/** The first header of this name. */
export const headerOf = ({ headers }: Pick<ReceivedMail, "headers">, name: string) =>
  headers.find((header) => header.name === name)?.value;

export interface MailAddress {
  email: string;
  name: string;
}

const maxAddresses = 100;

/** The addresses in all headers of these names. */
export function addressesOf(
  { headers }: Pick<ReceivedMail, "headers">,
  ...names: string[]
): MailAddress[] {
  const values = headers.filter(({ name }) => names.includes(name)).map(({ value }) => value);
  return values
    .flatMap((value) => parseMailboxes(value))
    .flatMap(({ address, name }) =>
      address && /^[^\s@<>]+@[^\s@<>]+$/.test(address) && address.length <= 254
        ? [{ email: address.toWellFormed(), name: decodeHeader(name).slice(0, 200).toWellFormed() }]
        : [],
    )
    .slice(0, maxAddresses);
}

/** With its whole length. */
export const decodedSubjectOf = (mail: Pick<ReceivedMail, "headers">): string =>
  decodeHeader(headerOf(mail, "subject") ?? "");

export const subjectOf = (mail: Pick<ReceivedMail, "headers">): string =>
  decodedSubjectOf(mail)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .slice(0, 500)
    .toWellFormed();

/** The message ids in these headers, without angle brackets. */
export const messageIdsOf = (mail: Pick<ReceivedMail, "headers">, ...names: string[]): string[] =>
  names.flatMap((name) =>
    [...(headerOf(mail, name) ?? "").matchAll(/<([^<>\s]{1,500})>/g)].map(([, id]) => id!),
  );

/** A mailbox as the value of a header. */
export const mailboxText = (email: unknown, name: unknown): string =>
  typeof name === "string" && name
    ? `"${name.replace(/["\\]/g, "\\$&")}" <${String(email)}>`
    : String(email);
