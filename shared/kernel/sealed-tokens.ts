// Encrypted tokens for links. They reveal nothing, cannot be forged and need no item in the table.
// Equal content gives an equal token, so a mail that is rendered again is identical.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { getInstallationSecret } from "./installation-secrets.ts";

/** A token opens only for its own purpose. */
export type TokenPurpose =
  | "secure"
  | "secure-file"
  | "unsubscribe"
  | "browser"
  | "tracked-send"
  | "tracked-link"
  | "confirm"
  | "visitor"
  | "sequence"
  | "call"
  | "approval"
  | "sso"
  | "inbound";
type TokenContent = (number | string)[];

const [nonceBytes, tagBytes] = [12, 16];
const maxTokenBytes = 600;
/** A link contains the URL that it leads to. 2,000 characters are the most of a part of a path. */
const maxLinkBytes = 1500;
const maxBytesFor = (purpose: TokenPurpose): number =>
  purpose === "tracked-link" ? maxLinkBytes : maxTokenBytes;
/** Content is padded to multiples of this, so that a token hides the exact length of an address. */
const paddingBytes = 32;

/** A key object is five times as fast as bytes, which Node.js parses again for every token. */
async function deriveKeys(purpose: TokenPurpose): Promise<{ cipher: KeyObject; nonce: KeyObject }> {
  const secret = await getInstallationSecret(purpose);
  const derived = (use: string) =>
    createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", `pennymail ${purpose} ${use}`, 32)));
  return { cipher: derived("cipher"), nonce: derived("nonce") };
}

/** Whether a token for this purpose can hold the content. */
export const fitsToken = (purpose: TokenPurpose, content: TokenContent): boolean =>
  nonceBytes + tagBytes + toPlainText(content).length <= maxBytesFor(purpose);

function toPlainText(content: TokenContent): Buffer {
  const json = Buffer.from(JSON.stringify(content));
  return Buffer.concat([json, Buffer.alloc(paddingBytes - (json.length % paddingBytes), " ")]);
}

/** Returns a synchronous function that creates tokens, for callers that need many. */
export async function createSealer(
  purpose: TokenPurpose,
): Promise<(content: TokenContent) => string> {
  const { cipher, nonce } = await deriveKeys(purpose);
  return (content) => {
    const plain = toPlainText(content);
    if (nonceBytes + tagBytes + plain.length > maxBytesFor(purpose))
      throw new Error("The content is too long for a token");
    // The nonce is derived from the content (as in RFC 5297), so two contents never share a nonce.
    const iv = createHmac("sha256", nonce).update(plain).digest().subarray(0, nonceBytes);
    const encryption = createCipheriv("aes-256-gcm", cipher, iv);
    const sealed = Buffer.concat([encryption.update(plain), encryption.final()]);
    return Buffer.concat([iv, encryption.getAuthTag(), sealed]).toString("base64url");
  };
}

/** The content of a token. Undefined if it is not a valid token for this purpose. */
export async function openToken(
  purpose: TokenPurpose,
  token: string,
): Promise<TokenContent | undefined> {
  const maxBytes = maxBytesFor(purpose);
  if (token.length > Math.ceil((maxBytes * 4) / 3)) return undefined;
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length <= nonceBytes + tagBytes || bytes.length > maxBytes) return undefined;
  const { cipher } = await deriveKeys(purpose);
  try {
    const iv = bytes.subarray(0, nonceBytes);
    const decipher = createDecipheriv("aes-256-gcm", cipher, iv, { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const plain = Buffer.concat([
      decipher.update(bytes.subarray(nonceBytes + tagBytes)),
      decipher.final(),
    ]);
    return JSON.parse(plain.toString("utf8")) as TokenContent;
  } catch {
    return undefined;
  }
}
