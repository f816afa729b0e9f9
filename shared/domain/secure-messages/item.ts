// What is kept of a secure message: who may open it and until when, here; what it says, encrypted, in a blob. It has the id of its send.

export interface SecureMessageItem {
  id: number;
  orgId: number;
  siteId: number;
  toEmail: string;
  /** Who it is from, in words for its reader. */
  sender: string;
  subject: string;
  /** Its hash. */
  passphrase?: string | undefined;
  createdAt: string;
  expiresAt: string;
  views: number;
  firstViewedAt?: string;
  lastViewedAt?: string;
  revokedAt?: string;
  duesk?: string;
}

export interface Said {
  html?: string | undefined;
  text?: string | undefined;
}

export const blobOf = (orgId: number, id: number): string => `secure/${orgId}/${id}`;

/** What its key is bound to: nothing else opens it. */
export const contextOf = (orgId: number, id: number): Record<string, string> => ({ organization: String(orgId), message: String(id) });

/** What the notice mail reads. */
export const variables = { url: "secureUrl", sender: "secureSender", subject: "secureSubject" } as const;
