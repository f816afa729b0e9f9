// Tokens for links: sealed with a secret of the installation, so that they reveal nothing, cannot be made by others, and need no item
// in the table. Equal content makes an equal token, so a mail that is made again is the same to the byte.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { secretFor } from "./installation-secrets.ts";

/** What tokens are for: one of another purpose does not open. */
export type Purpose = "secure" | "unsubscribe" | "confirm" | "visitor" | "sequence";
type Content = (number | string)[];

const [nonceBytes, tagBytes, mostBytes] = [12, 16, 600];
/** The length of a token tells the length of an address no closer than this. */
const blockBytes = 32;

async function keysFor(purpose: Purpose): Promise<{ cipher: Buffer; nonce: Buffer }> {
  const secret = await secretFor(purpose);
  const derived = (use: string) => Buffer.from(hkdfSync("sha256", secret, "", `pennymail ${purpose} ${use}`, 32));
  return { cipher: derived("cipher"), nonce: derived("nonce") };
}

/** Makes tokens without further waiting, for whoever needs many. */
export async function sealer(purpose: Purpose): Promise<(content: Content) => string> {
  const { cipher, nonce } = await keysFor(purpose);
  return (content) => {
    const json = Buffer.from(JSON.stringify(content));
    const plain = Buffer.concat([json, Buffer.alloc(blockBytes - (json.length % blockBytes), " ")]);
    if (nonceBytes + tagBytes + plain.length > mostBytes) throw new Error("This is too long for a token");
    // The nonce follows from the content (as in RFC 5297): equal content, equal token, and never one nonce for two contents.
    const iv = createHmac("sha256", nonce).update(plain).digest().subarray(0, nonceBytes);
    const sealing = createCipheriv("aes-256-gcm", cipher, iv);
    const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
    return Buffer.concat([iv, sealing.getAuthTag(), sealed]).toString("base64url");
  };
}

/** What was sealed; undefined for anything that is no token of ours for this purpose. */
export async function opened(purpose: Purpose, token: string): Promise<Content | undefined> {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length <= nonceBytes + tagBytes || bytes.length > mostBytes) return undefined;
  const { cipher } = await keysFor(purpose);
  try {
    const iv = bytes.subarray(0, nonceBytes);
    const opening = createDecipheriv("aes-256-gcm", cipher, iv, { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const plain = Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
    return JSON.parse(plain.toString("utf8")) as Content;
  } catch {
    return undefined;
  }
}
