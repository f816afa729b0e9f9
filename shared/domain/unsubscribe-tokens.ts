// The token in an unsubscribe link: it says who unsubscribes from which site, reveals nothing, cannot be made by others, and never
// expires. The same person always has the same token, so a mail that is made again is the same to the byte.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { secretFor } from "./installation-secrets.ts";

export interface Subscriber {
  orgId: number;
  siteId: number;
  /** Present when the mail went to a contact: it may have changed its address since. */
  contactId?: number | undefined;
  email: string;
}

interface Keys {
  cipher: Buffer;
  nonce: Buffer;
}

async function secrets(): Promise<Keys> {
  const secret = await secretFor("unsubscribe");
  const derived = (use: string) => Buffer.from(hkdfSync("sha256", secret, "", `pennymail unsubscribe ${use}`, 32));
  return { cipher: derived("cipher"), nonce: derived("nonce") };
}

/** Makes tokens without further waiting, for whoever needs many. */
export async function tokens(): Promise<(subscriber: Subscriber) => string> {
  const { cipher, nonce } = await secrets();
  return ({ orgId, siteId, contactId = 0, email }) => {
    const plain = Buffer.from(JSON.stringify([orgId, siteId, contactId, email]));
    // The nonce follows from the content (as in RFC 5297): equal content, equal token, and never one nonce for two contents.
    const iv = createHmac("sha256", nonce).update(plain).digest().subarray(0, 12);
    const sealing = createCipheriv("aes-256-gcm", cipher, iv);
    const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
    return Buffer.concat([iv, sealing.getAuthTag(), sealed]).toString("base64url");
  };
}

/** undefined for anything that is no token of ours. */
export async function opened(token: string): Promise<Subscriber | undefined> {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length < 30 || bytes.length > 600) return undefined;
  const { cipher } = await secrets();
  try {
    const opening = createDecipheriv("aes-256-gcm", cipher, bytes.subarray(0, 12), { authTagLength: 16 }).setAuthTag(
      bytes.subarray(12, 28),
    );
    const plain = Buffer.concat([opening.update(bytes.subarray(28)), opening.final()]).toString("utf8");
    const [orgId, siteId, contactId, email] = JSON.parse(plain) as [number, number, number, string];
    return { orgId, siteId, email, ...(contactId && { contactId }) };
  } catch {
    return undefined;
  }
}
