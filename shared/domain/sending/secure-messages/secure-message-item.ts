// The stored record of a secure message, and its link. The record has the id of its send. The body
// is an encrypted blob in S3.
import { config } from "../../../config.ts";
import * as sealed from "../../../kernel/sealed-tokens.ts";

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
  views: number;
  firstViewedAt?: string;
  lastViewedAt?: string;
  revokedAt?: string;
  duesk?: string;
}

export interface SecureMessageBody {
  html?: string | undefined;
  text?: string | undefined;
}

export const blobKeyOf = (orgId: number, id: number): string => `secure/${orgId}/${id}`;

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
  const seal = await sealed.createSealer("secure");
  return (sendId) => `${config.publicUrl}/secure/${seal([orgId, sendId])}`;
}

/** The message that a token opens; undefined for an invalid token. */
export async function openLinkToken(
  token: string,
): Promise<{ orgId: number; id: number } | undefined> {
  const content = await sealed.openToken("secure", token);
  if (!content) return undefined;
  const [orgId, id] = content as [number, number];
  return { orgId, id };
}
