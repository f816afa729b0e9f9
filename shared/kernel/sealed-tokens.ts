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
  | "confirm"
  | "visitor"
  | "sequence"
  | "call"
  | "approval"
  | "sso";
type TokenContent = (number | string)[];

const [nonceBytes, tagBytes, maxTokenBytes] = [12, 16, 600];
/** Content is padded to multiples of this, so that a token hides the exact length of an address. */
const paddingBytes = 32;

/** A key object is five times as fast as bytes, which Node.js parses again for every token. */
async function deriveKeys(purpose: TokenPurpose): Promise<{ cipher: KeyObject; nonce: KeyObject }> {
  const secret = await getInstallationSecret(purpose);
  const derived = (use: string) =>
    createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", `pennymail ${purpose} ${use}`, 32)));
  return { cipher: derived("cipher"), nonce: derived("nonce") };
}

/** Returns a synchronous function that creates tokens, for callers that need many. */
export async function createSealer(
  purpose: TokenPurpose,
): Promise<(content: TokenContent) => string> {
  const { cipher, nonce } = await deriveKeys(purpose);
  return (content) => {
    const json = Buffer.from(JSON.stringify(content));
    const plain = Buffer.concat([
      json,
      Buffer.alloc(paddingBytes - (json.length % paddingBytes), " "),
    ]);
    if (nonceBytes + tagBytes + plain.length > maxTokenBytes)
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
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length <= nonceBytes + tagBytes || bytes.length > maxTokenBytes) return undefined;
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
