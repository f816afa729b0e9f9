// The stored record of a secure message, and its link. The record has the id of its send. The body
// is an encrypted blob in S3.
import { epochSeconds } from "../../../clock.ts";
import { config } from "../../../config.ts";
import * as sealedTokens from "../../../kernel/sealed-tokens.ts";

export interface SecureMessageItem {
  id: number;
  orgId: number;
  siteId: number;
  toEmail: string;
  /** Name or email address of the sender, shown to the recipient. */
  sender: string;
  subject: string;
  /** Hash of the passphrase. */
  passphrase?: string | undefined;
  createdAt: string;
  expiresAt: string;
  /** Number of files. Absent without files. */
  files?: number | undefined;
  views: number;
  firstViewedAt?: string;
  lastViewedAt?: string;
  revokedAt?: string;
  duesk?: string;
}

export interface SecureFile {
  filename: string;
  type: string;
  size: number;
}

export interface SecureMessageBody {
  html?: string | undefined;
  text?: string | undefined;
  /** The names are as confidential as the content. */
  files?: SecureFile[] | undefined;
}

export const blobKeyOf = (orgId: number, id: number): string => `secure/${orgId}/${id}`;
export const fileBlobKeyOf = (orgId: number, id: number, file: number): string =>
  `${blobKeyOf(orgId, id)}/${file}`;

/** The KMS encryption context: the key can only be unwrapped for this organization and message. */
export const encryptionContext = (orgId: number, id: number): Record<string, string> => ({
  organization: String(orgId),
  message: String(id),
});

/** The Liquid variables of the notice. */
export const noticeVariables = {
  url: "secureUrl",
  sender: "secureSender",
  subject: "secureSubject",
} as const;

/**
 * Returns a synchronous function that builds links. The sealed token depends only on the send, so a
 * notice that is rendered again is identical. No token is stored.
 */
export async function createLinkBuilder(orgId: number): Promise<(sendId: number) => string> {
  const seal = await sealedTokens.createSealer("secure");
  return (sendId) => `${config.publicUrl}/secure/${seal([orgId, sendId])}`;
}

const fileLinkSeconds = 3600;

/** Returns a function that builds links to files. They work for an hour after a view. */
export async function createFileLinkBuilder(
  orgId: number,
  id: number,
): Promise<(file: number) => string> {
  const seal = await sealedTokens.createSealer("secure-file");
  const until = epochSeconds() + fileLinkSeconds;
  return (file) => `${config.publicUrl}/secure/files/${seal([orgId, id, file, until])}`;
}

/** The file that a token opens; undefined for a token that is not valid or has expired. */
export async function openFileToken(
  token: string,
): Promise<{ orgId: number; id: number; file: number } | undefined> {
  const content = await sealedTokens.openToken("secure-file", token);
  if (!content) return undefined;
  const [orgId, id, file, until] = content as [number, number, number, number];
  return until > epochSeconds() ? { orgId, id, file } : undefined;
}

/** The message that a token opens; undefined for an invalid token. */
export async function openLinkToken(
  token: string,
): Promise<{ orgId: number; id: number } | undefined> {
  const content = await sealedTokens.openToken("secure", token);
  if (!content) return undefined;
  const [orgId, id] = content as [number, number];
  return { orgId, id };
}
